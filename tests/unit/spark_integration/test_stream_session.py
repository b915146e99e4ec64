"""A stream's reader between Spark, the cluster and the group: what is committed when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.membership import CommitLater
from spark_integration.offsets import Offsets
from spark_integration.options import parse_options
from spark_integration.ranges import OffsetRange
from spark_integration.stream_session import StreamSession
from tests.unit.spark_integration.test_stream_plan import FakeCluster

A, B = TopicPartition("flights", 0), TopicPartition("flights", 1)


class Cluster(FakeCluster):
    """With options."""

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]], group: Offsets | None = None, **options: str) -> None:
        super().__init__(logs, group)
        self.options = parse_options({"bootstrap.servers": "localhost:9092", "subscribe": "flights", "group.id": "radar"} | options)

    def close(self) -> None: ...


class Member:
    """A place in a group whose commits go to the cluster's memory."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.epoch = 1
        self.owned: frozenset[TopicPartition] | None = None
        self.commits: list[Offsets] = []
        self.busy = False
        self.away = False

    def assignment(self) -> tuple[int, frozenset[TopicPartition] | None]:
        return self.epoch, self.owned

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        if self.away:
            raise CommitLater("the coordinator is away")
        self.commits.append(dict(offsets))
        self.cluster.group |= offsets

    def batch_began(self) -> None:
        self.busy = True

    def batch_ended(self) -> None:
        self.busy = False

    def close(self) -> None: ...


class Story:
    """A session and what is around it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.member = Member(cluster)
        self.session = StreamSession(cluster, self.member, listened=False)

    def next_after(self, start: dict[str, Any]) -> dict[str, Any]:
        return self.session.next_end(start, unlimited=False)

    def begin(self) -> tuple[dict[str, Any], dict[str, Any]]:
        start = self.session.initial()
        return start, self.next_after(start)


def test_nothing_is_committed_before_the_sink_is_done() -> None:
    story = Story(Cluster({A: (0, 10)}, {A: 4}))
    start, end = story.begin()
    assert [each.value for each in story.session.tasks(start, end)] == [OffsetRange("flights", 0, 4, 10)]
    assert story.cluster.group == {A: 4}
    assert story.member.busy


def test_the_next_question_of_spark_commits() -> None:
    story = Story(Cluster({A: (0, 10)}, {A: 4}))
    _, end = story.begin()
    assert story.next_after(end) == end
    assert story.cluster.group == {A: 10}
    assert not story.member.busy


def test_the_program_s_word_commits_at_once_and_only_once() -> None:
    story = Story(Cluster({A: (0, 10)}, {A: 4}))
    _, end = story.begin()
    assert story.session.told({"ends": [end], "planned": [], "over": False})
    assert story.member.commits[-1] == {A: 10}
    count = len(story.member.commits)
    assert not story.session.told({"ends": [end], "planned": [], "over": False})
    story.next_after(end)
    assert len(story.member.commits) == count


def test_a_word_about_another_query_s_batch_commits_nothing() -> None:
    story = Story(Cluster({A: (0, 10)}, {A: 4}))
    _, end = story.begin()
    assert not story.session.told({"ends": [end | {"@reader": "another"}], "planned": [], "over": True})
    assert story.cluster.group == {A: 4}


def test_a_commit_that_could_not_be_made_is_made_at_the_next_trigger() -> None:
    story = Story(Cluster({A: (0, 10)}, {A: 4}))
    _, end = story.begin()
    story.member.away = True
    assert story.next_after(end) == end
    assert story.cluster.group == {A: 4}
    story.member.away = False
    story.next_after(end)
    assert story.cluster.group == {A: 10}


def test_a_batch_that_another_process_planned_is_read_as_it_was_planned() -> None:
    story = Story(Cluster({A: (0, 99)}, {A: 4}))
    start, end = {"flights": {"0": 4}}, {"flights": {"0": 10}, "@reader": "killed"}
    assert [each.value for each in story.session.tasks(start, end)] == [OffsetRange("flights", 0, 4, 10)]
    assert story.session.told({"ends": [end], "planned": [], "over": False})
    assert story.cluster.group == {A: 10}


def test_what_others_of_the_group_did_while_the_job_was_down_is_not_taken_back() -> None:
    story = Story(Cluster({A: (0, 60), B: (0, 60)}, {A: 55, B: 20}, membership="sharing"))
    story.member.owned = frozenset({A, B})
    end = story.next_after({"flights": {"0": 40, "1": 30}})
    assert story.member.commits == [{B: 30}]
    assert end["@begin"] == {"flights": {"0": 55}}


def test_what_others_did_while_the_job_had_lost_its_place_is_not_taken_back() -> None:
    story = Story(Cluster({A: (0, 60)}, {A: 40}, membership="sharing"))
    story.member.owned = frozenset({A})
    end = story.next_after({"flights": {"0": 40}})
    story.member.epoch += 1  # thrown out, and in again
    story.cluster.group[A] = 70
    story.cluster.logs[A] = (0, 80)
    second = story.next_after(end)
    assert story.cluster.group[A] == 70
    assert second["@begin"] == {"flights": {"0": 70}}


def test_an_empty_batch_has_no_tasks() -> None:
    story = Story(Cluster({A: (0, 0)}))
    start = story.session.initial()
    assert story.session.tasks(start, start) == []
