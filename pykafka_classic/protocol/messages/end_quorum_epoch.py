"""KRaft: the leader of the metadata quorum resigns. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class EndQuorumEpochRequestPartitionData(Struct):
    """A partition whose leader resigns."""

    partition_index: int = wire.int32()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    preferred_successors: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class EndQuorumEpochRequestTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[EndQuorumEpochRequestPartitionData] = wire.array(EndQuorumEpochRequestPartitionData)


@dataclass(slots=True)
class EndQuorumEpochRequest(Message):
    """A leader's resignation."""

    API_KEY = 54
    VALID_VERSIONS = Versions(0, 0)

    cluster_id: str | None = wire.string(nullable="0+", default=None)
    topics: list[EndQuorumEpochRequestTopicData] = wire.array(EndQuorumEpochRequestTopicData)


@dataclass(slots=True)
class EndQuorumEpochResponsePartitionData(Struct):
    """What the receiver knows of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class EndQuorumEpochResponseTopicData(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string()
    partitions: list[EndQuorumEpochResponsePartitionData] = wire.array(EndQuorumEpochResponsePartitionData)


@dataclass(slots=True)
class EndQuorumEpochResponse(Message):
    """Whether it was taken note of."""

    API_KEY = 54
    VALID_VERSIONS = Versions(0, 0)

    error_code: int = wire.int16()
    topics: list[EndQuorumEpochResponseTopicData] = wire.array(EndQuorumEpochResponseTopicData)
