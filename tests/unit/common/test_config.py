"""The broker's configuration. Expected defaults: facts/coordination.md 7.1; rules: 2.8:core/src/test/scala/unit/kafka/server/KafkaConfigTest.scala."""

from __future__ import annotations

import pytest

from pykafka_classic.common.config import BROKER_KEYS, ConfigError, KafkaConfig
from pykafka_classic.common.config_def import ConfigType, render
from pykafka_classic.common.dynamic_config import UPDATE_MODES, broker_synonyms, topic_synonyms
from pykafka_classic.common.listeners import EndPoint
from pykafka_classic.common.log_config import SERVER_KEYS, TOPIC_KEYS, LogConfig

NEEDED = {"zookeeper.connect": "localhost:2181"}

# facts/coordination.md 7.1
DEFAULTS = {
    "zookeeper.session.timeout.ms": 18000,
    "zookeeper.max.in.flight.requests": 10,
    "broker.id": -1,
    "reserved.broker.max.id": 1000,
    "num.network.threads": 3,
    "num.io.threads": 8,
    "background.threads": 10,
    "queued.max.requests": 500,
    "request.timeout.ms": 30000,
    "socket.request.max.bytes": 104857600,
    "connections.max.idle.ms": 600000,
    "message.max.bytes": 1048588,
    "auto.create.topics.enable": True,
    "unclean.leader.election.enable": False,
    "log.segment.bytes": 1073741824,
    "log.cleaner.dedupe.buffer.size": 134217728,
    "log.cleaner.min.cleanable.ratio": 0.5,
    "replica.lag.time.max.ms": 30000,
    "replica.fetch.response.max.bytes": 10485760,
    "fetch.max.bytes": 57671680,
    "leader.imbalance.check.interval.seconds": 300,
    "controlled.shutdown.retry.backoff.ms": 5000,
    "group.max.session.timeout.ms": 1800000,
    "group.initial.rebalance.delay.ms": 3000,
    "offsets.topic.num.partitions": 50,
    "offsets.retention.minutes": 10080,
    "transaction.max.timeout.ms": 900000,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 10000,
    "delegation.token.max.lifetime.ms": 604800000,
    "inter.broker.protocol.version": "2.8-IV1",
}


def config(**properties: str) -> KafkaConfig:
    """A configuration from keyword arguments: `log_dir="/x"` sets log.dir."""
    return KafkaConfig.from_properties(NEEDED | {name.replace("_", "."): value for name, value in properties.items()})


@pytest.mark.parametrize(("name", "value"), DEFAULTS.items())
def test_defaults_are_kafkas(name: str, value: object) -> None:
    assert getattr(config(), BROKER_KEYS[name].attribute) == value


def test_all_keys_of_kafka_with_zookeeper_are_there() -> None:
    assert len(BROKER_KEYS) == 218


@pytest.mark.parametrize("name", BROKER_KEYS)
def test_default_is_a_value_that_the_key_allows(name: str) -> None:
    key = BROKER_KEYS[name]
    text = render(key.type, key.default)
    if text is not None:
        assert key.parse(text) == key.default


def test_every_key_is_documented_with_a_sentence() -> None:
    assert not [name for name, key in BROKER_KEYS.items() if not key.doc.endswith(".") or len(key.doc) < 15]


def test_times_name_their_unit() -> None:
    assert not [name for name, key in BROKER_KEYS.items() if name.endswith(".ms") and " ms" not in key.doc]


def test_topic_keys_and_their_broker_keys_agree_on_type_and_default() -> None:
    broker, topic = config().log_config(), LogConfig()
    assert broker == topic
    assert not [name for name, server in SERVER_KEYS.items() if TOPIC_KEYS[name].type is not BROKER_KEYS[server].type]


def test_unknown_keys_are_collected_not_refused() -> None:
    made = KafkaConfig.from_properties(
        NEEDED | {"no.such.key": "1", "listener.name.internal.ssl.keystore.location": "/x", "listener.name.a.plain.sasl.jaas.config": "y"}
    )
    assert made.unknown_keys == ("no.such.key",)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "1"}, 3_600_000),
        ({"log.retention.minutes": "30"}, 1_800_000),
        ({"log.retention.ms": "1800000"}, 1_800_000),
        ({"log.retention.ms": "1800000", "log.retention.minutes": "1", "log.retention.hours": "1"}, 1_800_000),
        ({"log.retention.minutes": "30", "log.retention.hours": "1"}, 1_800_000),
        ({"log.retention.ms": "-1"}, -1),
        ({"log.retention.minutes": "-1"}, -1),
        ({"log.retention.hours": "-1"}, -1),
    ],
)
def test_finest_retention_key_wins(properties: dict[str, str], expected: int) -> None:
    assert KafkaConfig.from_properties(NEEDED | properties).log_config().retention_ms == expected


def test_roll_and_flush_fall_back_on_their_coarser_keys() -> None:
    assert config(log_roll_hours="2").log_config().segment_ms == 7_200_000
    assert config(log_roll_ms="5", log_roll_hours="2").log_config().segment_ms == 5
    assert config(log_roll_jitter_hours="1").log_config().segment_jitter_ms == 3_600_000
    assert config(log_flush_scheduler_interval_ms="9").log_config().flush_ms == 9
    assert config(log_flush_scheduler_interval_ms="9", log_flush_interval_ms="3").log_config().flush_ms == 3


def test_log_dirs_win_over_log_dir() -> None:
    assert config().log_directories == ("/tmp/kafka-logs",)
    assert config(log_dir="/a").log_directories == ("/a",)
    assert config(log_dir="/a", log_dirs="/b , /c").log_directories == ("/b", "/c")


def test_connection_timeout_is_the_session_timeout_unless_set() -> None:
    assert config(zookeeper_session_timeout_ms="7").zookeeper_connection_timeout_ms_resolved == 7
    assert config(zookeeper_connection_timeout_ms="8").zookeeper_connection_timeout_ms_resolved == 8


def test_without_listeners_the_old_host_and_port_count() -> None:
    made = config(host_name="myhost", port="1111")
    assert made.listener_end_points == (EndPoint("myhost", 1111, "PLAINTEXT", "PLAINTEXT"),)
    assert made.advertised_end_points == made.listener_end_points


def test_old_advertised_host_is_completed_by_the_port() -> None:
    assert config(port="1111", advertised_host_name="seen").advertised_end_points == (EndPoint("seen", 1111, "PLAINTEXT", "PLAINTEXT"),)


def test_listener_names_take_their_protocol_from_the_map() -> None:
    made = KafkaConfig.from_properties(
        NEEDED
        | {
            "listeners": "client://localhost:9091,REPLICATION://[::1]:9092",
            "advertised.listeners": "CLIENT://seen:9091,REPLICATION://[::1]:9092",
            "listener.security.protocol.map": "CLIENT:SSL,REPLICATION:PLAINTEXT",
            "inter.broker.listener.name": "REPLICATION",
        }
    )
    assert made.listener_end_points == (EndPoint("localhost", 9091, "CLIENT", "SSL"), EndPoint("::1", 9092, "REPLICATION", "PLAINTEXT"))
    assert made.advertised_end_points[1].connection_string == "REPLICATION://[::1]:9092"
    assert made.inter_broker_listener == "REPLICATION"


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ({"zookeeper.connect": ""}, "zookeeper.connect"),
        ({"broker.id": "1001"}, "broker.id"),
        ({"broker.id": "-2"}, "broker.id"),
        ({"broker.id.generation.enable": "false"}, "broker.id"),
        ({"log.retention.ms": "0"}, "log.retention.ms"),
        ({"log.roll.ms": "0"}, "log.roll.ms"),
        ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms"),
        ({"log.dirs": " , "}, "log.dirs"),
        ({"log.cleaner.dedupe.buffer.size": "1048576"}, "log.cleaner.dedupe.buffer.size"),
        ({"log.cleanup.policy": "archive"}, "log.cleanup.policy"),
        ({"replica.fetch.wait.max.ms": "30001"}, "replica.fetch.wait.max.ms"),
        ({"replica.lag.time.max.ms": "499"}, "replica.fetch.wait.max.ms"),
        ({"offsets.commit.required.acks": "4"}, "offsets.commit.required.acks"),
        ({"offsets.topic.compression.codec": "9"}, "offsets.topic.compression.codec"),
        ({"offsets.topic.replication.factor": "32768"}, "offsets.topic.replication.factor"),
        ({"group.min.session.timeout.ms": "1800001"}, "group.min.session.timeout.ms"),
        ({"compression.type": "zip"}, "compression.type"),
        ({"listeners": "PLAINTEXT://:9092,PLAINTEXT://:9093"}, "listeners"),
        ({"listeners": "PLAINTEXT://:9092,SSL://:9092"}, "listeners"),
        ({"listeners": "OTHER://:9092"}, "listeners"),
        ({"listeners": "localhost:9092"}, "listeners"),
        ({"listeners": "PLAINTEXT://:99999"}, "listeners"),
        ({"listeners": "SSL://:9092"}, "inter.broker.listener.name"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:9092"}, "advertised.listeners"),
        ({"advertised.listeners": "PLAINTEXT://a:1,SSL://a:2"}, "advertised.listeners"),
        ({"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"}, "inter.broker.listener.name"),
        ({"inter.broker.listener.name": "NONE"}, "inter.broker.listener.name"),
        ({"security.inter.broker.protocol": "TLS"}, "security.inter.broker.protocol"),
        ({"control.plane.listener.name": "PLAINTEXT"}, "control.plane.listener.name"),
        ({"listener.security.protocol.map": "PLAINTEXT:PLAIN"}, "listener.security.protocol.map"),
        ({"inter.broker.protocol.version": "0.10.2"}, "log.message.format.version"),
        ({"inter.broker.protocol.version": "4.0"}, "inter.broker.protocol.version"),
        ({"queued.max.request.bytes": "1"}, "queued.max.request.bytes"),
        ({"max.connections.per.ip": "0"}, "max.connections.per.ip"),
        ({"connections.max.idle.ms": "100"}, "connection.failed.authentication.delay.ms"),
        ({"fetch.max.bytes": "1023"}, "fetch.max.bytes"),
    ],
)
def test_bad_value_names_its_key(properties: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as refused:
        KafkaConfig.from_properties(NEEDED | properties)
    assert refused.value.key == key
    assert str(refused.value).startswith("Invalid value ")
    assert refused.value.allowed


def test_zookeeper_must_be_named() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value null for configuration zookeeper\.connect"):
        KafkaConfig.from_properties({})


def test_secrets_are_never_rendered() -> None:
    secrets = [name for name, key in BROKER_KEYS.items() if key.type is ConfigType.PASSWORD]
    assert "ssl.key.password" in secrets
    assert {render(BROKER_KEYS[name].type, "secret") for name in secrets} == {None}


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("broker.id", "read-only"),
        ("log.message.format.version", "read-only"),
        ("listeners", "per-broker"),
        ("ssl.keystore.location", "per-broker"),
        ("num.io.threads", "cluster-wide"),
        ("log.cleaner.backoff.ms", "cluster-wide"),
        ("min.insync.replicas", "cluster-wide"),
        ("max.connections", "cluster-wide"),
    ],
)
def test_where_a_key_may_be_changed(name: str, mode: str) -> None:
    assert UPDATE_MODES[name].value == mode


def test_synonyms_begin_with_the_strongest() -> None:
    assert topic_synonyms("retention.ms") == ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    assert topic_synonyms("flush.ms") == ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
    assert broker_synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert topic_synonyms("leader.replication.throttled.replicas") == ()


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (ConfigType.DOUBLE, 0.5, "0.5"),
        (ConfigType.DOUBLE, 1.7976931348623157e308, "1.7976931348623157E308"),
        (ConfigType.LIST, ("a", "b"), "a,b"),
        (ConfigType.BOOLEAN, True, "true"),
        (ConfigType.STRING, None, None),
    ],
)
def test_values_are_rendered_as_java_writes_them(kind: ConfigType, value: object, text: str | None) -> None:
    assert render(kind, value) == text
