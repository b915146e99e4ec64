"""Which offset counts, and what a migration copies."""

from __future__ import annotations

import pytest

from pykafka_classic.client.group_offsets.decisions import decide, plan, refuse_while_alive
from pykafka_classic.client.group_offsets.values import Action, GroupIsAlive, GroupSnapshot, PartitionOffsets, Store, StoredOffset
from pykafka_classic.common.topic_partition import TopicPartition

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def at(offset: int, written_ms: int | None) -> StoredOffset:
    return StoredOffset(offset, written_ms)


@pytest.mark.parametrize(
    ("zookeeper", "kafka", "newer", "current"),
    [
        (None, None, None, None),
        (at(5, 1), None, Store.ZOOKEEPER, 5),
        (None, at(7, None), Store.KAFKA, 7),
        (at(5, 100), at(9, 200), Store.KAFKA, 9),
        (at(5, 300), at(9, 200), Store.ZOOKEEPER, 5),  # reset on purpose: the later counts, not the larger
        (at(5, 200), at(9, 200), None, 5),  # nobody knows: what is read twice does less harm than what is never read
        (at(5, 200), at(9, None), None, 5),
    ],
)
def test_the_offset_that_was_written_later_counts(zookeeper: StoredOffset | None, kafka: StoredOffset | None, newer: Store | None, current: int | None) -> None:
    offsets = PartitionOffsets(zookeeper, kafka)
    assert (offsets.newer, offsets.current) == (newer, current)


@pytest.mark.parametrize(
    ("offset", "start", "end", "lag", "is_gone"),
    [(4, 0, 10, 6, False), (10, 0, 10, 0, False), (4, 6, 10, 4, True), (12, 0, 10, 0, True), (4, None, None, None, False)],
)
def test_the_lag_counts_what_is_still_there(offset: int, start: int | None, end: int | None, lag: int | None, is_gone: bool) -> None:
    offsets = PartitionOffsets(at(offset, 1), None, log_start=start, log_end=end)
    assert (offsets.lag, offsets.is_gone) == (lag, is_gone)


@pytest.mark.parametrize(
    ("source", "target", "action", "forced"),
    [
        (at(5, 1), None, Action.COPY, Action.COPY),
        (at(5, 300), at(9, 200), Action.COPY, Action.COPY),
        (at(5, 100), at(9, 200), Action.TARGET_NEWER, Action.COPY),
        (at(5, 200), at(9, 200), Action.TARGET_NEWER, Action.COPY),
        (at(5, None), at(9, 200), Action.TIME_UNKNOWN, Action.COPY),
        (at(5, 100), at(9, None), Action.TIME_UNKNOWN, Action.COPY),
        (at(9, 300), at(9, 200), Action.SAME, Action.SAME),
    ],
)
def test_only_what_is_newer_at_the_source_is_copied(source: StoredOffset, target: StoredOffset | None, action: Action, forced: Action) -> None:
    there = PartitionOffsets(zookeeper=source, kafka=target)
    back = PartitionOffsets(zookeeper=target, kafka=source)
    for force, expected in ((False, action), (True, forced)):
        assert decide(there, source=Store.ZOOKEEPER, force=force) is expected
        assert decide(back, source=Store.KAFKA, force=force) is expected


def test_a_plan_has_a_step_for_each_partition_of_the_source() -> None:
    partitions = {T2: PartitionOffsets(at(3, 5)), T0: PartitionOffsets(at(1, 5), at(1, 4)), T1: PartitionOffsets(None, at(7, 4))}
    snapshot = GroupSnapshot("g", partitions, unreadable={T1: "no number"})
    steps = plan(snapshot, source=Store.ZOOKEEPER, force=False)
    assert [(step.partition, step.action, step.failed) for step in steps] == [
        (T0, Action.SAME, None),
        (T1, Action.UNREADABLE, "no number"),
        (T2, Action.COPY, None),
    ]
    assert steps[1].before == at(7, 4)
    assert [step.partition for step in plan(snapshot, source=Store.KAFKA, force=False)] == [T0, T1]


@pytest.mark.parametrize("source", list(Store))
def test_living_members_of_either_generation_are_a_reason_to_refuse(source: Store) -> None:
    for snapshot in (GroupSnapshot("g", {}, zookeeper_members=("one",)), GroupSnapshot("g", {}, kafka_members=("one",))):
        with pytest.raises(GroupIsAlive, match=r"group g has 1 living member in the (source|target) .*: one"):
            refuse_while_alive(snapshot, source=source, force=False)
        refuse_while_alive(snapshot, source=source, force=True)
    refuse_while_alive(GroupSnapshot("g", {}), source=source, force=False)
