"""A producer that never stops and remembers what was acknowledged, and a reader that reads everything: both from outside, as foreign clients."""

from __future__ import annotations

import threading
import time
from collections import Counter
from types import TracebackType
from typing import Final, Self

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

PAUSE_S: Final = 0.002  # between records: some hundred a second, so that a test of minutes reads back in seconds
READ_S: Final = 60.0


class Writer:
    """Numbers, one record each, with acks=all, from a thread of its own. A context manager: its end waits for the last acknowledgements.

    Attributes:
        acknowledged: number -> (partition, offset).
        by_partition: how many of them.
        failed: what could not be delivered within five minutes.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        # A paused broker answers nothing: whoever waits a minute for it (the default) is not told that another leads now.
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True, "linger.ms": 5, "socket.timeout.ms": 10_000})
        self._topic = topic
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="writer")
        self.acknowledged: dict[int, tuple[int, int]] = {}
        self.by_partition: Counter[int] = Counter()
        self.failed: list[str] = []

    def _run(self) -> None:
        number = 0
        while not self._end.is_set():
            self._producer.produce(self._topic, str(number).encode(), partition=number % 3, on_delivery=self._delivered)
            self._producer.poll(PAUSE_S)
            self._end.wait(PAUSE_S)
            number += 1

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        value = message.value()
        assert value is not None
        if error is not None:
            self.failed.append(f"{value.decode()}: {error}")
            return
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        assert offset is not None
        self.acknowledged[int(value)] = (partition, offset)
        self.by_partition[partition] += 1

    def goes_on(self, since: Counter[int], *, more: int = 100) -> bool:
        """Whether every partition has so many acknowledgements more than then."""
        return all(self.by_partition[partition] >= since[partition] + more for partition in range(3))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        left = self._producer.flush(120)
        assert left == 0, f"{left} records neither acknowledged nor failed"


def read_all(bootstrap: str, topic: str) -> dict[tuple[int, int], int]:
    """Everything from the first offset to the HighWatermarks of now: (partition, offset) -> number."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False, "auto.offset.reset": "earliest"})
    ends = {partition: consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)[1] for partition in range(3)}
    consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
    found: dict[tuple[int, int], int] = {}
    deadline = time.monotonic() + READ_S
    while len(found) < sum(ends.values()) and time.monotonic() < deadline:
        for message in consumer.consume(1000, timeout=1.0):
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert message.error() is None
            assert partition is not None
            assert offset is not None
            assert value is not None
            found[partition, offset] = int(value)
    consumer.close()
    return found
