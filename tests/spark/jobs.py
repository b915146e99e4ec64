"""What the tests of the Spark source have in common: topics with numbered records, readers, sinks that remember, groups."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pykafka_classic.clients import Admin, NewTopic, Producer, TopicPartition
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration.trigger import KNOWS_LIMITS

SPARK_SETTINGS: Final[dict[str, str | int | bool | float | None]] = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",  # short runs: the compilers would cost more than they give
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.python.use.daemon": "true",
}
DEADLINE_S: Final = 60.0
knows_limits = pytest.mark.skipif(not KNOWS_LIMITS, reason="Spark 4.1 tells a source in Python neither of limits nor of AvailableNow, nor where it is")
_numbers = itertools.count()


def new_topic(cluster: LocalCluster, partitions: int = 3, records: int = 0, *, replicas: int = 1) -> str:
    """A topic of its own for a test, with records 0, 1, ... in turn over its partitions."""
    name = f"flights-{next(_numbers)}"
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic(name, partitions, replicas)]).check()
    produce(cluster, name, range(records), partitions=partitions)
    return name


def produce(cluster: LocalCluster, topic: str, numbers: range, *, partitions: int = 3) -> None:
    """Record n: partition n modulo `partitions`, key and value its number."""
    with Producer(cluster.bootstrap, acks="all") as producer:
        sent = [producer.send(topic, str(number), key=str(number), partition=number % partitions) for number in numbers]
        for each in sent:
            each.result()


def options(cluster: LocalCluster, topic: str, group: str | None, more: Mapping[str, Any]) -> dict[str, str]:
    """For a reader; the group's name is the topic's, unless there is another."""
    own = {"bootstrap.servers": cluster.bootstrap, "subscribe": topic, "group.id": group if group is not None else topic}
    return own | {name: str(value) for name, value in more.items()}


def batch(spark: SparkSession, cluster: LocalCluster, topic: str, group: str | None = None, **more: Any) -> DataFrame:
    """What `load()` gives."""
    return spark.read.format("kafka_classic").options(**options(cluster, topic, group, more)).load()


def stream(spark: SparkSession, cluster: LocalCluster, topic: str, group: str | None = None, **more: Any) -> DataFrame:
    """As `batch`."""
    return spark.readStream.format("kafka_classic").options(**options(cluster, topic, group, more)).load()


def numbers_of(frame: DataFrame) -> list[int]:
    """The numbers of the records, sorted."""
    return sorted(int(row.value) for row in frame.select("value").collect())


class Sink:
    """For `foreachBatch`: remembers the numbers of each batch; `hold` makes it wait, `fail` makes it fail once it has everything."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.may_end.set()
        self.failure: Exception | None = None

    def __call__(self, frame: DataFrame, _: int) -> None:
        found = numbers_of(frame)
        self.begun.release()
        self.may_end.wait(DEADLINE_S)
        if self.failure is not None:
            raise self.failure
        self.batches.append(found)

    @property
    def numbers(self) -> list[int]:
        """Of all batches that are done, sorted."""
        return sorted(itertools.chain(*self.batches))

    @property
    def repeated(self) -> list[int]:
        """Numbers that came more than once."""
        return sorted(number for number, count in Counter(self.numbers).items() if count > 1)


@contextmanager
def running(frame: DataFrame, sink: Sink, checkpoint: Path, **trigger: Any) -> Iterator[StreamingQuery]:
    """A query over the frame, stopped at the end by Spark's own `stop`."""
    writer = frame.writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(sink)
    query = (writer.trigger(**trigger) if trigger else writer).start()
    try:
        yield query
    finally:
        sink.may_end.set()
        query.stop()


def eventually(condition: Any, query: StreamingQuery | None = None) -> None:
    """Wait until it is true; fail at once where the query has failed."""

    def holds() -> bool:
        if query is not None and not query.isActive and query.exception() is not None:
            raise AssertionError(str(query.exception()))
        return bool(condition())

    wait_until(holds, seconds=DEADLINE_S)


def committed(cluster: LocalCluster, group: str) -> dict[int, int]:
    """What the group has committed, by partition; of a group that reads one topic."""
    with Admin(cluster.bootstrap) as admin:
        return {each.partition: found.offset for each, found in admin.list_group_offsets(group).items()}


def lag(cluster: LocalCluster, topic: str, group: str | None = None) -> int:
    """As kafka-consumer-groups --describe counts it, over all partitions; of one without a commit the whole log."""
    with Admin(cluster.bootstrap) as admin:
        known = admin.list_group_offsets(group or topic)
        places = [TopicPartition(topic, each.partition) for each in admin.describe_topics([topic]).check()[topic].partitions]
        ends = admin.list_offsets(dict.fromkeys(places, -1)).check()
        return sum(ends[each].offset - (known[each].offset if each in known else 0) for each in places)


def members(cluster: LocalCluster, group: str) -> list[tuple[str, int]]:
    """Client ids and how many partitions each has."""
    with Admin(cluster.bootstrap) as admin:
        return [(each.client_id, len(each.assignment)) for each in admin.describe_groups([group]).check()[group].members]
