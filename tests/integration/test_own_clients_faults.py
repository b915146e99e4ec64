"""Our own clients while brokers die and come back: nothing acknowledged is lost; an idempotent producer writes each record once and in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from pykafka_classic.clients import Consumer, Producer, RecordMetadata, TopicPartition
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import create_topic, eventually, read_acknowledged
from tests.reading import read_on

PARTITIONS = 3


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path, brokers=3, overrides={**KEEP, "min.insync.replicas": "2", "default.replication.factor": "3"}) as running:
        yield running
        assert_no_stack_traces(running)


class Load:
    """Numbered records to each partition, a thousand a second at most, in a thread; `acknowledged` by partition, in the order of the answers."""

    def __init__(self, bootstrap: str, topic: str, **settings: Any) -> None:
        self.acknowledged: dict[int, list[tuple[int, int]]] = {number: [] for number in range(PARTITIONS)}  # number, offset
        self.failed: list[Exception] = []
        self._topic = topic
        self._producer = Producer(bootstrap, acks="all", **settings)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join()
        self._producer.close()

    def numbers(self) -> dict[int, list[int]]:
        """What was acknowledged, by partition."""
        return {partition: [number for number, _ in each] for partition, each in self.acknowledged.items()}

    def wait_for_more(self, count: int) -> None:
        """In every partition."""
        target = {number: len(each) + count for number, each in self.acknowledged.items()}
        wait_until(lambda: all(len(self.acknowledged[number]) >= want for number, want in target.items()), seconds=60)

    def _run(self) -> None:
        number = 0
        while not self._ending.wait(0.02):
            for _ in range(20):
                for partition in range(PARTITIONS):
                    self._producer.send(self._topic, str(number), partition=partition, on_delivery=partial(self._told, number))
                number += 1

    def _told(self, sent: int, where: RecordMetadata | None, error: Exception | None) -> None:
        if where is None:
            assert error is not None
            self.failed.append(error)
        else:
            self.acknowledged[where.partition].append((sent, where.offset))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_an_idempotent_producer_survives_killed_leaders_without_loss_duplicate_or_disorder(cluster: LocalCluster, codec: str) -> None:
    create_topic(cluster.bootstrap, "kills", partitions=PARTITIONS)
    with Load(cluster.bootstrap, "kills", enable_idempotence=True, compression_type=codec) as load:
        for number in range(3):
            load.wait_for_more(200)
            cluster.brokers[number].kill()
            load.wait_for_more(200)
            cluster.restart(number)
        load.wait_for_more(200)
    assert load.failed == []
    everything = read_acknowledged(cluster.bootstrap, "kills", load.numbers())
    stored = {partition: [(int(each.record.value or b"-1"), each.offset) for each in found] for partition, found in everything.items()}
    for partition, found in stored.items():
        assert [value for value, _ in found] == list(range(len(found))), f"partition {partition}: not each once, in order"
        assert dict(load.acknowledged[partition]).keys() == dict(found).keys()
        assert {value: offset for value, offset in load.acknowledged[partition] if offset >= 0}.items() <= dict(found).items()


def test_without_idempotence_nothing_acknowledged_is_lost(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "kills", partitions=PARTITIONS)
    with Load(cluster.bootstrap, "kills") as load:
        load.wait_for_more(200)
        cluster.brokers[0].kill()
        load.wait_for_more(200)
        cluster.restart(0)
        load.wait_for_more(200)
    assert load.failed == []
    for partition, found in read_acknowledged(cluster.bootstrap, "kills", load.numbers()).items():
        assert {value for value, _ in load.acknowledged[partition]} <= {int(each.record.value or b"-1") for each in found}


def test_a_consumer_reads_on_while_leaders_and_coordinator_die_one_after_the_other(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "reading", partitions=PARTITIONS)
    seen: list[tuple[int, int]] = []
    places: set[tuple[int, int]] = set()
    ending = threading.Event()

    def consume() -> None:
        with Consumer(cluster.bootstrap, group_id="readers", auto_offset_reset="earliest", auto_commit_interval_ms=200, session_timeout_ms=6_000) as consumer:
            consumer.subscribe(["reading"])
            while not ending.is_set():
                found = [(record.partition, record.offset) for record in consumer.poll(timeout_ms=200)]
                seen.extend(found)
                places.update(found)

    thread = threading.Thread(target=consume)
    thread.start()
    try:
        with Load(cluster.bootstrap, "reading", enable_idempotence=True) as load:
            for number in range(3):
                load.wait_for_more(100)
                cluster.brokers[number].kill()
                load.wait_for_more(100)
                cluster.restart(number)
            load.wait_for_more(100)
        ends = {(partition, each.offset) for partition, found in read_acknowledged(cluster.bootstrap, "reading", load.numbers()).items() for each in found}
        eventually(lambda: len(places) >= len(ends), "every record was read", seconds=60)
        assert sorted(ends - places) == []
    finally:
        ending.set()
        thread.join()
    first_seen = {partition: [offset for number, offset in dict.fromkeys(seen) if number == partition] for partition in range(PARTITIONS)}
    assert all(offsets == sorted(offsets) for offsets in first_seen.values())


def test_a_consumer_reads_from_the_replica_of_its_rack(tmp_path: Path) -> None:
    cluster = LocalCluster(tmp_path, brokers=2, overrides={**KEEP, "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"})
    for number, broker in enumerate(cluster.brokers):
        broker._properties["broker.rack"] = f"rack-{number}"
    with cluster:
        create_topic(cluster.bootstrap, "racks", assignment=[[0, 1]])
        with Consumer(cluster.bootstrap, client_rack="rack-1", start="earliest", fetch_max_wait_ms=100) as consumer:
            consumer.assign([("racks", 0)])
            assert consumer.poll(timeout_ms=1_000) == []
            with Producer(cluster.bootstrap, acks="all") as producer:
                for number in range(100):
                    producer.send("racks", str(number))
            assert [int(record.value or b"") for record in read_on(consumer, 100)] == list(range(100))
            assert consumer._core.assigned[TopicPartition("racks", 0)].preferred_replica == 1
            cluster.brokers[1].kill()
            with Producer(cluster.bootstrap, acks=1) as producer:
                producer.send("racks", "again").result()
            eventually(lambda: any(record.value == b"again" for record in consumer.poll(timeout_ms=500)), "the leader is read again", seconds=40)
