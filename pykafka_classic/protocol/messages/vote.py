"""KRaft: a candidate asks for a vote. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class VoteRequestPartitionData(Struct):
    """A candidacy."""

    partition_index: int = wire.int32()
    candidate_epoch: int = wire.int32()
    candidate_id: int = wire.int32()
    last_offset_epoch: int = wire.int32()
    last_offset: int = wire.int64()


@dataclass(slots=True)
class VoteRequestTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[VoteRequestPartitionData] = wire.array(VoteRequestPartitionData)


@dataclass(slots=True)
class VoteRequest(Message):
    """Asks for votes."""

    API_KEY = 52
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    cluster_id: str | None = wire.string(nullable="0+", default=None)
    topics: list[VoteRequestTopicData] = wire.array(VoteRequestTopicData)


@dataclass(slots=True)
class VoteResponsePartitionData(Struct):
    """A vote."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    vote_granted: bool = wire.boolean()


@dataclass(slots=True)
class VoteResponseTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[VoteResponsePartitionData] = wire.array(VoteResponsePartitionData)


@dataclass(slots=True)
class VoteResponse(Message):
    """The votes."""

    API_KEY = 52
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    error_code: int = wire.int16()
    topics: list[VoteResponseTopicData] = wire.array(VoteResponseTopicData)
