"""Prolongs a delegation token (KIP-48)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class RenewDelegationTokenRequest(Message):
    """A token to prolong."""

    API_KEY = 39
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    hmac: bytes = wire.data()
    renew_period_ms: int = wire.int64()


@dataclass(slots=True)
class RenewDelegationTokenResponse(Message):
    """Until when it lives."""

    API_KEY = 39
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    expiry_timestamp_ms: int = wire.int64()
    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
