"""What the chapters share: the cluster, the data, what has been acknowledged, who died, and the witness."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.demo.flights import Flight
from pykafka_classic.demo.producing import FlightProducer
from pykafka_classic.demo.witness import Sighting, ZooKeeperWitness, expired_sessions, notable_lines
from pykafka_classic.testing.cluster import LocalCluster

TOPIC: Final = "flights"
PARTITIONS: Final = 3
REPLICAS: Final = 3
BROKERS: Final = 3
PORTS: Final = (9092, 9093, 9094)
ZOOKEEPER_PORT: Final = 2181


@dataclass(slots=True)
class Story:
    """The state of the demo; each chapter reads what those before it have set."""

    cluster: LocalCluster
    flights: list[Flight] = field(default_factory=list)
    producer: FlightProducer | None = None
    witness: ZooKeeperWitness | None = None
    victim: int = -1  # the broker that is killed
    killed_ms: float = 0.0
    failed: list[str] = field(default_factory=list)  # what went otherwise than it must; empty: all is well

    def leader(self, partition: int) -> int:
        """Who leads a partition, according to ZooKeeper."""
        assert self.witness is not None
        return self.witness.states[partition].leader

    def sightings(self, since_ms: float) -> list[Sighting]:
        """What happened since, in order, from all that watched and wrote."""
        assert self.witness is not None
        seen = [*self.witness.sightings, *expired_sessions(self.cluster.zookeeper.output())]
        for number, broker in enumerate(self.cluster.brokers):
            seen += notable_lines(number, broker.output(), lambda text: " starts at " not in text or TOPIC in text)
        return sorted(each for each in seen if each.time_ms >= since_ms)

    def close(self) -> None:
        """End what the chapters have begun, but for the cluster."""
        if self.witness is not None:
            self.witness.stop()


def now_ms() -> float:
    """Wall-clock time, as in logs and nodes."""
    return time.time() * 1000
