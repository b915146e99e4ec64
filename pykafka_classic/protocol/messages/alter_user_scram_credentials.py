"""Creates, changes and deletes users' SCRAM credentials (KIP-554). The password itself never travels."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class ScramCredentialDeletion(Struct):
    """A credential to delete."""

    name: str = wire.string()
    mechanism: int = wire.int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512


@dataclass(slots=True)
class ScramCredentialUpsertion(Struct):
    """A credential to create or replace."""

    name: str = wire.string()
    mechanism: int = wire.int8()  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations: int = wire.int32()
    salt: bytes = wire.data()
    salted_password: bytes = wire.data()


@dataclass(slots=True)
class AlterUserScramCredentialsRequest(Message):
    """Credentials to change."""

    API_KEY = 51
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    deletions: list[ScramCredentialDeletion] = wire.array(ScramCredentialDeletion)
    upsertions: list[ScramCredentialUpsertion] = wire.array(ScramCredentialUpsertion)


@dataclass(slots=True)
class AlterUserScramCredentialsResult(Struct):
    """What became of one user."""

    user: str = wire.string()
    error_code: int = wire.int16()
    error_message: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class AlterUserScramCredentialsResponse(Message):
    """One entry for each user."""

    API_KEY = 51
    VALID_VERSIONS = Versions(0, 0)
    FLEXIBLE_VERSIONS = Versions(0, LATEST)

    throttle_time_ms: int = wire.int32()  # how long the client should send nothing: it exceeded a quota
    results: list[AlterUserScramCredentialsResult] = wire.array(AlterUserScramCredentialsResult)
