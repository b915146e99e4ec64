"""Orders that Scala 2.13.5 walks in: the 60 members and 100 partitions of tests/golden (test_dump_log) are the larger proof."""

from __future__ import annotations

import pytest

from pykafka_classic.cli.scala_order import in_hash_order, in_immutable_map_order, set_name, topic_partition_hash
from pykafka_classic.common.java import string_hash
from pykafka_classic.common.topic_partition import TopicPartition


def test_buckets_are_walked_in_order_and_within_one_the_smaller_hash_comes_first() -> None:
    # Of 16 buckets 33 and 1 fall into the first, 2 into the second, whatever the order in which they came.
    assert in_hash_order([33, 2, 1], lambda number: number) == [1, 33, 2]


def test_the_table_doubles_when_the_twelfth_item_comes() -> None:
    eleven = [*range(10), 17]
    assert in_hash_order(eleven, lambda number: number) == [0, 1, 17, *range(2, 10)]
    assert in_hash_order([*eleven, 10], lambda number: number) == [*range(11), 17]


def test_high_bits_of_a_hash_count_too() -> None:
    assert in_hash_order([3 << 16, 1], lambda number: number) == [1, 3 << 16]


def test_hash_of_a_partition_is_kafkas() -> None:
    """Java's usual mixing by 31 of 1, the partition and the topic's own hash, itself made of the codes of a and b."""
    assert topic_partition_hash(TopicPartition("ab", 5)) == 31 * 36 + 97 * 31 + 98
    assert string_hash("ab") == 97 * 31 + 98


# `kafka-consumer-groups --reset-offsets --topic wide --to-latest --dry-run` of Apache Kafka 2.8.2, on a topic of 12 partitions.
WIDE = [5, 1, 4, 11, 3, 9, 6, 8, 2, 0, 7, 10]

# The same with --all-topics, for a group with offsets in some partitions of wide, a.b_c and narrow.
SEVERAL = ["wide-5", "a.b_c-5", "a.b_c-1", "wide-7", "a.b_c-3", "wide-11", "wide-3", "wide-9", "narrow-1", "wide-1"]


def test_a_large_immutable_map_is_walked_by_hashes() -> None:
    partitions = [TopicPartition("wide", number) for number in range(12)]
    assert [each.partition for each in in_immutable_map_order(partitions, topic_partition_hash)] == WIDE


@pytest.mark.parametrize("turned", [False, True])
def test_it_matters_not_in_which_order_they_came(turned: bool) -> None:
    partitions = sorted((TopicPartition(name.rpartition("-")[0], int(name.rpartition("-")[2])) for name in SEVERAL), reverse=turned)
    assert list(map(str, in_immutable_map_order(partitions, topic_partition_hash))) == SEVERAL


def test_a_small_one_is_walked_as_it_was_filled() -> None:
    assert in_immutable_map_order(["d", "b", "c", "a", "b"], string_hash) == ["d", "b", "c", "a"]


def test_items_of_one_hash_stay_together() -> None:
    """Six texts, two of one hash (Java: "Aa" and "BB"): none is lost, however deep the trie goes."""
    texts = ["Aa", "BB", "x", "y", "z", "w"]
    assert sorted(in_immutable_map_order(texts, string_hash)) == sorted(texts)
    assert sorted(in_hash_order(texts, string_hash)) == sorted(texts)


def test_a_set_of_five_has_another_name() -> None:
    """As Apache's kafka-preferred-replica-election printed them: Set(t-0, t-1, u-0), HashSet(z-0, c1-0, ...)."""
    assert [set_name(range(count)) for count in (0, 4, 5)] == ["Set", "Set", "HashSet"]
