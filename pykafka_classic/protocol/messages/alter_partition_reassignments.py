"""Starts, changes or cancels reassignments of partitions to other brokers (KIP-455). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ReassignablePartition(Struct):
    """New replicas for one partition."""

    partition_index: int = wire.int32()
    replicas: list[int] | None = wire.array(wire.INT32, nullable="0+", default=None)  # null cancels


@dataclass(slots=True)
class ReassignableTopic(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[ReassignablePartition] = wire.array(ReassignablePartition)


@dataclass(slots=True)
class AlterPartitionReassignmentsRequest(Message):
    """Reassignments to start, change or cancel."""

    API_KEY = 45
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    timeout_ms: int = wire.int32(default=60000)
    topics: list[ReassignableTopic] = wire.array(ReassignableTopic)


@dataclass(slots=True)
class ReassignablePartitionResponse(Struct):
    """Whether it began for one partition."""

    partition_index: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class ReassignableTopicResponse(Struct):
    """Partitions of one topic."""

    name: str = wire.string()
    partitions: list[ReassignablePartitionResponse] = wire.array(ReassignablePartitionResponse)


@dataclass(slots=True)
class AlterPartitionReassignmentsResponse(Message):
    """Accepted, not finished: ListPartitionReassignments tells what is under way."""

    API_KEY = 45
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    responses: list[ReassignableTopicResponse] = wire.array(ReassignableTopicResponse)
