"""Batch reads by group, against real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from pykafka_classic.clients import Admin, Consumer, Producer, TopicPartition
from pykafka_classic.common.zookeeper import GetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration import commit_batch, committing
from spark_integration.cluster import CannotPlan
from tests.spark.jobs import batch, committed, lag, new_topic, numbers_of, options, produce


def test_two_runs_in_a_row_read_each_record_once(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=100)
    first = batch(spark, cluster, topic)
    produce(cluster, topic, range(100, 130))  # after the plan was made
    assert numbers_of(first) == list(range(100)) == numbers_of(first)
    assert commit_batch(first.groupBy("key").count()) == {topic: {"0": 34, "1": 33, "2": 33}}
    assert lag(cluster, topic) == 30
    with committing(batch(spark, cluster, topic)) as second:
        assert numbers_of(second) == list(range(100, 130))
    assert lag(cluster, topic) == 0
    assert numbers_of(batch(spark, cluster, topic)) == []


def test_a_job_that_fails_reads_again(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=30)
    with pytest.raises(ZeroDivisionError), committing(batch(spark, cluster, topic)) as failing:
        failing.count()
        raise ZeroDivisionError
    assert committed(cluster, topic) == {}
    assert numbers_of(batch(spark, cluster, topic)) == list(range(30))


def test_what_else_is_in_the_frame_does_not_count(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, names = new_topic(cluster, records=30), new_topic(cluster, records=3)
    with committing(batch(spark, cluster, topic)) as first:
        first.write.parquet(str(tmp_path / "history"))  # with the plan in its schema
    produce(cluster, topic, range(30, 60))
    second = batch(spark, cluster, topic)
    produce(cluster, topic, range(60, 90))
    third = batch(spark, cluster, topic)
    lookup = spark.read.format("kafka_classic").options(**{"bootstrap.servers": cluster.bootstrap, "subscribe": names}).load()  # by no group
    everything = third.union(spark.read.parquet(str(tmp_path / "history"))).union(second).join(lookup.select("key"), "key", "left")
    assert commit_batch(everything) == {topic: {"0": 30, "1": 30, "2": 30}}
    assert lag(cluster, topic) == 0


def test_columns_are_those_of_the_official_connector(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, partitions=1)
    with Producer(cluster.bootstrap) as producer:
        producer.send(topic, b"v", key=b"k", headers=[("source", b"tower"), ("source", None)], timestamp_ms=1_700_000_000_123).result()
        producer.send(topic, None, key=None, timestamp_ms=1_700_000_000_124).result()
    frame = batch(spark, cluster, topic, includeHeaders="true")
    # https://spark.apache.org/docs/latest/streaming/structured-streaming-kafka-integration.html, "Each row in the source has the following schema"
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int,"
        "headers:array<struct<key:string,value:binary>>>"
    )
    full, empty = frame.selectExpr("*", "unix_millis(timestamp) as ms").orderBy("offset").collect()
    assert (bytes(full.key), bytes(full.value), full.topic, full.partition, full.offset) == (b"k", b"v", topic, 0, 0)
    assert (full.ms, full.timestampType) == (1_700_000_000_123, 0)
    assert [(each.key, each.value) for each in full.headers] == [("source", bytearray(b"tower")), ("source", None)]
    assert (empty.key, empty.value, empty.headers) == (None, None, None)


def test_wrong_options_are_told_at_load_by_name(spark: SparkSession, cluster: LocalCluster) -> None:
    def refusal(**wrong: str) -> str:
        with pytest.raises(AnalysisException) as refused:
            spark.read.format("kafka_classic").options(**options(cluster, "flights", "g", wrong)).load()
        return str(refused.value)

    assert "there is no option 'subscribed'; is 'subscribe' meant?" in refusal(subscribed="flights")
    assert "option 'minpartitions': 'many' is not a whole number" in refusal(minPartitions="many")
    assert "'subscribe' and 'assign' contradict each other" in refusal(assign='{"flights": [0]}')
    assert "option 'bootstrap.servers': no broker at 127.0.0.1:1" in refusal(**{"bootstrap.servers": "127.0.0.1:1"})
    assert "option 'subscribe': topic flights: " in refusal()
    assert "option 'zookeeper.connect': " in refusal(**{"offsets.storage": "zookeeper", "zookeeper.connect": f"{cluster.zookeeper.address}/elsewhere"})


def test_ranges_split_by_min_partitions_and_columns_are_chosen(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=120)
    frame = batch(spark, cluster, topic, minPartitions=6, columns="value,offset")
    assert frame.columns == ["value", "offset"]
    assert frame.rdd.getNumPartitions() == 6
    assert numbers_of(frame) == list(range(120))


def test_starts_and_ends_are_those_of_docs_starts(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=30)
    assert numbers_of(batch(spark, cluster, topic, start="-1")) == [27, 28, 29]
    assert numbers_of(batch(spark, cluster, topic, startingOffsets=f'{{"{topic}": {{"0": 8, "1": -1}}}}', **{"auto.offset.reset": "latest"})) == [24, 27]
    assert numbers_of(batch(spark, cluster, topic, start="8", end="9")) == [24, 25, 26]
    assert f"option 'start' speaks of {topic}-7, which is not read" in _failure(spark, cluster, topic, startingOffsets=f'{{"{topic}": {{"7": 8}}}}')
    assert "has no record as late as" in _failure(spark, cluster, topic, startingTimestamp="4000000000000")
    assert numbers_of(batch(spark, cluster, topic, start="@4000000000000")) == []


def _failure(spark: SparkSession, cluster: LocalCluster, topic: str, **more: str) -> str:
    with pytest.raises(PySparkException) as failed:
        batch(spark, cluster, topic, **more).count()
    return str(failed.value)


def test_a_batch_is_refused_while_its_group_has_members(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=3)
    frame = batch(spark, cluster, topic)
    assert "option 'membership' is sharing: a batch joins nothing" in _failure(spark, cluster, topic, membership="sharing")
    with Consumer(cluster.bootstrap, group_id=topic, client_id="radar", enable_auto_commit=False) as consumer:
        consumer.subscribe([topic])
        while not consumer.assignment:
            consumer.poll(timeout_ms=100)
        assert "1 active member(s): radar on 127.0.0.1" in _failure(spark, cluster, topic)
        with pytest.raises(CannotPlan, match="members"):
            commit_batch(frame)
    assert numbers_of(batch(spark, cluster, topic)) == [0, 1, 2]


def test_offsets_in_zookeeper(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=30)
    where = {"zookeeper.connect": cluster.zookeeper.address, "offsets.storage": "zookeeper"}
    with committing(batch(spark, cluster, topic, **where)) as first:
        assert first.count() == 30
    with BlockingZooKeeper(cluster.zookeeper.address) as zookeeper:
        assert zookeeper.one(GetData(f"/consumers/{topic}/offsets/{topic}/1")).data == b"10"
    assert batch(spark, cluster, topic, **where).count() == 0
    assert committed(cluster, topic) == {}


def test_brokers_are_found_by_zookeeper(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=3)
    where = {"zookeeper.connect": cluster.zookeeper.address, "subscribePattern": f"{topic[:-1]}[{topic[-1]}]"}
    found = spark.read.format("kafka_classic").options(**where).load()
    assert numbers_of(found) == [0, 1, 2]


def test_records_that_retention_deleted_are_a_failure_or_passed_over(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = new_topic(cluster, records=30)
    with Admin(cluster.bootstrap) as admin:
        admin.alter_group_offsets(topic, {TopicPartition(topic, number): 2 for number in range(3)}).check()
        admin.delete_records({TopicPartition(topic, 0): 5}).check()
    assert f"{topic}-0: offset 2 is gone, the first one there is 5: 3 offsets were deleted before they were read" in _failure(spark, cluster, topic)
    left = sorted([*range(15, 30, 3), *range(7, 30, 3), *range(8, 30, 3)])
    assert numbers_of(batch(spark, cluster, topic, failOnDataLoss="false")) == left
