"""Envelope."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class EnvelopeRequest(Message):
    """EnvelopeRequest."""

    API_KEY = 58
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    request_data: bytes = wire.data()
    request_principal: bytes | None = wire.data(nullable="0+")
    client_host_address: bytes = wire.data()


@dataclass(slots=True)
class EnvelopeResponse(Message):
    """EnvelopeResponse."""

    API_KEY = 58
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    response_data: bytes | None = wire.data(nullable="0+", default=None)
    error_code: int = wire.int16()
