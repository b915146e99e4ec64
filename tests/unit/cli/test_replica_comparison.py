"""Whether replicas hold the same; the sentences are those of Apache's tool."""

from __future__ import annotations

from pykafka_classic.cli.replica_comparison import Batch, Fetched, compare
from pykafka_classic.common.topic_partition import TopicPartition

T0 = TopicPartition("t", 0)
A, B, C = Batch(4, 111), Batch(9, 222), Batch(12, 333)


def test_equal_replicas_are_compared_as_far_as_all_have_sent() -> None:
    found = compare(T0, 0, {1: Fetched(13, [A, B, C]), 2: Fetched(13, [A, B])})
    assert (found.next_offset, found.lag, list(found.complaints), found.diverged) == (10, 3, [], False)


def test_what_is_not_below_the_high_watermark_is_not_compared() -> None:
    assert compare(T0, 0, {1: Fetched(9, [A, B]), 2: Fetched(9, [A, Batch(9, 999)])}).next_offset == 5


def test_a_follower_that_knows_of_less_holds_the_comparison_up() -> None:
    found = compare(T0, 5, {1: Fetched(13, [B, C]), 2: Fetched(5, [B])})
    assert (found.next_offset, found.lag) == (5, 8)


def test_another_checksum_is_told_and_the_comparison_goes_on() -> None:
    found = compare(T0, 0, {1: Fetched(13, [A, B]), 2: Fetched(13, [Batch(4, 1), B])})
    assert found.complaints == ["partition t-0 has unmatched checksum at offset 4; replica 1's checksum 111; replica 2's checksum 1"]
    assert (found.next_offset, found.diverged) == (10, False)


def test_other_offsets_end_it() -> None:
    found = compare(T0, 0, {1: Fetched(13, [A, B]), 2: Fetched(13, [B])})
    assert found.complaints == ["partition t-0: replica 1's offset 4 doesn't match replica 2's offset 9"]
    assert (found.next_offset, found.diverged) == (0, True)
