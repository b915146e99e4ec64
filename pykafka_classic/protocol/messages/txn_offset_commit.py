"""TxnOffsetCommit."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class TxnOffsetCommitRequestPartition(Struct):
    """TxnOffsetCommitRequestPartition."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("2+", default=-1, ignorable=True)
    committed_metadata: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic(Struct):
    """TxnOffsetCommitRequestTopic."""

    name: str = wire.string()
    partitions: list[TxnOffsetCommitRequestPartition] = wire.array(TxnOffsetCommitRequestPartition)


@dataclass(slots=True)
class TxnOffsetCommitRequest(Message):
    """TxnOffsetCommitRequest."""

    API_KEY = 28
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    group_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    generation_id: int = wire.int32("3+", default=-1)
    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = wire.array(TxnOffsetCommitRequestTopic)


@dataclass(slots=True)
class TxnOffsetCommitResponsePartition(Struct):
    """TxnOffsetCommitResponsePartition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic(Struct):
    """TxnOffsetCommitResponseTopic."""

    name: str = wire.string()
    partitions: list[TxnOffsetCommitResponsePartition] = wire.array(TxnOffsetCommitResponsePartition)


@dataclass(slots=True)
class TxnOffsetCommitResponse(Message):
    """TxnOffsetCommitResponse."""

    API_KEY = 28
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()
    topics: list[TxnOffsetCommitResponseTopic] = wire.array(TxnOffsetCommitResponseTopic)
