"""The two clusters that are measured beside each other: ours, and Apache Kafka's, each with a ZooKeeper of its own of the same kind.

Apache's brokers are started by a script that knows how (`kafka.py up --join --brokers 1 --first-id N --port P --zookeeper Z --dir D -o key=value ...`: it
prints one line of JSON when the broker serves, and stops it on SIGTERM).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.testing.cluster import SMALL_CLUSTER, LocalCluster

START_S = 120.0
OVERRIDES = {"auto.leader.rebalance.enable": "false", "zookeeper.session.timeout.ms": "6000"}


class BenchCluster(Protocol):
    """Three brokers that can be stopped and started one by one. `ports` in the order of their ids 0, 1, 2."""

    name: str
    ports: list[int]
    zookeeper: str

    def start(self) -> None:
        """All of it."""
        ...

    def stop_broker(self, number: int) -> float:
        """SIGTERM; the seconds until the process has ended."""
        ...

    def start_broker(self, number: int) -> None:
        """Start again, until it serves."""
        ...

    def kill(self) -> None:
        """End everything."""
        ...


class Ours:
    """This project's brokers."""

    def __init__(self, directory: Path) -> None:
        self.name = "pykafka_classic"
        self._cluster = LocalCluster(directory, overrides=OVERRIDES)
        self.ports = self._cluster.ports
        self.zookeeper = self._cluster.zookeeper.address

    def start(self) -> None:
        """All of it."""
        self._cluster.start()

    def stop_broker(self, number: int) -> float:
        """SIGTERM; the seconds until the process has ended."""
        began = time.monotonic()
        self._cluster.brokers[number].stop(seconds=START_S)
        return time.monotonic() - began

    def start_broker(self, number: int) -> None:
        """Start again, until it serves."""
        self._cluster.restart(number, seconds=START_S)

    def kill(self) -> None:
        """End everything."""
        self._cluster.kill()


class Apache:
    """Apache Kafka's, started by `script`."""

    def __init__(self, directory: Path, script: Path, version: str) -> None:
        self.name = f"Apache Kafka {version}"
        self._cluster = LocalCluster(directory)  # for its ZooKeeper and its free ports
        self.ports = self._cluster.ports
        self.zookeeper = self._cluster.zookeeper.address
        self._brokers = [self._broker(directory, script, version, number) for number in range(len(self.ports))]

    def _broker(self, directory: Path, script: Path, version: str, number: int) -> ChildProcess:
        settings = _as_options({**SMALL_CLUSTER, **OVERRIDES, "offsets.topic.replication.factor": "3", "transaction.state.log.replication.factor": "3"})
        place = ["--first-id", str(number), "--port", str(self.ports[number]), "--zookeeper", self.zookeeper.rpartition(":")[2], "--dir", str(directory)]
        command = [sys.executable, str(script), "up", "--version", version, "--join", "--brokers", "1", *place, *settings]
        return ChildProcess(command, log_path=directory / f"apache-{number}.log")

    def start(self) -> None:
        """All of it."""
        self._cluster.start_zookeeper()
        for broker in self._brokers:
            broker.start()
        for broker in self._brokers:
            self._wait(broker)

    @staticmethod
    def _wait(broker: ChildProcess) -> None:
        broker.wait_ready(lambda: '"bootstrap"' in broker.output(), seconds=START_S)

    def stop_broker(self, number: int) -> float:
        """SIGTERM; the seconds until the process has ended."""
        began = time.monotonic()
        self._brokers[number].stop(seconds=START_S)
        return time.monotonic() - began

    def start_broker(self, number: int) -> None:
        """Start again, until it serves."""
        self._brokers[number].start()
        self._wait(self._brokers[number])

    def kill(self) -> None:
        """End everything; cleanly, for killing the script would leave its JVM behind."""
        for broker in self._brokers:
            if broker.running:
                broker.stop(seconds=START_S)
        self._cluster.kill()


def _as_options(settings: Mapping[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
