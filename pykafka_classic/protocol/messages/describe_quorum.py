"""KRaft: state of the metadata quorum. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeQuorumRequestPartitionData(Struct):
    """A partition of the metadata topic."""

    partition_index: int = wire.int32()


@dataclass(slots=True)
class DescribeQuorumRequestTopicData(Struct):
    """The metadata topic."""

    topic_name: str = wire.string()
    partitions: list[DescribeQuorumRequestPartitionData] = wire.array(DescribeQuorumRequestPartitionData)


@dataclass(slots=True)
class DescribeQuorumRequest(Message):
    """Asks for the quorum's state."""

    API_KEY = 55
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    topics: list[DescribeQuorumRequestTopicData] = wire.array(DescribeQuorumRequestTopicData)


@dataclass(slots=True)
class ReplicaState(Struct):
    """How far one replica has come."""

    replica_id: int = wire.int32()
    log_end_offset: int = wire.int64()


@dataclass(slots=True)
class DescribeQuorumResponsePartitionData(Struct):
    """State of the quorum of one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    leader_id: int = wire.int32()
    leader_epoch: int = wire.int32()
    high_watermark: int = wire.int64()
    current_voters: list[ReplicaState] = wire.array(ReplicaState)
    observers: list[ReplicaState] = wire.array(ReplicaState)


@dataclass(slots=True)
class DescribeQuorumResponseTopicData(Struct):
    """The metadata topic."""

    topic_name: str = wire.string()
    partitions: list[DescribeQuorumResponsePartitionData] = wire.array(DescribeQuorumResponsePartitionData)


@dataclass(slots=True)
class DescribeQuorumResponse(Message):
    """The quorum's state."""

    API_KEY = 55
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    error_code: int = wire.int16()
    topics: list[DescribeQuorumResponseTopicData] = wire.array(DescribeQuorumResponseTopicData)
