"""The controller tells a broker to stop following partitions, and perhaps to delete them.

The list of partitions has had three shapes: plain (v0), by topic (v1-2), by topic with leader epochs (v3).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class StopReplicaPartitionV0(Struct):
    """A partition (v0)."""

    topic_name: str = wire.string("0")
    partition_index: int = wire.int32("0")


@dataclass(slots=True)
class StopReplicaTopicV1(Struct):
    """Partitions of one topic (v1-2)."""

    name: str = wire.string("1-2")
    partition_indexes: list[int] = wire.array(wire.INT32, "1-2")


@dataclass(slots=True)
class StopReplicaPartitionState(Struct):
    """A partition, and whether its files go (v3)."""

    partition_index: int = wire.int32("3+")
    leader_epoch: int = wire.int32("3+", default=-1)  # -2: the topic is deleted; -1: from an older version
    delete_partition: bool = wire.boolean("3+")


@dataclass(slots=True)
class StopReplicaTopicState(Struct):
    """Partitions of one topic (v3)."""

    topic_name: str = wire.string("3+")
    partition_states: list[StopReplicaPartitionState] = wire.array(StopReplicaPartitionState, "3+")


@dataclass(slots=True)
class StopReplicaRequest(Message):
    """Partitions to stop."""

    API_KEY = 5
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()  # requests of a controller with a lower epoch than one seen before are refused (11)
    # Czxid of the broker's znode: fences requests meant for an earlier life of the broker; -1: no check
    broker_epoch: int = wire.int64("1+", default=-1, ignorable=True)
    delete_partitions: bool = wire.boolean("0-2")  # v3 tells it for each partition
    ungrouped_partitions: list[StopReplicaPartitionV0] = wire.array(StopReplicaPartitionV0, "0")
    topics: list[StopReplicaTopicV1] = wire.array(StopReplicaTopicV1, "1-2")
    topic_states: list[StopReplicaTopicState] = wire.array(StopReplicaTopicState, "3+")


@dataclass(slots=True)
class StopReplicaPartitionError(Struct):
    """What became of one partition."""

    topic_name: str = wire.string()
    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class StopReplicaResponse(Message):
    """A top-level error means that nothing was stopped."""

    API_KEY = 5
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    partition_errors: list[StopReplicaPartitionError] = wire.array(StopReplicaPartitionError)
