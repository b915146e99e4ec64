"""Which broker keys may change while the broker runs, and by which other keys a value may have been set (KIP-226).

Values come, first found, from /config/brokers/ID, /config/brokers/<default>, server.properties, the default.
Source: 2.8:core/src/main/scala/kafka/server/DynamicBrokerConfig.scala.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pykafka_classic.common.broker_keys.security import SaslKeys, SslKeys
from pykafka_classic.common.config import BROKER_KEYS
from pykafka_classic.common.config_def import UpdateMode, keys_of
from pykafka_classic.common.log_config import SERVER_KEYS

RELOADABLE_STORES: Final = frozenset(
    {
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.certificates",
    }
)
"""Changed only under a listener's prefix, `listener.name.NAME.`."""

_CLASSES_OF_SASL: Final = frozenset(name for name in keys_of(SaslKeys) if name.endswith(".class"))

PER_BROKER: Final = (
    RELOADABLE_STORES
    | (frozenset(keys_of(SslKeys)) - {"ssl.principal.mapping.rules"})
    | (frozenset(keys_of(SaslKeys)) - _CLASSES_OF_SASL)
    | {"advertised.listeners", "listeners", "listener.security.protocol.map", "principal.builder.class"}
)

_LOG_DEFAULTS: Final = frozenset(SERVER_KEYS.values()) - {"log.message.format.version"}  # a format must be known to all brokers before it is written

CLUSTER_WIDE: Final = _LOG_DEFAULTS | {
    "log.cleaner.threads",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size",
    "log.cleaner.io.max.bytes.per.second",
    "log.cleaner.backoff.ms",
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "metric.reporters",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
    "max.connections",
    "max.connection.creation.rate",
}


def _mode(name: str) -> UpdateMode:
    if name in PER_BROKER:
        return UpdateMode.PER_BROKER
    return UpdateMode.CLUSTER_WIDE if name in CLUSTER_WIDE else UpdateMode.READ_ONLY


UPDATE_MODES: Final[Mapping[str, UpdateMode]] = MappingProxyType({name: _mode(name) for name in BROKER_KEYS})
"""By broker key."""

_FAMILIES: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The broker keys that may set what `name` means, the strongest first; itself alone where there are no others."""
    for family in _FAMILIES:
        if name in family and name != "log.flush.scheduler.interval.ms":
            return family
    return (name,)


def topic_synonyms(name: str) -> tuple[str, ...]:
    """The broker keys from which a topic key takes its default, the strongest first; none for the throttles."""
    return broker_synonyms(SERVER_KEYS[name]) if name in SERVER_KEYS else ()
