"""DeleteRecords."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteRecordsPartition(Struct):
    """DeleteRecordsPartition."""

    partition_index: int = wire.int32()
    offset: int = wire.int64()


@dataclass(slots=True)
class DeleteRecordsTopic(Struct):
    """DeleteRecordsTopic."""

    name: str = wire.string()
    partitions: list[DeleteRecordsPartition] = wire.array(DeleteRecordsPartition)


@dataclass(slots=True)
class DeleteRecordsRequest(Message):
    """DeleteRecordsRequest."""

    API_KEY = 21
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    topics: list[DeleteRecordsTopic] = wire.array(DeleteRecordsTopic)
    timeout_ms: int = wire.int32()


@dataclass(slots=True)
class DeleteRecordsPartitionResult(Struct):
    """DeleteRecordsPartitionResult."""

    partition_index: int = wire.int32()
    low_watermark: int = wire.int64()
    error_code: int = wire.int16()


@dataclass(slots=True)
class DeleteRecordsTopicResult(Struct):
    """DeleteRecordsTopicResult."""

    name: str = wire.string()
    partitions: list[DeleteRecordsPartitionResult] = wire.array(DeleteRecordsPartitionResult)


@dataclass(slots=True)
class DeleteRecordsResponse(Message):
    """DeleteRecordsResponse."""

    API_KEY = 21
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()
    topics: list[DeleteRecordsTopicResult] = wire.array(DeleteRecordsTopicResult)
