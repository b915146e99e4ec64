"""Records from the log: for consumers, and for followers, who replicate with it.

Since v7 a fetch may belong to a session, in which only changes travel (KIP-227). v12 reports a follower's divergence instead of data (KIP-595).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class FetchPartition(Struct):
    """From where to read one partition, and what the reader knows of its epochs."""

    partition: int = wire.int32()
    current_leader_epoch: int = wire.int32("9+", default=-1, ignorable=True)  # -1: not known, do not check
    fetch_offset: int = wire.int64()
    last_fetched_epoch: int = wire.int32("12+", default=-1)  # of the follower's last record; the leader finds divergence with it
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)  # of the follower; -1 from consumers
    partition_max_bytes: int = wire.int32()  # a hard limit in v0-2 only


@dataclass(slots=True)
class FetchTopic(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partitions: list[FetchPartition] = wire.array(FetchPartition)


@dataclass(slots=True)
class ForgottenTopic(Struct):
    """Partitions that leave the session."""

    topic: str = wire.string("7+")
    partitions: list[int] = wire.array(wire.INT32, "7+")


@dataclass(slots=True)
class FetchRequest(Message):
    """Partitions to read, in the order in which they shall be served."""

    API_KEY = 1
    VALID_VERSIONS = Versions(0, 12)
    FLEXIBLE_VERSIONS = Versions(12, LATEST)

    cluster_id: str | None = wire.tagged(0, wire.string("12+", nullable="12+", default=None, ignorable=True))  # checked in KRaft only
    replica_id: int = wire.int32()  # a follower's broker id; -1: a consumer, -2: a debugging one
    max_wait_ms: int = wire.int32()  # how long to wait for min_bytes
    min_bytes: int = wire.int32()  # answer at once when so much can be read
    max_bytes: int = wire.int32("3+", default=2147483647, ignorable=True)  # of the whole answer; the first batch comes whole all the same
    isolation_level: int = wire.int8("4+", ignorable=True)  # 0 read_uncommitted, 1 read_committed
    session_id: int = wire.int32("7+", ignorable=True)  # 0: none
    session_epoch: int = wire.int32("7+", default=-1, ignorable=True)  # 0: new session, -1: no session (a full fetch), else the next of the session
    topics: list[FetchTopic] = wire.array(FetchTopic)
    forgotten_topics_data: list[ForgottenTopic] = wire.array(ForgottenTopic, "7+")
    rack_id: str = wire.string("11+", ignorable=True)  # of the consumer: a near replica may answer (KIP-392)


@dataclass(slots=True)
class EpochEndOffset(Struct):
    """Where the follower's log and the leader's part: the follower truncates there."""

    epoch: int = wire.int32("12+", default=-1)
    end_offset: int = wire.int64("12+", default=-1)  # -1: not known


@dataclass(slots=True)
class LeaderIdAndEpoch(Struct):
    """Who leads, where the receiver of the request does not."""

    leader_id: int = wire.int32("12+", default=-1)
    leader_epoch: int = wire.int32("12+", default=-1)


@dataclass(slots=True)
class SnapshotId(Struct):
    """KRaft: the snapshot to fetch in place of records."""

    end_offset: int = wire.int64(default=-1)
    epoch: int = wire.int32(default=-1)


@dataclass(slots=True)
class AbortedTransaction(Struct):
    """A transaction whose records a read_committed consumer must drop, from `first_offset` to its abort marker."""

    producer_id: int = wire.int64("4+")
    first_offset: int = wire.int64("4+")


@dataclass(slots=True)
class FetchablePartitionResponse(Struct):
    """Records of one partition. They begin with a whole batch that may start before the offset asked for."""

    partition: int = wire.int32()
    error_code: int = wire.int16()
    high_watermark: int = wire.int64()
    last_stable_offset: int = wire.int64("4+", default=-1, ignorable=True)  # all transactions before it are decided
    log_start_offset: int = wire.int64("5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = wire.tagged(0, wire.struct(EpochEndOffset, "12+"))
    current_leader: LeaderIdAndEpoch = wire.tagged(1, wire.struct(LeaderIdAndEpoch, "12+"))
    snapshot_id: SnapshotId = wire.tagged(2, wire.struct(SnapshotId, "12+"))
    aborted_transactions: list[AbortedTransaction] | None = wire.array(AbortedTransaction, "4+", nullable="4+", ignorable=True)  # null for read_uncommitted
    preferred_read_replica: int = wire.int32("11+", default=-1)  # a nearer replica to ask instead; -1: none
    record_set: wire.Records | None = wire.records(nullable="0+")


@dataclass(slots=True)
class FetchableTopicResponse(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partition_responses: list[FetchablePartitionResponse] = wire.array(FetchablePartitionResponse)


@dataclass(slots=True)
class FetchResponse(Message):
    """Since v7 a top-level error concerns the session."""

    API_KEY = 1
    VALID_VERSIONS = Versions(0, 12)
    FLEXIBLE_VERSIONS = Versions(12, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16("7+", ignorable=True)
    session_id: int = wire.int32("7+")  # 0: no session was made
    responses: list[FetchableTopicResponse] = wire.array(FetchableTopicResponse)
