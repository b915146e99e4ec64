"""A producer that writes steadily while something else is measured, and counts what went wrong. librdkafka's, as a user would have it."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Self

import confluent_kafka

MESSAGES_PER_S = 200


class SteadyProducer:
    """A context: acks=all to all partitions of a topic, from a thread. The figures are to be read after the end."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged = 0
        self.failed = 0
        self.longest_pause_s = 0.0  # between two acknowledgements
        self._topic = topic
        self._producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 5, "delivery.timeout.ms": 30_000})
        self._stop = threading.Event()
        self._last_s: float | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(1 / MESSAGES_PER_S):
            number += 1
            self._producer.produce(self._topic, str(number).encode(), on_delivery=self._told)
            self._producer.poll(0)
        self.failed += self._producer.flush(60)

    def _told(self, error: Any, _message: Any) -> None:
        now_s = time.monotonic()
        if error is not None:
            self.failed += 1
            return
        self.acknowledged += 1
        if self._last_s is not None:
            self.longest_pause_s = max(self.longest_pause_s, now_s - self._last_s)
        self._last_s = now_s
