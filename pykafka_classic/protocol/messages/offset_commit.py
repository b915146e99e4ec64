"""A group commits positions. Version 0 writes them to ZooKeeper, later ones to `__consumer_offsets`."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetCommitRequestPartition(Struct):
    """A position in one partition."""

    partition_index: int = wire.int32()
    committed_offset: int = wire.int64()
    committed_leader_epoch: int = wire.int32("6+", default=-1, ignorable=True)  # of the last record that was consumed; -1: not known
    commit_timestamp: int = wire.int64("1", default=-1)  # v1 only; -1: now
    committed_metadata: str | None = wire.string(nullable="0+")  # a note of the consumer's own


@dataclass(slots=True)
class OffsetCommitRequestTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OffsetCommitRequestPartition] = wire.array(OffsetCommitRequestPartition)


@dataclass(slots=True)
class OffsetCommitRequest(Message):
    """Positions to commit. Generation -1 and an empty member id: from outside the group, which must have no members."""

    API_KEY = 8
    VALID_VERSIONS = Versions(0, 8)
    FLEXIBLE_VERSIONS = Versions(8, LATEST)

    group_id: str = wire.string()
    generation_id: int = wire.int32("1+", default=-1, ignorable=True)  # -1: not a member
    member_id: str = wire.string("1+", ignorable=True)
    group_instance_id: str | None = wire.string("7+", nullable="7+", default=None)  # of a static member (KIP-345); null for a dynamic one
    retention_time_ms: int = wire.int64("2-4", default=-1, ignorable=True)  # -1: as the broker is configured
    topics: list[OffsetCommitRequestTopic] = wire.array(OffsetCommitRequestTopic)


@dataclass(slots=True)
class OffsetCommitResponsePartition(Struct):
    """What became of one position."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class OffsetCommitResponseTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OffsetCommitResponsePartition] = wire.array(OffsetCommitResponsePartition)


@dataclass(slots=True)
class OffsetCommitResponse(Message):
    """One entry for each topic."""

    API_KEY = 8
    VALID_VERSIONS = Versions(0, 8)
    FLEXIBLE_VERSIONS = Versions(8, LATEST)

    throttle_time_ms: int = wire.int32("3+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    topics: list[OffsetCommitResponseTopic] = wire.array(OffsetCommitResponseTopic)
