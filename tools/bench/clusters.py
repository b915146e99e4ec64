"""A cluster that is measured while its brokers are stopped and started: ours, or Apache Kafka's of some release."""

from __future__ import annotations

import time
from pathlib import Path

from comparison.sides import OURS, make_cluster

START_S = 120.0
OVERRIDES = {"auto.leader.rebalance.enable": "false", "zookeeper.session.timeout.ms": "6000"}


class BenchCluster:
    """Three brokers with ids 0, 1, 2; `ports` in that order. `kind`: OURS, or a release of Apache's."""

    def __init__(self, directory: Path, kind: str) -> None:
        self.name = "pykafka_classic" if kind == OURS else f"Apache Kafka {kind}"
        self._cluster = make_cluster(kind, directory, 3, OVERRIDES)
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
