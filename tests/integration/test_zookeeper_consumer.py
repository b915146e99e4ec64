"""One group of the first generation, its members of different makes: our ZooKeeperConsumer and Kafka's own console consumers of 0.8.2.2 and 0.10.2.2,
pykafka's BalancedConsumer.

Together they divide the partitions; in steady state every record is read by one of them; who leaves hands over where he stopped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pykafka_classic.client.consumer_settings import ConsumerSettings, OffsetsStorage
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.edges.zookeeper_consumer import ZooKeeperConsumer
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import Sent, create_topic, eventually, send
from tests.integration.java_tools import JavaTools, tools_class_path

PARTITIONS = 4
ROUND = 20  # records in each partition

Position = tuple[int, str]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("zookeeper-groups"), brokers=1, overrides={"log.retention.ms": "-1"}) as running:
        yield running


def send_round(cluster: LocalCluster, topic: str, name: str) -> set[Position]:
    """The same number of records to each partition; partition and value of each."""
    for partition in range(PARTITIONS):
        send(cluster.bootstrap, topic, [Sent(None, f"{name} {partition} {number}".encode()) for number in range(ROUND)], partition=partition)
    return {(partition, f"{name} {partition} {number}") for partition in range(PARTITIONS) for number in range(ROUND)}


def read(consumer: ZooKeeperConsumer, count: int) -> list[Position]:
    """So many records, or as many as come before there is silence."""
    found: list[Position] = []
    while len(found) < count and (record := consumer.poll(timeout_ms=20_000)) is not None:
        assert record.value is not None
        found.append((record.partition, record.value.decode()))
    return found


def settings(group: str, storage: OffsetsStorage = OffsetsStorage.ZOOKEEPER) -> ConsumerSettings:
    return ConsumerSettings(group, consumer_id="ours", auto_offset_reset="smallest", auto_commit_interval_ms=500, offsets_storage=storage)


class OldConsole(ChildProcess):
    """Kafka's console consumer over ZooKeeper."""

    def __init__(self, directory: Path, version: str, cluster: LocalCluster, topic: str, group: str) -> None:
        config = directory / "consumer.properties"
        config.write_text(f"group.id={group}\nconsumer.id=theirs\nauto.commit.interval.ms=500\nrebalance.backoff.ms=500\n")
        options = ["--zookeeper", cluster.zookeeper.address, "--topic", topic, "--consumer.config", str(config)]
        command = JavaTools(tools_class_path(version)).command("kafka.tools.ConsoleConsumer", *options)
        super().__init__(command, log_path=directory / "console.log")


def printed(member: ChildProcess, name: str) -> list[Position]:
    """The records of a round that a member has printed."""
    return [(int(line.split()[1]), line) for line in member.output().splitlines() if line.startswith(f"{name} ")]


@pytest.mark.skipif(shutil.which("mvn") is None, reason="`mvn` is not installed: Apache's old clients are not tried")
@pytest.mark.parametrize("version", ["0.8.2.2", "0.10.2.2"])
def test_a_group_is_shared_with_kafkas_own_old_consumer(cluster: LocalCluster, tmp_path: Path, version: str) -> None:
    topic = group = f"shared-{version}"
    create_topic(cluster.bootstrap, topic, partitions=PARTITIONS, replicas=1, config={"message.format.version": "0.8.2"})
    first = send_round(cluster, topic, "first")
    everything = {TopicPartition(topic, number) for number in range(PARTITIONS)}
    with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.of_topics([topic]), settings(group)) as ours:
        assert ours.owned == everything
        assert sorted(read(ours, len(first))) == sorted(first)
        theirs = OldConsole(tmp_path, version, cluster, topic, group)
        theirs.start()
        try:
            eventually(lambda: ours.owned == {TopicPartition(topic, 0), TopicPartition(topic, 1)}, "half of the partitions are ours", seconds=60)
            second = send_round(cluster, topic, "second")
            mine = read(ours, ROUND * PARTITIONS // 2)
            eventually(lambda: len(printed(theirs, "second")) >= ROUND * PARTITIONS // 2, "the old consumer reads the other half", seconds=60)
            assert sorted(mine) == sorted(each for each in second if each[0] < 2)
            assert sorted(printed(theirs, "second")) == sorted(each for each in second if each[0] >= 2)
            assert printed(theirs, "first") == []
        finally:
            theirs.stop()
        eventually(lambda: ours.owned == everything, "all partitions are ours again", seconds=60)
        third = send_round(cluster, topic, "third")
        assert sorted(read(ours, len(third))) == sorted(third)


def test_offsets_kept_in_kafka_are_found_by_the_next_member(cluster: LocalCluster) -> None:
    topic = group = "kept-in-kafka"
    create_topic(cluster.bootstrap, topic, partitions=PARTITIONS, replicas=1)
    first = send_round(cluster, topic, "first")
    stored = settings(group, OffsetsStorage.KAFKA)
    with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.white_list("kept-.*"), stored) as consumer:
        assert sorted(read(consumer, len(first))) == sorted(first)
        consumer.commit()
    second = send_round(cluster, topic, "second")
    with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.white_list("kept-.*"), stored) as consumer:
        assert sorted(read(consumer, len(second))) == sorted(second)


PYKAFKA = "pykafka==2.8.0"
PYKAFKA_NEEDS = ("six==1.16.0", "tabulate==0.9.0", "setuptools==80.9.0")  # the last for pkg_resources, which newer ones lack
# Prints each record on a line, until it is stopped.
PYKAFKA_MEMBER = """
import signal, sys
from pykafka import KafkaClient
from pykafka.common import OffsetType
brokers, zookeeper, topic, group = sys.argv[1:]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
client = KafkaClient(hosts=brokers, broker_version="0.9.0")
consumer = client.topics[topic].get_balanced_consumer(
    consumer_group=group.encode(), managed=False, zookeeper_connect=zookeeper, auto_commit_enable=True, auto_commit_interval_ms=300,
    auto_offset_reset=OffsetType.EARLIEST, rebalance_backoff_ms=500, use_rdkafka=False)
try:
    for message in consumer:
        print(message.value.decode(), flush=True)
finally:
    consumer.stop()
"""


def pykafka_path() -> Path:
    """A folder with pykafka (without its own, older kazoo); skips where it cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pykafka_classic" / PYKAFKA.replace("==", "-")
    if not (cache / "complete").exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(cache), PYKAFKA, *PYKAFKA_NEEDS]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            pytest.skip(f"pykafka cannot be installed: {done.stderr.strip()[-300:]}")
        (cache / "complete").touch()
    return cache


def test_a_group_is_shared_with_pykafkas_balanced_consumer(cluster: LocalCluster, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(pykafka_path())}
    topic = group = "shared-pykafka"
    create_topic(cluster.bootstrap, topic, partitions=PARTITIONS, replicas=1, config={"message.format.version": "0.9.0"})
    first = send_round(cluster, topic, "first")
    everything = {TopicPartition(topic, number) for number in range(PARTITIONS)}
    dialect = replace(settings(group, OffsetsStorage.KAFKA), dual_commit_enabled=False, pykafka_group=True)
    with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.of_topics([topic]), dialect) as ours:
        assert sorted(read(ours, len(first))) == sorted(first)
        command = [sys.executable, "-W", "ignore", "-c", PYKAFKA_MEMBER, cluster.bootstrap, cluster.zookeeper.address, topic, group]
        theirs = ChildProcess(command, log_path=tmp_path / "pykafka.log", environment=environment)
        theirs.start()
        try:
            eventually(lambda: len(ours.owned) == PARTITIONS // 2, "half of the partitions are ours", seconds=30)
            second = send_round(cluster, topic, "second")
            mine = read(ours, ROUND * PARTITIONS // 2)
            eventually(lambda: len(printed(theirs, "second")) >= ROUND * PARTITIONS // 2, "pykafka reads the other half", seconds=60)
            assert sorted(mine + printed(theirs, "second")) == sorted(second)
            assert printed(theirs, "first") == []
        finally:
            theirs.stop()
        eventually(lambda: ours.owned == everything, "all partitions are ours again", seconds=60)
        third = send_round(cluster, topic, "third")
        assert set(read(ours, len(third))) == third


def test_the_consumer_follows_the_leaders_when_one_is_killed(tmp_path: Path) -> None:
    topic = group = "leader-killed"
    with LocalCluster(tmp_path, brokers=2, overrides={"log.retention.ms": "-1"}) as cluster:
        create_topic(cluster.bootstrap, topic, assignment=[[0, 1], [1, 0], [0, 1], [1, 0]])
        first = send_round(cluster, topic, "first")
        with ZooKeeperConsumer(cluster.zookeeper.address, Subscription.of_topics([topic]), settings(group)) as ours:
            assert sorted(read(ours, len(first))) == sorted(first)
            cluster.brokers[0].kill()
            second = send_round(cluster, topic, "second")
            assert sorted(read(ours, len(second))) == sorted(second)
            assert len(ours.owned) == PARTITIONS
