"""Reassignments under way (KIP-455). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ListPartitionReassignmentsTopics(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partition_indexes: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class ListPartitionReassignmentsRequest(Message):
    """Partitions to look at, or all."""

    API_KEY = 46
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    timeout_ms: int = wire.int32(default=60000)
    topics: list[ListPartitionReassignmentsTopics] | None = wire.array(ListPartitionReassignmentsTopics, nullable="0+", default=None)  # null: all


@dataclass(slots=True)
class OngoingPartitionReassignment(Struct):
    """A move under way."""

    partition_index: int = wire.int32()
    replicas: list[int] = wire.array(wire.INT32)
    adding_replicas: list[int] = wire.array(wire.INT32)
    removing_replicas: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class OngoingTopicReassignment(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[OngoingPartitionReassignment] = wire.array(OngoingPartitionReassignment)


@dataclass(slots=True)
class ListPartitionReassignmentsResponse(Message):
    """The moves under way."""

    API_KEY = 46
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    topics: list[OngoingTopicReassignment] = wire.array(OngoingTopicReassignment)
