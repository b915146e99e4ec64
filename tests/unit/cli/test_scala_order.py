"""Orders that Scala 2.13.5 walks in: the 60 members and 100 partitions of tests/golden (test_dump_log) are the larger proof."""

from __future__ import annotations

from pykafka_classic.cli.scala_order import in_hash_order, topic_partition_hash
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
