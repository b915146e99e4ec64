"""The order in which Scala 2.13's mutable hash maps and sets are walked: some of Kafka's tools print in it, and ours print the same.

A table of a power of two buckets, each sorted by hash; it doubles before it would be three quarters full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from pykafka_classic.common.java import string_hash, to_int32
from pykafka_classic.common.topic_partition import TopicPartition

T = TypeVar("T")

_FIRST_CAPACITY: Final = 16


def topic_partition_hash(partition: TopicPartition) -> int:
    """TopicPartition.hashCode of Kafka's clients."""
    return to_int32(31 * (31 + partition.partition) + string_hash(partition.topic))


def in_hash_order(items: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Distinct items in the order in which a hash map or set that got them one by one is walked. `hash_of`: Java's hash code."""
    found = list(dict.fromkeys(items))
    capacity = _FIRST_CAPACITY
    while len(found) >= capacity * 3 // 4:
        capacity *= 2
    mixed = {item: _mixed(hash_of(item)) for item in found}
    return sorted(found, key=lambda item: (mixed[item] & (capacity - 1), mixed[item]))


def _mixed(value: int) -> int:
    return to_int32(value ^ ((value & 0xFFFFFFFF) >> 16))
