"""The two sides of a comparison: clusters of ours, of Apache Kafka, or one that runs already; and what their processes cost."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is there, but not declared as exported

from comparison.librdkafka import BenchFailed
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.testing.apache import KAFKAS_JVM, ApacheBroker, broker_class_path
from pykafka_classic.testing.cluster import LocalCluster

TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
OURS: Final = "ours"
OVERRIDES: Final = {
    "log.segment.delete.delay.ms": "1000",  # what a workload has written does not fill the disk for the next
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "num.partitions": "1",
}


class Side:
    """A cluster to be measured.

    Args:
        kind: OURS, a release of Apache's, or the address of brokers that run already.
        directory: where its clusters have their data.
        cluster: none where its processes are not ours to see.
    """

    def __init__(self, kind: str, bootstrap: str, directory: Path, cluster: LocalCluster | None = None) -> None:
        self.kind = kind
        self.bootstrap = bootstrap
        self.directory = directory
        self.cluster = cluster
        self.filled: dict[Hashable, tuple[str, int]] = {}  # topics that a workload reads again and again, and their records
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    @property
    def pids(self) -> list[int]:
        """Of the brokers that run."""
        return [broker.pid for broker in self.cluster.brokers if broker.running] if self.cluster else []

    @property
    def ports(self) -> list[int]:
        """Of the brokers."""
        return [int(address.rpartition(":")[2]) for address in self.bootstrap.split(",")]

    def processor_s(self) -> float:
        """Processor time that the brokers have used so far, user and system, in seconds."""
        return sum(map(processor_s, self.pids))

    def resident_mb(self) -> float:
        """Resident memory of the brokers together, in 10^6 bytes."""
        return sum(map(resident_mb, self.pids))

    def new_topic(self, name: str, partitions: int = 1, replicas: int = 1) -> str:
        """A topic of its own for a run, with leaders; its name. Raises BenchFailed."""
        unique = f"{name}-{time.monotonic_ns()}"
        try:
            self._admin.create_topics([NewTopic(unique, partitions, replicas)])[unique].result(60)
            wait_until(lambda: self._led(unique, partitions, replicas), seconds=60)
        except (KafkaException, TimeoutError) as why:
            raise BenchFailed(f"{self.kind}: topic {unique} is not created: {why}") from why
        return unique

    def forget_filled(self) -> None:
        """The workload that filled topics has ended."""
        while self.filled:
            self.delete_topic(self.filled.popitem()[1][0])

    def _led(self, name: str, partitions: int, replicas: int) -> bool:
        topic = self._admin.list_topics(name, timeout=10).topics[name]
        return len(topic.partitions) == partitions and all(each.leader >= 0 and len(each.isrs) == replicas for each in topic.partitions.values())

    def delete_topic(self, name: str) -> None:
        """Give its room back. Raises BenchFailed."""
        try:
            self._admin.delete_topics([name])[name].result(60)
        except KafkaException as why:
            raise BenchFailed(f"{self.kind}: topic {name} is not deleted: {why}") from why


def processor_s(pid: int) -> float:
    """User and system time of a process so far, in seconds."""
    fields = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def resident_mb(pid: int) -> float:
    """VmRSS in 10^6 bytes."""
    status = Path("/proc", str(pid), "status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmRSS:"))) * 1024 / 1e6


class ApacheCluster(LocalCluster):
    """A LocalCluster whose brokers are Apache's, with the flags that Kafka's own scripts give to java."""

    def __init__(self, directory: Path, version: str, *, brokers: int, overrides: Mapping[str, str]) -> None:
        super().__init__(directory, brokers=brokers, overrides=overrides)
        for number in range(brokers):
            properties = self._properties(directory, number, overrides)
            broker = ApacheBroker(broker_class_path(version), directory / f"broker-{number}", properties, jvm=KAFKAS_JVM)
            self.brokers[number] = broker  # type: ignore[call-overload]  # used in the same way


def make_cluster(kind: str, directory: Path, brokers: int, overrides: Mapping[str, str] = OVERRIDES) -> LocalCluster:
    """Not started yet. `kind`: OURS, or a release of Apache's."""
    directory.mkdir(parents=True, exist_ok=True)
    if kind == OURS:
        return LocalCluster(directory, brokers=brokers, overrides=overrides)
    return ApacheCluster(directory, kind, brokers=brokers, overrides=overrides)
