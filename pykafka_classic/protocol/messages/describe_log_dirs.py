"""DescribeLogDirs."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribableLogDirTopic(Struct):
    """DescribableLogDirTopic."""

    topic: str = wire.string()
    partition_index: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class DescribeLogDirsRequest(Message):
    """DescribeLogDirsRequest."""

    API_KEY = 35
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    topics: list[DescribableLogDirTopic] | None = wire.array(DescribableLogDirTopic, nullable="0+")


@dataclass(slots=True)
class DescribeLogDirsPartition(Struct):
    """DescribeLogDirsPartition."""

    partition_index: int = wire.int32()
    partition_size: int = wire.int64()
    offset_lag: int = wire.int64()
    is_future_key: bool = wire.boolean()


@dataclass(slots=True)
class DescribeLogDirsTopic(Struct):
    """DescribeLogDirsTopic."""

    name: str = wire.string()
    partitions: list[DescribeLogDirsPartition] = wire.array(DescribeLogDirsPartition)


@dataclass(slots=True)
class DescribeLogDirsResult(Struct):
    """DescribeLogDirsResult."""

    error_code: int = wire.int16()
    log_dir: str = wire.string()
    topics: list[DescribeLogDirsTopic] = wire.array(DescribeLogDirsTopic)


@dataclass(slots=True)
class DescribeLogDirsResponse(Message):
    """DescribeLogDirsResponse."""

    API_KEY = 35
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[DescribeLogDirsResult] = wire.array(DescribeLogDirsResult)
