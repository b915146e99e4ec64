"""Lists delegation tokens (KIP-48)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeDelegationTokenOwner(Struct):
    """A principal whose tokens are wanted."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()


@dataclass(slots=True)
class DescribeDelegationTokenRequest(Message):
    """Tokens of some owners, or all that the sender may see."""

    API_KEY = 41
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    owners: list[DescribeDelegationTokenOwner] | None = wire.array(DescribeDelegationTokenOwner, nullable="0+")  # null: all


@dataclass(slots=True)
class DescribedDelegationTokenRenewer(Struct):
    """A principal that may prolong the token."""

    principal_type: str = wire.string()
    principal_name: str = wire.string()


@dataclass(slots=True)
class DescribedDelegationToken(Struct):
    """One token."""

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
    """The tokens."""

    API_KEY = 41
    VALID_VERSIONS = Versions(0, 2)
    FLEXIBLE_VERSIONS = Versions(2, LATEST)

    error_code: int = wire.int16()
    tokens: list[DescribedDelegationToken] = wire.array(DescribedDelegationToken)
    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
