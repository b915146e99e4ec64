"""kafka-configs with --zookeeper: the node below /config, then a notification that makes every broker read it again.

Source: facts/tools.md 8; 2.8 ConfigCommand.scala (alterConfigWithZk, describeConfigWithZk), AdminZkClient.scala, DynamicConfig.scala.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from pykafka_classic.cli.command import CommandFailed, Console
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.config_command import Entities, Refused, added, check_deleted, deleted
from pykafka_classic.cli.scram import BadCredential, credential
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common import topic_name
from pykafka_classic.common.config_def import ConfigError, ConfigType, parse_type
from pykafka_classic.common.java import properties_order
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.scram import BY_NAME as MECHANISMS
from pykafka_classic.edges.chance import draw_salt
from zk_schema import broker_ids, configs, topics
from zk_schema.configs import BROKERS, CLIENTS, DEFAULT, TOPICS, USERS, ConfigEntity

SINGULAR: Final = {USERS: "user-principal", CLIENTS: "client-id", TOPICS: "topic"}
ENCODER: Final = "password.encoder."

CLIENT_KEYS: Final = {
    "producer_byte_rate": ConfigType.LONG,
    "consumer_byte_rate": ConfigType.LONG,
    "request_percentage": ConfigType.DOUBLE,
    "controller_mutation_rate": ConfigType.DOUBLE,
}
USER_KEYS: Final = {**CLIENT_KEYS, **dict.fromkeys(MECHANISMS, ConfigType.STRING)}
IP_KEYS: Final = {"connection_creation_rate": ConfigType.INT}

ONLY_BEFORE_START: Final = (
    "Broker configuration updates using ZooKeeper are supported for bootstrapping before brokers are started "
    "to enable encrypted password configs to be stored in ZooKeeper."
)


class ZooKeeperConfigs:
    """Reads and writes configurations by itself. Also a context manager."""

    def __init__(self, connect: str, console: Console) -> None:
        self._zk = ZooKeeperSession(connect)
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._zk.__exit__(kind, error, trace)

    def describe(self, entities: Entities) -> None:
        """A line for each entity that is meant; of all users (whose nodes may be there for their clients' sake) only those that have something."""
        wanted = _parts(entities)
        all_users = wanted == [(USERS, None)]
        for entity in self._entities(wanted):
            found = self._zk.entity_config(entity)
            if found or not all_users:
                self._console.say(f"Configs for {_called(entity)} are {','.join(f'{key}={found[key]}' for key in properties_order(found))}")

    def _entities(self, wanted: Sequence[tuple[str, str | None]]) -> Iterator[ConfigEntity]:
        (kind, name), client = wanted[0], wanted[1] if len(wanted) > 1 else None
        # In ZooKeeper's own order.
        for root in self._zk.children(configs.type_path(kind)) if name is None else (name,):
            if client is None:
                yield ConfigEntity(kind, root)
                continue
            parent = f"{ConfigEntity(kind, root).path}/{CLIENTS}"
            for child in self._zk.children(parent) if client[1] is None else (client[1],):
                yield ConfigEntity(kind, root, child)

    def alter(self, entities: Entities, options: Options) -> None:
        """Write what is wanted."""
        new, gone = added(options, self._console), deleted(options)
        if set(entities.types) <= {USERS, CLIENTS} and len(entities.names) != len(entities.types):
            raise Refused("--entity-name or --entity-default must be specified with each --entity-type for --alter")
        entity = next(self._entities(_parts(entities)))
        if entity.entity_type == USERS:
            new = _salted(new)
        elif entity.entity_type == BROKERS and new:
            self._check_not_running(entity, properties_order(new))
            new = _checked_broker_configs(new, cluster_wide=entity.name == DEFAULT)
        stored = self._zk.entity_config(entity)
        check_deleted(gone, list(stored))
        changed = {key: value for key, value in {**stored, **new}.items() if key not in gone}
        self._check(entity, changed)
        # In the order of Apache's tool, so that the znode's bytes are the same.
        self._zk.change_config(entity, {key: changed[key] for key in properties_order(stored, new) if key in changed})
        self._console.say(f"Completed updating config for entity: {_called(entity)}.")

    def _check(self, entity: ConfigEntity, changed: Mapping[str, str]) -> None:
        match entity.entity_type:
            case configs.TOPICS:
                topic_name.validate(entity.name)
                if not self._zk.exists(topics.path(entity.name)):
                    raise CommandFailed(f"Topic '{entity.name}' does not exist.")
                LogConfig.validate(changed)
            case configs.USERS | configs.CLIENTS:
                _check_quotas(changed, USER_KEYS if entity.entity_type == USERS and entity.client is None else CLIENT_KEYS)
            case configs.IPS:
                _check_quotas(changed, IP_KEYS)

    def _check_not_running(self, entity: ConfigEntity, names: Sequence[str]) -> None:
        running = self._zk.children(broker_ids.PATH)
        message = f"requirement failed: --bootstrap-server option must be specified to update broker configs Set({', '.join(names)}). "
        if entity.name == DEFAULT and running:
            raise Refused(f"{message}for default cluster if any broker is running. {ONLY_BEFORE_START}")
        if entity.name in running:
            raise Refused(f"{message}when broker {entity.name} is running. {ONLY_BEFORE_START}")


def _parts(entities: Entities) -> list[tuple[str, str | None]]:
    """(type, part of the path) of user and client, or of one entity; None: all of the type."""
    types, names = list(entities.types), list(entities.names)
    if types == [CLIENTS, USERS]:
        types.reverse()
        if len(names) == 2:
            names.reverse()
    parts = [ConfigEntity.of(kind, name or None).name for kind, name in zip(types, names, strict=False)]
    return [(kind, parts[index] if index < len(parts) else None) for index, kind in enumerate(types)]


def _called(entity: ConfigEntity) -> str:
    """As Kafka's tool calls it: `user-principal 'u', default client-id`."""
    parts = [_part_called(entity.entity_type, entity.plain_name)]
    return ", ".join([*parts, *([_part_called(CLIENTS, entity.plain_client)] if entity.client is not None else [])])


def _part_called(kind: str, name: str | None) -> str:
    word = SINGULAR.get(kind, kind)
    return f"default {word}" if name is None else f"{word} '{name}'"


def _salted(wanted: Mapping[str, str]) -> dict[str, str]:
    try:
        return {key: credential(key, value, draw_salt()) if key in MECHANISMS else value for key, value in wanted.items()}
    except BadCredential as error:
        raise Refused(str(error)) from error


def _checked_broker_configs(wanted: Mapping[str, str], *, cluster_wide: bool) -> dict[str, str]:
    from pykafka_classic.common.config import BROKER_KEYS
    from pykafka_classic.common.dynamic_config import broker_synonyms
    from pykafka_classic.server.dynamic_broker_config import check_names_and_values

    stored = {key: value for key, value in wanted.items() if not key.startswith(ENCODER)}
    check_names_and_values(stored, cluster_wide=cluster_wide)
    passwords = [key for key in stored if any(BROKER_KEYS[name].type is ConfigType.PASSWORD for name in broker_synonyms(key) if name in BROKER_KEYS)]
    passwords += [key for key in stored if key not in passwords and key.endswith(("password", "sasl.jaas.config"))]
    if passwords and f"{ENCODER}secret" not in wanted:
        raise Refused(
            f"requirement failed: {ENCODER}secret must be specified to update Set({', '.join(passwords)}). "
            "Other password encoder configs like cipher algorithm and iterations may also be specified to override the default encoding parameters. "
            "Password encoder configs will not be persisted in ZooKeeper."
        )
    if passwords:
        raise Refused(f"{', '.join(passwords)}: passwords of brokers are stored encrypted, which this tool does not do.")
    return stored


def _check_quotas(changed: Mapping[str, str], keys: Mapping[str, ConfigType]) -> None:
    unknown = [key for key in changed if key not in keys]
    if unknown:
        raise Refused(f"requirement failed: Unknown Dynamic Configuration: HashSet({', '.join(unknown)}).")
    for key, value in changed.items():
        try:
            parse_type(keys[key], value)
        except ValueError as error:
            raise ConfigError(key, value, str(error)) from error
