"""Vote."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class VoteRequestPartitionData(Struct):
    """VoteRequestPartitionData."""

    partition_index: int = wire.int32()
    candidate_epoch: int = wire.int32()
    candidate_id: int = wire.int32()
    last_offset_epoch: int = wire.int32()
    last_offset: int = wire.int64()


@dataclass(slots=True)
class VoteRequestTopicData(Struct):
    """VoteRequestTopicData."""

    topic_name: str = wire.string()
    partitions: list[VoteRequestPartitionData] = wire.array(VoteRequestPartitionData)


@dataclass(slots=True)
class VoteRequest(Message):
    """VoteRequest."""

    API_KEY = 52
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    cluster_id: str | None = wire.string(nullable="0+", default=None)
    topics: list[VoteRequestTopicData] = wire.array(VoteRequestTopicData)


@dataclass(slots=True)
class VoteResponsePartitionData(Struct):
    """VoteResponsePartitionData."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    vote_granted: bool = wire.boolean()


@dataclass(slots=True)
class VoteResponseTopicData(Struct):
    """VoteResponseTopicData."""

    topic_name: str = wire.string()
    partitions: list[VoteResponsePartitionData] = wire.array(VoteResponsePartitionData)


@dataclass(slots=True)
class VoteResponse(Message):
    """VoteResponse."""

    API_KEY = 52
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    error_code: int = wire.int16()
    topics: list[VoteResponseTopicData] = wire.array(VoteResponseTopicData)
