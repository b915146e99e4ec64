"""What a cluster costs when nothing happens, and how soon it has done what is rare: start, many partitions, rebalances, a new controller."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final, cast

import confluent_kafka
from controller import Cluster, measure_start

from comparison.librdkafka import BenchFailed
from comparison.sides import Side, make_cluster
from comparison.workloads import Load, Row, Workload
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.protocol.connection import ClientConnection
from pykafka_classic.protocol.messages.metadata import MetadataRequest

IDLE_S: Final = 3.0
SETTLE_S: Final = 1.0
QUIET: Final = 0.02  # of a core: brokers have written their small files
QUIET_MAX_S: Final = 15.0
MEMBERS: Final = 4
GROUP_PARTITIONS: Final = 12
METADATA_VERSION: Final = 9
METADATA_TIMES: Final = 9


class FreshCluster:
    """A cluster started for one measurement; a context. `seconds`: from ZooKeeper serving to the cluster being ready."""

    def __init__(self, side: Side, brokers: int) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="pykafka-bench-", dir=side.directory))
        self._kind = side.kind
        self._cluster = make_cluster(side.kind, self._directory, brokers)
        self.seconds = 0.0

    def __enter__(self) -> FreshCluster:
        self._cluster.start_zookeeper()
        began = time.perf_counter()
        for broker in self._cluster.brokers:
            broker.start()
        self._cluster.wait_ready()
        self.seconds = time.perf_counter() - began
        self.side = Side(self._kind, self._cluster.bootstrap, self._directory, self._cluster)
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.kill()
        shutil.rmtree(self._directory, ignore_errors=True)


def run_start(brokers: int, side: Side, _load: Load) -> Mapping[str, float]:
    """Start brokers on empty directories, and look at what they use when nobody asks for anything."""
    with FreshCluster(side, brokers) as fresh:
        time.sleep(SETTLE_S)
        before = fresh.side.processor_s()
        time.sleep(IDLE_S if brokers > 1 else 0)
        idle = (fresh.side.processor_s() - before) / IDLE_S
        return {"start": fresh.seconds, "memory": fresh.side.resident_mb(), "idle": 100 * idle}


def run_partitions(partitions: int, replicas: int, side: Side, _load: Load) -> Mapping[str, float]:
    """Create a topic of many partitions on three brokers; memory, and how long one broker takes to tell all of it."""
    with FreshCluster(side, 3) as fresh:
        began = time.perf_counter()
        fresh.side.new_topic("many", partitions, replicas)
        created = time.perf_counter() - began
        _wait_quiet(fresh.side)
        before = fresh.side.processor_s()
        time.sleep(IDLE_S)
        idle = (fresh.side.processor_s() - before) / IDLE_S
        with socket.create_connection(("127.0.0.1", fresh.side.ports[0]), timeout=30) as connection:
            asked = [_ask_metadata(connection) for _ in range(METADATA_TIMES)]
        return {"create": created, "memory": fresh.side.resident_mb(), "metadata": 1000 * sorted(asked)[METADATA_TIMES // 2], "idle": 100 * idle}


def _wait_quiet(side: Side) -> None:
    """Until the brokers have nothing more to do, or have had their time."""
    until = time.perf_counter() + QUIET_MAX_S
    before = side.processor_s()
    while time.perf_counter() < until:
        time.sleep(SETTLE_S)
        used, before = side.processor_s() - before, side.processor_s()
        if used <= QUIET * SETTLE_S:
            return


def _ask_metadata(connection: socket.socket) -> float:
    """Seconds until all of the answer is there; it is not decoded."""
    _, parts = ClientConnection("bench").send(MetadataRequest(topics=None), METADATA_VERSION)
    began = time.perf_counter()
    connection.sendall(b"".join(bytes(cast("bytes", part)) for part in parts))
    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "big")
    if len(connection.recv(size, socket.MSG_WAITALL)) != size:
        raise BenchFailed("the connection was closed")
    return time.perf_counter() - began


class Members:
    """Consumers of one group in threads of their own, which note what they are given."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._bootstrap, self._topic = bootstrap, topic
        self._assigned: dict[int, int] = {}
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def add(self) -> None:
        """One more."""
        self._threads.append(threading.Thread(target=self._run, args=(len(self._threads),)))
        self._threads[-1].start()

    def wait_balanced(self) -> None:
        """Until every member has partitions, and together they have all."""
        wait_until(lambda: len(self._assigned) == len(self._threads) and sum(self._assigned.values()) == GROUP_PARTITIONS, seconds=60)

    def stop(self) -> None:
        """All leave."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": self._bootstrap, "group.id": self._topic, "heartbeat.interval.ms": 100, "session.timeout.ms": 10_000, "log_level": 0}
        )

        def assigned(_: object, partitions: list[confluent_kafka.TopicPartition]) -> None:
            self._assigned[number] = len(partitions)

        def revoked(_: object, __: object) -> None:
            self._assigned.pop(number, None)

        consumer.subscribe([self._topic], on_assign=assigned, on_revoke=revoked)
        while not self._stop.is_set():
            consumer.poll(0.02)
        consumer.close()


def run_rebalance(side: Side, _load: Load) -> Mapping[str, float]:
    """A group of four gets a fifth member; seconds until all five have their shares."""
    topic = side.new_topic("group", GROUP_PARTITIONS, 3)
    members = Members(side.bootstrap, topic)
    try:
        for _ in range(MEMBERS):
            members.add()
        members.wait_balanced()
        began = time.perf_counter()
        members.add()
        members.wait_balanced()
        seconds = time.perf_counter() - began
    except TimeoutError:
        raise BenchFailed("the group does not come to rest") from None
    finally:
        members.stop()
    side.delete_topic(topic)
    return {"seconds": 1000 * seconds}


def run_controller(side: Side, _load: Load) -> Mapping[str, float]:
    """The controller's znode goes; until a new controller has created a topic and all brokers know its leader."""
    assert side.cluster is not None
    cluster = Cluster(side.ports, side.cluster.zookeeper.address)
    try:
        return {"seconds": 1000 * measure_start(cluster)}
    finally:
        cluster.close()


def _partitions(partitions: int, replicas: int) -> Workload:
    what = f"{partitions:,} partitions" + (f" with {replicas} replicas" if replicas > 1 else "")
    rows = {
        "create": Row(f"{what}: created", "s", more_is_better=False),
        "memory": Row(f"{what}: three brokers' memory", "MB", more_is_better=False),
        "metadata": Row(f"{what}: Metadata of all", "ms", more_is_better=False),
        "idle": Row(f"{what}: three idle brokers' CPU", "% of a core", more_is_better=False),
    }
    return Workload(f"partitions-{partitions}" + ("-rf3" if replicas > 1 else ""), 0, partial(run_partitions, partitions, replicas), rows, rounds_max=2)


WORKLOADS: Final = [
    Workload("rebalance", 3, run_rebalance, {"seconds": Row("a fifth member joins a group", "ms", more_is_better=False)}),
    Workload("controller", 3, run_controller, {"seconds": Row("a new controller creates a topic", "ms", more_is_better=False)}),
    Workload("start-1", 0, partial(run_start, 1), {"start": Row("start of one broker", "s", more_is_better=False)}, rounds_max=5),
    Workload(
        "start-3",
        0,
        partial(run_start, 3),
        {
            "start": Row("start of three brokers", "s", more_is_better=False),
            "memory": Row("three idle brokers' memory", "MB", more_is_better=False),
            "idle": Row("three idle brokers' CPU", "% of a core", more_is_better=False),
        },
        rounds_max=5,
    ),
    _partitions(1_000, 3),
    _partitions(3_000, 1),
]
