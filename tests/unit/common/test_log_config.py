"""Topic configuration: defaults, overrides, and Kafka's words for what is wrong (golden/cli/kafka-topics.json and facts/coordination.md 7.2)."""

from __future__ import annotations

import pytest

from pykafka_classic.common.config_def import ConfigError, render
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.log_config import SERVER_KEYS, TOPIC_KEYS, LogConfig

# facts/coordination.md 7.2, as DescribeConfigs of Kafka 2.8 shows them.
DEFAULTS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000",
    "flush.messages": "9223372036854775807",
    "flush.ms": "9223372036854775807",
    "follower.replication.throttled.replicas": "",
    "index.interval.bytes": "4096",
    "leader.replication.throttled.replicas": "",
    "max.compaction.lag.ms": "9223372036854775807",
    "max.message.bytes": "1048588",
    "message.downconversion.enable": "true",
    "message.format.version": "2.8-IV1",
    "message.timestamp.difference.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "preallocate": "false",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
    "segment.ms": "604800000",
    "unclean.leader.election.enable": "false",
}


def test_there_are_the_26_keys_of_kafka_with_its_defaults() -> None:
    config = LogConfig()
    assert {name: render(key.type, getattr(config, key.attribute)) for name, key in TOPIC_KEYS.items()} == DEFAULTS


def test_every_key_but_the_throttles_has_a_broker_default() -> None:
    assert {name for name in TOPIC_KEYS if "throttled" not in name} == set(SERVER_KEYS)


def test_every_key_is_documented() -> None:
    assert not [name for name, key in TOPIC_KEYS.items() if not key.doc.endswith(".")]


def test_overrides_win_and_are_remembered() -> None:
    config = LogConfig(retention_ms=5).with_overrides({"segment.bytes": " 3000 ", "cleanup.policy": "compact, delete"})
    assert (config.segment_bytes, config.retention_ms) == (3000, 5)
    assert config.compact
    assert config.delete
    assert config.overrides == {"segment.bytes": " 3000 ", "cleanup.policy": "compact, delete"}


def test_unknown_override_in_zookeeper_is_ignored() -> None:
    assert LogConfig().with_overrides({"from.the.future": "1"}) != LogConfig()  # remembered, but without effect
    assert LogConfig().with_overrides({"from.the.future": "1"}).segment_bytes == LogConfig().segment_bytes


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("retention.ms", "abc", "Invalid value abc for configuration retention.ms: Not a number of type LONG"),
        ("retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        ("segment.bytes", "13", "Invalid value 13 for configuration segment.bytes: Value must be at least 14"),
        ("segment.bytes", "2147483648", "Invalid value 2147483648 for configuration segment.bytes: Not a number of type INT"),
        ("cleanup.policy", "delete,x", "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete"),
        ("preallocate", "yes", "Invalid value yes for configuration preallocate: Expected value to be either true or false"),
        ("min.cleanable.dirty.ratio", "1.5", "Invalid value 1.5 for configuration min.cleanable.dirty.ratio: Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", "x", "Invalid value x for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE"),
        ("message.format.version", "9.9", "Invalid value 9.9 for configuration message.format.version: Version `9.9` is not a valid version"),
        (
            "compression.type",
            "zip",
            "Invalid value zip for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
        (
            "leader.replication.throttled.replicas",
            "0:1,x",
            (
                "Invalid value [0:1, x] for configuration leader.replication.throttled.replicas: leader.replication.throttled.replicas must be the literal '*' "
                "or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
            ),
        ),
        ("no.such.key", "1", "Unknown topic config name: no.such.key"),
    ],
)
def test_bad_value_is_refused_in_kafkas_words(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LogConfig.validate({key: value})
    assert (str(refused.value), refused.value.code) == (message, ErrorCode.INVALID_CONFIG)


@pytest.mark.parametrize("value", ["*", "0:1", "0:1,1:2", ""])
def test_throttled_replicas_of_the_right_form_are_accepted(value: str) -> None:
    LogConfig.validate({"follower.replication.throttled.replicas": value})


def test_compaction_lags_must_not_contradict_each_other() -> None:
    with pytest.raises(ConfigError, match=r"conflict topic config setting min.compaction.lag.ms \(10\) > max.compaction.lag.ms \(5\)"):
        LogConfig.validate({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"})


def test_compacted_topic_rolls_segments_before_records_must_be_compacted() -> None:
    assert LogConfig(max_compaction_lag_ms=7).max_segment_ms == LogConfig().segment_ms
    assert LogConfig(max_compaction_lag_ms=7, cleanup_policy=frozenset({"compact"})).max_segment_ms == 7


@pytest.mark.parametrize(("version", "magic"), [("0.9.0", 0), ("0.10.2", 1), ("2.8", 2)])
def test_format_version_decides_the_magic(version: str, magic: int) -> None:
    assert LogConfig(message_format_version=version).record_version == magic
