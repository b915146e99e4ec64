"""kafka-configs with --bootstrap-server: the brokers read and write.

Source: facts/tools.md 8; 2.8 ConfigCommand.scala (alterConfig, describeConfig).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from pykafka_classic.cli.broker_session import open_admin
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.config_command import BOOTSTRAP, LOGGERS, Entities, Refused, added, check_deleted, deleted
from pykafka_classic.cli.configs_zookeeper import CLIENT_KEYS, IP_KEYS
from pykafka_classic.cli.scala_order import in_immutable_map_order
from pykafka_classic.cli.scram import BadCredential, parse_wish
from pykafka_classic.cli.topics_broker import values_of
from pykafka_classic.client.admin.cluster import ANY, CLIENT_ID, DEFAULT, EXACT, IP, USER, QuotaEntity, QuotaFilter, quota_entity
from pykafka_classic.client.admin.configs import ConfigChange, ConfigEntry, ConfigResource
from pykafka_classic.client.admin.scram import ScramDeletion, ScramUpsertion
from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import hash_map_order, hash_order, properties_order, string_hash
from pykafka_classic.common.scram import BY_NAME as MECHANISMS
from pykafka_classic.protocol.config_numbers import AlterOp, ConfigSource, ResourceType
from pykafka_classic.server.client_quotas import java_double
from zk_schema.configs import BROKERS, CLIENTS, IPS, TOPICS, USERS

RESOURCES: Final = {TOPICS: ResourceType.TOPIC, BROKERS: ResourceType.BROKER, LOGGERS: ResourceType.BROKER_LOGGER}
OWNERS: Final = {USERS: USER, CLIENTS: CLIENT_ID, IPS: IP}
CALLED: Final = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}
ALL_BROKERS: Final = ""


class BrokerConfigs:
    """Asks the brokers. Also a context manager."""

    def __init__(self, options: Options, console: Console) -> None:
        self._admin = open_admin(options.text(BOOTSTRAP), options.value("command-config"))
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._admin.close()

    # describe

    def describe(self, entities: Entities, *, everything: bool) -> None:
        """What is configured for those that are meant."""
        kind = entities.types[0]
        if kind in RESOURCES:
            for name in entities.names[:1] or self._names(kind):
                self._describe_resource(kind, name, everything=everything)
            return
        self._describe_quotas(entities)
        if USERS in entities.types and CLIENTS not in entities.types and "" not in entities.names:
            self._describe_credentials(entities.names)

    def _names(self, kind: str) -> list[str]:
        if kind == TOPICS:
            return list(self._admin.list_topics(internal=True))
        return [*(str(node.id) for node in self._admin.describe_cluster().nodes), ALL_BROKERS]

    def _describe_resource(self, kind: str, name: str, *, everything: bool) -> None:
        if name:
            self._console.say(f"{'All' if everything else 'Dynamic'} configs for {kind[:-1]} {name} are:")
        else:
            self._console.say(f"Default configs for {kind} in the cluster are:")
        for entry in self._entries(kind, name, everything=everything, synonyms=True):
            synonyms = ", ".join(f"{each.source.name}:{each.name}={_shown(each.value)}" for each in entry.synonyms)
            self._console.say(f"  {entry.name}={_shown(entry.value)} sensitive={str(entry.is_sensitive).lower()} synonyms={{{synonyms}}}")

    def _entries(self, kind: str, name: str, *, everything: bool = False, synonyms: bool = False) -> list[ConfigEntry]:
        """In the order of a java.util.HashMap; without `everything` only what was set at run time for this very resource."""
        if kind == TOPICS:
            topic_name.validate(name)
        resource = ConfigResource(RESOURCES[kind], name)
        found = values_of(self._admin.describe_configs([resource], synonyms=synonyms))[resource]
        ordered = [found[key] for key in hash_map_order(found)]
        source = _dynamic_source(kind, name)
        return ordered if everything or source is None else [entry for entry in ordered if entry.source is source]

    def _describe_quotas(self, entities: Entities) -> None:
        found = self._quotas(entities)
        for owner in hash_order(found, _entity_hash, capacity=len(found)):
            parts, quotas = dict(owner), found[owner]
            called = ", ".join(_owner_called(kind, parts[kind]) for kind in (USER, CLIENT_ID, IP) if kind in parts)
            values = ", ".join(f"{key}={java_double(quotas[key])}" for key in hash_map_order(quotas, capacity=len(quotas)))
            self._console.say(f"Quota configs for {called} are {values}")

    def _quotas(self, entities: Entities) -> dict[QuotaEntity, dict[str, float]]:
        if len(entities.names) > len(entities.types):
            raise Refused("More entity names specified than entity types")
        names = [*entities.names, *[None] * (len(entities.types) - len(entities.names))]
        return self._admin.describe_client_quotas([_filter(kind, name) for kind, name in zip(entities.types, names, strict=True)], strict=True)

    def _describe_credentials(self, users: Sequence[str]) -> None:
        for user, found in self._admin.describe_user_scram_credentials(list(users) or None).items():
            if isinstance(found, KafkaError):
                if found.code is not ErrorCode.RESOURCE_NOT_FOUND:
                    self._console.say(f"Error retrieving SCRAM credential configs for user-principal '{user}': {found}")
                continue
            text = ", ".join(f"{each.mechanism}=iterations={each.iterations}" for each in found)
            self._console.say(f"SCRAM credential configs for user-principal '{user}' are {text}")

    # alter

    def alter(self, entities: Entities, options: Options) -> None:
        """Change what is configured for one entity."""
        kind, name = entities.types[0], entities.names[0]
        new, gone = added(options, self._console), deleted(options)
        if kind == TOPICS:
            check_deleted(gone, [entry.name for entry in self._entries(kind, name)])
            self._change(ConfigResource.topic(name), new, gone)
        elif kind == BROKERS:
            self._alter_broker(name, new, gone)
        elif kind == LOGGERS:
            known = {entry.name for entry in self._entries(kind, name)}
            unknown = [each for each in [*gone, *new] if each not in known]
            if unknown:
                raise Refused(f"Invalid broker logger(s): {','.join(unknown)}")
            self._change(ConfigResource(ResourceType.BROKER_LOGGER, name), new, gone)
        else:
            _check_quota_keys(entities, new, gone)
            if any(key in MECHANISMS for key in [*new, *gone]):
                self._alter_credentials(name, new, gone)
            else:
                self._alter_quotas(entities, new, gone)
        if name:
            self._console.say(f"Completed updating config for {kind[:-1]} {name}.")
        else:
            self._console.say(f"Completed updating default config for {kind} in the cluster.")

    def _change(self, resource: ConfigResource, new: Mapping[str, str], gone: Collection[str]) -> None:
        changes = [ConfigChange(key, value) for key, value in new.items()] + [ConfigChange(key, None, AlterOp.DELETE) for key in gone]
        values_of(self._admin.incremental_alter_configs({resource: changes}))

    def _alter_broker(self, name: str, new: Mapping[str, str], gone: Sequence[str]) -> None:
        """All keys that shall be set are sent, as Kafka's tool does it: secrets must therefore be given again."""
        old = {entry.name: entry.value for entry in self._entries(BROKERS, name)}
        check_deleted(gone, list(old))
        wanted = {key: value for key, value in {**old, **new}.items() if key not in gone}
        secret = [key for key, value in wanted.items() if value is None]
        if secret:
            raise Refused(f"All sensitive broker config entries must be specified for --alter, missing entries: Set({', '.join(secret)})")
        values_of(self._admin.alter_configs({ConfigResource(ResourceType.BROKER, name): {key: value for key, value in wanted.items() if value is not None}}))

    def _alter_quotas(self, entities: Entities, new: Mapping[str, str], gone: Sequence[str]) -> None:
        owned = self._quotas(entities)
        check_deleted(gone, [key for quotas in owned.values() for key in quotas])
        changes: dict[str, float | None] = {key: _rate(key, value) for key, value in new.items()}
        changes |= dict.fromkeys(gone)
        owner = quota_entity({OWNERS[kind]: name or None for kind, name in zip(entities.types, entities.names, strict=True)})
        values_of(self._admin.alter_client_quotas({owner: changes}))

    def _alter_credentials(self, user: str, new: Mapping[str, str], gone: Sequence[str]) -> None:
        changes: list[ScramDeletion | ScramUpsertion] = [ScramDeletion(user, mechanism) for mechanism in gone]
        for mechanism, wish in new.items():
            try:
                iterations, password = parse_wish(mechanism, wish, called=mechanism)
            except BadCredential as error:
                raise Refused(str(error)) from error
            changes.append(ScramUpsertion(user, password, mechanism, iterations))
        values_of(self._admin.alter_user_scram_credentials(changes))


def _entity_hash(owner: QuotaEntity) -> int:
    """ClientQuotaEntity.hashCode: of a map of types and names."""
    return 31 + sum(string_hash(kind) ^ (0 if name is None else string_hash(name)) for kind, name in owner)


def _check_quota_keys(entities: Entities, new: Mapping[str, str], gone: Sequence[str]) -> None:
    kind = entities.types[0]
    if kind == IPS:
        unknown = [key for key in [*new, *gone] if key not in IP_KEYS]
        if unknown:
            raise Refused(f"Only connection quota configs can be added for '{IPS}' using --bootstrap-server. Unexpected config names: {','.join(unknown)}")
        return
    only_user = CLIENTS not in entities.types
    ordered = in_immutable_map_order(properties_order(new), string_hash)
    for keys, verb, collection in ((ordered, "added", "Set"), (gone, "deleted", "ArrayBuffer")):
        unknown = [key for key in keys if key not in CLIENT_KEYS and not (only_user and key in MECHANISMS)]
        if unknown:
            what, whom = ("quota and SCRAM credential", USERS) if only_user else ("quota", CLIENTS)
            names = f"{collection}({', '.join(unknown)})"
            raise Refused(f"Only {what} configs can be {verb} for '{whom}' using --bootstrap-server. Unexpected config names: {names}")
    if any(key in MECHANISMS for key in [*new, *gone]):
        _check_credentials(entities, [*new, *gone])


def _check_credentials(entities: Entities, keys: Sequence[str]) -> None:
    if "" in entities.names:
        raise Refused("The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials using --bootstrap-server.")
    if any(key in CLIENT_KEYS for key in keys):
        raise Refused(f"Cannot alter both quota and SCRAM credential configs simultaneously for '{USERS}' using --bootstrap-server.")


def _filter(kind: str, name: str | None) -> QuotaFilter:
    if name is None:
        return QuotaFilter(OWNERS[kind], ANY)
    return QuotaFilter(OWNERS[kind], EXACT, name) if name else QuotaFilter(OWNERS[kind], DEFAULT)


def _rate(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise Refused(f"Cannot parse quota configuration value for {key}: {value}") from error


def _owner_called(kind: str, name: str | None) -> str:
    return f"the default {CALLED[kind]}" if name is None else f"{CALLED[kind]} '{name}'"


def _dynamic_source(kind: str, name: str) -> ConfigSource | None:
    if kind == TOPICS:
        return ConfigSource.DYNAMIC_TOPIC_CONFIG
    if kind == LOGGERS:
        return None
    return ConfigSource.DYNAMIC_BROKER_CONFIG if name else ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG


def _shown(value: str | None) -> str:
    return "null" if value is None else value
