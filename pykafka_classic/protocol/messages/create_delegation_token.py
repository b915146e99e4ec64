"""Issues a token with which a user's helpers can authenticate themselves in its name (KIP-48)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class CreatableRenewers(Struct):
    """A principal that may prolong the token."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()


@dataclass(slots=True)
class CreateDelegationTokenRequest(Message):
    """A token for whoever sends the request."""

    API_KEY = 38
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    renewers: list[CreatableRenewers] = wire.array(CreatableRenewers)
    max_lifetime_ms: int = wire.int64()  # -1: as the broker is configured


@dataclass(slots=True)
class CreateDelegationTokenResponse(Message):
    """The token; its HMAC is the secret."""

    API_KEY = 38
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    principal_type: str = wire.string()
    principal_name: str = wire.string()
    issue_timestamp_ms: int = wire.int64()
    expiry_timestamp_ms: int = wire.int64()
    max_timestamp_ms: int = wire.int64()
    token_id: str = wire.string()
    hmac: bytes = wire.data()
    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
