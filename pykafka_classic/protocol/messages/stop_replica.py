"""StopReplica."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class StopReplicaPartitionV0(Struct):
    """StopReplicaPartitionV0."""

    topic_name: str = wire.string("0")
    partition_index: int = wire.int32("0")


@dataclass(slots=True)
class StopReplicaTopicV1(Struct):
    """StopReplicaTopicV1."""

    name: str = wire.string("1-2")
    partition_indexes: list[int] = wire.array(wire.INT32, "1-2")


@dataclass(slots=True)
class StopReplicaPartitionState(Struct):
    """StopReplicaPartitionState."""

    partition_index: int = wire.int32("3+")
    leader_epoch: int = wire.int32("3+", default=-1)
    delete_partition: bool = wire.boolean("3+")


@dataclass(slots=True)
class StopReplicaTopicState(Struct):
    """StopReplicaTopicState."""

    topic_name: str = wire.string("3+")
    partition_states: list[StopReplicaPartitionState] = wire.array(StopReplicaPartitionState, "3+")


@dataclass(slots=True)
class StopReplicaRequest(Message):
    """StopReplicaRequest."""

    API_KEY = 5
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()
    broker_epoch: int = wire.int64("1+", default=-1, ignorable=True)
    delete_partitions: bool = wire.boolean("0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = wire.array(StopReplicaPartitionV0, "0")
    topics: list[StopReplicaTopicV1] = wire.array(StopReplicaTopicV1, "1-2")
    topic_states: list[StopReplicaTopicState] = wire.array(StopReplicaTopicState, "3+")


@dataclass(slots=True)
class StopReplicaPartitionError(Struct):
    """StopReplicaPartitionError."""

    topic_name: str = wire.string()
    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class StopReplicaResponse(Message):
    """StopReplicaResponse."""

    API_KEY = 5
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    partition_errors: list[StopReplicaPartitionError] = wire.array(StopReplicaPartitionError)
