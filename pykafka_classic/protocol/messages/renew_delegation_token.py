"""RenewDelegationToken."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class RenewDelegationTokenRequest(Message):
    """RenewDelegationTokenRequest."""

    API_KEY = 39
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    hmac: bytes = wire.data()
    renew_period_ms: int = wire.int64()


@dataclass(slots=True)
class RenewDelegationTokenResponse(Message):
    """RenewDelegationTokenResponse."""

    API_KEY = 39
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    expiry_timestamp_ms: int = wire.int64()
    throttle_time_ms: int = wire.int32()
