"""Adds partitions to topics (KIP-195). Sent to the controller."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class CreatePartitionsAssignment(Struct):
    """Brokers for one new partition."""

    broker_ids: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class CreatePartitionsTopic(Struct):
    """A topic that shall have more partitions."""

    name: str = wire.string()
    count: int = wire.int32()  # the new total
    # For the new partitions only; null: the controller chooses
    assignments: list[CreatePartitionsAssignment] | None = wire.array(CreatePartitionsAssignment, nullable="0+")


@dataclass(slots=True)
class CreatePartitionsRequest(Message):
    """Topics to enlarge."""

    API_KEY = 37
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    topics: list[CreatePartitionsTopic] = wire.array(CreatePartitionsTopic)
    timeout_ms: int = wire.int32()
    validate_only: bool = wire.boolean()  # check, but change nothing


@dataclass(slots=True)
class CreatePartitionsTopicResult(Struct):
    """What became of one topic."""

    name: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+", default=None)


@dataclass(slots=True)
class CreatePartitionsResponse(Message):
    """One entry for each topic."""

    API_KEY = 37
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[CreatePartitionsTopicResult] = wire.array(CreatePartitionsTopicResult)
