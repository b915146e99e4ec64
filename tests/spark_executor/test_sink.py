"""Rows of Spark on their way to topics: batch and stream, faults, and what is refused before anything is written."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import Sent, Stored, create_topic, read_all, send

ROWS: Final = 1_000
QUERY_S: Final = 90
_numbers = itertools.count()


def make(cluster: LocalCluster, partitions: int = 3, **config: str) -> str:
    name = f"sink-{next(_numbers)}"
    create_topic(cluster.bootstrap, name, partitions=partitions, config={key.replace("_", "."): each for key, each in config.items()})
    return name


def write(rows: DataFrame, cluster: LocalCluster, **options: str) -> None:
    given = {"bootstrap.servers": cluster.bootstrap} | {name.replace("_", "."): value for name, value in options.items()}
    rows.write.format("kafka_classic").mode("append").options(**given).save()


def stored(cluster: LocalCluster, topic: str) -> list[Stored]:
    return [each for some in read_all(cluster.bootstrap, topic).values() for each in some]


def test_every_row_is_written_once_with_all_that_it_says(spark: SparkSession, cluster: LocalCluster) -> None:
    topics = make(cluster), make(cluster)
    rows = spark.range(ROWS).selectExpr(
        "if(id % 5 = 0, null, concat('k', id)) as key",
        "if(id % 7 = 0, null, cast(cast(id as string) as binary)) as value",
        f"if(id % 2 = 0, '{topics[0]}', '{topics[1]}') as topic",
        "if(id % 3 = 0, cast(id % 9 / 3 as int), null) as partition",
        "if(id % 4 = 0, array(struct('id' as key, cast(cast(id as string) as binary) as value), struct('none' as key, null as value)), null) as headers",
        "id as other",
    )
    write(rows.repartition(4), cluster, linger_ms="20", compression_type="lz4")
    found = [stored(cluster, topic) for topic in topics]
    for parity, some in enumerate(found):
        expected = Counter(_record(number) for number in range(parity, ROWS, 2))
        assert Counter((each.record.key, each.record.value, each.record.headers) for each in some) == expected
    chosen = [each for each in found[0] if each.record.key is None and each.record.value is not None]
    assert {each.partition for each in chosen if int(each.record.value or b"") % 9 == 3} == {1}


def _record(number: int) -> tuple[Any, ...]:
    text = b"%d" % number
    headers = (("id", text), ("none", None)) if number % 4 == 0 else ()
    return (None if number % 5 == 0 else b"k" + text, None if number % 7 == 0 else text, headers)


def test_keys_go_where_every_other_client_looks_for_them(spark: SparkSession, cluster: LocalCluster) -> None:
    ours, theirs, spread = make(cluster, 7), make(cluster, 7), make(cluster, 7)
    rows = spark.range(300).selectExpr("concat('key ', id) as key", "'' as value")
    write(rows, cluster, topic=ours)
    send(cluster.bootstrap, theirs, [Sent(b"key %d" % number, b"") for number in range(300)], partitioner="murmur2_random")
    assert {each.record.key: each.partition for each in stored(cluster, ours)} == {each.record.key: each.partition for each in stored(cluster, theirs)}
    write(rows.coalesce(1), cluster, topic=spread, partitioner="round_robin")
    assert {partition: len(some) for partition, some in read_all(cluster.bootstrap, spread).items()} == dict.fromkeys(range(6), 43) | {6: 42}


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        (["id as key"], {"topic": "t"}, "the rows have no column 'value'; they have key"),
        (["id as value"], {"topic": "t"}, "column 'value' is bigint; it must be string or binary"),
        (["'v' as value"], {}, "Give the option 'topic', or a column 'topic'"),
        (["'v' as value"], {"topic": "t", "lingerms": "5"}, "there is no option 'lingerms'; is 'linger.ms' meant?"),
        (["'v' as value"], {"topic": "t", "bootstrap.servers": "127.0.0.1:1"}, "option 'bootstrap.servers': no broker at 127.0.0.1:1"),
        (["'v' as value"], {"topic": "nowhere", "max.block.ms": "300"}, "option 'topic': there is no topic nowhere"),
    ],
)
def test_what_cannot_work_is_refused_when_spark_plans(
    spark: SparkSession, cluster: LocalCluster, columns: list[str], options: dict[str, str], sentence: str
) -> None:
    jobs = len(spark.sparkContext.statusTracker().getJobIdsForGroup())
    with pytest.raises(PySparkException) as refused:
        write(spark.range(3).selectExpr(*columns), cluster, **options)
    assert sentence in str(refused.value)
    assert len(spark.sparkContext.statusTracker().getJobIdsForGroup()) == jobs


def test_a_topic_is_not_overwritten(spark: SparkSession, cluster: LocalCluster) -> None:
    rows = spark.range(3).selectExpr("'v' as value")
    with pytest.raises(PySparkException, match=r"a topic cannot be overwritten: use mode\('append'\)"):
        rows.write.format("kafka_classic").mode("overwrite").option("bootstrap.servers", cluster.bootstrap).option("topic", "t").save()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"value": "v", "partition": 7}, "a row was not written to topic {topic}: there is no partition 7 of {topic}, which has 1"),
        ({"value": "v" * 5_000}, "a row was not written to topic {topic}: "),
    ],
)
def test_a_row_that_cannot_be_written_fails_the_job_with_a_sentence(spark: SparkSession, cluster: LocalCluster, row: dict[str, Any], sentence: str) -> None:
    topic = make(cluster, 1, max_message_bytes="2000")
    rows = spark.createDataFrame([tuple(row.values())], ", ".join({"value": "value string", "partition": "partition int"}[name] for name in row)).coalesce(1)
    with pytest.raises(PySparkException) as failed:
        write(rows, cluster, topic=topic)
    assert sentence.format(topic=topic) in str(failed.value)


def test_all_rows_arrive_though_a_leader_dies(spark: SparkSession, cluster: LocalCluster) -> None:
    topic = make(cluster, min_insync_replicas="2")
    killed = cluster.brokers[1]

    def tell(value: str) -> str:
        Path(marker).touch()
        return value

    marker = str(killed.directory / "half way")
    spark.udf.register("tell", tell)
    rows = spark.range(40_000, numPartitions=2).selectExpr("if(id % 20000 = 10000, tell(cast(id as string)), cast(id as string)) as value")

    def kill_when_told() -> None:
        wait_until(Path(marker).exists, seconds=QUERY_S)
        killed.kill()

    killer = threading.Thread(target=kill_when_told)
    killer.start()
    write(rows, cluster, topic=topic)
    killer.join()
    found = Counter(int(each.record.value or b"") for each in stored(cluster, topic))
    assert set(found) == set(range(40_000))
    cluster.restart(1)


def stream(spark: SparkSession, source: Path) -> DataFrame:
    return spark.readStream.text(str(source))


def run(rows: DataFrame, cluster: LocalCluster, topic: str, checkpoint: Path, mode: str = "append") -> StreamingQuery:
    """What is there now, to the topic."""
    sink = rows.writeStream.format("kafka_classic").option("kafka.bootstrap.servers", cluster.bootstrap).option("topic", topic).outputMode(mode)
    query = sink.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    assert query.awaitTermination(QUERY_S)
    return query


def test_a_stream_writes_each_row_once_and_goes_on_where_it_was(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, source = make(cluster), tmp_path / "source"
    source.mkdir()
    for number in range(3):
        (source / f"{number}.txt").write_text("".join(f"{number} {line}\n" for line in range(100)))
        run(stream(spark, source), cluster, topic, tmp_path / "checkpoint")
    assert Counter(each.record.value for each in stored(cluster, topic)) == {b"%d %d" % (number, line): 1 for number in range(3) for line in range(100)}


def test_a_complete_result_is_sent_again_with_each_batch(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, source = make(cluster, 1), tmp_path / "source"
    source.mkdir()
    counted = stream(spark, source).groupBy("value").count().selectExpr("value as key", "cast(count as string) as value")
    for number in range(2):
        (source / f"{number}.txt").write_text("IL 78\n" * 5)
        run(counted, cluster, topic, tmp_path / "checkpoint", "complete")
    assert [each.record[:2] for each in stored(cluster, topic)] == [(b"IL 78", b"5"), (b"IL 78", b"10")]
