"""The controller tells a broker which partitions it leads or follows. Sent only by the controller; fenced by its epoch and the receiver's."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class LeaderAndIsrPartitionState(Struct):
    """The state of one partition; v2 and later group them by topic."""

    topic_name: str = wire.string("0-1", ignorable=True)
    partition_index: int = wire.int32()
    controller_epoch: int = wire.int32()  # requests of a controller with a lower epoch than one seen before are refused (11)
    leader: int = wire.int32()  # -1 none
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    zk_version: int = wire.int32()  # of the partition's state znode
    replicas: list[int] = wire.array(wire.INT32)
    adding_replicas: list[int] = wire.array(wire.INT32, "3+", ignorable=True)  # of a reassignment under way
    removing_replicas: list[int] = wire.array(wire.INT32, "3+", ignorable=True)  # of a reassignment under way
    is_new: bool = wire.boolean("1+", ignorable=True)  # the replica's log may be created


@dataclass(slots=True)
class LeaderAndIsrTopicState(Struct):
    """Partitions of one topic."""

    topic_name: str = wire.string("2+")
    topic_id: bytes = wire.uuid("5+", ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = wire.array(LeaderAndIsrPartitionState, "2+")


@dataclass(slots=True)
class LeaderAndIsrLiveLeader(Struct):
    """Address of a broker that leads one of the partitions."""

    broker_id: int = wire.int32()
    host_name: str = wire.string()
    port: int = wire.int32()


@dataclass(slots=True)
class LeaderAndIsrRequest(Message):
    """Partitions whose state changed."""

    API_KEY = 4
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()  # requests of a controller with a lower epoch than one seen before are refused (11)
    # Czxid of the broker's znode: fences requests meant for an earlier life of the broker; -1: no check
    broker_epoch: int = wire.int64("2+", default=-1, ignorable=True)
    type: int = wire.int8("5+")  # 0 in 2.8: not told whether all partitions are named
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = wire.array(LeaderAndIsrPartitionState, "0-1")
    topic_states: list[LeaderAndIsrTopicState] = wire.array(LeaderAndIsrTopicState, "2+")
    live_leaders: list[LeaderAndIsrLiveLeader] = wire.array(LeaderAndIsrLiveLeader)


@dataclass(slots=True)
class LeaderAndIsrPartitionError(Struct):
    """What became of one partition."""

    topic_name: str = wire.string("0-4", ignorable=True)
    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class LeaderAndIsrTopicError(Struct):
    """Partitions of one topic."""

    topic_id: bytes = wire.uuid("5+")
    partition_errors: list[LeaderAndIsrPartitionError] = wire.array(LeaderAndIsrPartitionError, "5+")


@dataclass(slots=True)
class LeaderAndIsrResponse(Message):
    """A top-level error means that nothing was applied."""

    API_KEY = 4
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    error_code: int = wire.int16()
    partition_errors: list[LeaderAndIsrPartitionError] = wire.array(LeaderAndIsrPartitionError, "0-4")
    topics: list[LeaderAndIsrTopicError] = wire.array(LeaderAndIsrTopicError, "5+")
