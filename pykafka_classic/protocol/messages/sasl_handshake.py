"""Chooses the SASL mechanism (KIP-43). Never flexible. After v0 bare SASL tokens follow, after v1 SaslAuthenticate requests."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class SaslHandshakeRequest(Message):
    """The mechanism that the client wants."""

    API_KEY = 17
    VALID_VERSIONS = Versions(0, 1)

    mechanism: str = wire.string()


@dataclass(slots=True)
class SaslHandshakeResponse(Message):
    """With error 33 the client may choose among `mechanisms`."""

    API_KEY = 17
    VALID_VERSIONS = Versions(0, 1)

    error_code: int = wire.int16()
    mechanisms: list[str] = wire.array(wire.STRING)
