"""Transactions as librdkafka's and Java's producers make them, with coordinators and leaders that are killed in their midst: each input is there once."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from pykafka_classic.clients import ClientTimeout, IllegalState, KafkaError
from pykafka_classic.clients import Consumer as OurConsumer
from pykafka_classic.clients import Producer as OurProducer
from pykafka_classic.clients import TopicPartition as OurTopicPartition
from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Sent, create_topic, end_offsets, eventually, read_all, send
from tests.integration.java_tools import JavaTools, tools_class_path
from tests.integration.witness import Witness

PARTITIONS: Final = 4
TRANSACTIONS: Final = "__transaction_state"
INPUTS: Final = 4_000
BATCH: Final = 50
COPIER: Final = Path(__file__).parent / "members" / "librdkafka_copier.py"
STUCK_S: Final = 40.0  # longer than any wait that has an end
COMMITTED: Final = {"isolation_level": "read_committed"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    overrides = {
        "transaction.state.log.num.partitions": str(PARTITIONS),
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
        "zookeeper.session.timeout.ms": "3000",
        "min.insync.replicas": "2",
    }
    with LocalCluster(tmp_path_factory.mktemp("transactions"), brokers=3, overrides=overrides) as running:
        yield running
    assert_no_stack_traces(running)


def producer_of(cluster: LocalCluster, transactional_id: str, **settings: int) -> Producer:
    common = {"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id, "log_level": 0}
    producer = Producer(common | {name.replace("_", "."): value for name, value in settings.items()})
    producer.init_transactions(DEADLINE_S)
    return producer


def committed_values(cluster: LocalCluster, topic: str) -> list[str]:
    found = read_all(cluster.bootstrap, topic, **COMMITTED)
    return [(stored.record.value or b"").decode() for records in found.values() for stored in records]


def test_what_is_aborted_is_not_read_and_a_new_producer_fences_the_old_one(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "ended", partitions=3)
    first = producer_of(cluster, "ended")
    for name, commits in (("a", True), ("b", False), ("c", True)):
        first.begin_transaction()
        for number in range(30):
            first.produce("ended", f"{name}{number}".encode())
        first.flush(DEADLINE_S)
        (first.commit_transaction if commits else first.abort_transaction)(DEADLINE_S)
    first.begin_transaction()
    first.produce("ended", b"of the old one")
    first.flush(DEADLINE_S)
    second = producer_of(cluster, "ended")  # ends what the old one left open
    with pytest.raises(KafkaException, match="fenced"):
        first.commit_transaction(DEADLINE_S)
    second.begin_transaction()
    second.produce("ended", b"of the new one")
    second.commit_transaction(DEADLINE_S)
    expected = [*(f"{name}{number}" for name in "ac" for number in range(30)), "of the new one"]
    assert sorted(committed_values(cluster, "ended")) == sorted(expected)
    assert sum(map(len, read_all(cluster.bootstrap, "ended", isolation_level="read_uncommitted").values())) == 92


def test_our_own_producer_commits_aborts_and_is_fenced(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "ours", partitions=3)
    with OurProducer(cluster.bootstrap, transactional_id="ours") as first, OurProducer(cluster.bootstrap, transactional_id="ours") as second:
        with pytest.raises(IllegalState, match="init_transactions"):
            first.begin_transaction()
        first.init_transactions()
        with pytest.raises(IllegalState, match="begin_transaction"):
            first.send("ours", b"too early").result(timeout_ms=10_000)
        for name, commits in (("a", True), ("b", False), ("c", True)):
            first.begin_transaction()
            for number in range(30):
                first.send("ours", f"{name}{number}")
            if not commits:
                first.flush()
            (first.commit_transaction if commits else first.abort_transaction)()
        first.begin_transaction()
        with pytest.raises(KafkaError, match="no partition 9"):
            first.send("ours", b"nowhere", partition=9).result(timeout_ms=10_000)
        first.send("ours", b"of the old one").result(timeout_ms=10_000)
        second.init_transactions()
        with pytest.raises(KafkaError):
            first.commit_transaction()
        second.begin_transaction()
        second.send("ours", b"of the new one")
        second.commit_transaction()
    expected = [*(f"{name}{number}" for name in "ac" for number in range(30)), "of the new one"]
    assert sorted(committed_values(cluster, "ours")) == sorted(expected)


def test_a_transaction_that_nobody_ends_lets_readers_on_after_its_time_out(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "left-open", partitions=1)
    left = producer_of(cluster, "left-open", transaction_timeout_ms=2_000)
    left.begin_transaction()
    left.produce("left-open", b"of nobody")
    left.flush(DEADLINE_S)
    send(cluster.bootstrap, "left-open", [Sent(None, b"behind it")])
    assert end_offsets(cluster.bootstrap, "left-open") == {0: 0}  # the last stable offset: librdkafka reads what is committed unless told otherwise
    eventually(lambda: end_offsets(cluster.bootstrap, "left-open") == {0: 3}, "the abort's marker is written")
    assert committed_values(cluster, "left-open") == ["behind it"]
    with pytest.raises(KafkaException):
        left.commit_transaction(DEADLINE_S)


def test_javas_copier_and_ours_are_told_the_same(cluster: LocalCluster) -> None:
    """`org.apache.kafka.tools.TransactionalMessageCopier`: reads, writes and commits offsets in transactions, as Kafka's own system tests do."""
    tools = JavaTools(tools_class_path("2.8.2"))
    for topic in ("java-in", "java-out"):
        create_topic(cluster.bootstrap, topic, partitions=1)
    send(cluster.bootstrap, "java-in", [Sent(None, f"{number}".encode()) for number in range(1_000)], acks="all")
    arguments = ["--transactional-id", "java-copier", "--broker-list", cluster.bootstrap, "--input-topic", "java-in", "--input-partition", "0"]
    arguments += ["--output-topic", "java-out", "--max-messages", "1000", "--consumer-group", "java-copiers", "--transaction-size", "100"]
    told = [json.loads(line) for line in tools.run("org.apache.kafka.tools.TransactionalMessageCopier", *arguments).splitlines() if line.startswith("{")]
    assert told[-1]["consumed"] == 1_000
    assert committed_values(cluster, "java-out") == [f"{number}" for number in range(1_000)]
    assert committed_offsets(cluster, "java-copiers", "java-in", 1) == [1_000]


def test_javas_perf_test_produces_in_transactions(cluster: LocalCluster) -> None:
    tools = JavaTools(tools_class_path("2.8.2"))
    create_topic(cluster.bootstrap, "perf", partitions=2)
    told = tools.run(
        *("org.apache.kafka.tools.ProducerPerformance", "--topic", "perf", "--num-records", "2000", "--record-size", "100", "--throughput", "2000"),
        *("--producer-props", f"bootstrap.servers={cluster.bootstrap}", "--transactional-id", "perf", "--transaction-duration-ms", "100"),
    )
    assert "2000 records sent" in told
    assert len(committed_values(cluster, "perf")) == 2_000


def test_our_perf_test_produces_in_transactions(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "our-perf", partitions=2)
    command = [sys.executable, "-m", "pykafka_classic.cli.producer_perf_test", "--topic", "our-perf", "--num-records", "2000", "--record-size", "100"]
    command += ["--throughput", "2000", "--producer-props", f"bootstrap.servers={cluster.bootstrap}", "--transaction-duration-ms", "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "2000 records sent" in done.stdout) == (0, True), done.stdout + done.stderr
    assert len(committed_values(cluster, "our-perf")) == 2_000
    assert sum(end_offsets(cluster.bootstrap, "our-perf").values()) > 2_002  # markers of several transactions


def committed_offsets(cluster: LocalCluster, group_id: str, topic: str, partitions: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group_id})
    try:
        return [each.offset for each in consumer.committed([TopicPartition(topic, number) for number in range(partitions)], DEADLINE_S)]
    finally:
        consumer.close()


class Copier(ABC):
    """Reads one topic, writes to another and commits how far it read, in transactions of `BATCH` records, in a thread; begins anew whenever something fails."""

    def __init__(self, cluster: LocalCluster, name: str) -> None:
        self.name = name
        self.copied = 0
        self.restarts = -1
        self.error: BaseException | None = None
        self.cluster = cluster
        self._thread = threading.Thread(target=self._run, name="copier", daemon=True)
        self._deadline = time.monotonic() + 400

    @property
    def unfinished(self) -> bool:
        """Whether there is more to do, and time for it."""
        return self.copied < INPUTS and time.monotonic() < self._deadline

    def __enter__(self) -> Copier:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.join(None if error is None else 0)
        if self.error is not None and error is None:
            raise self.error

    def _run(self) -> None:
        try:
            while self.unfinished:
                self.restarts += 1
                self.copy()
        except BaseException as error:
            self.error = error

    @abstractmethod
    def copy(self) -> None:
        """Until all is copied, or something fails: then whoever comes next aborts what is open, and reads from where the group committed."""


class LibrdkafkasCopier(Copier):
    """With confluent-kafka, in a process of its own.

    Killed when nothing comes of it for long: librdkafka may wait, without an end, for a group's coordinator that has moved meanwhile.
    """

    def copy(self) -> None:
        """See `Copier`."""
        command = [sys.executable, str(COPIER), self.cluster.bootstrap, self.name, str(INPUTS), str(BATCH)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
            assert process.stdout is not None
            try:
                while self.unfinished and select.select([process.stdout], [], [], STUCK_S)[0] and (line := process.stdout.readline()):
                    self.copied = int(line)
            finally:
                process.kill()


class OurCopier(Copier):
    """With our own clients."""

    def copy(self) -> None:
        """See `Copier`. What only broke a transaction is aborted, and done again by the same producer."""
        places = [OurTopicPartition(f"{self.name}-in", number) for number in range(2)]
        bootstrap = self.cluster.bootstrap
        with (
            OurConsumer(bootstrap, group_id=self.name, enable_auto_commit=False, isolation_level="read_committed", auto_offset_reset="earliest") as consumer,
            OurProducer(bootstrap, transactional_id=self.name, transaction_timeout_ms=20_000, request_timeout_ms=5_000) as producer,
        ):
            try:
                producer.init_transactions()
                consumer.assign(places)
                while self.unfinished:
                    committed = consumer.committed(places)
                    for place in places:
                        consumer.seek(place, committed[place].offset if place in committed else 0)
                    self.copied = sum(each.offset for each in committed.values())
                    self._copy_until_it_breaks(consumer, producer)
            except (KafkaError, ClientTimeout):
                return

    def _copy_until_it_breaks(self, consumer: OurConsumer, producer: OurProducer) -> None:
        while self.unfinished:
            records = consumer.poll(timeout_ms=1000, max_records=BATCH)
            if not records:
                continue
            producer.begin_transaction()
            try:
                for record in records:
                    producer.send(f"{self.name}-out", record.value)
                producer.send_offsets_to_transaction({place: consumer.position(place) for place in consumer.assignment}, consumer.group_metadata())
                producer.commit_transaction()
            except (KafkaError, ClientTimeout):
                producer.abort_transaction()
                return
            self.copied += len(records)


@pytest.mark.parametrize("kind", [LibrdkafkasCopier, OurCopier], ids=["librdkafka", "ours"])
def test_each_input_is_copied_once_while_coordinators_and_leaders_are_killed(cluster: LocalCluster, kind: type[Copier]) -> None:
    name = kind.__name__
    for topic, partitions in ((f"{name}-in", 2), (f"{name}-out", 3)):
        create_topic(cluster.bootstrap, topic, partitions=partitions)
    for partition in range(2):
        values = [Sent(None, f"{partition}-{number}".encode()) for number in range(INPUTS // 2)]
        send(cluster.bootstrap, f"{name}-in", values, partition=partition, acks="all")
    with Witness(cluster.zookeeper.address) as witness, kind(cluster, name) as copier:
        eventually(lambda: copier.copied > 0, "the first transaction")
        home = abs_java(string_hash(name)) % PARTITIONS
        for _ in range(3):
            eventually(lambda: witness.state(TRANSACTIONS, home).leader >= 0, "a coordinator")
            victim, before = witness.state(TRANSACTIONS, home).leader, copier.copied
            cluster.brokers[victim].kill()
            eventually(lambda victim=victim: witness.state(TRANSACTIONS, home).leader not in {-1, victim}, "another coordinator")  # type: ignore[misc]
            cluster.restart(victim)
            eventually(lambda before=before: copier.copied > before + BATCH or copier.copied >= INPUTS, "it goes on", seconds=180)  # type: ignore[misc]
            eventually(lambda: len(witness.state(TRANSACTIONS, home).isr) == 3, "all are in sync again", seconds=60)
    assert copier.copied == INPUTS
    expected = sorted(f"{partition}-{number}" for partition in range(2) for number in range(INPUTS // 2))
    assert sorted(committed_values(cluster, f"{name}-out")) == expected
    assert sum(committed_offsets(cluster, name, f"{name}-in", 2)) == INPUTS
