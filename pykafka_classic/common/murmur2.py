"""murmur2 as Kafka's Java producer computes it: which partition a key belongs to.

32 bits, seed 0x9747b28c, little-endian words; the result is a signed Java int. Every producer that wants a key's records in one partition, whatever client
wrote them, must use this hash (librdkafka: `murmur2_random`; its own default is CRC32).

Source: 2.8:clients/src/main/java/org/apache/kafka/common/utils/Utils.java, .../producer/internals/DefaultPartitioner.java; facts/protocol.md 18.
"""

from __future__ import annotations

from struct import unpack_from
from typing import Final

from pykafka_classic.common.java import to_int32

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The signed 32-bit hash of a serialized key."""
    length = len(data)
    words = length // 4
    state = (_SEED ^ length) & _MASK
    for word in unpack_from(f"<{words}I", data):
        mixed = word * _MULTIPLIER & _MASK
        mixed = (mixed ^ mixed >> 24) * _MULTIPLIER & _MASK
        state = (state * _MULTIPLIER & _MASK) ^ mixed
    rest = data[4 * words :]
    if rest:
        state = (state ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _MASK
    state = (state ^ state >> 13) * _MULTIPLIER & _MASK
    return to_int32(state ^ state >> 15)


def to_positive(value: int) -> int:
    """Without the sign bit: not the absolute value (facts/protocol.md 18)."""
    return value & _POSITIVE


def partition_of_key(key: bytes, *, partition_count: int) -> int:
    """The partition of a keyed record, among `partition_count` > 0."""
    return to_positive(murmur2(key)) % partition_count
