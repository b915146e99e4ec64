"""OffsetCommit."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetCommitRequestPartition(Struct):
    """OffsetCommitRequestPartition."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("6+", default=-1, ignorable=True)
    commit_timestamp: int = wire.int64("1", default=-1)
    committed_metadata: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class OffsetCommitRequestTopic(Struct):
    """OffsetCommitRequestTopic."""

    name: str = wire.string()
    partitions: list[OffsetCommitRequestPartition] = wire.array(OffsetCommitRequestPartition)


@dataclass(slots=True)
class OffsetCommitRequest(Message):
    """OffsetCommitRequest."""

    API_KEY = 8
    VALID_VERSIONS = Versions(0, 8)
    FLEXIBLE_VERSIONS = Versions(8, LATEST)

    group_id: str = wire.string()
    generation_id: int = wire.int32("1+", default=-1, ignorable=True)
    member_id: str = wire.string("1+", ignorable=True)
    group_instance_id: str | None = wire.string("7+", nullable="7+", default=None)
    retention_time_ms: int = wire.int64("2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = wire.array(OffsetCommitRequestTopic)


@dataclass(slots=True)
class OffsetCommitResponsePartition(Struct):
    """OffsetCommitResponsePartition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class OffsetCommitResponseTopic(Struct):
    """OffsetCommitResponseTopic."""

    name: str = wire.string()
    partitions: list[OffsetCommitResponsePartition] = wire.array(OffsetCommitResponsePartition)


@dataclass(slots=True)
class OffsetCommitResponse(Message):
    """OffsetCommitResponse."""

    API_KEY = 8
    VALID_VERSIONS = Versions(0, 8)
    FLEXIBLE_VERSIONS = Versions(8, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)
    topics: list[OffsetCommitResponseTopic] = wire.array(OffsetCommitResponseTopic)
