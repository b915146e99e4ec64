"""KRaft: a piece of a metadata snapshot. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class FetchSnapshotRequestSnapshotId(Struct):
    """Names a snapshot."""

    end_offset: int = wire.int64()
    epoch: int = wire.int32()


@dataclass(slots=True)
class FetchSnapshotRequestPartitionSnapshot(Struct):
    """From where in a snapshot to read."""

    partition: int = wire.int32()
    current_leader_epoch: int = wire.int32()
    snapshot_id: FetchSnapshotRequestSnapshotId = wire.struct(FetchSnapshotRequestSnapshotId)
    position: int = wire.int64()


@dataclass(slots=True)
class FetchSnapshotRequestTopicSnapshot(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[FetchSnapshotRequestPartitionSnapshot] = wire.array(FetchSnapshotRequestPartitionSnapshot)


@dataclass(slots=True)
class FetchSnapshotRequest(Message):
    """Pieces of snapshots."""

    API_KEY = 59
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    cluster_id: str | None = wire.tagged(0, wire.string(nullable="0+", default=None))
    replica_id: int = wire.int32(default=-1)
    max_bytes: int = wire.int32(default=2147483647)
    topics: list[FetchSnapshotRequestTopicSnapshot] = wire.array(FetchSnapshotRequestTopicSnapshot)


@dataclass(slots=True)
class FetchSnapshotResponseSnapshotId(Struct):
    """Names a snapshot."""

    end_offset: int = wire.int64()
    epoch: int = wire.int32()


@dataclass(slots=True)
class LeaderIdAndEpoch(Struct):
    """Who leads the quorum."""

    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class FetchSnapshotResponsePartitionSnapshot(Struct):
    """A piece of one snapshot."""

    index: int = wire.int32()
    error_code: int = wire.int16()
    snapshot_id: FetchSnapshotResponseSnapshotId = wire.struct(FetchSnapshotResponseSnapshotId)
    current_leader: LeaderIdAndEpoch = wire.tagged(0, wire.struct(LeaderIdAndEpoch))
    size: int = wire.int64()
    position: int = wire.int64()
    unaligned_records: wire.Records | None = wire.records()


@dataclass(slots=True)
class FetchSnapshotResponseTopicSnapshot(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[FetchSnapshotResponsePartitionSnapshot] = wire.array(FetchSnapshotResponsePartitionSnapshot)


@dataclass(slots=True)
class FetchSnapshotResponse(Message):
    """Pieces of snapshots."""

    API_KEY = 59
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    topics: list[FetchSnapshotResponseTopicSnapshot] = wire.array(FetchSnapshotResponseTopicSnapshot)
