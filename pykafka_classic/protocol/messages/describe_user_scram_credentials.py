"""DescribeUserScramCredentials."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class UserName(Struct):
    """UserName."""

    name: str = wire.string()


@dataclass(slots=True)
class DescribeUserScramCredentialsRequest(Message):
    """DescribeUserScramCredentialsRequest."""

    API_KEY = 50
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    users: list[UserName] | None = wire.array(UserName, nullable="0+")


@dataclass(slots=True)
class CredentialInfo(Struct):
    """CredentialInfo."""

    mechanism: int = wire.int8()
    iterations: int = wire.int32()


@dataclass(slots=True)
class DescribeUserScramCredentialsResult(Struct):
    """DescribeUserScramCredentialsResult."""

    user: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    credential_infos: list[CredentialInfo] = wire.array(CredentialInfo)


@dataclass(slots=True)
class DescribeUserScramCredentialsResponse(Message):
    """DescribeUserScramCredentialsResponse."""

    API_KEY = 50
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")
    results: list[DescribeUserScramCredentialsResult] = wire.array(DescribeUserScramCredentialsResult)
