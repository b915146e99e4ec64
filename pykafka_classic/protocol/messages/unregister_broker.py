"""UnregisterBroker."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class UnregisterBrokerRequest(Message):
    """UnregisterBrokerRequest."""

    API_KEY = 64
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()


@dataclass(slots=True)
class UnregisterBrokerResponse(Message):
    """UnregisterBrokerResponse."""

    API_KEY = 64
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
