"""Configurations as clients are told: each key with its value, where the value comes from, and what it would be otherwise.

A topic key's value is the topic's own, else that of the broker key behind it (`SERVER_KEYS`), which may in turn have synonyms of coarser units. Mirrors
kafka.server.ConfigHelper and DynamicBrokerConfig.brokerConfigSynonyms; facts/protocol.md 7 (sources, types).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from pykafka_classic.common.config import BROKER_KEYS, KafkaConfig
from pykafka_classic.common.config_def import ConfigKey, ConfigType, render
from pykafka_classic.common.log_config import SERVER_KEYS, TOPIC_KEYS


class ConfigSource(IntEnum):
    """Where a value was set, as DescribeConfigs numbers it."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


@dataclass(frozen=True, slots=True)
class Synonym:
    """A key, its value and where that is set: one rung of the ladder that a value comes down."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One key of a resource. `synonyms`: the ladder, the one in force first; `type`: 0 for a key that is not known."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    is_sensitive: bool
    synonyms: tuple[Synonym, ...]
    type: int
    documentation: str | None


_SYNONYMS: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
_BROKER_SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: names for names in _SYNONYMS for name in names},
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
}


def topic_config_entries(config: KafkaConfig, overrides: Mapping[str, str]) -> list[ConfigEntry]:
    """All keys of a topic with these overrides."""
    log_config = config.log_config().with_overrides(overrides)
    return [_topic_entry(config, key, getattr(log_config, key.attribute), name in overrides) for name, key in TOPIC_KEYS.items()]


def _topic_entry(config: KafkaConfig, key: ConfigKey, value: Any, overridden: bool) -> ConfigEntry:
    text = _text(key, value)
    server_key = SERVER_KEYS.get(key.name)
    ladder = () if server_key is None else _broker_ladder(config, server_key)
    if overridden:
        ladder = (Synonym(key.name, text, ConfigSource.TOPIC), *ladder)
    return ConfigEntry(
        name=key.name,
        value=text,
        source=ladder[0].source if ladder else ConfigSource.DEFAULT,
        read_only=False,
        is_sensitive=False,
        synonyms=ladder,
        type=key.type,
        documentation=key.doc,
    )


def broker_config_entries(config: KafkaConfig) -> list[ConfigEntry]:
    """All keys of this broker, and those of its file that mean nothing here."""
    entries = [_broker_entry(config, key) for key in BROKER_KEYS.values()]
    for name in config.unknown_keys:
        ladder = (Synonym(name, None, ConfigSource.STATIC_BROKER),)
        # A key that nobody knows may be a secret of a plug-in: its value is not told, as in Kafka.
        entries.append(ConfigEntry(name, None, ConfigSource.STATIC_BROKER, read_only=True, is_sensitive=True, synonyms=ladder, type=0, documentation=None))
    return entries


def _broker_entry(config: KafkaConfig, key: ConfigKey) -> ConfigEntry:
    ladder = _broker_ladder(config, key.name)
    return ConfigEntry(
        name=key.name,
        value=_text(key, getattr(config, key.attribute)),
        source=ladder[0].source if ladder else ConfigSource.DEFAULT,
        read_only=True,
        is_sensitive=key.type is ConfigType.PASSWORD,
        synonyms=ladder,
        type=key.type,
        documentation=key.doc,
    )


def _broker_ladder(config: KafkaConfig, name: str) -> tuple[Synonym, ...]:
    names = _BROKER_SYNONYMS.get(name, (name,))
    static = [_static(config, other) for other in names if other in config.originals]
    defaults = [_default(other) for other in names if BROKER_KEYS[other].default is not None]
    ladder = static + defaults
    first = next((index for index, synonym in enumerate(ladder) if synonym.name == name), len(ladder))
    return tuple(ladder[first:])  # Kafka drops the rungs before the key's own


def _static(config: KafkaConfig, name: str) -> Synonym:
    return Synonym(name, None if BROKER_KEYS[name].type is ConfigType.PASSWORD else config.originals[name], ConfigSource.STATIC_BROKER)


def _default(name: str) -> Synonym:
    key = BROKER_KEYS[name]
    return Synonym(name, _text(key, key.default), ConfigSource.DEFAULT)


def _text(key: ConfigKey, value: Any) -> str | None:
    return render(key.type, sorted(value) if isinstance(value, frozenset) else value)
