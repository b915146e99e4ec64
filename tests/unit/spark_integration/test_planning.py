"""Ranges, limits, losses."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.planning import DataLoss, fail_on, find_losses, make_ranges, share_out
from spark_integration.ranges import OffsetRange

A, B, C = (TopicPartition("flights", number) for number in range(3))


def test_a_partition_is_a_task_and_an_empty_one_is_none() -> None:
    assert make_ranges({A: 5, B: 7, C: 0}, {A: 9, B: 7, C: 2}) == [OffsetRange("flights", 0, 5, 9), OffsetRange("flights", 2, 0, 2)]


def test_large_partitions_are_split_and_small_ones_stay_whole() -> None:
    ranges = make_ranges({A: 0, B: 0}, {A: 900, B: 100}, min_partitions=10)
    assert [each for each in ranges if each.partition == 1] == [OffsetRange("flights", 1, 0, 100)]
    assert [(each.start, each.end) for each in ranges if each.partition == 0] == [(start, start + 100) for start in range(0, 900, 100)]


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 50, 1000])
def test_pieces_join_to_the_whole_and_none_is_empty(wanted: int) -> None:
    ranges = make_ranges({A: 3, B: 0, C: 10}, {A: 40, B: 1, C: 12}, min_partitions=wanted)
    assert len(ranges) >= min(wanted, 40)
    for partition, start, end in ((0, 3, 40), (1, 0, 1), (2, 10, 12)):
        pieces = [each for each in ranges if each.partition == partition]
        assert (pieces[0].start, pieces[-1].end) == (start, end)
        assert all(first.end == second.start for first, second in pairwise(pieces))
        assert all(each.start < each.end for each in pieces)


def test_a_task_has_no_more_offsets_than_it_may() -> None:
    ranges = make_ranges({A: 0}, {A: 101}, max_per_partition=25)
    assert len(ranges) == 5
    assert max(each.end - each.start for each in ranges) <= 25


def test_a_limit_is_shared_out_by_what_each_partition_has() -> None:
    assert share_out({A: 0, B: 50}, {A: 300, B: 150}, 40) == {A: 30, B: 60}


def test_nobody_starves_under_a_limit() -> None:
    ends = share_out({A: 0, B: 0}, {A: 1_000_000, B: 1}, 10)
    assert ends[B] == 1
    assert ends[A] > 0


def test_a_limit_beyond_what_there_is_changes_nothing() -> None:
    assert share_out({A: 0, B: 5}, {A: 3, B: 5}, 40) == {A: 3, B: 5}


def test_a_limit_is_used_up() -> None:
    # 211 + 198 + 190 of 600 would leave one over
    begins, ends = {A: 0, B: 0, C: 0}, {A: 352, B: 331, C: 317}
    assert sum(share_out(begins, ends, 600).values()) == 600


def test_losses_are_offsets_outside_of_the_log() -> None:
    losses = find_losses({A: 2, B: 9, C: 4}, {A: 5, B: 0, C: 4}, {A: 8, B: 7, C: 4})
    assert [(each.partition, each.read_on_at) for each in losses] == [(A, 5), (B, 0)]
    with pytest.raises(DataLoss, match=r"flights-0: offset 2 is gone, .* 3 offsets were deleted.*flights-1: offset 9 is beyond the end, 7.*'failOnDataLoss'"):
        fail_on(losses)
