"""OffsetForLeaderEpoch."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class OffsetForLeaderPartition(Struct):
    """OffsetForLeaderPartition."""

    partition: int = wire.int32()
    current_leader_epoch: int = wire.int32("2+", default=-1, ignorable=True)
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class OffsetForLeaderTopic(Struct):
    """OffsetForLeaderTopic."""

    topic: str = wire.string()
    partitions: list[OffsetForLeaderPartition] = wire.array(OffsetForLeaderPartition)


@dataclass(slots=True)
class OffsetForLeaderEpochRequest(Message):
    """OffsetForLeaderEpochRequest."""

    API_KEY = 23
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    replica_id: int = wire.int32("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = wire.array(OffsetForLeaderTopic)


@dataclass(slots=True)
class EpochEndOffset(Struct):
    """EpochEndOffset."""

    error_code: int = wire.int16()
    partition: int = wire.int32()
    leader_epoch: int = wire.int32("1+", default=-1, ignorable=True)
    end_offset: int = wire.int64(default=-1)


@dataclass(slots=True)
class OffsetForLeaderTopicResult(Struct):
    """OffsetForLeaderTopicResult."""

    topic: str = wire.string()
    partitions: list[EpochEndOffset] = wire.array(EpochEndOffset)


@dataclass(slots=True)
class OffsetForLeaderEpochResponse(Message):
    """OffsetForLeaderEpochResponse."""

    API_KEY = 23
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = wire.array(OffsetForLeaderTopicResult)
