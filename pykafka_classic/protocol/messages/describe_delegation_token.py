"""DescribeDelegationToken."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeDelegationTokenOwner(Struct):
    """DescribeDelegationTokenOwner."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()


@dataclass(slots=True)
class DescribeDelegationTokenRequest(Message):
    """DescribeDelegationTokenRequest."""

    API_KEY = 41
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    owners: list[DescribeDelegationTokenOwner] | None = wire.array(DescribeDelegationTokenOwner, nullable="0+")


@dataclass(slots=True)
class DescribedDelegationTokenRenewer(Struct):
    """DescribedDelegationTokenRenewer."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()


@dataclass(slots=True)
class DescribedDelegationToken(Struct):
    """DescribedDelegationToken."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()
    issue_timestamp: int = wire.int64()
    expiry_timestamp: int = wire.int64()
    max_timestamp: int = wire.int64()
    token_id: str = wire.string()
    hmac: bytes = wire.data()
    renewers: list[DescribedDelegationTokenRenewer] = wire.array(DescribedDelegationTokenRenewer)


@dataclass(slots=True)
class DescribeDelegationTokenResponse(Message):
    """DescribeDelegationTokenResponse."""

    API_KEY = 41
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    tokens: list[DescribedDelegationToken] = wire.array(DescribedDelegationToken)
    throttle_time_ms: int = wire.int32()
