"""Offsets by time: the first one with a timestamp at or after the given, the earliest (-2) or the latest (-1)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ListOffsetsPartition(Struct):
    """A time in one partition."""

    partition_index: int = wire.int32()
    current_leader_epoch: int = wire.int32("4+", default=-1, ignorable=True)  # -1: not known, do not check
    timestamp: int = wire.int64()  # ms since the epoch; -1 latest, -2 earliest
    max_num_offsets: int = wire.int32("0", default=1)  # how many offsets v0 gives at most


@dataclass(slots=True)
class ListOffsetsTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[ListOffsetsPartition] = wire.array(ListOffsetsPartition)


@dataclass(slots=True)
class ListOffsetsRequest(Message):
    """Times to look for."""

    API_KEY = 2
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    replica_id: int = wire.int32()  # a follower's broker id; -1: a consumer, -2: a debugging one
    isolation_level: int = wire.int8("2+")  # 0 read_uncommitted, 1 read_committed
    topics: list[ListOffsetsTopic] = wire.array(ListOffsetsTopic)


@dataclass(slots=True)
class ListOffsetsPartitionResponse(Struct):
    """An offset of one partition; v0 gives a list of segment offsets."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    old_style_offsets: list[int] = wire.array(wire.INT64, "0")
    timestamp: int = wire.int64("1+", default=-1)  # of the record found; -1: none
    offset: int = wire.int64("1+", default=-1)  # -1: none
    leader_epoch: int = wire.int32("4+", default=-1)


@dataclass(slots=True)
class ListOffsetsTopicResponse(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[ListOffsetsPartitionResponse] = wire.array(ListOffsetsPartitionResponse)


@dataclass(slots=True)
class ListOffsetsResponse(Message):
    """One entry for each topic."""

    API_KEY = 2
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    topics: list[ListOffsetsTopicResponse] = wire.array(ListOffsetsTopicResponse)
