"""ListOffsets."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ListOffsetsPartition(Struct):
    """ListOffsetsPartition."""

    partition_index: int = wire.int32()
    current_leader_epoch: int = wire.int32("4+", default=-1, ignorable=True)
    timestamp: int = wire.int64()
    max_num_offsets: int = wire.int32("0", default=1)


@dataclass(slots=True)
class ListOffsetsTopic(Struct):
    """ListOffsetsTopic."""

    name: str = wire.string()
    partitions: list[ListOffsetsPartition] = wire.array(ListOffsetsPartition)


@dataclass(slots=True)
class ListOffsetsRequest(Message):
    """ListOffsetsRequest."""

    API_KEY = 2
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    replica_id: int = wire.int32()
    isolation_level: int = wire.int8("2+")
    topics: list[ListOffsetsTopic] = wire.array(ListOffsetsTopic)


@dataclass(slots=True)
class ListOffsetsPartitionResponse(Struct):
    """ListOffsetsPartitionResponse."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    old_style_offsets: list[int] = wire.array(wire.INT64, "0")
    timestamp: int = wire.int64("1+", default=-1)
    offset: int = wire.int64("1+", default=-1)
    leader_epoch: int = wire.int32("4+", default=-1)


@dataclass(slots=True)
class ListOffsetsTopicResponse(Struct):
    """ListOffsetsTopicResponse."""

    name: str = wire.string()
    partitions: list[ListOffsetsPartitionResponse] = wire.array(ListOffsetsPartitionResponse)


@dataclass(slots=True)
class ListOffsetsResponse(Message):
    """ListOffsetsResponse."""

    API_KEY = 2
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse] = wire.array(ListOffsetsTopicResponse)
