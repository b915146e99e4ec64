"""Which value is in force, and which wishes are refused. The words are Kafka's (2.8: kafka.server.DynamicBrokerConfig)."""

from __future__ import annotations

import pytest

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.config_numbers import ConfigSource
from pykafka_classic.server.config_entries import broker_config_entries, default_broker_config_entries, topic_config_entries
from pykafka_classic.server.dynamic_broker_config import LEADER_RATE, UNLIMITED, DynamicBrokerConfig

# As Apache's kafka-configs printed it.
WRAPPED = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update validation failed for %s "
    "for configuration Invalid dynamic configuration"
)


@pytest.fixture
def dynamic() -> DynamicBrokerConfig:
    return DynamicBrokerConfig(KafkaConfig.from_properties({"zookeeper.connect": "zk:2181", "broker.id": "1", "log.retention.hours": "2"}))


def test_a_brokers_own_value_wins_over_the_clusters_over_the_files(dynamic: DynamicBrokerConfig) -> None:
    dynamic.update({"log.segment.bytes": "2000", "log.retention.ms": "5"}, cluster_wide=True)
    dynamic.update({"log.segment.bytes": "3000"}, cluster_wide=False)
    log_config = dynamic.current.log_config()
    assert (log_config.segment_bytes, log_config.retention_ms) == (3000, 5)
    dynamic.update({}, cluster_wide=False)
    dynamic.update({}, cluster_wide=True)
    log_config = dynamic.current.log_config()
    assert (log_config.segment_bytes, log_config.retention_ms) == (1073741824, 7_200_000)


def test_the_ladder_of_a_value_is_told(dynamic: DynamicBrokerConfig) -> None:
    dynamic.update({"log.retention.ms": "5"}, cluster_wide=True)
    told = {entry.name: entry for entry in broker_config_entries(dynamic)}["log.retention.ms"]
    assert (told.value, told.source, told.read_only) == ("5", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, False)
    assert [(step.name, step.source) for step in told.synonyms] == [
        ("log.retention.ms", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        ("log.retention.hours", ConfigSource.STATIC_BROKER_CONFIG),
        ("log.retention.hours", ConfigSource.DEFAULT_CONFIG),
    ]
    assert [(entry.name, entry.value) for entry in default_broker_config_entries(dynamic)] == [("log.retention.ms", "5")]
    of_topic = {entry.name: entry for entry in topic_config_entries(dynamic, {})}["retention.ms"]
    assert (of_topic.value, of_topic.source) == ("5", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG)


def test_a_list_is_told_in_the_order_in_which_it_was_written(dynamic: DynamicBrokerConfig) -> None:
    """As Apache tells it after `compact` was appended to the default."""
    of_topic = {entry.name: entry for entry in topic_config_entries(dynamic, {"cleanup.policy": "delete,compact"})}["cleanup.policy"]
    assert of_topic.value == "delete,compact"
    dynamic.update({"log.cleanup.policy": "delete,compact"}, cluster_wide=True)
    of_broker = {entry.name: entry for entry in broker_config_entries(dynamic)}["log.cleanup.policy"]
    assert of_broker.value == "delete,compact"
    assert {entry.name: entry for entry in topic_config_entries(dynamic, {})}["cleanup.policy"].value == "delete,compact"


def test_what_cannot_be_read_is_left_out_and_the_rest_counts(dynamic: DynamicBrokerConfig) -> None:
    dynamic.update({"log.segment.bytes": "many", "log.retention.bytes": "7", "zookeeper.connect": "elsewhere:1", "ssl.protocol": "TLSv1"}, cluster_wide=False)
    assert (dynamic.current.log_segment_bytes, dynamic.current.log_retention_bytes) == (1073741824, 7)
    assert (dynamic.current.zookeeper_connect, dynamic.current.ssl_protocol) == ("zk:2181", "TLSv1.3")


def test_listeners_of_one_broker_may_change_and_those_of_all_may_not(dynamic: DynamicBrokerConfig) -> None:
    two = {"listeners": "PLAINTEXT://:9092,OUT://:9095", "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUT:PLAINTEXT"}
    dynamic.validate(two, cluster_wide=False)
    dynamic.update(two, cluster_wide=True)
    assert len(dynamic.current.listener_end_points) == 1
    dynamic.update(two, cluster_wide=False)
    assert [each.listener_name for each in dynamic.current.listener_end_points] == ["PLAINTEXT", "OUT"]


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({"listeners": "PLAINTEXT://:9092,SSL://:9093"}, "Listener SSL cannot be added: this broker serves PLAINTEXT only, not SSL"),
        ({"listeners": "OUT://:9092"}, "No security protocol defined for listener OUT"),
        ({"listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT"}, "Security protocol cannot be updated for existing listener PLAINTEXT"),
        ({"advertised.listeners": "SSL://x:1"}, "inter.broker.listener.name"),
        ({"listener.name.plaintext.ssl.protocol": "TLSv1"}, "cannot be changed while this broker runs"),
        ({"listener.name.plaintext.max.connections": "-1"}, "Value must be at least 0"),
        ({"listener.name.plaintext.max.connection.creation.rate": "0"}, "Invalid max.connection.creation.rate 0"),
        ({"log.cleaner.threads": "3"}, "Log cleaner threads cannot be increased to more than double the current value 1"),
        ({"max.connections.per.ip.overrides": "127.0.0.1"}, "host:count"),
    ],
)
def test_what_cannot_be_done_is_refused(dynamic: DynamicBrokerConfig, wanted: dict[str, str], complaint: str) -> None:
    with pytest.raises(KafkaError, match=complaint) as raised:
        dynamic.validate(wanted, cluster_wide=False)
    assert raised.value.code is ErrorCode.INVALID_REQUEST


def test_a_listener_may_have_limits_of_its_own(dynamic: DynamicBrokerConfig) -> None:
    dynamic.update({"listener.name.plaintext.max.connections": "5"}, cluster_wide=True)
    assert dynamic.current.of_listener("PLAINTEXT", "max.connections") == 5
    assert dynamic.current.of_listener("OTHER", "max.connections") is None


def test_replication_rates_have_no_place_in_the_file(dynamic: DynamicBrokerConfig) -> None:
    assert dynamic.rate(LEADER_RATE) == UNLIMITED
    dynamic.update({LEADER_RATE: "1000"}, cluster_wide=True)
    assert dynamic.rate(LEADER_RATE) == 1000
    dynamic.update({LEADER_RATE: "2000"}, cluster_wide=False)
    assert dynamic.rate(LEADER_RATE) == 2000


@pytest.mark.parametrize(
    ("wanted", "cluster_wide", "words"),
    [
        ({"zookeeper.connect": "x:1"}, False, "Cannot update these configs dynamically: Set(zookeeper.connect)"),
        (
            {"advertised.listeners": "PLAINTEXT://x:1"},
            True,
            "Cannot update these configs at default cluster level, broker id must be specified: Set(advertised.listeners)",
        ),
        (
            {"ssl.keystore.location": "/x"},
            False,
            "These security configs can be dynamically updated only per-listener using the listener prefix: Set(ssl.keystore.location)",
        ),
        ({"log.segment.bytes": "many"}, False, "Invalid value many for configuration log.segment.bytes: Not a number of type INT"),
        (
            {"num.io.threads": "17"},
            False,
            WRAPPED % "num.io.threads=17, value should not be greater than double the current value 8",
        ),
        (
            {"num.io.threads": "3"},
            True,
            WRAPPED % "num.io.threads=3, value should be at least half the current value 8",
        ),
    ],
)
def test_refusals(dynamic: DynamicBrokerConfig, wanted: dict[str, str], cluster_wide: bool, words: str) -> None:
    with pytest.raises(KafkaError) as raised:
        dynamic.validate(wanted, cluster_wide=cluster_wide)
    assert (raised.value.code, str(raised.value)) == (ErrorCode.INVALID_REQUEST, words)


def test_keys_that_nobody_knows_may_be_stored(dynamic: DynamicBrokerConfig) -> None:
    dynamic.validate({"my.plugin.secret": "x"}, cluster_wide=False)
    dynamic.update({"my.plugin.secret": "x"}, cluster_wide=False)
    told = {entry.name: entry for entry in broker_config_entries(dynamic)}["my.plugin.secret"]
    assert told.value is None
    assert told.is_sensitive
