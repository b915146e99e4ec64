"""How fast clients send to and read from one broker of ours: our own, librdkafka's (confluent-kafka) and kafka-python. Records of 100 B, with and without keys.

Each client has the same settings: acks=1, batches of 64 KB, 5 ms of linger. Reading is by assignment, all partitions, from the first record to the last.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it is there, but not declared as exported

from pykafka_classic.clients import Consumer, Producer
from pykafka_classic.testing.cluster import LocalCluster

with warnings.catch_warnings():  # its own use of what Python will drop one day
    warnings.simplefilter("ignore")
    from kafka import KafkaConsumer, KafkaProducer
    from kafka import TopicPartition as PythonPartition

COUNT: Final = 300_000
SLOW_COUNT: Final = 60_000  # for a client that would take minutes
PARTITIONS: Final = 3
VALUE: Final = bytes(100)
KEYS: Final = [f"key {number}".encode() for number in range(2_000)]
LINGER_MS: Final = 5
BATCH: Final = 65_536

Send = Callable[[str, str, int, bool], None]


def ours(bootstrap: str, topic: str, count: int, keyed: bool) -> None:
    """This project's."""
    with Producer(bootstrap, linger_ms=LINGER_MS, batch_size=BATCH) as producer:
        for number in range(count):
            producer.send(topic, VALUE, KEYS[number % len(KEYS)] if keyed else None)


def idempotent(bootstrap: str, topic: str, count: int, keyed: bool) -> None:
    """This project's, with idempotence (acks=all)."""
    with Producer(bootstrap, linger_ms=LINGER_MS, batch_size=BATCH, enable_idempotence=True) as producer:
        for number in range(count):
            producer.send(topic, VALUE, KEYS[number % len(KEYS)] if keyed else None)


def compressed(bootstrap: str, topic: str, count: int, keyed: bool) -> None:
    """This project's, with lz4."""
    with Producer(bootstrap, linger_ms=LINGER_MS, batch_size=BATCH, compression_type="lz4") as producer:
        for number in range(count):
            producer.send(topic, VALUE, KEYS[number % len(KEYS)] if keyed else None)


def librdkafka(bootstrap: str, topic: str, count: int, keyed: bool) -> None:
    """confluent-kafka."""
    config = {"bootstrap.servers": bootstrap, "acks": 1, "linger.ms": LINGER_MS, "batch.size": BATCH, "partitioner": "murmur2_random"}
    producer = confluent_kafka.Producer(config)
    for number in range(count):
        while True:
            try:
                producer.produce(topic, VALUE, KEYS[number % len(KEYS)] if keyed else None)
                break
            except BufferError:
                producer.poll(0.01)
    producer.flush()


def kafka_python(bootstrap: str, topic: str, count: int, keyed: bool) -> None:
    """kafka-python."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks=1, linger_ms=LINGER_MS, batch_size=BATCH, enable_idempotence=False)
    for number in range(count):
        producer.send(topic, VALUE, KEYS[number % len(KEYS)] if keyed else None)
    producer.flush()
    producer.close()


def read_ours(bootstrap: str, topic: str, count: int) -> None:
    """This project's."""
    with Consumer(bootstrap, start="earliest", max_poll_records=5_000) as consumer:
        consumer.assign(consumer.partitions_of(topic))
        while count > 0:
            count -= len(consumer.poll(timeout_ms=10_000))


def read_librdkafka(bootstrap: str, topic: str, count: int) -> None:
    """confluent-kafka."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, number, confluent_kafka.OFFSET_BEGINNING) for number in range(PARTITIONS)])
    while count > 0:
        for message in consumer.consume(5_000, 1.0):
            count -= message.value() is not None
    consumer.close()


def read_kafka_python(bootstrap: str, topic: str, count: int) -> None:
    """kafka-python."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False, max_poll_records=5_000)
    consumer.assign([PythonPartition(topic, number) for number in range(PARTITIONS)])
    while count > 0:
        count -= sum(map(len, consumer.poll(1_000).values()))
    consumer.close()


def timed(work: Callable[[], None], count: int) -> float:
    """Records per second."""
    began = time.monotonic()
    work()
    return count / (time.monotonic() - began)


def run() -> None:
    """Print a table."""
    senders: list[tuple[str, Send, int]] = [
        ("ours", ours, COUNT),
        ("ours, idempotent", idempotent, COUNT),
        ("ours, lz4", compressed, COUNT),
        ("librdkafka", librdkafka, COUNT),
        ("kafka-python", kafka_python, SLOW_COUNT),
    ]
    with tempfile.TemporaryDirectory() as directory, LocalCluster(Path(directory), brokers=1) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        for keyed in (False, True):
            for name, send, count in senders:
                topic = f"{name.replace(' ', '-').replace(',', '')}-{keyed}"
                admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
                rate = timed(partial(send, cluster.bootstrap, topic, count, keyed), count)
                print(f"send, {'with' if keyed else 'without'} keys: {name:<18} {rate:>10,.0f} records/s", flush=True)
        readers = [("ours", read_ours, COUNT), ("librdkafka", read_librdkafka, COUNT), ("kafka-python", read_kafka_python, COUNT)]
        for name, read, count in readers:
            rate = timed(partial(read, cluster.bootstrap, "ours-True", count), count)
            print(f"read: {name:<18} {rate:>10,.0f} records/s", flush=True)


if __name__ == "__main__":
    run()
