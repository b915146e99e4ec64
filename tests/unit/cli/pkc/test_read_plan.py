"""From where to where partitions are read."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.pkc.read_plan import ReadPlan, chosen, earliest_ends, first_offsets, parse_partitions
from pykafka_classic.common.topic_partition import TopicPartition

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_partitions_are_numbers_and_ranges() -> None:
    assert parse_partitions("0,2,5-7") == [0, 2, 5, 6, 7]
    assert parse_partitions(" 3 ,3") == [3]


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "5-3", "1-2-3", "0-999999999", "²"])
def test_what_names_no_partition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is wanted"):
        parse_partitions(text)


def test_records_up_to_the_end_are_taken_and_then_it_is_finished() -> None:
    plan = ReadPlan({A: 5, B: 0}, {A: 7, B: 1})
    assert [plan.takes(A, 5), plan.takes(A, 6), plan.takes(A, 7)] == [True, True, False]
    assert (plan.open, plan.finished) == ({B}, False)
    assert plan.takes(B, 0)
    assert (plan.open, plan.finished, plan.printed) == (set(), True, 3)


def test_a_partition_in_which_nothing_is_to_be_read_is_not_opened() -> None:
    assert ReadPlan({A: 5, B: 6}, {A: 5, B: 2}).finished
    assert ReadPlan({A: 5}, {A: 6}).open == {A}


def test_an_end_without_a_record_is_seen_by_the_position() -> None:
    """The last offset before the end may be a transaction's marker, or compacted away."""
    plan = ReadPlan({A: 0}, {A: 10})
    assert plan.takes(A, 8)
    plan.arrived_at(A, 9)
    assert not plan.finished
    plan.arrived_at(A, 10)
    assert plan.finished


def test_without_an_end_it_goes_on_for_ever() -> None:
    plan = ReadPlan({A: 0})
    plan.arrived_at(A, 10**18)
    assert not plan.finished and plan.total is None


def test_a_limit_ends_it_and_no_record_beyond_is_taken() -> None:
    plan = ReadPlan({A: 0}, limit=2)
    assert [plan.takes(A, offset) for offset in range(3)] == [True, True, False]
    assert plan.finished and plan.printed == 2


def test_the_total_is_what_there_is_to_read_at_most() -> None:
    assert ReadPlan({A: 5, B: 9}, {A: 7, B: 3}).total == 2
    assert ReadPlan({A: 0}, {A: 7}, limit=3).total == 3
    assert ReadPlan({A: 0}, limit=3).total == 3


def test_a_start_outside_of_the_log_is_moved_into_it() -> None:
    wanted, beginnings, ends = {A: 3, B: 100}, {A: 5, B: 0}, {A: 9, B: 50}
    assert first_offsets(wanted, beginnings, ends) == {A: 5, B: 50}


def test_the_earliest_of_several_ends_counts() -> None:
    assert earliest_ends({A: 5}, {A: 3, B: 1}) == {A: 3, B: 1}
    assert earliest_ends() == {}


def test_numbers_that_no_topic_has_are_told() -> None:
    assert chosen([A, B], None) == ([A, B], [])
    assert chosen([A, B], [1, 4]) == ([B], [4])
