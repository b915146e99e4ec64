"""One step of a SASL exchange (KIP-152); what the bytes mean depends on the mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class SaslAuthenticateRequest(Message):
    """The client's next token."""

    API_KEY = 36
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    auth_bytes: bytes = wire.data()


@dataclass(slots=True)
class SaslAuthenticateResponse(Message):
    """The broker's next token, empty at the end of some mechanisms."""

    API_KEY = 36
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    auth_bytes: bytes = wire.data()
    session_lifetime_ms: int = wire.int64("1+", ignorable=True)  # 0: no re-authentication needed (KIP-368)
