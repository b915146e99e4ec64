"""AlterUserScramCredentials."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ScramCredentialDeletion(Struct):
    """ScramCredentialDeletion."""

    name: str = wire.string()
    mechanism: int = wire.int8()


@dataclass(slots=True)
class ScramCredentialUpsertion(Struct):
    """ScramCredentialUpsertion."""

    name: str = wire.string()
    mechanism: int = wire.int8()
    iterations: int = wire.int32()
    salt: bytes = wire.data()
    salted_password: bytes = wire.data()


@dataclass(slots=True)
class AlterUserScramCredentialsRequest(Message):
    """AlterUserScramCredentialsRequest."""

    API_KEY = 51
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    deletions: list[ScramCredentialDeletion] = wire.array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = wire.array(ScramCredentialUpsertion)


@dataclass(slots=True)
class AlterUserScramCredentialsResult(Struct):
    """AlterUserScramCredentialsResult."""

    user: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterUserScramCredentialsResponse(Message):
    """AlterUserScramCredentialsResponse."""

    API_KEY = 51
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()
    results: list[AlterUserScramCredentialsResult] = wire.array(AlterUserScramCredentialsResult)
