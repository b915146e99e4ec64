"""Producers and consumers without sockets: their cores over a fake cluster and a fake clock."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from pykafka_classic.client.broker_node import ClientSeams
from pykafka_classic.client.client_settings import settings_of
from pykafka_classic.client.consuming.consumer_core import ConsumerCore
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.producing.delivery import Delivery
from pykafka_classic.client.producing.producer_core import ProducerCore
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.promise import Promise, spawn
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.kafka_network import FakeCluster

T = TypeVar("T")

PATIENCE_MS = 400_000


class ClientWorld:
    """One fake cluster with time of its own."""

    def __init__(self, *, brokers: int = 2, seed: int = 0, latency_ms: Callable[[], float] | None = None) -> None:
        self.clock = FakeClock()
        self.random = SeededRandom(seed)
        self.cluster = FakeCluster(self.clock, brokers=brokers, latency_ms=latency_ms or (lambda: 1.0))
        self.background = FakeBackground()
        self.zookeepers: set[int] = set()  # ports

    def seams(self) -> ClientSeams:
        """For one client."""

        def probe(host: str, port: int) -> str | None:
            return f"{host}:{port} is a ZooKeeper server, not a broker" if port in self.zookeepers else None

        return ClientSeams(self.cluster, self.clock, self.random, self.background, probe)

    def producer(self, **settings: Any) -> tuple[ProducerCore, list[Delivery]]:
        """One that has started, and the records that were settled, in that order."""
        settled: list[Delivery] = []

        def told(records: Sequence[Delivery]) -> None:
            settled.extend(records)

        core = ProducerCore(settings_of(ProducerSettings, {"bootstrap_servers": self.cluster.bootstrap, **settings}), self.seams(), told)
        self.wait(core.start())
        return core, settled

    def consumer(self, **settings: Any) -> ConsumerCore:
        """One that has started."""
        core = ConsumerCore(settings_of(ConsumerSettings, {"bootstrap_servers": self.cluster.bootstrap, **settings}), self.seams())
        self.wait(core.start())
        return core

    def wait(self, work: Coroutine[Promise[Any], None, T] | Promise[T]) -> T:
        """Let time pass until it is done."""
        promise = work if isinstance(work, Promise) else spawn(work)
        limit_ms = self.clock.monotonic_ms() + PATIENCE_MS
        while not promise.settled:
            assert self.clock.monotonic_ms() < limit_ms, "it takes for ever"
            assert self.clock.advance_to_next(), "nothing will ever happen"
        return promise.result()


def record(topic: str, value: object, *, partition: int | None = None, key: bytes | None = None) -> Delivery:
    """One to send."""
    delivery = Delivery(topic, str(value).encode(), key, ())
    delivery.partition = partition
    return delivery
