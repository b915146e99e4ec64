"""ConsumerProtocolAssignment."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class TopicPartition(Struct):
    """TopicPartition."""

    topic: str = wire.string()
    partitions: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class ConsumerProtocolAssignment(Message):
    """ConsumerProtocolAssignment."""

    VALID_VERSIONS = Versions(0, 1)

    assigned_partitions: list[TopicPartition] = wire.array(TopicPartition)
    user_data: bytes | None = wire.data(nullable="0+", default=None)
