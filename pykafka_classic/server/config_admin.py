"""Changing configurations: the node below /config first, then a notification that makes every broker read it again (facts/coordination.md 1.7).

Differs from Kafka: of a broker's own keys only the replication throttles can be set, and they are stored without effect yet; other broker keys need a restart.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from pykafka_classic.common.config_def import ConfigType, render
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import TOPIC_KEYS, LogConfig
from pykafka_classic.common.zookeeper import Create, ZooKeeper
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.zk_operations import data_or_none, raise_unless, set_or_create, submit_one
from zk_schema import config_changes, configs
from zk_schema.configs import ConfigEntity

log = logging.getLogger("kafka.server.ZkAdminManager")

STORED_BROKER_KEYS: Final = frozenset(
    {"leader.replication.throttled.rate", "follower.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second"}
)


class ResourceType(IntEnum):
    """What is configured, as the wire numbers it."""

    TOPIC = 2
    BROKER = 4


class Operation(IntEnum):
    """What an incremental change does to a key (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One key of an incremental change."""

    name: str
    operation: Operation
    value: str | None


class ConfigAdmin:
    """Writes configurations of topics (and brokers) into ZooKeeper."""

    def __init__(self, broker_id: int, zk: ZooKeeper, metadata_cache: MetadataCache) -> None:
        self._broker_id = broker_id
        self._zk = zk
        self._metadata_cache = metadata_cache

    async def replace(self, resource_type: int, name: str, entries: Sequence[tuple[str, str | None]], *, validate_only: bool) -> None:
        """AlterConfigs: these entries and no others. Raises KafkaError."""
        without_value = [key for key, value in entries if value is None]
        if without_value:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {','.join(without_value)}")
        entity = self._entity(resource_type, name)
        await self._write(entity, {key: value for key, value in entries if value is not None}, validate_only=validate_only)

    async def change(self, resource_type: int, name: str, changes: Sequence[Change], *, validate_only: bool) -> None:
        """IncrementalAlterConfigs: these keys; the others stay. Raises KafkaError."""
        repeated = [key for key, count in Counter(change.name for change in changes).items() if count > 1]
        if repeated:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys : {','.join(repeated)}")
        without_value = [f"{change.operation.name}:{change.name}" for change in changes if change.value is None and change.operation is not Operation.DELETE]
        if without_value:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {','.join(without_value)}")
        entity = self._entity(resource_type, name)
        stored = await data_or_none(self._zk, entity.path)
        wanted = configs.decode(stored.data) if stored is not None and stored.data else {}
        for each in changes:
            _apply(wanted, each)
        await self._write(entity, wanted, validate_only=validate_only)

    def _entity(self, resource_type: int, name: str) -> ConfigEntity:
        if resource_type == ResourceType.TOPIC:
            if not self._metadata_cache.contains_topic(name):
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
            return ConfigEntity.of(configs.TOPICS, name)
        if resource_type != ResourceType.BROKER:
            message = f"AlterConfigs is only supported for topics and brokers, but resource type is {resource_type}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message)
        if not name:
            return ConfigEntity.of(configs.BROKERS, None)
        if not name.lstrip("-").isdigit():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
        if int(name) != self._broker_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {self._broker_id}, but received {name}")
        return ConfigEntity.of(configs.BROKERS, name)

    async def _write(self, entity: ConfigEntity, wanted: Mapping[str, str], *, validate_only: bool) -> None:
        try:
            _VALIDATORS[entity.entity_type](wanted)
        except KafkaError as error:
            message = f"Invalid config value for resource {entity.entity_path}: {error}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, message) from error
        if validate_only:
            return
        log.info("Updating %s with new configuration : %s", entity.entity_path, dict(wanted))
        await set_or_create(self._zk, entity.path, configs.encode(wanted))
        notification = config_changes.encode(config_changes.change_of(entity))
        raise_unless(await submit_one(self._zk, Create(config_changes.CREATE_PATH, notification, sequential=True)))


def _validate_broker(wanted: Mapping[str, str]) -> None:
    for name, value in wanted.items():
        if name not in STORED_BROKER_KEYS:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} of a broker cannot be changed while it runs: set it in server.properties and restart")
        if not value.isdigit():
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Invalid value {value} for configuration {name}: Not a number of type LONG")


_VALIDATORS: Final[Mapping[str, Callable[[Mapping[str, str]], None]]] = {configs.TOPICS: LogConfig.validate, configs.BROKERS: _validate_broker}


def _apply(wanted: dict[str, str], change: Change) -> None:
    match change.operation:
        case Operation.SET:
            wanted[change.name] = change.value or ""
        case Operation.DELETE:
            wanted.pop(change.name, None)
        case Operation.APPEND | Operation.SUBTRACT:
            wanted[change.name] = ",".join(_edited_list(wanted.get(change.name), change))


def _edited_list(current: str | None, change: Change) -> list[str]:
    key = TOPIC_KEYS.get(change.name)
    if key is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {change.name}")
    if key.type is not ConfigType.LIST:
        verb = change.operation.name.lower()
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Config value {verb} is not allowed for config key: {change.name}")
    default = render(key.type, sorted(key.default)) or ""
    values = [value for value in (default if current is None else current).split(",") if value]
    named = (change.value or "").split(",")
    return values + named if change.operation is Operation.APPEND else [value for value in values if value not in named]
