"""SCRAM credentials of users: what a client sends in place of a password, and what is stored of it below /config/users (KIP-554, RFC 5802).

A client never sends the password, but SaltedPassword = Hi(password, salt, iterations), with the salt and the iterations. Stored are two keys made from it,
which prove a password and cannot be turned back into it:

    StoredKey = H(HMAC(SaltedPassword, "Client Key"))      ServerKey = HMAC(SaltedPassword, "Server Key")

    "SCRAM-SHA-256": "salt=<base64>,stored_key=<base64>,server_key=<base64>,iterations=4096"

Differs from Kafka: an empty SaltedPassword is refused in Kafka by an exception of Java's (error -1); here by the same error, told beforehand.

Mirrors ZkAdminManager.{alterUserScramCredentials,describeUserScramCredentials} and ScramCredentialUtils of 2.8; each error was asked of a broker of 2.8.2.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.server.config_admin import write_config
from pykafka_classic.server.zk_operations import children_or_none, data_or_none
from zk_schema import configs
from zk_schema.configs import ConfigEntity

ITERATIONS_MIN: Final = 4096
ITERATIONS_MAX: Final = 16384


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A SCRAM mechanism; `digest` as hashlib names it."""

    number: int  # on the wire
    name: str
    digest: str


MECHANISMS: Final[Mapping[int, Mechanism]] = MappingProxyType({1: Mechanism(1, "SCRAM-SHA-256", "sha256"), 2: Mechanism(2, "SCRAM-SHA-512", "sha512")})


@dataclass(frozen=True, slots=True)
class Deletion:
    """A credential that is to go."""

    user: str
    mechanism: int


@dataclass(frozen=True, slots=True)
class Upsertion:
    """A credential that is to be there, whether there was one or not."""

    user: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes


@dataclass(frozen=True, slots=True)
class Credential:
    """What is told of a stored credential."""

    mechanism: int
    iterations: int


def stored_form(wanted: Upsertion) -> str:
    """The value of the mechanism's key in the user's config."""
    digest = MECHANISMS[wanted.mechanism].digest
    stored_key = hashlib.new(digest, hmac.digest(wanted.salted_password, b"Client Key", digest)).digest()
    server_key = hmac.digest(wanted.salted_password, b"Server Key", digest)
    fields = {"salt": wanted.salt, "stored_key": stored_key, "server_key": server_key}
    return ",".join(f"{name}={b64encode(value).decode()}" for name, value in fields.items()) + f",iterations={wanted.iterations}"


class ScramCredentials:
    """Reads and writes them in ZooKeeper."""

    def __init__(self, zk: ZooKeeper) -> None:
        self._zk = zk

    async def alter(self, deletions: Sequence[Deletion], upsertions: Sequence[Upsertion]) -> dict[str, KafkaError | None]:
        """By user: why nothing was changed for that user, or None where all that was asked for him is done."""
        wanted: list[Deletion | Upsertion] = [*deletions, *upsertions]
        outcomes: dict[str, KafkaError | None] = {}
        for each in wanted:
            complaint = _complaint(each)
            if complaint is not None:
                outcomes.setdefault(each.user, complaint)
        times = Counter((each.user, each.mechanism) for each in wanted)
        for user in dict.fromkeys(each.user for each in wanted if each.user not in outcomes):
            mine = [each for each in wanted if each.user == user]
            if any(times[each.user, each.mechanism] > 1 for each in mine):
                outcomes[user] = KafkaError(ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")
            else:
                outcomes[user] = await self._outcome(user, mine)
        return outcomes

    async def _outcome(self, user: str, changes: Sequence[Deletion | Upsertion]) -> KafkaError | None:
        try:
            await self._alter_user(user, changes)
        except KafkaError as error:
            return error
        return None

    async def _alter_user(self, user: str, changes: Sequence[Deletion | Upsertion]) -> None:
        """All changes of one user in one write, or none of them."""
        config = await self._read(user)
        for change in changes:
            name = MECHANISMS[change.mechanism].name
            if isinstance(change, Upsertion):
                config[name] = stored_form(change)
            elif config.pop(name, None) is None:
                raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
        await write_config(self._zk, ConfigEntity.of(configs.USERS, user), config)

    async def describe(self, user: str) -> list[Credential]:
        """One user's, by number of mechanism. Raises KafkaError where there are none."""
        if not user:
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, "Username must not be empty")
        credentials = _credentials(await self._read(user))
        if not credentials:
            raise KafkaError(ErrorCode.RESOURCE_NOT_FOUND, f"Attempt to describe a user credential that does not exist: {user}")
        return credentials

    async def describe_all(self) -> dict[str, list[Credential]]:
        """All users that have some. The names are those of the nodes: URL-encoded, as 2.8 tells them."""
        found = {}
        for child in sorted(await children_or_none(self._zk, configs.type_path(configs.USERS))):
            credentials = _credentials(await self._read_entity(ConfigEntity(configs.USERS, child)))
            if credentials:
                found[child] = credentials
        return found

    async def _read(self, user: str) -> dict[str, str]:
        return await self._read_entity(ConfigEntity.of(configs.USERS, user))

    async def _read_entity(self, entity: ConfigEntity) -> dict[str, str]:
        stored = await data_or_none(self._zk, entity.path)
        return dict(configs.decode(stored.data)) if stored is not None else {}


def _complaint(wanted: Deletion | Upsertion) -> KafkaError | None:
    if not wanted.user:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if wanted.mechanism not in MECHANISMS:
        return KafkaError(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    if isinstance(wanted, Deletion):
        return None
    if wanted.iterations < ITERATIONS_MIN:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if wanted.iterations > ITERATIONS_MAX:
        return KafkaError(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if not wanted.salted_password:
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return None


def _credentials(config: Mapping[str, str]) -> list[Credential]:
    """From `salt=...,stored_key=...,server_key=...,iterations=4096`."""
    found = []
    for mechanism in MECHANISMS.values():
        fields = dict(field.partition("=")[::2] for field in config.get(mechanism.name, "").split(","))
        if fields.get("iterations", "").isdigit():
            found.append(Credential(mechanism.number, int(fields["iterations"])))
    return found
