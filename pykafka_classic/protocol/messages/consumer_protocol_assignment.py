"""What the leader of a consumer group gives each member, inside SyncGroup: opaque to the broker.

An int16 version comes before it, which the code here does not read or write (facts/protocol.md 18).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class TopicPartition(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class ConsumerProtocolAssignment(Message):
    """The partitions of one member."""

    VALID_VERSIONS = Versions(0, 1)

    assigned_partitions: list[TopicPartition] = wire.array(TopicPartition)
    user_data: bytes | None = wire.data(nullable="0+", default=None)
