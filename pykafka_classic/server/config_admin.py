"""Changing configurations: the node below /config first, then a notification that makes every broker read it again (facts/coordination.md 1.7).

Whichever broker is asked writes: nothing here is the controller's alone. What a broker's own keys may become is `dynamic_broker_config`'s to say.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pykafka_classic.common.config import BROKER_KEYS
from pykafka_classic.common.config_def import ConfigKey, ConfigType, render
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import TOPIC_KEYS, ConflictingTopicConfigError, LogConfig, UnknownTopicConfigError
from pykafka_classic.common.zookeeper import Create, ZooKeeper
from pykafka_classic.protocol.config_numbers import AlterOp, ResourceType
from pykafka_classic.server.broker_loggers import UnknownLogLevel, change_loggers
from pykafka_classic.server.dynamic_broker_config import DynamicBrokerConfig
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.zk_operations import data_or_none, raise_unless, set_or_create, submit_one
from zk_schema import config_changes, configs
from zk_schema.configs import ConfigEntity

log = logging.getLogger("kafka.server.ZkAdminManager")


@dataclass(frozen=True, slots=True)
class Change:
    """One key of an incremental change."""

    name: str
    operation: AlterOp
    value: str | None


class ConfigAdmin:
    """Writes configurations of topics (and brokers) into ZooKeeper."""

    def __init__(self, dynamic: DynamicBrokerConfig, zk: ZooKeeper, metadata_cache: MetadataCache) -> None:
        self._dynamic = dynamic
        self._broker_id = dynamic.static.broker_id
        self._zk = zk
        self._metadata_cache = metadata_cache

    async def replace(self, resource_type: int, name: str, entries: Sequence[tuple[str, str | None]], *, validate_only: bool) -> None:
        """AlterConfigs: these entries and no others. Raises KafkaError."""
        without_value = [key for key, value in entries if value is None]
        if without_value:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {','.join(without_value)}")
        if resource_type == ResourceType.BROKER_LOGGER:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "AlterConfigs is deprecated and does not support the resource type BROKER_LOGGER")
        entity = self._entity(resource_type, name)
        await self._write(entity, {key: value for key, value in entries if value is not None}, validate_only=validate_only)

    async def change(self, resource_type: int, name: str, changes: Sequence[Change], *, validate_only: bool) -> None:
        """IncrementalAlterConfigs: these keys; the others stay. Raises KafkaError."""
        repeated = [key for key, count in Counter(change.name for change in changes).items() if count > 1]
        if repeated:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys : {','.join(repeated)}")
        without_value = [f"{change.operation.name}:{change.name}" for change in changes if change.value is None and change.operation is not AlterOp.DELETE]
        if without_value:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {','.join(without_value)}")
        if resource_type == ResourceType.BROKER_LOGGER:
            self._change_loggers(name, changes, validate_only=validate_only)
            return
        entity = self._entity(resource_type, name)
        stored = await data_or_none(self._zk, entity.path)
        wanted = configs.decode(stored.data) if stored is not None and stored.data else {}
        for each in changes:
            _apply(wanted, each, TOPIC_KEYS if entity.entity_type == configs.TOPICS else BROKER_KEYS)
        await self._write(entity, wanted, validate_only=validate_only)

    def _change_loggers(self, name: str, changes: Sequence[Change], *, validate_only: bool) -> None:
        if name:
            self._check_is_me(name)
        edits = [change for change in changes if change.operation not in (AlterOp.SET, AlterOp.DELETE)]
        if edits:
            message = f"{edits[0].operation.name} operation is not allowed for the BROKER_LOGGER resource"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        levels = {change.name: change.value if change.operation is AlterOp.SET else None for change in changes}
        try:
            change_loggers(levels, validate_only=validate_only)
        except UnknownLogLevel as error:
            message = f"Invalid config value for resource ConfigResource(type=BROKER_LOGGER, name='{name}'): {error}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message) from error

    def _entity(self, resource_type: int, name: str) -> ConfigEntity:
        if resource_type == ResourceType.TOPIC:
            if not self._metadata_cache.contains_topic(name):
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
            return ConfigEntity.of(configs.TOPICS, name)
        if resource_type != ResourceType.BROKER:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Unexpected resource type UNKNOWN")
        if not name:
            return ConfigEntity.of(configs.BROKERS, None)
        self._check_is_me(name)
        return ConfigEntity.of(configs.BROKERS, name)

    def _check_is_me(self, name: str) -> None:
        if not name.lstrip("-").isdigit():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
        if int(name) != self._broker_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {self._broker_id}, but received {name}")

    async def _write(self, entity: ConfigEntity, wanted: Mapping[str, str], *, validate_only: bool) -> None:
        try:
            if entity.entity_type == configs.TOPICS:
                LogConfig.validate(wanted)
            else:
                self._dynamic.validate(wanted, cluster_wide=entity.plain_name is None)
        except (UnknownTopicConfigError, ConflictingTopicConfigError):
            raise  # as they are, with INVALID_CONFIG
        except KafkaError as error:
            message = f"Invalid config value for resource {_resource(entity)}: {error}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message) from error
        if not validate_only:
            log.info("Updating %s with new configuration : %s", entity.entity_path, dict(wanted))
            await write_config(self._zk, entity, wanted)


async def write_config(zk: ZooKeeper, entity: ConfigEntity, wanted: Mapping[str, str]) -> None:
    """Store what an entity is configured with, then tell all brokers to read it again. Raises KafkaError."""
    await set_or_create(zk, entity.path, configs.encode(wanted))
    notification = config_changes.encode(config_changes.change_of(entity))
    raise_unless(await submit_one(zk, Create(config_changes.CREATE_PATH, notification, sequential=True)))


def _resource(entity: ConfigEntity) -> str:
    """As Java prints a ConfigResource."""
    kind = ResourceType.TOPIC if entity.entity_type == configs.TOPICS else ResourceType.BROKER
    return f"ConfigResource(type={kind.name}, name='{entity.plain_name or ''}')"


def _apply(wanted: dict[str, str], change: Change, keys: Mapping[str, ConfigKey]) -> None:
    match change.operation:
        case AlterOp.SET:
            wanted[change.name] = change.value or ""
        case AlterOp.DELETE:
            wanted.pop(change.name, None)
        case AlterOp.APPEND | AlterOp.SUBTRACT:
            wanted[change.name] = ",".join(_edited_list(wanted.get(change.name), change, keys))


def _edited_list(current: str | None, change: Change, keys: Mapping[str, ConfigKey]) -> list[str]:
    key = keys.get(change.name)
    if key is None:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Unknown config name: {change.name}" if keys is BROKER_KEYS else f"Unknown topic config name: {change.name}"
        )
    if key.type is not ConfigType.LIST:
        verb = change.operation.name.lower()
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Config value {verb} is not allowed for config key: {change.name}")
    default = render(key.type, sorted(key.default)) or ""
    values = [value for value in (default if current is None else current).split(",") if value]
    named = (change.value or "").split(",")
    return values + named if change.operation is AlterOp.APPEND else [value for value in values if value not in named]
