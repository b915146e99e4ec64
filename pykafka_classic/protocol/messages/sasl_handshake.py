"""SaslHandshake."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import Message, Versions


@dataclass(slots=True)
class SaslHandshakeRequest(Message):
    """SaslHandshakeRequest."""

    API_KEY = 17
    VALID_VERSIONS = Versions(0, 1)

    mechanism: str = wire.string()


@dataclass(slots=True)
class SaslHandshakeResponse(Message):
    """SaslHandshakeResponse."""

    API_KEY = 17
    VALID_VERSIONS = Versions(0, 1)

    error_code: int = wire.int16()
    mechanisms: list[str] = wire.array(wire.STRING)
