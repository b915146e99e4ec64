"""DeleteTopics."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DeleteTopicState(Struct):
    """DeleteTopicState."""

    name: str | None = wire.string("6+", nullable="6+")
    topic_id: bytes = wire.uuid("6+")


@dataclass(slots=True)
class DeleteTopicsRequest(Message):
    """DeleteTopicsRequest."""

    API_KEY = 20
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    topics: list[DeleteTopicState] = wire.array(DeleteTopicState, "6+")
    topic_names: list[str] = wire.array(wire.STRING, "0-5", ignorable=True)
    timeout_ms: int = wire.int32()


@dataclass(slots=True)
class DeletableTopicResult(Struct):
    """DeletableTopicResult."""

    name: str | None = wire.string(nullable="6+")
    topic_id: bytes = wire.uuid("6+", ignorable=True)
    error_code: int = wire.int16()
    error_message: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)


@dataclass(slots=True)
class DeleteTopicsResponse(Message):
    """DeleteTopicsResponse."""

    API_KEY = 20
    VALID_VERSIONS = Versions(0, 6)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    responses: list[DeletableTopicResult] = wire.array(DeletableTopicResult)
