"""Batch reads by Spark: our data source beside Spark's own Kafka connector, on the same topics of the same cluster, alternately in one session.

    python tools/bench/spark_read.py [--runs 5] [--rows 1.0] [--columns key]

Topics of six partitions, 1,000,000 records of 100 B and 200,000 of 1 KB, not compressed; local[2]; count() and a group-by of the key. The first run of each
warms up and does not count. Where the connector's jars cannot be had, ours is measured alone.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is there, but not declared as exported
from official_jars import NotToBeHad, official_jars
from pyspark.sql import DataFrame, SparkSession

from pykafka_classic.testing.cluster import LocalCluster
from spark_integration import register

PARTITIONS = 6
KEYS = 100


class Topic(NamedTuple):
    """What is read."""

    name: str
    records: int
    size: int  # bytes of a value


class Figure(NamedTuple):
    """Of all runs: seconds, and seconds of CPU that brokers, Spark and Python took together."""

    topic: Topic
    query: str
    reader: str
    seconds: list[float]
    cpu: list[float]


Reader = Callable[[Topic], DataFrame]
QUERIES: dict[str, Callable[[DataFrame], int]] = {
    "count()": lambda rows: rows.count(),
    "group by key": lambda rows: sum(each["count"] for each in rows.groupBy("key").count().collect()),
}


def fill(bootstrap: str, topic: Topic) -> None:
    """Records whose values are all different, in turn over the partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(topic.name, PARTITIONS, 1)])[topic.name].result(30)
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "acks": 1, "linger.ms": 20, "queue.buffering.max.messages": 500_000})
    chance = random.Random(8)
    pool = chance.randbytes(1 << 20)
    for number in range(topic.records):
        start = chance.randrange(len(pool) - topic.size)
        while True:
            try:
                producer.produce(topic.name, pool[start : start + topic.size], key=b"key %d" % (number % KEYS), partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.05)
        if number % 1000 == 0:
            producer.poll(0)
    producer.flush()


def session(jars: list[Path]) -> SparkSession:
    """Two cores."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
    spark = builder.config("spark.jars", ",".join(map(str, jars))).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    return spark


def readers(spark: SparkSession, bootstrap: str, *, official: bool, columns: str | None) -> dict[str, Reader]:
    """By name."""

    def ours(topic: Topic) -> DataFrame:
        reader = spark.read.format("kafka_classic").option("bootstrap.servers", bootstrap).option("subscribe", topic.name).option("start", "earliest")
        return (reader.option("columns", columns) if columns else reader).load()

    def theirs(topic: Topic) -> DataFrame:
        return spark.read.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", topic.name).load()

    return {"official": theirs, "kafka_classic": ours} if official else {"kafka_classic": ours}


def cpu_seconds() -> float:
    """Of this process and all below it, those that ended included: brokers, ZooKeeper, Spark's JVM and its Python workers."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(path.parent.name)
        parents[process], ticks[process] = int(fields[1]), sum(map(int, fields[11:15]))

    def is_ours(process: int) -> bool:
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return sum(count for process, count in ticks.items() if is_ours(process)) / os.sysconf("SC_CLK_TCK")


def measure(topic: Topic, by_name: dict[str, Reader], runs: int) -> list[Figure]:
    """Planning included; one after the other in each run."""
    figures = [Figure(topic, query, reader, [], []) for query in QUERIES for reader in by_name]
    for run in range(runs + 1):
        for figure in figures:
            cpu, began = cpu_seconds(), time.perf_counter()
            rows = QUERIES[figure.query](by_name[figure.reader](topic))
            seconds = time.perf_counter() - began
            assert rows == topic.records, f"{figure.reader} read {rows} records of {topic.records}"
            if run:
                figure.seconds.append(seconds)
                figure.cpu.append(cpu_seconds() - cpu)
    return figures


def table(figures: list[Figure]) -> Iterator[str]:
    """Lines; the ratio says how many times faster than the official connector."""
    yield f"{'records':>9} {'bytes':>6}  {'query':<14}{'reader':<15}{'median s':>9}{'least s':>9}{'CPU s':>8}{'records/s':>12}{'ratio':>8}"
    official = {(each.topic, each.query): statistics.median(each.seconds) for each in figures if each.reader == "official"}
    for topic, query, reader, seconds, cpu in figures:
        median = statistics.median(seconds)
        ratio = f"{official[topic, query] / median:8.2f}" if (topic, query) in official else f"{'-':>8}"
        times = f"{median:>9.2f}{min(seconds):>9.2f}{statistics.median(cpu):>8.2f}"
        yield f"{topic.records:>9,} {topic.size:>6}  {query:<14}{reader:<15}{times}{topic.records / median:>12,.0f}{ratio}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Batch reads by Spark: ours beside the official connector.")
    parser.add_argument("--runs", type=int, default=5, help="that count, of each query and reader (default: 5)")
    parser.add_argument("--rows", type=float, default=1.0, help="part of the records, for a quick look (default: 1.0)")
    parser.add_argument("--columns", help="ours: only these, as the option `columns` (default: all)")
    given = parser.parse_args()
    topics = [Topic("small", int(1_000_000 * given.rows), 100), Topic("large", int(200_000 * given.rows), 1000)]
    try:
        jars = official_jars()
    except NotToBeHad as error:
        print(error)
        jars = []
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory, LocalCluster(Path(directory), brokers=3) as cluster:
        for topic in topics:
            fill(cluster.bootstrap, topic)
        spark = session(jars)
        by_name = readers(spark, cluster.bootstrap, official=bool(jars), columns=given.columns)
        figures = [figure for topic in topics for figure in measure(topic, by_name, given.runs)]
        spark.stop()
    print("\n".join(table(figures)))


if __name__ == "__main__":
    main()
