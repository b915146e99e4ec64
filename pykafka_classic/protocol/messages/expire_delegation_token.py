"""Sets when a delegation token ends, or ends it at once (KIP-48)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Versions


@dataclass(slots=True)
class ExpireDelegationTokenRequest(Message):
    """A token to end."""

    API_KEY = 40
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    hmac: bytes = wire.data()
    expiry_time_period_ms: int = wire.int64()  # negative: at once


@dataclass(slots=True)
class ExpireDelegationTokenResponse(Message):
    """When it ends."""

    API_KEY = 40
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    expiry_timestamp_ms: int = wire.int64()
    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
