"""A broker's configuration while it runs: server.properties, and what /config/brokers/<default> and /config/brokers/N lay over it (KIP-226).

`validate` answers for a wish before it is stored, with Kafka's words; `update` takes over what is stored. What is stored may be wrong nevertheless, for
anybody can write the znodes: a value that can't be read is logged and left out, the others count.

Differs from Kafka: SSL and SASL keys and metrics reporters cannot be changed while a broker runs, and a wish to do so is refused. The sizes of the pools for
network and requests are checked and told, but there are no such pools here (one thread decides everything).

Mirrors kafka.server.DynamicBrokerConfig.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pykafka_classic.common.config import BROKER_KEYS, ConfigError, KafkaConfig, is_known, without_listener
from pykafka_classic.common.config_def import ConfigKey, ConfigType, Importance, UpdateMode, at_least
from pykafka_classic.common.dynamic_config import PER_BROKER, RELOADABLE_STORES, UPDATE_MODES, broker_synonyms
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.listeners import SECURITY_PROTOCOLS
from pykafka_classic.server.dynamic_listeners import InvalidDynamicConfig, check_listeners

log = logging.getLogger("kafka.server.DynamicBrokerConfig")

LEADER_RATE: Final = "leader.replication.throttled.rate"
FOLLOWER_RATE: Final = "follower.replication.throttled.rate"
ALTER_LOG_DIRS_RATE: Final = "replica.alter.log.dirs.io.max.bytes.per.second"
UNLIMITED: Final = (1 << 63) - 1


def _rate(name: str, doc: str) -> ConfigKey:
    return ConfigKey(ConfigType.LONG, UNLIMITED, Importance.MEDIUM, doc, at_least(0), name)


REPLICATION_KEYS: Final[Mapping[str, ConfigKey]] = MappingProxyType(
    {
        LEADER_RATE: _rate(LEADER_RATE, "Bytes per second that this broker, as a leader, gives to throttled replicas."),
        FOLLOWER_RATE: _rate(FOLLOWER_RATE, "Bytes per second that this broker, as a follower, fetches for throttled replicas."),
        ALTER_LOG_DIRS_RATE: _rate(ALTER_LOG_DIRS_RATE, "Bytes per second copied between log directories of this broker."),
    }
)
"""Keys that only exist in ZooKeeper: server.properties cannot set them."""

_LISTENER_KEYS: Final = frozenset({"listeners", "advertised.listeners", "listener.security.protocol.map"})
_OF_ONE_LISTENER: Final = frozenset({"max.connections", "max.connection.creation.rate"})  # under the prefix listener.name.NAME.
THREADS: Final = ("num.io.threads", "num.network.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads")
UNCHANGEABLE: Final = (PER_BROKER - _LISTENER_KEYS) | {"metric.reporters"}


class DynamicBrokerConfig:
    """One broker's configuration. `current` is what is in force; `on_change` hears the old and the new one.

    Invariant: `current` is `static` with `defaults` and then `own` laid over it, without those values that cannot be read.
    """

    def __init__(self, static: KafkaConfig) -> None:
        self.static = static
        self.current = static
        self.defaults: Mapping[str, str] = MappingProxyType({})  # /config/brokers/<default>
        self.own: Mapping[str, str] = MappingProxyType({})  # /config/brokers/N
        self.on_change: list[Callable[[KafkaConfig, KafkaConfig], None]] = []

    # Taking over

    def update(self, stored: Mapping[str, str], *, cluster_wide: bool) -> None:
        """All that is stored for this broker, or for all of them, is now this."""
        readable = MappingProxyType(_readable(stored, cluster_wide=cluster_wide))
        if cluster_wide:
            self.defaults = readable
        else:
            self.own = readable
        before = self.current
        try:
            self.current = self._merged(self.defaults, self.own)
        except ConfigError as error:  # each value is right by itself; together they contradict each other
            log.error("Configuration of broker %d in ZooKeeper is not taken over: %s", self.static.broker_id, error)
            return
        for listener in self.on_change:
            listener(before, self.current)

    def _merged(self, defaults: Mapping[str, str], own: Mapping[str, str]) -> KafkaConfig:
        """Only the finest of several synonyms (ms before minutes before hours) can be set dynamically, so that it wins over what server.properties says."""
        merged = {**self.static.originals, **defaults, **own}
        known = {name: value for name, value in merged.items() if name in self.static.originals or is_known(name)}
        # broker.id may have been found in meta.properties or generated: then no property tells it.
        return replace(KafkaConfig.from_properties(known), broker_id=self.static.broker_id)

    def rate(self, name: str) -> int:
        """One of `REPLICATION_KEYS`, in bytes per second."""
        text = self.own.get(name, self.defaults.get(name))
        return UNLIMITED if text is None else int(REPLICATION_KEYS[name].parse(text))

    # Answering for a wish

    def validate(self, wanted: Mapping[str, str], *, cluster_wide: bool) -> None:
        """May this become what is stored? Raises KafkaError (INVALID_REQUEST) with Kafka's words."""
        try:
            check_names_and_values(wanted, cluster_wide=cluster_wide)
            _refuse(_unchangeable(wanted), "Broker configs that cannot be changed while this broker runs, but take a restart")
            changed = self._merged(wanted, self.own) if cluster_wide else self._merged(self.defaults, wanted)
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, _in_kafkas_words(error)) from error
        self._check_threads(changed)
        _check_cleaner_threads(self.current.log_cleaner_threads, changed.log_cleaner_threads)
        _check_rates(changed, wanted)
        check_listeners(self.current, changed)

    def _check_threads(self, changed: KafkaConfig) -> None:
        """Kafka grows and shrinks its pools by a factor of two at most."""
        for name in THREADS:
            old, new = getattr(self.current, BROKER_KEYS[name].attribute), getattr(changed, BROKER_KEYS[name].attribute)
            complaint = None
            if new < old // 2:
                complaint = f"value should be at least half the current value {old}"
            elif new > old * 2:
                complaint = f"value should not be greater than double the current value {old}"
            if complaint is not None:
                raise InvalidDynamicConfig(f"Dynamic thread count update validation failed for {name}={new}, {complaint}")


def check_names_and_values(wanted: Mapping[str, str], *, cluster_wide: bool) -> None:
    """What can be said of a wish without knowing the broker that it is for. Raises ConfigError, KafkaError (INVALID_REQUEST), with Kafka's words."""
    _refuse(_not_dynamic(wanted), "Cannot update these configs dynamically")
    _refuse(RELOADABLE_STORES & wanted.keys(), "These security configs can be dynamically updated only per-listener using the listener prefix")
    for name, value in wanted.items():
        _parse(name, value)
    if cluster_wide:
        own = [name for name in wanted if _plain(name) in PER_BROKER]
        _refuse(own, "Cannot update these configs at default cluster level, broker id must be specified")


def _check_cleaner_threads(old: int, new: int) -> None:
    if new < 1:
        raise InvalidDynamicConfig("Log cleaner threads should be at least 1")
    if new < old // 2:
        raise InvalidDynamicConfig(f"Log cleaner threads cannot be reduced to less than half the current value {old}")
    if new > old * 2:
        raise InvalidDynamicConfig(f"Log cleaner threads cannot be increased to more than double the current value {old}")


def _check_rates(changed: KafkaConfig, wanted: Mapping[str, str]) -> None:
    limits = {name: value for name, value in changed.originals.items() if name in wanted and _plain(name) == "max.connection.creation.rate"}
    for value in limits.values():
        if int(value) < 1:
            raise InvalidDynamicConfig(f"Invalid max.connection.creation.rate {value}")


def _in_kafkas_words(error: ConfigError) -> str:
    """Of listeners Kafka speaks in another way than of other keys."""
    if error.key == "listener.security.protocol.map":
        wrong = [part.rpartition(":")[2] for part in str(error.value).split(",") if part.rpartition(":")[2].strip() not in SECURITY_PROTOCOLS]
        return f"Invalid security protocol `{wrong[0]}` defined in {error.key}" if wrong else str(error)
    if error.key in _LISTENER_KEYS and "No security protocol defined" in str(error):
        return f"Error creating broker listeners from '{error.value}': {str(error).partition(': ')[2]}"
    return str(error)


def is_dynamic(name: str) -> bool:
    """Whether Kafka lets a broker key be changed while the broker runs."""
    return any(UPDATE_MODES[each] is not UpdateMode.READ_ONLY for each in broker_synonyms(name) if each in UPDATE_MODES)


def _not_dynamic(names: Collection[str]) -> list[str]:
    return [name for name in names if name in UPDATE_MODES and UPDATE_MODES[name] is UpdateMode.READ_ONLY]


def _plain(name: str) -> str:
    """The key that a name with a listener's prefix stands for; other names as they are."""
    return without_listener(name) or name


def _unchangeable(names: Collection[str]) -> list[str]:
    return [name for name in names if name in UNCHANGEABLE or (without_listener(name) is not None and _plain(name) not in _OF_ONE_LISTENER)]


def _parse(name: str, value: str) -> None:
    key = REPLICATION_KEYS.get(name) or BROKER_KEYS.get(_plain(name))
    if key is not None:  # anybody may store keys of their own
        key.parse(value)


def _refuse(names: Collection[str], why: str) -> None:
    if names:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{why}: Set({', '.join(sorted(names))})")


def _readable(stored: Mapping[str, str], *, cluster_wide: bool) -> dict[str, str]:
    readable = {}
    own = [name for name in stored if _plain(name) in PER_BROKER] if cluster_wide else []
    refused = {*_not_dynamic(stored), *_unchangeable(stored), *own}
    for name, value in stored.items():
        if name in refused:
            log.error("Dynamic broker config %s will be ignored: it cannot be changed while a broker runs", name)
            continue
        try:
            _parse(name, value)
        except ConfigError as error:
            log.error("Dynamic broker config %s will be ignored: %s", name, error)
            continue
        readable[name] = value
    return readable
