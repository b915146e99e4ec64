"""SCRAM credentials of users, which a broker reads and writes below /config/users (KIP-554). What they consist of: `common/scram.py`.

Differs from Kafka: an empty SaltedPassword is refused in Kafka by an exception of Java's (error -1); here by the same error, told beforehand.

Mirrors ZkAdminManager.{alterUserScramCredentials,describeUserScramCredentials} and ScramCredentialUtils of 2.8; each error was asked of a broker of 2.8.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.scram import ITERATIONS_MAX, ITERATIONS_MIN, MECHANISMS
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.server.config_admin import write_config
from pykafka_classic.server.zk_operations import children_or_none, data_or_none
from zk_schema import configs
from zk_schema.configs import ConfigEntity


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
            mechanism = MECHANISMS[change.mechanism]
            if isinstance(change, Upsertion):
                config[mechanism.name] = mechanism.stored_form(change.salted_password, change.salt, change.iterations)
            elif config.pop(mechanism.name, None) is None:
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
