"""Where does a leader epoch end in the leader's log? A follower truncates there (KIP-101), a consumer detects lost records (KIP-320)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetForLeaderPartition(Struct):
    """An epoch in one partition."""

    partition: int = wire.int32()
    current_leader_epoch: int = wire.int32("2+", default=-1, ignorable=True)  # -1: not known, do not check
    leader_epoch: int = wire.int32()  # the epoch asked for


@dataclass(slots=True)
class OffsetForLeaderTopic(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partitions: list[OffsetForLeaderPartition] = wire.array(OffsetForLeaderPartition)


@dataclass(slots=True)
class OffsetForLeaderEpochRequest(Message):
    """Epochs to look up."""

    API_KEY = 23
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    replica_id: int = wire.int32("3+", default=-2, ignorable=True)  # a follower's broker id; -1: a consumer, -2: an unknown sender
    topics: list[OffsetForLeaderTopic] = wire.array(OffsetForLeaderTopic)


@dataclass(slots=True)
class EpochEndOffset(Struct):
    """Where the largest epoch at or below the one asked for ends."""

    error_code: int = wire.int16()
    partition: int = wire.int32()
    leader_epoch: int = wire.int32("1+", default=-1, ignorable=True)
    end_offset: int = wire.int64(default=-1)  # -1: not known


@dataclass(slots=True)
class OffsetForLeaderTopicResult(Struct):
    """Partitions of one topic."""

    topic: str = wire.string()
    partitions: list[EpochEndOffset] = wire.array(EpochEndOffset)


@dataclass(slots=True)
class OffsetForLeaderEpochResponse(Message):
    """One entry for each topic."""

    API_KEY = 23
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    topics: list[OffsetForLeaderTopicResult] = wire.array(OffsetForLeaderTopicResult)
