"""KRaft: removes a broker's registration. Not served with ZooKeeper."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class UnregisterBrokerRequest(Message):
    """A broker to forget."""

    API_KEY = 64
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    broker_id: int = wire.int32()


@dataclass(slots=True)
class UnregisterBrokerResponse(Message):
    """Whether it was forgotten."""

    API_KEY = 64
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
