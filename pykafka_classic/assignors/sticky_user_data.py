"""What members of a sticky group say of themselves when they join.

| assignor | user_data, big-endian |
|---|---|
| sticky | array of {topic str, array of int32}, int32 generation (a member of before 2.4 leaves the generation out); a new member sends none |
| cooperative-sticky | int32 generation, -1 for a new member; the partitions stand in the subscription's owned_partitions |

A claim counts by its generation: a member that slept through a rebalance still claims what it had, and others have it by now. Bytes that cannot be read count
as a new member's: the group must not fail for one member.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{StickyAssignor,CooperativeStickyAssignor}.java; facts/observed.md, Assignors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct, error
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition

DEFAULT_GENERATION: Final = -1

_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a member had when it joined."""

    owned: tuple[TopicPartition, ...] = ()
    generation: int = DEFAULT_GENERATION


class _Reader:
    """Walks over bytes; struct.error or ValueError where they end too early or make no sense."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def at_end(self) -> bool:
        return self._position == len(self._data)

    def number(self, kind: Struct) -> int:
        (value,) = kind.unpack_from(self._data, self._position)
        self._position += kind.size
        return int(value)

    def count(self) -> int:
        count = self.number(_INT32)
        if not 0 <= count <= len(self._data):
            raise ValueError("impossible array length")
        return count

    def text(self) -> str:
        length = self.number(_INT16)
        end = self._position + length
        if length < 0 or end > len(self._data):
            raise ValueError("impossible string length")
        text = self._data[self._position : end].decode()
        self._position = end
        return text


def encode_sticky(claim: Claim) -> bytes | None:
    """User data of `sticky`; None for a new member."""
    if not claim.owned and claim.generation == DEFAULT_GENERATION:
        return None
    by_topic: dict[str, list[int]] = {}
    for topic, partition in claim.owned:
        by_topic.setdefault(topic, []).append(partition)
    parts = [_INT32.pack(len(by_topic))]
    for topic, partitions in by_topic.items():
        name = topic.encode()
        parts += [_INT16.pack(len(name)), name, *map(_INT32.pack, (len(partitions), *partitions))]
    return b"".join([*parts, _INT32.pack(claim.generation)])


def decode_sticky(data: bytes | None) -> Claim:
    """The claim of a member of `sticky`."""
    if not data:
        return Claim()
    reader = _Reader(data)
    try:
        owned: list[TopicPartition] = []
        for _ in range(reader.count()):
            topic = reader.text()
            owned += [TopicPartition(topic, reader.number(_INT32)) for _ in range(reader.count())]
        return Claim(tuple(owned), DEFAULT_GENERATION if reader.at_end else reader.number(_INT32))
    except (error, ValueError):
        return Claim()


def encode_cooperative(generation: int) -> bytes:
    """User data of `cooperative-sticky`."""
    return _INT32.pack(generation)


def decode_cooperative(owned: Sequence[TopicPartition], data: bytes | None) -> Claim:
    """The claim of a member of `cooperative-sticky`."""
    if data is None or len(data) < _INT32.size:
        return Claim(tuple(owned))
    return Claim(tuple(owned), _INT32.unpack_from(data)[0])
