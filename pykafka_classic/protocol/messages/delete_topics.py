"""Deletes topics, by name or (v6) by id. Sent to the controller; the answer does not wait for the files to go."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteTopicState(Struct):
    """A topic to delete: by name or by id, never by both."""

    name: str | None = wire.string("6+", nullable="6+")
    topic_id: bytes = wire.uuid("6+")


@dataclass(slots=True)
class DeleteTopicsRequest(Message):
    """Topics to delete."""

    API_KEY = 20
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    topics: list[DeleteTopicState] = wire.array(DeleteTopicState, "6+")
    topic_names: list[str] = wire.array(wire.STRING, "0-5", ignorable=True)
    timeout_ms: int = wire.int32()


@dataclass(slots=True)
class DeletableTopicResult(Struct):
    """What became of one topic."""

    name: str | None = wire.string(nullable="6+")
    topic_id: bytes = wire.uuid("6+", ignorable=True)
    error_code: int = wire.int16()
    error_message: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)


@dataclass(slots=True)
class DeleteTopicsResponse(Message):
    """One entry for each topic."""

    API_KEY = 20
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    responses: list[DeletableTopicResult] = wire.array(DeletableTopicResult)
