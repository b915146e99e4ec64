"""Moves the log start offset of partitions forward, so that what lies before it can be deleted (KIP-107). Sent to the leader."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteRecordsPartition(Struct):
    """Up to where the records of one partition shall go."""

    partition_index: int = wire.int32()
    offset: int = wire.int64()  # the new log start offset; -1: the high watermark


@dataclass(slots=True)
class DeleteRecordsTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[DeleteRecordsPartition] = wire.array(DeleteRecordsPartition)


@dataclass(slots=True)
class DeleteRecordsRequest(Message):
    """Partitions to cut at their beginning."""

    API_KEY = 21
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    topics: list[DeleteRecordsTopic] = wire.array(DeleteRecordsTopic)
    timeout_ms: int = wire.int32()


@dataclass(slots=True)
class DeleteRecordsPartitionResult(Struct):
    """What became of one partition."""

    partition_index: int = wire.int32()
    low_watermark: int = wire.int64()  # the smallest log start offset of all replicas
    error_code: int = wire.int16()


@dataclass(slots=True)
class DeleteRecordsTopicResult(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[DeleteRecordsPartitionResult] = wire.array(DeleteRecordsPartitionResult)


@dataclass(slots=True)
class DeleteRecordsResponse(Message):
    """Comes when all replicas have followed, or at the time-out."""

    API_KEY = 21
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    topics: list[DeleteRecordsTopicResult] = wire.array(DeleteRecordsTopicResult)
