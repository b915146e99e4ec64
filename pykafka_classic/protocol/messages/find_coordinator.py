"""Which broker coordinates a group or a transactional id?"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class FindCoordinatorRequest(Message):
    """A group or a transactional id."""

    API_KEY = 10
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    key: str = wire.string()
    key_type: int = wire.int8("1+")  # 0 group, 1 transactional id


@dataclass(slots=True)
class FindCoordinatorResponse(Message):
    """The coordinator's address at the listener that the request came in on."""

    API_KEY = 10
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string("1+", nullable="1+", ignorable=True)
    node_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
