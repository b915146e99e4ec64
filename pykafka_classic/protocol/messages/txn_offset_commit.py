"""Commits a group's positions as part of a transaction (KIP-98). Sent to the group coordinator after AddOffsetsToTxn."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class TxnOffsetCommitRequestPartition(Struct):
    """A position in one partition."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("2+", default=-1, ignorable=True)  # of the last record that was consumed; -1: not known
    committed_metadata: str | None = wire.string(nullable="0+")  # a note of the consumer's own


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[TxnOffsetCommitRequestPartition] = wire.array(TxnOffsetCommitRequestPartition)


@dataclass(slots=True)
class TxnOffsetCommitRequest(Message):
    """Positions that count when the transaction commits."""

    API_KEY = 28
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    transactional_id: str = wire.string()
    group_id: str = wire.string()
    producer_id: int = wire.int64()
    producer_epoch: int = wire.int16()
    generation_id: int = wire.int32("3+", default=-1)  # -1: not a member
    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)  # of a static member (KIP-345); null for a dynamic one
    topics: list[TxnOffsetCommitRequestTopic] = wire.array(TxnOffsetCommitRequestTopic)


@dataclass(slots=True)
class TxnOffsetCommitResponsePartition(Struct):
    """What became of one position."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[TxnOffsetCommitResponsePartition] = wire.array(TxnOffsetCommitResponsePartition)


@dataclass(slots=True)
class TxnOffsetCommitResponse(Message):
    """One entry for each topic."""

    API_KEY = 28
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    topics: list[TxnOffsetCommitResponseTopic] = wire.array(TxnOffsetCommitResponseTopic)
