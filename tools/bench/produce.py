"""How much one broker takes, from librdkafka with acks=1: MB/s with records of 1 KB, and requests per second with one record of 100 B in flight."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is there, but not declared as exported

from pykafka_classic.testing.cluster import LocalCluster

TOPIC = "bench"
BIG = 1000  # bytes
BIG_COUNT = 500_000
SMALL = 100
SMALL_S = 5.0


class Failures:
    """Delivery reports that tell of an error."""

    def __init__(self) -> None:
        self.count = 0

    def report(self, error: KafkaError | None, message: Message) -> None:  # noqa: ARG002  # librdkafka's signature
        """One delivery report."""
        self.count += error is not None


def throughput(bootstrap: str) -> float:
    """Megabytes (10^6) of values per second, from the first record to the last acknowledgement."""
    failures = Failures()
    producer = Producer(
        {"bootstrap.servers": bootstrap, "log_level": 0, "acks": 1, "linger.ms": 5, "batch.size": 1_000_000, "queue.buffering.max.messages": 200_000}
    )
    value = bytes(range(250)) * (BIG // 250)
    producer.list_topics(TOPIC)
    began = time.monotonic()
    for number in range(BIG_COUNT):
        while True:
            try:
                producer.produce(TOPIC, value, on_delivery=failures.report)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1000 == 0:
            producer.poll(0)
    producer.flush()
    seconds = time.monotonic() - began
    assert not failures.count, f"{failures.count} records were not acknowledged"
    return BIG_COUNT * BIG / seconds / 1e6


def round_trips(bootstrap: str) -> float:
    """Acknowledged records per second, each sent when the one before it is acknowledged."""
    failures = Failures()
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0, "acks": 1, "linger.ms": 0, "max.in.flight": 1, "socket.nagle.disable": True})
    value = bytes(SMALL)
    producer.list_topics(TOPIC)
    count, began = 0, time.monotonic()
    while time.monotonic() - began < SMALL_S:
        producer.produce(TOPIC, value, on_delivery=failures.report)
        producer.flush()
        count += 1
    assert not failures.count, f"{failures.count} records were not acknowledged"
    return count / (time.monotonic() - began)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory, LocalCluster(Path(directory), brokers=1) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        print(f"one broker, acks=1, {BIG} B records: {throughput(cluster.bootstrap):.0f} MB/s (aim: above 150)")
        print(f"one {SMALL} B record in flight: {round_trips(cluster.bootstrap):,.0f} a second (aim: above 3,000)")


if __name__ == "__main__":
    main()
