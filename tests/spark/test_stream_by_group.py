"""Structured Streaming by group, against real brokers: what is committed when, and who reads what."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.clients import Admin, Consumer, NewPartitions, TopicPartition, ZooKeeperConsumer
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.zookeeper import GetChildren, GetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration import batch_place, committing, settle, stop, stream_place
from tests.integration.own_members import OurMember
from tests.spark.jobs import Sink, batch, committed, eventually, knows_limits, lag, members, new_topic, numbers_of, produce, running, stream

SHARING: Final[dict[str, Any]] = {"membership": "sharing", "heartbeat.interval.ms": 300}
HOURLY = {"processingTime": "1 hour"}  # nothing comes after the first batch that could commit it


def test_no_lag_is_left_between_triggers_that_lie_far_apart(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=50), Sink()
    with running(stream(spark, cluster, topic), sink, tmp_path, **HOURLY) as query:
        eventually(lambda: sink.batches and lag(cluster, topic) == 0, query)
        assert members(cluster, topic) == [(f"spark-{topic}", 3)]
        stop(query)
        eventually(lambda: members(cluster, topic) == [])  # `stop` waits for the commit; the reader leaves when Spark ends its process
    assert sink.numbers == list(range(50))


def test_no_lag_is_left_by_stop_right_after_a_batch(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=50), Sink()
    sink.may_end.clear()
    with running(stream(spark, cluster, topic), sink, tmp_path, **HOURLY) as query:
        assert sink.begun.acquire(timeout=60)
        assert lag(cluster, topic) == 50
        threading.Timer(0.5, sink.may_end.set).start()  # `stop` lets a batch that is under way end
        stop(query)
        assert lag(cluster, topic) == 0


@knows_limits
def test_no_lag_is_left_at_the_end_of_available_now(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=50), Sink()
    sink.may_end.clear()
    with running(stream(spark, cluster, topic, maxOffsetsPerTrigger=20), sink, tmp_path, availableNow=True) as query:
        assert sink.begun.acquire(timeout=60)
        produce(cluster, topic, range(50, 60))  # not for this run
        sink.may_end.set()
        assert query.awaitTermination(60)
        settle(query)
    assert sink.numbers == list(range(50))
    assert [len(each) for each in sink.batches] == [20, 20, 10]
    assert lag(cluster, topic) == 10
    assert numbers_of(batch(spark, cluster, topic)) == list(range(50, 60))


@knows_limits
def test_an_exactly_once_sink_outlives_its_checkpoint(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    """docs/spark.md, "Exactly once"."""
    topic, table = new_topic(cluster), tmp_path / "table"
    for life in range(2):
        produce(cluster, topic, range(30 * life, 30 * life + 30))
        checkpoint = str(tmp_path / f"checkpoint-{life}")

        def write(frame: DataFrame, number: int, checkpoint: str = checkpoint) -> None:
            frame.write.mode("overwrite").parquet(f"{table}/{stream_place(frame, checkpoint, number)}")

        writer = stream(spark, cluster, topic, maxOffsetsPerTrigger=20).writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        settle(query)
    with committing(batch(spark, cluster, topic, group=f"{topic}-batch")) as frame:
        frame.write.parquet(f"{tmp_path}/by-batch/{batch_place(frame)}")
    assert sorted(each.name for each in table.glob("from=*")) == ["from=0", "from=20", "from=30", "from=50"]
    assert numbers_of(spark.read.parquet(str(table))) == list(range(60)) == numbers_of(spark.read.parquet(str(tmp_path / "by-batch")))


def test_a_batch_that_was_stopped_in_the_middle_is_not_committed_and_comes_again(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=30), Sink()
    sink.failure = InterruptedError()
    sink.may_end.clear()
    with running(stream(spark, cluster, topic), sink, tmp_path) as query:
        assert sink.begun.acquire(timeout=60)
        threading.Timer(0.5, sink.may_end.set).start()  # Spark waits for a function that runs, and then for nothing more
        stop(query)
        eventually(lambda: members(cluster, topic) == [])
        assert lag(cluster, topic) == 30
    again = Sink()
    with running(stream(spark, cluster, topic), again, tmp_path, availableNow=True) as query:
        assert query.awaitTermination(60)
    assert again.numbers == list(range(30))


def test_a_task_that_fails_is_repeated_and_nothing_is_lost_or_doubled(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, seen = new_topic(cluster, records=30), tmp_path / "failed"

    def fail_once(value: bytes) -> int:
        if int(value) == 17 and not seen.exists():
            seen.touch()
            raise OSError("an executor's disk is full")
        return int(value)

    spark.udf.register("fail_once", fail_once, "int")
    frame = stream(spark, cluster, topic).selectExpr("cast(fail_once(value) as string) as value")
    sink = Sink()
    with running(frame, sink, tmp_path / "checkpoint", availableNow=True) as query:
        assert query.awaitTermination(60)
        settle(query)
    assert seen.exists()
    assert sink.numbers == list(range(30))
    assert lag(cluster, topic) == 0


@knows_limits
def test_partitions_that_are_added_while_it_runs_are_read_from_their_beginning(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, partitions=2), Sink()
    with running(stream(spark, cluster, topic, start="latest"), sink, tmp_path) as query:
        eventually(lambda: len(committed(cluster, topic)) == 2, query)
        with Admin(cluster.bootstrap) as admin:
            admin.create_partitions({topic: NewPartitions(3)}).check()
        produce(cluster, topic, range(30))
        eventually(lambda: len(sink.numbers) == 30, query)
        eventually(lambda: lag(cluster, topic) == 0, query)
    assert sink.repeated == []


def test_a_sole_owner_refuses_and_is_let_alone(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=3), Sink()
    with running(stream(spark, cluster, topic), sink, tmp_path / "one") as query:
        eventually(lambda: lag(cluster, topic) == 0, query)
        with Consumer(cluster.bootstrap, group_id=topic) as consumer:
            consumer.subscribe([topic])
            with pytest.raises(KafkaError) as refused:
                consumer.poll(timeout_ms=30_000)
            assert refused.value.code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        second = stream(spark, cluster, topic, **{"client.id": "another"}).writeStream.foreachBatch(Sink()).option("checkpointLocation", str(tmp_path / "two"))
        with pytest.raises(StreamingQueryException, match=f"active member.*spark-{topic} on 127.0.0.1.*sole owner.*'membership'"):
            second.start().awaitTermination(60)
        assert query.isActive


@pytest.mark.parametrize(
    ("resume", "expected"), [("checkpoint", list(range(30, 40))), ("group", [*range(6, 40)])], ids=["the checkpoint wins by default", "the group wins"]
)
def test_where_checkpoint_and_group_disagree(spark: SparkSession, cluster: LocalCluster, tmp_path: Path, resume: str, expected: list[int]) -> None:
    topic = new_topic(cluster, records=30)
    with running(stream(spark, cluster, topic), Sink(), tmp_path, availableNow=True) as query:
        query.awaitTermination(60)
        settle(query)
    with Admin(cluster.bootstrap) as admin:  # as kafka-consumer-groups --reset-offsets does
        admin.alter_group_offsets(topic, {TopicPartition(topic, number): 2 for number in range(3)}).check()
    with pytest.raises(StreamingQueryException, match=r"the checkpoint is at 10, group .* at 2, and the option 'resume' is fail"):
        stream(spark, cluster, topic, resume="fail").writeStream.foreachBatch(Sink()).option("checkpointLocation", str(tmp_path)).start().awaitTermination(60)
    produce(cluster, topic, range(30, 40))
    sink = Sink()
    with running(stream(spark, cluster, topic, resume=resume), sink, tmp_path, availableNow=True) as query:
        query.awaitTermination(60)
        settle(query)
    assert sink.numbers == expected
    assert lag(cluster, topic) == 0


def test_a_new_checkpoint_starts_from_the_group(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=30), Sink()
    with Admin(cluster.bootstrap) as admin:
        admin.alter_group_offsets(topic, {TopicPartition(topic, 0): 10, TopicPartition(topic, 1): 9}).check()
    with running(stream(spark, cluster, topic), sink, tmp_path, availableNow=True) as query:
        query.awaitTermination(60)
    assert sink.numbers == sorted([28, *range(2, 30, 3)])


def test_two_sharing_jobs_divide_the_partitions(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, one, two = new_topic(cluster, partitions=4), Sink(), Sink()
    with running(stream(spark, cluster, topic, **SHARING), one, tmp_path / "one") as first:
        eventually(lambda: members(cluster, topic) == [(f"spark-{topic}", 4)], first)
        produce(cluster, topic, range(40), partitions=4)
        eventually(lambda: len(one.numbers) == 40, first)
        with running(stream(spark, cluster, topic, **SHARING), two, tmp_path / "two") as second:
            eventually(lambda: sorted(count for _, count in members(cluster, topic)) == [2, 2], second)
            produce(cluster, topic, range(40, 80), partitions=4)
            eventually(lambda: len(one.numbers) + len(two.numbers) == 80, second)
            eventually(lambda: lag(cluster, topic) == 0, second)
            assert len(two.numbers) == 20
            stop(second)
        produce(cluster, topic, range(80, 120), partitions=4)
        eventually(lambda: len(one.numbers) == 100 and lag(cluster, topic) == 0, first)
        stop(first)
    assert sorted(one.numbers + two.numbers) == list(range(120))
    assert lag(cluster, topic) == 0


@knows_limits
def test_a_rebalance_waits_for_the_batch_boundary(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, partitions=4, records=0), Sink()
    produce(cluster, topic, range(40), partitions=4)
    sink.may_end.clear()
    with running(stream(spark, cluster, topic, **SHARING), sink, tmp_path) as query:
        assert sink.begun.acquire(timeout=60)
        with OurMember(cluster.bootstrap, topic, {"group_id": topic}) as consumer:
            time.sleep(2)  # several heartbeats: the job knows that somebody wants to join, and lets go of nothing
            assert not consumer.owned
            sink.may_end.set()
            eventually(lambda: len(consumer.owned) == 2, query)
            produce(cluster, topic, range(40, 80), partitions=4)
            eventually(lambda: len(sink.numbers) + len(consumer.seen) == 80, query)
            assert sorted(set(range(4)) - consumer.owned) == sorted({number % 4 for number in sink.numbers[40:]})
        assert len(set(consumer.seen)) == 20 and sink.repeated == []
        eventually(lambda: lag(cluster, topic) == 0, query)


def test_an_empty_trigger_costs_less_than_100_ms_of_ours(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, partitions=6), Sink()
    produce(cluster, topic, range(60), partitions=6)
    with running(stream(spark, cluster, topic), sink, tmp_path) as query:
        for first in range(60, 120, 6):
            produce(cluster, topic, range(first, first + 6), partitions=6)
            eventually(lambda last=first: len(sink.numbers) == last + 6, query)
        spent = sorted(each.durationMs["latestOffset"] for each in query.recentProgress)
    assert spent[len(spent) // 2] < 100, spent


def in_zookeeper(cluster: LocalCluster) -> dict[str, Any]:
    return {"zookeeper.connect": cluster.zookeeper.address, "offsets.storage": "zookeeper"}


def znodes(cluster: LocalCluster, group: str) -> tuple[list[str], dict[int, int]]:
    """Members, and what is committed, of a group that reads the topic of its name."""
    with BlockingZooKeeper(cluster.zookeeper.address) as zookeeper:
        ids = zookeeper.one(GetChildren(f"/consumers/{group}/ids"))
        partitions = zookeeper.one(GetChildren(f"/consumers/{group}/offsets/{group}"))
        found = {int(each): zookeeper.one(GetData(f"/consumers/{group}/offsets/{group}/{each}")) for each in (partitions.children if partitions.ok else ())}
        return sorted(ids.children) if ids.ok else [], {each: int(result.data or b"-1") for each, result in found.items()}


def test_a_sole_owner_in_zookeeper(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, records=30), Sink()
    with running(stream(spark, cluster, topic, **in_zookeeper(cluster)), sink, tmp_path, **HOURLY) as query:
        eventually(lambda: znodes(cluster, topic)[1] == {0: 10, 1: 10, 2: 10}, query)
        (member,) = znodes(cluster, topic)[0]
        assert member.startswith(f"{topic}_spark-{topic}-")
        stop(query)
        eventually(lambda: znodes(cluster, topic)[0] == [])
    assert committed(cluster, topic) == {}
    with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.of_topics([topic]), ConsumerSettings(topic)):
        refused = stream(spark, cluster, topic, **in_zookeeper(cluster)).writeStream.foreachBatch(sink).option("checkpointLocation", str(tmp_path))
        with pytest.raises(StreamingQueryException, match=r"has 1 active member\(s\)"):
            refused.start().awaitTermination(60)


def test_a_job_and_an_old_consumer_divide_the_partitions(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic, sink = new_topic(cluster, partitions=4), Sink()
    produce(cluster, topic, range(40), partitions=4)
    with running(stream(spark, cluster, topic, **SHARING, **in_zookeeper(cluster)), sink, tmp_path) as query:
        eventually(lambda: len(sink.numbers) == 40, query)
        settings = ConsumerSettings(topic, auto_offset_reset="smallest", rebalance_backoff_ms=200, rebalance_max_retries=50)
        with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.of_topics([topic]), settings) as consumer:
            eventually(lambda: len(consumer.owned) == 2, query)
            owned = {each.partition for each in consumer.owned}
            produce(cluster, topic, range(40, 80), partitions=4)
            others = {int(consumer.poll(timeout_ms=30_000).value) for _ in range(20)}  # type: ignore[union-attr,arg-type]
            assert others == {number for number in range(40, 80) if number % 4 in owned}
            eventually(lambda: len(sink.numbers) == 60, query)
        eventually(lambda: len(znodes(cluster, topic)[0]) == 1, query)
        produce(cluster, topic, range(80, 120), partitions=4)
        eventually(lambda: len(sink.numbers) == 100 and set(znodes(cluster, topic)[1].values()) == {30}, query)
        stop(query)
    assert sorted([*sink.numbers, *others]) == list(range(120))
    assert znodes(cluster, topic)[1] == dict.fromkeys(range(4), 30)
