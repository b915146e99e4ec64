"""Brokers fail under a stream: leaders, the group's coordinator; records are deleted before they were read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from pykafka_classic.clients import Admin, NewTopic, TopicPartition
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration import settle, stop
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.spark.jobs import Sink, eventually, lag, new_topic, produce, running, stream

SHORT: Final[dict[str, Any]] = {"request.timeout.ms": 5000}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("cluster"), brokers=3, overrides=KEEP) as running_cluster:
        yield running_cluster
    assert_no_stack_traces(running_cluster)


def leader_of(cluster: LocalCluster, topic: str) -> int | None:
    with Admin(cluster.bootstrap) as admin:
        return admin.describe_topics([topic]).check()[topic].partitions[0].leader


def coordinator_of(cluster: LocalCluster, group: str) -> int:
    with Admin(cluster.bootstrap) as admin:
        return admin.describe_groups([group]).check()[group].coordinator.id


class KillingSink(Sink):
    """Kills a broker before it reads its batch."""

    def __init__(self, cluster: LocalCluster) -> None:
        super().__init__()
        self.cluster = cluster
        self.victim: int | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        if self.victim is not None:
            self.cluster.brokers[self.victim].kill()
            self.victim = None
        super().__call__(frame, number)


def test_leader_and_coordinator_die_in_mid_batch(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, partitions=3, records=30, replicas=3), KillingSink(cluster)
    with running(stream(spark, cluster, topic, **SHORT), sink, tmp_path) as query:
        eventually(lambda: len(sink.numbers) == 30 and lag(cluster, topic) == 0, query)
        for first, find in ((30, leader_of), (60, coordinator_of)):
            victim = find(cluster, topic)
            assert victim is not None
            sink.victim = victim
            produce(cluster, topic, range(first, first + 30))
            eventually(lambda wanted=first + 30: len(set(sink.numbers)) == wanted and lag(cluster, topic) == 0, query)
            cluster.restart(victim)
        stop(query)
    assert sink.numbers == list(range(90))
    assert lag(cluster, topic) == 0


def test_offsets_that_retention_has_taken(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic = new_topic(cluster, records=30)
    sink = Sink()
    with running(stream(spark, cluster, topic), sink, tmp_path, availableNow=True) as query:
        query.awaitTermination(60)
    produce(cluster, topic, range(30, 60))
    with Admin(cluster.bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 1): 15}).check()
    with (
        running(stream(spark, cluster, topic), sink, tmp_path, availableNow=True) as query,
        pytest.raises(StreamingQueryException, match=f"{topic}-1: offset 10 is gone, the first one there is 15: 5 offsets were deleted.*'failOnDataLoss'"),
    ):
        query.awaitTermination(60)
    with running(stream(spark, cluster, topic, failOnDataLoss="false"), sink, tmp_path, availableNow=True) as query:
        query.awaitTermination(60)
        settle(query)
    assert sink.numbers == [number for number in range(60) if number not in range(31, 46, 3)]
    assert lag(cluster, topic) == 0


def test_a_topic_that_is_made_anew_is_read_from_its_beginning(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, other, sink, more = new_topic(cluster, partitions=1), new_topic(cluster, partitions=1), Sink(), itertools.count(1_000)
    produce(cluster, topic, range(5), partitions=1)

    def is_without() -> bool:
        """Whether a batch was read after the query had noticed."""
        number = next(more)
        produce(cluster, other, range(number, number + 1), partitions=1)
        eventually(lambda: number in sink.numbers, query)
        return topic not in str(query.recentProgress[-1].sources[0].endOffset)

    frame = stream(spark, cluster, f"{topic},{other}", group=topic, failOnDataLoss="false")
    with running(frame, sink, tmp_path, processingTime="100 milliseconds") as query, Admin(cluster.bootstrap) as admin:
        eventually(lambda: len(sink.numbers) == 5, query)
        admin.delete_topics([topic]).check()
        eventually(is_without, query)
        admin.create_topics([NewTopic(topic, 1, 1)]).check()
        produce(cluster, topic, range(5, 25), partitions=1)  # more than the old one had
        eventually(lambda: len([each for each in sink.numbers if each < 1_000]) == 25, query)
    assert [each for each in sink.numbers if each < 1_000] == list(range(25))
