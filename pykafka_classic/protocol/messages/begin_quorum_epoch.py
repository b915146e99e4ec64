"""KRaft: a new leader of the metadata quorum announces itself. A broker with ZooKeeper never serves it; here for the tools that read frames."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class BeginQuorumEpochRequestPartitionData(Struct):
    """The new leader of one partition."""

    partition_index: int = wire.int32()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class BeginQuorumEpochRequestTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[BeginQuorumEpochRequestPartitionData] = wire.array(BeginQuorumEpochRequestPartitionData)


@dataclass(slots=True)
class BeginQuorumEpochRequest(Message):
    """A leader's announcement."""

    API_KEY = 53
    VALID_VERSIONS = Versions(0, 0)

    cluster_id: str | None = wire.string(nullable="0+", default=None)
    topics: list[BeginQuorumEpochRequestTopicData] = wire.array(BeginQuorumEpochRequestTopicData)


@dataclass(slots=True)
class BeginQuorumEpochResponsePartitionData(Struct):
    """What the receiver knows of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class BeginQuorumEpochResponseTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[BeginQuorumEpochResponsePartitionData] = wire.array(BeginQuorumEpochResponsePartitionData)


@dataclass(slots=True)
class BeginQuorumEpochResponse(Message):
    """Whether the leader is accepted."""

    API_KEY = 53
    VALID_VERSIONS = Versions(0, 0)

    error_code: int = wire.int16()
    topics: list[BeginQuorumEpochResponseTopicData] = wire.array(BeginQuorumEpochResponseTopicData)
