"""What a sink refuses before anything is written, and what it makes of options."""

from __future__ import annotations

import pickle

import pytest
from pyspark.sql.types import ArrayType, BinaryType, IntegerType, LongType, StringType, StructField, StructType

from pykafka_classic.client.client_errors import InvalidSetting
from spark_integration.executor.write import batch_writer, stream_writer
from spark_integration.executor.write_settings import WriteSettings, write_settings

VALUE = StructType([StructField("value", BinaryType())])
HEADER = StructType([StructField("key", StringType(), nullable=False), StructField("value", BinaryType())])
EVERYTHING = StructType(
    [
        StructField("partition", IntegerType()),
        StructField("headers", ArrayType(HEADER, containsNull=False)),
        StructField("key", StringType()),
        StructField("value", StringType(), nullable=False),
        StructField("topic", StringType()),
        StructField("carrier", LongType()),
    ]
)
BROKERS = {"bootstrap.servers": "localhost:9092"}


def nowhere(connect: str) -> str:
    return ""


def settings(schema: StructType = VALUE, **options: str) -> WriteSettings:
    """Underscores in option names stand for dots."""
    return write_settings(schema, BROKERS | {name.replace("_", "."): value for name, value in options.items()}, nowhere)


def test_columns_that_mean_something_are_chosen() -> None:
    assert settings(EVERYTHING).columns == ("value", "key", "topic", "partition", "headers")
    assert settings(EVERYTHING, topic="t").columns == ("value", "key", "partition", "headers")


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (StructType([StructField("key", StringType()), StructField("carrier", StringType())]), "no column 'value'; they have key, carrier"),
        (StructType([StructField("value", LongType())]), "column 'value' is bigint; it must be string or binary"),
        (StructType([*VALUE.fields, StructField("key", IntegerType())]), "column 'key' is int; it must be string or binary"),
        (StructType([*VALUE.fields, StructField("partition", LongType())]), "column 'partition' is bigint; it must be int"),
        (StructType([*VALUE.fields, StructField("headers", ArrayType(StringType()))]), r"column 'headers' is array<string>; it must be array<struct<key:str"),
    ],
)
def test_rows_that_cannot_be_records_are_refused(schema: StructType, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        settings(schema, topic="t")


def test_a_topic_must_come_from_somewhere() -> None:
    with pytest.raises(InvalidSetting, match="Give the option 'topic', or a column 'topic'"):
        settings()
    with pytest.raises(InvalidSetting, match="column 'topic' is int; it must be string"):
        settings(StructType([*VALUE.fields, StructField("topic", IntegerType())]))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"topic": "no topic"}, "option 'topic': Topic name \"no topic\" is illegal"),
        ({"topic": ""}, "option 'topic': Topic name is illegal, it can't be empty"),
        ({"topic": "t", "lingr.ms": "3"}, r"there is no option 'lingr.ms'; is 'linger.ms' meant\?"),
        ({"topic": "t", "kafka.topics": "t"}, r"there is no option 'topics'; is 'topic' meant\?"),
        ({"topic": "t", "radar": "t"}, r"there is no option 'radar' for writing"),
        ({"topic": "t", "linger.ms": "soon"}, "linger.ms is 'soon', which is not a whole number"),
        ({"topic": "t", "partitioner": "best"}, "partitioner is 'best', which is neither a function nor one of default"),
        ({"topic": "t", "kafka.bootstrap.servers": "other:9092"}, "options 'bootstrap.servers' and 'kafka.bootstrap.servers' mean the same"),
        ({"topic": "t", "enable.idempotence": "true", "acks": "1"}, "enable.idempotence needs acks=all"),
    ],
)
def test_options_that_mean_nothing_are_named(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        write_settings(VALUE, BROKERS | options, nowhere)


def test_official_spellings_and_what_spark_adds_are_taken() -> None:
    given = {"kafka.bootstrap.servers": "b:1", "kafka.Compression.Type": "lz4", "topic": "t", "checkpointLocation": "/x", "includeHeaders": "true"}
    producer = write_settings(VALUE, given, nowhere).producer
    assert (producer.bootstrap_servers, producer.compression_type) == ("b:1", "lz4")


def test_the_producer_is_idempotent_unless_that_contradicts_something() -> None:
    assert settings(topic="t").producer.enable_idempotence
    assert settings(topic="t").producer.required_acks == -1
    assert settings(topic="t", acks="all").producer.enable_idempotence
    for name, value in {"acks": "1", "enable.idempotence": "false", "retries": "0", "max.in.flight.requests.per.connection": "6"}.items():
        assert not write_settings(VALUE, BROKERS | {"topic": "t", name: value}, nowhere).producer.enable_idempotence


def test_brokers_are_found_in_zookeeper() -> None:
    found = write_settings(VALUE, {"zookeeper.connect": "zk:2181", "topic": "t"}, lambda connect: f"broker-of-{connect}")
    assert found.producer.bootstrap_servers == "broker-of-zk:2181"
    with pytest.raises(InvalidSetting, match=r"option 'zookeeper.connect': no broker is registered at zk:2181"):
        write_settings(VALUE, {"zookeeper.connect": "zk:2181", "topic": "t"}, nowhere)
    with pytest.raises(InvalidSetting, match=r"bootstrap.servers is missing"):
        write_settings(VALUE, {"topic": "t"}, nowhere)


def test_a_topic_cannot_be_overwritten() -> None:
    with pytest.raises(InvalidSetting, match=r"a topic cannot be overwritten: use mode\('append'\)"):
        batch_writer(VALUE, BROKERS | {"topic": "t"}, overwrite=True)


def test_a_writer_travels_to_executors() -> None:
    writer = stream_writer(VALUE, BROKERS | {"topic": "t"})
    assert vars(pickle.loads(pickle.dumps(writer))) == vars(writer)
