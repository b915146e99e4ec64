"""BeginQuorumEpoch."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Struct, Versions


@dataclass(slots=True)
class BeginQuorumEpochRequestPartitionData(Struct):
    """BeginQuorumEpochRequestPartitionData."""

    partition_index: int = wire.int32()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class BeginQuorumEpochRequestTopicData(Struct):
    """BeginQuorumEpochRequestTopicData."""

    topic_name: str = wire.string()
    partitions: list[BeginQuorumEpochRequestPartitionData] = wire.array(BeginQuorumEpochRequestPartitionData)


@dataclass(slots=True)
class BeginQuorumEpochRequest(Message):
    """BeginQuorumEpochRequest."""

    API_KEY = 53
    VALID_VERSIONS = Versions(0, 0)

    cluster_id: str | None = wire.string(nullable="0+", default=None)
    topics: list[BeginQuorumEpochRequestTopicData] = wire.array(BeginQuorumEpochRequestTopicData)


@dataclass(slots=True)
class BeginQuorumEpochResponsePartitionData(Struct):
    """BeginQuorumEpochResponsePartitionData."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()


@dataclass(slots=True)
class BeginQuorumEpochResponseTopicData(Struct):
    """BeginQuorumEpochResponseTopicData."""

    topic_name: str = wire.string()
    partitions: list[BeginQuorumEpochResponsePartitionData] = wire.array(BeginQuorumEpochResponsePartitionData)


@dataclass(slots=True)
class BeginQuorumEpochResponse(Message):
    """BeginQuorumEpochResponse."""

    API_KEY = 53
    VALID_VERSIONS = Versions(0, 0)

    error_code: int = wire.int16()
    topics: list[BeginQuorumEpochResponseTopicData] = wire.array(BeginQuorumEpochResponseTopicData)
