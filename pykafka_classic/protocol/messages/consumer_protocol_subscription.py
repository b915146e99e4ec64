"""What a member of a consumer group wants, inside JoinGroup: opaque to the broker, but for DescribeGroups and offset expiration.

An int16 version comes before it, which the code here does not read or write (facts/protocol.md 18).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class TopicPartition(Struct):
    """Partitions of one topic."""

    topic: str = wire.string("1+")
    partitions: list[int] = wire.array(wire.INT32, "1+")


@dataclass(slots=True)
class ConsumerProtocolSubscription(Message):
    """What a member subscribes to."""

    VALID_VERSIONS = Versions(0, 1)

    topics: list[str] = wire.array(wire.STRING)
    user_data: bytes | None = wire.data(nullable="0+", default=None)
    owned_partitions: list[TopicPartition] = wire.array(TopicPartition, "1+", ignorable=True)
