"""The broker's configuration: server.properties, read, checked and resolved.

One frozen value, made once; a dynamic change (KIP-226) makes a new one. A field per key (`broker_keys/`) holds what the file says; where Kafka has several keys
for one thing (ms, minutes, hours; log.dirs, log.dir; listeners and their old forms) a property here holds the outcome.

Source: 2.8:core/src/main/scala/kafka/server/KafkaConfig.scala, facts/coordination.md 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.broker_keys.coordinators import GroupCoordinatorKeys, TransactionCoordinatorKeys
from pykafka_classic.common.broker_keys.general import GeneralKeys
from pykafka_classic.common.broker_keys.log import LogCleanerKeys, LogKeys
from pykafka_classic.common.broker_keys.quotas_and_metrics import MetricsKeys, QuotaKeys
from pykafka_classic.common.broker_keys.replication import ReplicationKeys
from pykafka_classic.common.broker_keys.security import AuthorizationKeys, SaslKeys, SslKeys
from pykafka_classic.common.broker_keys.sockets import SocketKeys
from pykafka_classic.common.broker_keys.zookeeper import ZooKeeperKeys
from pykafka_classic.common.config_def import ConfigError, ConfigKey, keys_of, parse_all
from pykafka_classic.common.config_rules import check
from pykafka_classic.common.listeners import EndPoint, parse_end_points, parse_overrides, parse_protocol_map, require_distinct_ports
from pykafka_classic.common.log_config import LogConfig, as_policy

__all__ = ["BROKER_KEYS", "ConfigError", "KafkaConfig"]

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
_LISTENER_PREFIX: Final = re.compile(r"listener\.name\.[^.]+\.(?:(?:gssapi|plain|scram-sha-256|scram-sha-512|oauthbearer)\.)?(.+)")


@dataclass(frozen=True, kw_only=True)
class KafkaConfig(
    SaslKeys,
    SslKeys,
    AuthorizationKeys,
    MetricsKeys,
    QuotaKeys,
    TransactionCoordinatorKeys,
    GroupCoordinatorKeys,
    ReplicationKeys,
    LogCleanerKeys,
    LogKeys,
    SocketKeys,
    GeneralKeys,
    ZooKeeperKeys,
):
    """All keys of one broker. Build it with `from_properties`, which checks; the constructor does not."""

    originals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what was set, by key, unknown ones too
    unknown_keys: tuple[str, ...] = ()  # keys that mean nothing here: worth a warning

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> KafkaConfig:
        """The configuration that these properties describe. Raises ConfigError naming key, value and what is allowed."""
        values = parse_all(BROKER_KEYS, properties)
        unknown = tuple(sorted(name for name in properties if not is_known(name)))
        config = cls(**values, originals=MappingProxyType(dict(properties)), unknown_keys=unknown)
        check(config)
        return config

    @property
    def log_directories(self) -> tuple[str, ...]:
        """Where data lies: log.dirs, else log.dir."""
        text = self.log_dir if self.log_dirs is None else self.log_dirs
        return tuple(filter(None, re.split(r"\s*,\s*", text.strip())))

    @property
    def log_retention_ms_resolved(self) -> int:
        """Age at which segments are deleted, in ms, from the finest key that is set; -1: never."""
        if self.log_retention_ms is not None:
            retention = self.log_retention_ms
        elif self.log_retention_minutes is not None:
            retention = self.log_retention_minutes * MINUTE_MS
        else:
            retention = self.log_retention_hours * HOUR_MS
        return retention if retention >= 0 else -1

    @property
    def log_roll_ms_resolved(self) -> int:
        """Age at which segments are closed, in ms."""
        return self.log_roll_hours * HOUR_MS if self.log_roll_ms is None else self.log_roll_ms

    @property
    def log_roll_jitter_ms_resolved(self) -> int:
        """Random part of that age, in ms."""
        return self.log_roll_jitter_hours * HOUR_MS if self.log_roll_jitter_ms is None else self.log_roll_jitter_ms

    @property
    def log_flush_interval_ms_resolved(self) -> int:
        """Age of unsynced records at which a partition is synced, in ms."""
        return self.log_flush_scheduler_interval_ms if self.log_flush_interval_ms is None else self.log_flush_interval_ms

    @property
    def zookeeper_connection_timeout_ms_resolved(self) -> int:
        """How long to wait for ZooKeeper at start, in ms."""
        return self.zookeeper_session_timeout_ms if self.zookeeper_connection_timeout_ms is None else self.zookeeper_connection_timeout_ms

    @property
    def num_replica_alter_log_dirs_threads_resolved(self) -> int:
        """Movers of replicas between log directories."""
        return len(self.log_directories) if self.num_replica_alter_log_dirs_threads is None else self.num_replica_alter_log_dirs_threads

    @property
    def inter_broker_api_version(self) -> ApiVersion:
        """`inter.broker.protocol.version`, comparable."""
        return ApiVersion.parse(self.inter_broker_protocol_version)

    @property
    def security_protocols(self) -> Mapping[str, str]:
        """Security protocol by listener name."""
        return parse_protocol_map(self.listener_security_protocol_map)

    @property
    def listener_end_points(self) -> tuple[EndPoint, ...]:
        """Where to listen, in order."""
        if self.listeners is None:
            return parse_end_points("host.name", f"PLAINTEXT://{self.host_name}:{self.port}", self.security_protocols)
        end_points = parse_end_points("listeners", self.listeners, self.security_protocols)
        require_distinct_ports("listeners", end_points)
        return end_points

    @property
    def advertised_end_points(self) -> tuple[EndPoint, ...]:
        """What others are told; a port of 0 must be replaced by the real one, an empty host by this machine's name, once it listens."""
        if self.advertised_listeners is not None:
            return parse_end_points("advertised.listeners", self.advertised_listeners, self.security_protocols)
        if self.advertised_host_name is None and self.advertised_port is None:
            return self.listener_end_points
        host = self.host_name if self.advertised_host_name is None else self.advertised_host_name
        port = self.port if self.advertised_port is None else self.advertised_port
        return parse_end_points("advertised.host.name", f"PLAINTEXT://{host}:{port}", self.security_protocols)

    def of_listener(self, name: str, key: str) -> int | None:
        """A key that was set for one listener alone (`listener.name.NAME.key`), a whole number; None where it was not."""
        text = self.originals.get(f"listener.name.{name.lower()}.{key}")
        return None if text is None else int(BROKER_KEYS[key].parse(text))

    @property
    def connections_per_ip_overrides(self) -> Mapping[str, int]:
        """max.connections.per.ip.overrides: limit by address. Raises ConfigError."""
        return parse_overrides(self.max_connections_per_ip_overrides)

    @property
    def inter_broker_listener(self) -> str:
        """Name of the listener that brokers use among themselves, upper case."""
        name = self.inter_broker_listener_name
        return (self.security_inter_broker_protocol if name is None else name).upper()

    @property
    def control_plane_listener(self) -> str | None:
        """Name of the listener for the controller's requests alone, upper case; None: they share the brokers' one."""
        return None if self.control_plane_listener_name is None else self.control_plane_listener_name.upper()

    def log_config(self) -> LogConfig:
        """What a topic without overrides has."""
        return LogConfig(
            segment_bytes=self.log_segment_bytes,
            segment_ms=self.log_roll_ms_resolved,
            segment_jitter_ms=self.log_roll_jitter_ms_resolved,
            segment_index_bytes=self.log_index_size_max_bytes,
            flush_messages=self.log_flush_interval_messages,
            flush_ms=self.log_flush_interval_ms_resolved,
            retention_bytes=self.log_retention_bytes,
            retention_ms=self.log_retention_ms_resolved,
            max_message_bytes=self.message_max_bytes,
            index_interval_bytes=self.log_index_interval_bytes,
            delete_retention_ms=self.log_cleaner_delete_retention_ms,
            min_compaction_lag_ms=self.log_cleaner_min_compaction_lag_ms,
            max_compaction_lag_ms=self.log_cleaner_max_compaction_lag_ms,
            file_delete_delay_ms=self.log_segment_delete_delay_ms,
            min_cleanable_dirty_ratio=self.log_cleaner_min_cleanable_ratio,
            cleanup_policy=as_policy(self.log_cleanup_policy),
            unclean_leader_election_enable=self.unclean_leader_election_enable,
            min_insync_replicas=self.min_insync_replicas,
            compression_type=self.compression_type,
            preallocate=self.log_preallocate,
            message_format_version=self.log_message_format_version,
            message_timestamp_type=self.log_message_timestamp_type,
            message_timestamp_difference_max_ms=self.log_message_timestamp_difference_max_ms,
            message_downconversion_enable=self.log_message_downconversion_enable,
        )


BROKER_KEYS: Final[Mapping[str, ConfigKey]] = MappingProxyType(keys_of(KafkaConfig))


def without_listener(name: str) -> str | None:
    """The key behind a listener's prefix, `listener.name.NAME.`; None where there is none."""
    prefixed = _LISTENER_PREFIX.fullmatch(name)
    return prefixed[1] if prefixed is not None else None


def is_known(name: str) -> bool:
    """Whether a property means something: a broker key, or one with a listener's prefix."""
    return name in BROKER_KEYS or without_listener(name) in BROKER_KEYS
