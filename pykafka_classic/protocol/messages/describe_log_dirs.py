"""Sizes of replicas and their log directories on the broker that receives the request (KIP-113)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribableLogDirTopic(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partition_index: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class DescribeLogDirsRequest(Message):
    """Partitions to describe, or all."""

    API_KEY = 35
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    topics: list[DescribableLogDirTopic] | None = wire.array(DescribableLogDirTopic, nullable="0+")  # null: all


@dataclass(slots=True)
class DescribeLogDirsPartition(Struct):
    """One replica."""

    partition_index: int = wire.int32()
    partition_size: int = wire.int64()  # bytes
    offset_lag: int = wire.int64()  # how far a future replica is behind, or the replica behind its high watermark
    is_future_key: bool = wire.boolean()  # a copy on its way to this directory (AlterReplicaLogDirs)


@dataclass(slots=True)
class DescribeLogDirsTopic(Struct):
    """Replicas of one topic."""

    name: str = wire.string()
    partitions: list[DescribeLogDirsPartition] = wire.array(DescribeLogDirsPartition)


@dataclass(slots=True)
class DescribeLogDirsResult(Struct):
    """One log directory."""

    error_code: int = wire.int16()
    log_dir: str = wire.string()
    topics: list[DescribeLogDirsTopic] = wire.array(DescribeLogDirsTopic)


@dataclass(slots=True)
class DescribeLogDirsResponse(Message):
    """One entry for each log directory."""

    API_KEY = 35
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[DescribeLogDirsResult] = wire.array(DescribeLogDirsResult)
