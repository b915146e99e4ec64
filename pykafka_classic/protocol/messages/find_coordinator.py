"""FindCoordinator."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class FindCoordinatorRequest(Message):
    """FindCoordinatorRequest."""

    API_KEY = 10
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    key: str = wire.string()
    key_type: int = wire.int8("1+")


@dataclass(slots=True)
class FindCoordinatorResponse(Message):
    """FindCoordinatorResponse."""

    API_KEY = 10
    VALID_VERSIONS = Versions(0, 3)
    FLEXIBLE_VERSIONS = Versions(3, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    error_code: int = wire.int16()
    error_message: str | None = wire.string("1+", nullable="1+", ignorable=True)
    node_id: int = wire.int32()
    host: str = wire.string()
    port: int = wire.int32()
