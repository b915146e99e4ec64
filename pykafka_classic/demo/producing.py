"""Sending flights with librdkafka, acks=all, and remembering what was acknowledged: where each row went, and how long each partition stood still."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from confluent_kafka import KafkaError, Message, Producer

from pykafka_classic.demo.flights import Flight

POLL_EVERY: Final = 500  # records between two looks at what was acknowledged
FLUSH_S: Final = 60.0


@dataclass(slots=True)
class Ledger:
    """What the cluster has acknowledged."""

    places: dict[int, tuple[int, int]] = field(default_factory=dict)  # partition and offset by number of the row
    failures: list[str] = field(default_factory=list)
    last_ms: dict[int, float] = field(default_factory=dict)  # by partition: when the last acknowledgement came
    pauses: dict[int, tuple[float, float]] = field(default_factory=dict)  # by partition: the longest time without one, from and to

    def count(self, error: KafkaError | None, message: Message, number: int) -> None:
        """One delivery report."""
        if error is not None:
            self.failures.append(str(error))
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self.places[number] = partition, offset
        now = time.time() * 1000
        before, longest = self.last_ms.get(partition, now), self.pauses.get(partition, (0.0, 0.0))
        if now - before > longest[1] - longest[0]:
            self.pauses[partition] = before, now
        self.last_ms[partition] = now

    def forget_pauses(self) -> None:
        """Measure pauses from now on."""
        self.pauses.clear()
        now = time.time() * 1000
        self.last_ms = dict.fromkeys(self.last_ms, now)


class FlightProducer:
    """One producer of librdkafka with everything at its default but acks=all and idempotence (so that a batch sent twice is stored once)."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.ledger = Ledger()
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, "partitioner": "murmur2_random", "linger.ms": 5, "log_level": 0}
        )

    def send(self, flights: Iterable[Flight], on_progress: Callable[[], None], *, per_second: int | None = None) -> None:
        """Send all, as fast as it goes or at a steady pace, `on_progress` called again and again; it does not wait for the last acknowledgements."""
        started = time.monotonic()
        for count, flight in enumerate(flights):
            self._send_one(flight, on_progress)
            if count % POLL_EVERY == 0:
                self._producer.poll(0)
                on_progress()
                while per_second is not None and count / per_second > time.monotonic() - started:
                    self._producer.poll(0.005)

    def flush(self, on_progress: Callable[[], None]) -> None:
        """Wait for the last acknowledgements."""
        deadline = time.monotonic() + FLUSH_S
        while self._producer.flush(0.1) and time.monotonic() < deadline:
            on_progress()
        on_progress()

    def _send_one(self, flight: Flight, on_progress: Callable[[], None]) -> None:
        def report(error: Any, message: Message) -> None:
            self.ledger.count(error, message, flight.number)

        while True:
            try:
                self._producer.produce(self._topic, key=flight.carrier, value=flight.value, on_delivery=report)
            except BufferError:  # librdkafka holds as many records as it may: wait until some are acknowledged
                self._producer.poll(0.05)
                on_progress()
            else:
                return
