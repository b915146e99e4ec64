"""Where micro-batches begin and end, without a cluster."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from pykafka_classic.client.starts import Start, Word
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import CannotPlan
from spark_integration.offsets import BatchEnd, Offsets
from spark_integration.options import parse_options
from spark_integration.planning import DataLoss
from spark_integration.stream_plan import StreamPlan

A, B, C = (TopicPartition("flights", number) for number in range(3))


class FakeCluster:
    """Logs as first offset and end; what the group has committed."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], group: Offsets | None = None) -> None:
        self.logs = logs
        self.group = group or {}

    def partitions(self, *, all_there: bool = True) -> list[TopicPartition]:
        if all_there and not self.logs:
            raise CannotPlan("there is no topic flights")
        return sorted(self.logs)

    def bounds(self, partitions: Collection[TopicPartition]) -> tuple[Offsets, Offsets]:
        return {each: self.logs[each][0] for each in partitions}, self.ends(partitions)

    def ends(self, partitions: Collection[TopicPartition]) -> Offsets:
        return {each: self.logs[each][1] for each in partitions}

    def starts(self, start: Start, partitions: Collection[TopicPartition]) -> Offsets:
        first, last = self.bounds(partitions)
        return (last if start is Word.LATEST else first) | (self.committed(partitions) if start is Word.COMMITTED else {})

    def committed(self, partitions: Collection[TopicPartition]) -> Offsets:
        return {each: self.group[each] for each in partitions if each in self.group}


class Planned:
    """A plan and its cluster, told less often."""

    def __init__(self, cluster: FakeCluster, **options: str) -> None:
        base = {"bootstrap.servers": "localhost:9092", "subscribe": "flights", "group.id": "radar"}
        self.cluster = cluster
        self.plan = StreamPlan(parse_options(base | options), reader="r")

    def next(
        self, start: BatchEnd | None, owned: Collection[TopicPartition] | None = None, *, epoch: int = 0, now_ms: float = 0, unlimited: bool = False
    ) -> BatchEnd | None:
        taken = frozenset(owned) if owned is not None else None
        return self.plan.next_end(self.cluster, start, (epoch, taken), now_ms=now_ms, unlimited=unlimited)

    def resume(self, start: BatchEnd) -> None:
        self.plan.finished(start, self.cluster)


def test_a_new_checkpoint_begins_where_the_group_is_and_at_the_beginning_where_it_is_nowhere() -> None:
    planned = Planned(FakeCluster({A: (0, 10), B: (5, 20)}, {A: 7}))
    start = planned.plan.initial(planned.cluster, None)
    assert start == BatchEnd({A: 7, B: 5}, {A: 7, B: 5})  # where an empty first batch ends, too: its log says where the query began
    assert planned.next(start) == BatchEnd({A: 10, B: 20}, {A: 7, B: 5}, "r")  # the first batch tells all


def test_a_new_checkpoint_begins_where_it_began_however_often_spark_asks() -> None:
    planned = Planned(FakeCluster({A: (0, 10)}), start="latest")
    start = planned.plan.initial(planned.cluster, None)
    planned.cluster.logs[A] = (0, 15)
    assert planned.plan.initial(planned.cluster, None) == start == BatchEnd({A: 10}, {A: 10})
    end = planned.next(start)
    assert end is not None
    assert end.begins_after(BatchEnd({A: 99})) == {A: 10}


def test_nothing_new_is_no_batch() -> None:
    planned = Planned(FakeCluster({A: (0, 10)}, {A: 10}))
    assert planned.next(planned.plan.initial(planned.cluster, None)) is None


def test_a_new_partition_says_where_its_part_of_the_batch_begins() -> None:
    planned = Planned(FakeCluster({A: (0, 10)}), start="latest")
    start = planned.plan.initial(planned.cluster, None)
    planned.cluster.logs[B] = (3, 9)
    first = planned.next(start)
    assert first == BatchEnd({A: 10, B: 9}, {A: 10, B: 3}, "r")
    planned.cluster.logs[C] = (0, 4)
    assert planned.next(first) == BatchEnd({A: 10, B: 9, C: 4}, {C: 0}, "r")


def test_a_partition_that_comes_back_is_read_from_where_others_left_it() -> None:
    planned = Planned(FakeCluster({A: (0, 50), B: (0, 50)}, {A: 0, B: 0}), membership="sharing")
    start = planned.plan.initial(planned.cluster, frozenset({A, B}))
    first = planned.next(start, {A, B}, epoch=1)
    assert first == BatchEnd({A: 50, B: 50}, {A: 0, B: 0}, "r")
    planned.cluster.logs = {A: (0, 60), B: (0, 60)}
    second = planned.next(first, {A}, epoch=2)
    assert second == BatchEnd({A: 60}, {}, "r")
    planned.cluster.group = {A: 60, B: 55}
    assert planned.next(second, {A, B}, epoch=3) == BatchEnd({A: 60, B: 60}, {B: 55}, "r")


def test_what_this_job_has_done_itself_is_not_done_again_though_its_commit_was_lost() -> None:
    planned = Planned(FakeCluster({A: (0, 60)}, {A: 40}), membership="sharing")
    planned.resume(BatchEnd({A: 50}))
    assert planned.next(BatchEnd({A: 50}), {A}, epoch=1) == BatchEnd({A: 60}, {}, "r")


@pytest.mark.parametrize(("resume", "begins"), [("checkpoint", {}), ("group", {A: 3})])
def test_who_wins_where_checkpoint_and_group_disagree(resume: str, begins: Offsets) -> None:
    planned = Planned(FakeCluster({A: (0, 60)}, {A: 3}), resume=resume)
    checkpoint = BatchEnd({A: 50})
    planned.resume(checkpoint)
    assert planned.plan.to_commit(checkpoint) == ({} if begins else {A: 50})
    end = planned.next(checkpoint)
    assert end == BatchEnd({A: 60}, begins, "r")
    planned.resume(end)
    assert planned.plan.to_commit(end) == {A: 60}


def test_a_disagreement_may_be_a_failure() -> None:
    planned = Planned(FakeCluster({A: (0, 60)}, {A: 3}), resume="fail")
    with pytest.raises(CannotPlan, match="flights-0: the checkpoint is at 50, group 'radar' at 3, and the option 'resume' is fail"):
        planned.resume(BatchEnd({A: 50}))


@pytest.mark.parametrize("resume", ["group", "fail"])
def test_a_group_left_behind_by_a_crash_is_no_disagreement(resume: str) -> None:
    planned = Planned(FakeCluster({A: (0, 60)}, {A: 40}), resume=resume)
    again = BatchEnd({A: 50})
    planned.plan.replayed({A: 40}, again)  # the batch that was under way, from where the group still is
    planned.resume(again)
    assert planned.plan.to_commit(again) == {A: 50}
    assert planned.next(again) == BatchEnd({A: 60}, {}, "r")


def test_records_that_are_gone() -> None:
    logs = {A: (30, 60)}
    with pytest.raises(DataLoss, match="flights-0: offset 10 is gone"):
        Planned(FakeCluster(logs)).next(BatchEnd({A: 10}))
    assert Planned(FakeCluster(logs), failOnDataLoss="false").next(BatchEnd({A: 10})) == BatchEnd({A: 60}, {A: 30}, "r")


def test_a_topic_that_is_gone() -> None:
    with pytest.raises(DataLoss, match="flights-1 is not there any more"):
        Planned(FakeCluster({A: (0, 60)})).next(BatchEnd({A: 10, B: 5}))
    assert Planned(FakeCluster({A: (0, 60)}), failOnDataLoss="false").next(BatchEnd({A: 10, B: 5})) == BatchEnd({A: 60}, {}, "r")


def test_a_topic_that_is_made_anew_is_read_from_its_beginning() -> None:
    planned = Planned(FakeCluster({B: (0, 5)}), failOnDataLoss="false")
    before = BatchEnd({A: 10, B: 5})
    assert planned.next(before) is None
    planned.cluster.logs = {B: (0, 7)}
    without = planned.next(before)
    assert without == BatchEnd({B: 7}, {}, "r")
    planned.cluster.logs = {A: (0, 12), B: (0, 7)}  # longer than what was read of the old one
    assert planned.next(without) == BatchEnd({A: 12, B: 7}, {A: 0}, "r")
    planned.cluster.logs = {A: (0, 20), B: (0, 7)}
    assert planned.next(BatchEnd({A: 12, B: 7})) == BatchEnd({A: 20, B: 7}, {}, "r")


def test_a_start_that_names_what_is_not_read_is_refused() -> None:
    planned = Planned(FakeCluster({A: (0, 10)}), start='{"flights": {"0": 3, "7": 3}}')
    with pytest.raises(CannotPlan, match="'start' speaks of flights-7, which is not read"):
        planned.plan.initial(planned.cluster, None)


def test_limits() -> None:
    planned = Planned(FakeCluster({A: (0, 100)}), maxOffsetsPerTrigger="30")
    assert planned.next(BatchEnd({A: 0})) == BatchEnd({A: 30}, {}, "r")
    assert planned.next(BatchEnd({A: 0}), unlimited=True) == BatchEnd({A: 100}, {}, "r")


def test_it_waits_for_enough_but_not_for_ever() -> None:
    planned = Planned(FakeCluster({A: (0, 5)}), minOffsetsPerTrigger="10", maxTriggerDelay="1m")
    start = BatchEnd({A: 0})
    assert planned.next(start, now_ms=0) is None
    assert planned.next(start, now_ms=59_999) is None
    end = planned.next(start, now_ms=60_000)
    assert end == BatchEnd({A: 5}, {}, "r")
    planned.cluster.logs = {A: (0, 8)}
    assert planned.next(end, now_ms=60_001) is None
    planned.cluster.logs = {A: (0, 15)}
    assert planned.next(end, now_ms=60_002) == BatchEnd({A: 15}, {}, "r")


def test_available_now_ends_at_what_there_was_and_does_not_wait_for_more() -> None:
    planned = Planned(FakeCluster({A: (0, 25)}), maxOffsetsPerTrigger="20", minOffsetsPerTrigger="10")
    planned.plan.fix_end(planned.cluster)
    planned.cluster.logs = {A: (0, 100), B: (0, 10)}
    first = planned.next(BatchEnd({A: 0}))
    second = planned.next(first)
    assert (first, second) == (BatchEnd({A: 20, B: 0}, {B: 0}, "r"), BatchEnd({A: 25, B: 0}, {}, "r"))
    assert planned.next(second) is None


def test_spark_4_1_does_not_say_where_it_is() -> None:
    planned = Planned(FakeCluster({A: (0, 25)}, {A: 5}))
    planned.plan.initial(planned.cluster, None)
    assert planned.next(None) == BatchEnd({A: 25}, {A: 5}, "r")


def test_spark_4_1_asks_where_a_new_checkpoint_begins_when_the_first_batch_is_planned_already() -> None:
    planned = Planned(FakeCluster({A: (0, 25)}), start="latest")
    assert planned.next(None) is None
    assert planned.plan.position == planned.plan.initial(planned.cluster, None) == BatchEnd({A: 25}, {A: 25})
    planned.cluster.logs = {A: (0, 30)}
    first = planned.next(None)
    assert first is not None
    assert first.begins_after(planned.plan.initial(planned.cluster, None)) == {A: 25}
    planned.cluster.logs = {A: (0, 40)}
    second = planned.next(None)
    assert second is not None
    assert second.begins_after(first) == {A: 30}


def test_spark_4_1_says_once_after_a_restart_how_far_it_had_come() -> None:
    planned = Planned(FakeCluster({A: (0, 25)}, {A: 5}), maxOffsetsPerTrigger="10")
    planned.plan.seen(BatchEnd({A: 8}))
    assert planned.next(None) == BatchEnd({A: 18}, {}, "r")


def test_spark_4_1_is_asked_who_is_right_when_it_has_said_how_far_it_had_come() -> None:
    for resume, begins in (("checkpoint", {}), ("group", {A: 2})):
        planned = Planned(FakeCluster({A: (0, 25)}, {A: 2}), resume=resume)
        planned.plan.seen(BatchEnd({A: 8}))
        assert planned.next(None) == BatchEnd({A: 25}, begins, "r")
    failing = Planned(FakeCluster({A: (0, 25)}, {A: 2}), resume="fail")
    failing.plan.seen(BatchEnd({A: 8}))
    with pytest.raises(CannotPlan, match="the checkpoint is at 8, group 'radar' at 2"):
        failing.next(None)
