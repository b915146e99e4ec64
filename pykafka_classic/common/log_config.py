"""How one topic's logs are kept: the broker's defaults, and what the topic overrides (`/config/topics/T`).

Source: 2.8:core/src/main/scala/kafka/log/LogConfig.scala, facts/coordination.md 7.2. The 26 keys of Kafka 2.8.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.config_def import (
    ConfigError,
    ConfigKey,
    ConfigType,
    Importance,
    KafkaVersion,
    Range,
    ThrottledReplicas,
    at_least,
    key,
    keys_of,
    one_of,
)

MEDIUM, LOW = Importance.MEDIUM, Importance.LOW
BOOLEAN, INT, LONG, DOUBLE = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE
STRING, LIST = ConfigType.STRING, ConfigType.LIST
LONG_MAX: Final = 9223372036854775807


def as_policy(texts: Iterable[str]) -> frozenset[str]:
    """A cleanup.policy as a set of lower-case words."""
    return frozenset(text.lower() for text in texts)


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    """One topic's configuration. Immutable: a change makes a new one, which the log is given."""

    segment_bytes: int = key(INT, 1073741824, MEDIUM, "A segment file is closed when it would grow beyond this, in bytes.", at_least(14))
    segment_ms: int = key(LONG, 604800000, MEDIUM, "Age, in ms, at which a segment is closed even if not full.", at_least(1))
    segment_jitter_ms: int = key(LONG, 0, MEDIUM, "Random part taken off that age, in ms, so that not all close at once.", at_least(0))
    segment_index_bytes: int = key(INT, 10485760, MEDIUM, "Size, in bytes, that an index file is given in advance.", at_least(0))
    flush_messages: int = key(LONG, LONG_MAX, MEDIUM, "Records after which a partition is synced to disk.", at_least(0))
    flush_ms: int = key(LONG, LONG_MAX, MEDIUM, "Age, in ms, of the oldest unsynced record at which a partition is synced.", at_least(0))
    retention_bytes: int = key(LONG, -1, MEDIUM, "Size of a partition, in bytes, above which its oldest segments are deleted; -1: no limit.")
    retention_ms: int = key(LONG, 604800000, MEDIUM, "Age, in ms, at which a closed segment is deleted; -1: never.", at_least(-1))
    max_message_bytes: int = key(INT, 1048588, MEDIUM, "Largest record batch that is accepted, in bytes, as compressed.", at_least(0))
    index_interval_bytes: int = key(INT, 4096, MEDIUM, "Bytes of records from one index entry to the next.", at_least(0))
    delete_retention_ms: int = key(LONG, 86400000, MEDIUM, "How long, in ms, a tombstone of a compacted topic stays for readers to see it.", at_least(0))
    min_compaction_lag_ms: int = key(LONG, 0, MEDIUM, "Age, in ms, below which records are not compacted.", at_least(0))
    max_compaction_lag_ms: int = key(LONG, LONG_MAX, MEDIUM, "Age, in ms, at which records must be compacted.", at_least(1))
    file_delete_delay_ms: int = key(LONG, 60000, MEDIUM, "Time, in ms, from renaming a file to .deleted to removing it.", at_least(0))
    min_cleanable_dirty_ratio: float = key(DOUBLE, 0.5, MEDIUM, "Part of a log that must be uncompacted before it is worth a pass.", Range(0, 1))
    cleanup_policy: frozenset[str] = key(LIST, frozenset({"delete"}), MEDIUM, "delete old segments, compact them by key, or both.", one_of("compact", "delete"))
    unclean_leader_election_enable: bool = key(BOOLEAN, False, MEDIUM, "Whether a replica out of sync may lead when no other is left. It loses records.")
    min_insync_replicas: int = key(INT, 1, MEDIUM, "With acks=all: replicas that must be in sync for a write to be accepted.", at_least(1))
    compression_type: str = key(
        STRING,
        "producer",
        MEDIUM,
        "How batches are compressed on disk: a codec to compress with, uncompressed for none, or producer to keep what came.",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    )
    preallocate: bool = key(BOOLEAN, False, MEDIUM, "Whether a segment gets its full size on disk at once.")
    message_format_version: str = key(STRING, "2.8-IV1", MEDIUM, "Version of Kafka whose record format is written.", KafkaVersion())
    message_timestamp_type: str = key(STRING, "CreateTime", MEDIUM, "Whose clock stamps records.", one_of("CreateTime", "LogAppendTime"))
    message_timestamp_difference_max_ms: int = key(LONG, LONG_MAX, MEDIUM, "How far, in ms, a producer's timestamp may be from the broker's time.", at_least(0))
    leader_replication_throttled_replicas: tuple[str, ...] = key(
        LIST, (), MEDIUM, "Replicas throttled at the leader, partition:broker,... or * for all.", ThrottledReplicas()
    )
    follower_replication_throttled_replicas: tuple[str, ...] = key(
        LIST, (), MEDIUM, "Replicas throttled at the follower, partition:broker,... or * for all.", ThrottledReplicas()
    )
    message_downconversion_enable: bool = key(BOOLEAN, True, LOW, "Whether records are rewritten for consumers that are too old for their format.")
    overrides: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what the topic itself sets, by key, as given

    @property
    def compact(self) -> bool:
        """Whether old segments are compacted."""
        return "compact" in self.cleanup_policy

    @property
    def delete(self) -> bool:
        """Whether old segments are deleted."""
        return "delete" in self.cleanup_policy

    @property
    def record_version(self) -> int:
        """Magic of the record format to write: 0, 1 or 2."""
        return ApiVersion.parse(self.message_format_version).record_version

    @property
    def max_segment_ms(self) -> int:
        """Age, in ms, at which a segment is closed: a compacted topic must not hold records back beyond max.compaction.lag.ms."""
        return min(self.max_compaction_lag_ms, self.segment_ms) if self.compact and self.max_compaction_lag_ms > 0 else self.segment_ms

    def with_overrides(self, overrides: Mapping[str, str]) -> LogConfig:
        """This configuration with a topic's own values laid over it. Unknown keys are ignored, as they may stem from a newer version. Raises ConfigError."""
        changes: dict[str, Any] = parse_overrides(overrides)
        return replace(self, **changes, overrides=MappingProxyType(dict(overrides)))

    @staticmethod
    def validate(overrides: Mapping[str, str]) -> None:
        """Check what a client wants a topic to have: known keys and allowed values. Raises ConfigError with Kafka's words."""
        for name in overrides:
            if name not in TOPIC_KEYS:
                raise UnknownTopicConfigError(name)
        config = LogConfig().with_overrides(overrides)
        if config.min_compaction_lag_ms > config.max_compaction_lag_ms:
            raise ConflictingTopicConfigError(config)


class UnknownTopicConfigError(ConfigError):
    """A key that no topic has."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "", "one of the topic keys")
        self.args = (f"Unknown topic config name: {name}",)


class ConflictingTopicConfigError(ConfigError):
    """The two compaction lags contradict each other."""

    def __init__(self, config: LogConfig) -> None:
        low, high = config.min_compaction_lag_ms, config.max_compaction_lag_ms
        super().__init__("min.compaction.lag.ms", low, f"at most max.compaction.lag.ms, {high}")
        self.args = (f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})",)


TOPIC_KEYS: Final[Mapping[str, ConfigKey]] = MappingProxyType(keys_of(LogConfig))

SERVER_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "segment.bytes": "log.segment.bytes",
        "segment.ms": "log.roll.ms",
        "segment.jitter.ms": "log.roll.jitter.ms",
        "segment.index.bytes": "log.index.size.max.bytes",
        "flush.messages": "log.flush.interval.messages",
        "flush.ms": "log.flush.interval.ms",
        "retention.bytes": "log.retention.bytes",
        "retention.ms": "log.retention.ms",
        "max.message.bytes": "message.max.bytes",
        "index.interval.bytes": "log.index.interval.bytes",
        "delete.retention.ms": "log.cleaner.delete.retention.ms",
        "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
        "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
        "file.delete.delay.ms": "log.segment.delete.delay.ms",
        "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
        "cleanup.policy": "log.cleanup.policy",
        "unclean.leader.election.enable": "unclean.leader.election.enable",
        "min.insync.replicas": "min.insync.replicas",
        "compression.type": "compression.type",
        "preallocate": "log.preallocate",
        "message.format.version": "log.message.format.version",
        "message.timestamp.type": "log.message.timestamp.type",
        "message.timestamp.difference.max.ms": "log.message.timestamp.difference.max.ms",
        "message.downconversion.enable": "log.message.downconversion.enable",
    }
)
"""The broker key that is a topic key's default; the two throttle keys have none."""


def parse_overrides(overrides: Mapping[str, str]) -> dict[str, Any]:
    """Values by attribute for the known keys among `overrides`. Raises ConfigError."""
    values = {TOPIC_KEYS[name].attribute: TOPIC_KEYS[name].parse(text) for name, text in overrides.items() if name in TOPIC_KEYS}
    if "cleanup_policy" in values:
        values["cleanup_policy"] = as_policy(values["cleanup_policy"])
    return values
