"""Members of a group for tests: ours, librdkafka's, kafka-python's, each polling in a thread of its own until it is told to end."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from contextlib import closing
from types import TracebackType
from typing import Any, Protocol, Self

from confluent_kafka import Consumer as ConfluentConsumer

from pykafka_classic.clients import Consumer

with warnings.catch_warnings():  # its own use of what Python will drop one day
    warnings.simplefilter("ignore")
    from kafka import KafkaConsumer
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

Place = tuple[int, int]  # partition, offset


class Member(Protocol):
    """What the tests look at."""

    owned: frozenset[int]  # partitions, as the last rebalance said
    seen: list[Place]
    failure: BaseException | None


class ThreadedMember:
    """The common part: `_poll_once` and `_assignment` of an open consumer, in a thread."""

    def __init__(self, name: str) -> None:
        self.owned: frozenset[int] = frozenset()
        self.seen: list[Place] = []
        self.failure: BaseException | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.leave()
        if error is None and self.failure is not None:
            raise self.failure

    def leave(self) -> None:
        """Politely."""
        self._ending.set()
        self._thread.join()
        self.owned = frozenset()

    def _run(self) -> None:
        try:
            self._consume()
        except BaseException as error:  # whatever it was: the test raises it
            self.failure = error

    def _consume(self) -> None:
        raise NotImplementedError


class OurMember(ThreadedMember):
    """`on_event` hears of (assigned, revoked or lost; partitions)."""

    def __init__(self, bootstrap: str, topic: str, settings: Mapping[str, Any], on_event: Callable[[str, tuple[int, ...]], None] | None = None) -> None:
        super().__init__("ours")
        self.events: list[tuple[str, tuple[int, ...]]] = []
        self._bootstrap, self._topic = bootstrap, topic
        self._settings = {"auto_offset_reset": "earliest", "heartbeat_interval_ms": 300, "session_timeout_ms": 6_000} | dict(settings)
        self._on_event = on_event

    def _consume(self) -> None:
        def told(name: str) -> Callable[[Any], None]:
            def event(partitions: Any) -> None:
                numbers = tuple(sorted(each.partition for each in partitions))
                self.events.append((name, numbers))
                self.owned = self.owned | set(numbers) if name == "assigned" else self.owned - set(numbers)

            return event

        with Consumer(self._bootstrap, **self._settings) as consumer:
            consumer.subscribe([self._topic], on_assigned=told("assigned"), on_revoked=told("revoked"), on_lost=told("lost"))
            while not self._ending.is_set():
                self.seen.extend((record.partition, record.offset) for record in consumer.poll(timeout_ms=100))


class ConfluentMember(ThreadedMember):
    """librdkafka."""

    def __init__(self, bootstrap: str, topic: str, group: str, assignor: str) -> None:
        super().__init__("librdkafka")
        self._config = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "partition.assignment.strategy": assignor,
            "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 300,
            "session.timeout.ms": 6_000,
        }
        self._topic = topic

    def _consume(self) -> None:
        with closing(ConfluentConsumer(self._config)) as consumer:
            consumer.subscribe([self._topic])
            while not self._ending.is_set():
                message = consumer.poll(0.1)
                self.owned = frozenset(each.partition for each in consumer.assignment())
                if message is not None and message.error() is None:
                    partition, offset = message.partition(), message.offset()
                    assert partition is not None and offset is not None
                    self.seen.append((partition, offset))


PYTHON_ASSIGNORS: Mapping[str, Any] = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor, "sticky": StickyPartitionAssignor}


class KafkaPythonMember(ThreadedMember):
    """kafka-python."""

    def __init__(self, bootstrap: str, topic: str, group: str, assignor: str) -> None:
        super().__init__("kafka-python")
        self._config = {
            "bootstrap_servers": bootstrap,
            "group_id": group,
            "partition_assignment_strategy": [PYTHON_ASSIGNORS[assignor]],
            "auto_offset_reset": "earliest",
            "heartbeat_interval_ms": 300,
            "session_timeout_ms": 6_000,
        }
        self._topic = topic

    def _consume(self) -> None:
        with closing(KafkaConsumer(self._topic, **self._config)) as consumer:
            while not self._ending.is_set():
                for records in consumer.poll(100).values():
                    self.seen.extend((record.partition, record.offset) for record in records)
                self.owned = frozenset(each.partition for each in consumer.assignment())
