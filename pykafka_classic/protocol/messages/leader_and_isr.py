"""LeaderAndIsr."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class LeaderAndIsrPartitionState(Struct):
    """LeaderAndIsrPartitionState."""

    topic_name: str = wire.string("0-1", ignorable=True)
    partition_index: int = wire.int32()
    controller_epoch: int = wire.int32()
    leader: int = wire.int32()
    leader_epoch: int = wire.int32()
    isr: list[int] = wire.array(wire.INT32)
    zk_version: int = wire.int32()
    replicas: list[int] = wire.array(wire.INT32)
    adding_replicas: list[int] = wire.array(wire.INT32, "3+", ignorable=True)
    removing_replicas: list[int] = wire.array(wire.INT32, "3+", ignorable=True)
    is_new: bool = wire.boolean("1+", ignorable=True)


@dataclass(slots=True)
class LeaderAndIsrTopicState(Struct):
    """LeaderAndIsrTopicState."""

    topic_name: str = wire.string("2+")
    topic_id: bytes = wire.uuid("5+", ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = wire.array(LeaderAndIsrPartitionState, "2+")


@dataclass(slots=True)
class LeaderAndIsrLiveLeader(Struct):
    """LeaderAndIsrLiveLeader."""

    broker_id: int = wire.int32()
    host_name: str = wire.string()
    port: int = wire.int32()


@dataclass(slots=True)
class LeaderAndIsrRequest(Message):
    """LeaderAndIsrRequest."""

    API_KEY = 4
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    controller_id: int = wire.int32()
    controller_epoch: int = wire.int32()
    broker_epoch: int = wire.int64("2+", default=-1, ignorable=True)
    type: int = wire.int8("5+")
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = wire.array(LeaderAndIsrPartitionState, "0-1")
    topic_states: list[LeaderAndIsrTopicState] = wire.array(LeaderAndIsrTopicState, "2+")
    live_leaders: list[LeaderAndIsrLiveLeader] = wire.array(LeaderAndIsrLiveLeader)


@dataclass(slots=True)
class LeaderAndIsrPartitionError(Struct):
    """LeaderAndIsrPartitionError."""

    topic_name: str = wire.string("0-4", ignorable=True)
    partition_index: int = wire.int32()
    error_code: int = wire.int16()


@dataclass(slots=True)
class LeaderAndIsrTopicError(Struct):
    """LeaderAndIsrTopicError."""

    topic_id: bytes = wire.uuid("5+")
    partition_errors: list[LeaderAndIsrPartitionError] = wire.array(LeaderAndIsrPartitionError, "5+")


@dataclass(slots=True)
class LeaderAndIsrResponse(Message):
    """LeaderAndIsrResponse."""

    API_KEY = 4
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    error_code: int = wire.int16()
    partition_errors: list[LeaderAndIsrPartitionError] = wire.array(LeaderAndIsrPartitionError, "0-4")
    topics: list[LeaderAndIsrTopicError] = wire.array(LeaderAndIsrTopicError, "5+")
