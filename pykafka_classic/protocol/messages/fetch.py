"""Fetch."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class FetchPartition(Struct):
    """FetchPartition."""

    partition: int = wire.int32()
    current_leader_epoch: int = wire.int32("9+", default=-1, ignorable=True)
    fetch_offset: int = wire.int64()
    last_fetched_epoch: int = wire.int32("12+", default=-1)
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)
    partition_max_bytes: int = wire.int32()


@dataclass(slots=True)
class FetchTopic(Struct):
    """FetchTopic."""

    topic: str = wire.string()
    partitions: list[FetchPartition] = wire.array(FetchPartition)


@dataclass(slots=True)
class ForgottenTopic(Struct):
    """ForgottenTopic."""

    topic: str = wire.string("7+")
    partitions: list[int] = wire.array(wire.INT32, "7+")


@dataclass(slots=True)
class FetchRequest(Message):
    """FetchRequest."""

    API_KEY = 1
    VALID_VERSIONS = Versions(0, 12)
    FLEXIBLE_VERSIONS = Versions(12, LATEST)

    cluster_id: str | None = wire.tagged(0, wire.string("12+", nullable="12+", default=None, ignorable=True))
    replica_id: int = wire.int32()
    max_wait_ms: int = wire.int32()
    min_bytes: int = wire.int32()
    max_bytes: int = wire.int32("3+", default=2147483647, ignorable=True)
    isolation_level: int = wire.int8("4+", ignorable=True)
    session_id: int = wire.int32("7+", ignorable=True)
    session_epoch: int = wire.int32("7+", default=-1, ignorable=True)
    topics: list[FetchTopic] = wire.array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = wire.array(ForgottenTopic, "7+")
    rack_id: str = wire.string("11+", ignorable=True)


@dataclass(slots=True)
class EpochEndOffset(Struct):
    """EpochEndOffset."""

    epoch: int = wire.int32("12+", default=-1)
    end_offset: int = wire.int64("12+", default=-1)


@dataclass(slots=True)
class LeaderIdAndEpoch(Struct):
    """LeaderIdAndEpoch."""

    leader_id: int = wire.int32("12+", default=-1)
    leader_epoch: int = wire.int32("12+", default=-1)


@dataclass(slots=True)
class SnapshotId(Struct):
    """SnapshotId."""

    end_offset: int = wire.int64(default=-1)
    epoch: int = wire.int32(default=-1)


@dataclass(slots=True)
class AbortedTransaction(Struct):
    """AbortedTransaction."""

    producer_id: int = wire.int64("4+")
    first_offset: int = wire.int64("4+")


@dataclass(slots=True)
class FetchablePartitionResponse(Struct):
    """FetchablePartitionResponse."""

    partition: int = wire.int32()
    error_code: int = wire.int16()
    high_watermark: int = wire.int64()
    last_stable_offset: int = wire.int64("4+", default=-1, ignorable=True)
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = wire.tagged(0, wire.struct(EpochEndOffset, "12+"))
    current_leader: LeaderIdAndEpoch = wire.tagged(1, wire.struct(LeaderIdAndEpoch, "12+"))
    snapshot_id: SnapshotId = wire.tagged(2, wire.struct(SnapshotId, "12+"))
    aborted_transactions: list[AbortedTransaction] | None = wire.array(AbortedTransaction, "4+", nullable="4+", ignorable=True)
    preferred_read_replica: int = wire.int32("11+", default=-1)
    record_set: wire.Records | None = wire.records(nullable="0+")


@dataclass(slots=True)
class FetchableTopicResponse(Struct):
    """FetchableTopicResponse."""

    topic: str = wire.string()
    partition_responses: list[FetchablePartitionResponse] = wire.array(FetchablePartitionResponse)


@dataclass(slots=True)
class FetchResponse(Message):
    """FetchResponse."""

    API_KEY = 1
    VALID_VERSIONS = Versions(0, 12)
    FLEXIBLE_VERSIONS = Versions(12, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    error_code: int = wire.int16("7+", ignorable=True)
    session_id: int = wire.int32("7+")
    responses: list[FetchableTopicResponse] = wire.array(FetchableTopicResponse)
