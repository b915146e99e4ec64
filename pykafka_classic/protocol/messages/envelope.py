"""A request of a client, forwarded by a broker to the controller with the client's principal (KIP-590). Served only behind an internal switch in 2.8."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class EnvelopeRequest(Message):
    """The forwarded request with its header, and on whose behalf it comes."""

    API_KEY = 58
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    request_data: bytes = wire.data()
    request_principal: bytes | None = wire.data(nullable="0+")
    client_host_address: bytes = wire.data()


@dataclass(slots=True)
class EnvelopeResponse(Message):
    """The response to the forwarded request, with its header."""

    API_KEY = 58
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    response_data: bytes | None = wire.data(nullable="0+", default=None)
    error_code: int = wire.int16()
