"""Removes committed offsets of a group (KIP-496). Never flexible."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class OffsetDeleteRequestPartition(Struct):
    """A partition whose offset goes."""

    partition_index: int = wire.int32()


@dataclass(slots=True)
class OffsetDeleteRequestTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OffsetDeleteRequestPartition] = wire.array(OffsetDeleteRequestPartition)


@dataclass(slots=True)
class OffsetDeleteRequest(Message):
    """Offsets to remove."""

    API_KEY = 47
    VALID_VERSIONS = Versions(0, 0)

    group_id: str = wire.string()
    topics: list[OffsetDeleteRequestTopic] = wire.array(OffsetDeleteRequestTopic)


@dataclass(slots=True)
class OffsetDeleteResponsePartition(Struct):
    """What became of one offset."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class OffsetDeleteResponseTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OffsetDeleteResponsePartition] = wire.array(OffsetDeleteResponsePartition)


@dataclass(slots=True)
class OffsetDeleteResponse(Message):
    """One entry for each topic."""

    API_KEY = 47
    VALID_VERSIONS = Versions(0, 0)

    error_code: int = wire.int16()
    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    topics: list[OffsetDeleteResponseTopic] = wire.array(OffsetDeleteResponseTopic)
