"""Lists users' SCRAM credentials without their secrets (KIP-554)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class UserName(Struct):
    """A user."""

    name: str = wire.string()


@dataclass(slots=True)
class DescribeUserScramCredentialsRequest(Message):
    """Users to describe, or all."""

    API_KEY = 50
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    users: list[UserName] | None = wire.array(UserName, nullable="0+")  # null or empty: all


@dataclass(slots=True)
class CredentialInfo(Struct):
    """A credential without its secret."""

    mechanism: int = wire.int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: int = wire.int32()


@dataclass(slots=True)
class DescribeUserScramCredentialsResult(Struct):
    """The credentials of one user."""

    user: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    credential_infos: list[CredentialInfo] = wire.array(CredentialInfo)


@dataclass(slots=True)
class DescribeUserScramCredentialsResponse(Message):
    """One entry for each user."""

    API_KEY = 50
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    results: list[DescribeUserScramCredentialsResult] = wire.array(DescribeUserScramCredentialsResult)
