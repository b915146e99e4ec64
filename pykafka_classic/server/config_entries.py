"""Configurations as clients are told: each key with its value, where the value comes from, and what it would be otherwise.

A topic key's value is the topic's own, else that of the broker key behind it (`SERVER_KEYS`), which may in turn have synonyms of coarser units. Mirrors
kafka.server.ConfigHelper and DynamicBrokerConfig.brokerConfigSynonyms; facts/protocol.md 7 (sources, types).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pykafka_classic.common.config import BROKER_KEYS
from pykafka_classic.common.config_def import ConfigKey, ConfigType, render
from pykafka_classic.common.dynamic_config import broker_synonyms
from pykafka_classic.common.log_config import SERVER_KEYS, TOPIC_KEYS, as_policy
from pykafka_classic.protocol.config_numbers import ConfigSource
from pykafka_classic.server.dynamic_broker_config import REPLICATION_KEYS, DynamicBrokerConfig, is_dynamic


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


def topic_config_entries(dynamic: DynamicBrokerConfig, overrides: Mapping[str, str]) -> list[ConfigEntry]:
    """All keys of a topic with these overrides."""
    log_config = dynamic.current.log_config().with_overrides(overrides)
    return [_topic_entry(dynamic, key, getattr(log_config, key.attribute), overrides.get(name)) for name, key in TOPIC_KEYS.items()]


def _topic_entry(dynamic: DynamicBrokerConfig, key: ConfigKey, value: Any, override: str | None) -> ConfigEntry:
    server_key = SERVER_KEYS.get(key.name)
    ladder = () if server_key is None else _broker_ladder(dynamic, BROKER_KEYS[server_key])
    text = _text(key, _in_order(key, value, override if override is not None else ladder[0].value if ladder else None))
    if override is not None:
        ladder = (Synonym(key.name, text, ConfigSource.DYNAMIC_TOPIC_CONFIG), *ladder)
    return ConfigEntry(
        name=key.name,
        value=text,
        source=ladder[0].source if ladder else ConfigSource.DEFAULT_CONFIG,
        read_only=False,
        is_sensitive=False,
        synonyms=ladder,
        type=key.type,
        documentation=key.doc,
    )


def broker_config_entries(dynamic: DynamicBrokerConfig) -> list[ConfigEntry]:
    """All keys of this broker, and those of its file that mean nothing here."""
    entries = [_broker_entry(dynamic, key, getattr(dynamic.current, key.attribute)) for key in BROKER_KEYS.values()]
    stored = {**dynamic.defaults, **dynamic.own}
    entries += [_broker_entry(dynamic, key, dynamic.rate(name)) for name, key in REPLICATION_KEYS.items() if name in stored]
    unknown = {*dynamic.static.unknown_keys, *(name for name in stored if not _is_known(name))}
    return entries + [_unknown_entry(dynamic, name) for name in sorted(unknown)]


def default_broker_config_entries(dynamic: DynamicBrokerConfig) -> list[ConfigEntry]:
    """What is set for all brokers of the cluster while they run: nothing else counts as theirs in common."""
    entries = []
    for name, text in dynamic.defaults.items():
        key = BROKER_KEYS.get(name) or REPLICATION_KEYS.get(name)
        if key is None:
            entry = _unknown_entry(dynamic, name)
        else:
            value = key.parse(text)
            entry = _broker_entry(dynamic, key, as_policy(value) if isinstance(getattr(dynamic.current, key.attribute, None), frozenset) else value)
        ladder = tuple(synonym for synonym in entry.synonyms if synonym.source is ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)
        entries.append(replace(entry, source=ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, synonyms=ladder))
    return entries


def _broker_entry(dynamic: DynamicBrokerConfig, key: ConfigKey, value: Any) -> ConfigEntry:
    ladder = _broker_ladder(dynamic, key)
    return ConfigEntry(
        name=key.name,
        value=_text(key, _in_order(key, value, ladder[0].value if ladder else None)),
        source=ladder[0].source if ladder else ConfigSource.DEFAULT_CONFIG,
        read_only=not is_dynamic(key.name),
        is_sensitive=key.type is ConfigType.PASSWORD,
        synonyms=ladder,
        type=key.type,
        documentation=key.doc,
    )


def _unknown_entry(dynamic: DynamicBrokerConfig, name: str) -> ConfigEntry:
    """A key that nobody knows may be a secret of a plug-in: its value is not told, as in Kafka."""
    ladder = tuple(Synonym(name, None, source) for values, source in _sources(dynamic) if name in values)
    return ConfigEntry(name, None, ladder[0].source, read_only=True, is_sensitive=True, synonyms=ladder, type=0, documentation=None)


def _is_known(name: str) -> bool:
    return name in BROKER_KEYS or name in REPLICATION_KEYS


def _sources(dynamic: DynamicBrokerConfig) -> tuple[tuple[Mapping[str, str], ConfigSource], ...]:
    return (
        (dynamic.own, ConfigSource.DYNAMIC_BROKER_CONFIG),
        (dynamic.defaults, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        (dynamic.static.originals, ConfigSource.STATIC_BROKER_CONFIG),
    )


def _broker_ladder(dynamic: DynamicBrokerConfig, key: ConfigKey) -> tuple[Synonym, ...]:
    names = broker_synonyms(key.name)
    keys = {name: BROKER_KEYS.get(name, key) for name in names}
    ladder = [
        Synonym(name, None if keys[name].type is ConfigType.PASSWORD else values[name], source)
        for values, source in _sources(dynamic)
        for name in names
        if name in values
    ]
    if key.name in BROKER_KEYS:  # those that only ZooKeeper holds have no default to tell
        ladder += [Synonym(name, _text(keys[name], keys[name].default), ConfigSource.DEFAULT_CONFIG) for name in names if keys[name].default is not None]
    first = next((index for index, synonym in enumerate(ladder) if synonym.name == key.name), len(ladder))
    return tuple(ladder[first:])  # Kafka drops the rungs before the key's own


def _in_order(key: ConfigKey, value: Any, text: str | None) -> Any:
    """A list that is kept as a set is told in the order in which it was written."""
    return key.parse(text) if isinstance(value, frozenset) and text is not None else value


def _text(key: ConfigKey, value: Any) -> str | None:
    return render(key.type, sorted(value) if isinstance(value, frozenset) else value)
