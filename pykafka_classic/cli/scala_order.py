"""The order in which Scala 2.13's mutable hash maps and sets are walked: some of Kafka's tools print in it, and ours print the same.

A table of a power of two buckets, each sorted by hash; it doubles before it would be three quarters full.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

from pykafka_classic.common.java import string_hash, to_int32
from pykafka_classic.common.topic_partition import TopicPartition

T = TypeVar("T")

_FIRST_CAPACITY: Final = 16
_SMALL_MAP: Final = 4
_HASH_BITS: Final = 32


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


def in_immutable_map_order(items: Iterable[T], hash_of: Callable[[T], int]) -> list[T]:
    """Distinct items in the order in which an immutable Map that got them one by one is walked: up to four as they came, more by their hashes."""
    found = list(dict.fromkeys(items))
    return found if len(found) <= _SMALL_MAP else _walked([(_improved(hash_of(item)), item) for item in found], shift=0)


def set_name(items: Collection[object]) -> str:
    """What an immutable set prints before its items."""
    return "Set" if len(items) <= _SMALL_MAP else "HashSet"


def _walked(hashed: Sequence[tuple[int, T]], *, shift: int) -> list[T]:
    """A node of the trie: first the items that are alone in their branch, then the branches, both by the next five bits."""
    branches: dict[int, list[tuple[int, T]]] = {}
    for each in hashed:
        branches.setdefault(each[0] >> shift & 31, []).append(each)
    alone = [branch[0][1] for _, branch in sorted(branches.items()) if len(branch) == 1]
    if shift > _HASH_BITS:
        return [item for _, item in hashed]
    return alone + [item for _, branch in sorted(branches.items()) if len(branch) > 1 for item in _walked(branch, shift=shift + 5)]


def _improved(value: int) -> int:
    """scala.collection.Hashing.improve."""
    mask = 0xFFFFFFFF
    value = (value + ~(value << 9)) & mask
    value ^= value >> 14
    value = (value + (value << 4)) & mask
    return value ^ value >> 10


def _mixed(value: int) -> int:
    return to_int32(value ^ ((value & 0xFFFFFFFF) >> 16))
