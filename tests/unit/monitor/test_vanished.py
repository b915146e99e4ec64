"""What counts as gone, and what may only not have been told."""

from __future__ import annotations

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.collector.vanished import KnownCommits, KnownGroups
from pykafka_classic.monitor.store.rows import KAFKA, NO_COMMIT, GroupSample

A, B = TopicPartition("a", 0), TopicPartition("b", 1)


def ended(group: str, partition: TopicPartition) -> GroupSample:
    return GroupSample(group, KAFKA, *partition, NO_COMMIT, 0, None, exact=True)


def test_a_group_is_gone_after_three_lists_without_it() -> None:
    groups = KnownGroups(["old"])
    assert groups.gone({"new"}, set()) == []
    assert groups.gone({"new"}, set()) == []
    assert groups.gone({"new"}, set()) == ["old"]
    assert groups.names == {"new"}
    assert groups.gone({"new"}, set()) == []


def test_a_group_whose_coordinator_says_nothing_may_be_there() -> None:
    groups = KnownGroups(["old"])
    for _ in range(5):
        assert groups.gone(set(), {"old"}) == []
    groups.gone(set(), set())
    groups.gone({"old"}, set())  # there again
    groups.gone(set(), set())
    assert groups.gone(set(), set()) == []


def test_commits_end_where_their_group_was_told_without_them_or_is_gone() -> None:
    commits = KnownCommits(KAFKA, {"g": {A, B}, "silent": {A}})
    assert commits.ended({"g": {A: 1}}, []) == [ended("g", B)]
    assert commits.ended({"g": {A: 2}}, []) == []
    assert commits.ended({}, ["g"]) == [ended("g", A)]
    assert commits.groups == {"silent"}
    assert commits.ended({"h": {B: 1}}, ["silent"]) == [ended("silent", A)]
    assert commits.groups == {"h"}
