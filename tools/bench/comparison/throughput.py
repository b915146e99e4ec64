"""Produce and consume: how much goes through, and what each gigabyte costs the brokers' processors."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Final, NamedTuple

from comparison.librdkafka import BATCH, BenchFailed, BulkConsumer, BulkProducer, OneInFlight
from comparison.sides import Side
from comparison.workloads import Load, Meter, Row, Workload

MB: Final = 1_000_000
FILL_BYTES: Final = 400 * MB
QUICK_FILL_BYTES: Final = 120 * MB
CHUNK_BYTES: Final = 2 * MB
FAN_OUT: Final = 10
WORDS: Final = [bytes(random.Random(number).choices(b"abcdefghijklmnopqrstuvwxyz", k=2 + number % 8)) for number in range(2_000)]


class Produce(NamedTuple):
    """How records are sent."""

    size: int
    acks: str = "1"
    codec: str = "none"
    partitions: int = 1
    replicas: int = 1

    @property
    def config(self) -> Mapping[str, str]:
        """For librdkafka."""
        return {"acks": self.acks, "compression.type": self.codec}


@cache
def values(size: int) -> list[bytes]:
    """Some hundred different values of words, that compress as text does (about to a third)."""
    rng = random.Random(size)
    text = b" ".join(rng.choices(WORDS, k=200_000))
    return [text[at : at + size] for at in (rng.randrange(len(text) - size) for _ in range(500))]


def run_produce(what: Produce, side: Side, load: Load) -> Mapping[str, float]:
    """Send for `load.seconds`, and wait for the last acknowledgement."""
    topic = side.new_topic("produce", what.partitions, what.replicas)
    chunk = min(BATCH, max(100, CHUNK_BYTES // what.size))
    sent = 0
    with BulkProducer(side.bootstrap, topic, values(what.size), what.config) as producer:
        producer.send(chunk)
        producer.flush()  # connected, and the broker knows its producer
        with Meter(side) as meter:
            until = time.perf_counter() + load.seconds
            while time.perf_counter() < until:
                producer.send(chunk)
                sent += chunk
            producer.flush()
    side.delete_topic(topic)
    return {"rate": _rate(what.size, sent, meter.seconds), **meter.per_gigabyte(sent * what.size)}


def _rate(size: int, count: int, seconds: float) -> float:
    """Thousands of records a second where records are small, else MB/s."""
    return count / seconds / 1e3 if size < 1000 else count * size / seconds / MB


def filled(side: Side, what: Produce, size: int) -> tuple[str, int]:
    """A topic with so many bytes in it, made once for a workload; its name and the number of records."""
    if what not in side.filled:
        topic, count = side.new_topic("consume", what.partitions, what.replicas), size // what.size
        with BulkProducer(side.bootstrap, topic, values(what.size), what.config) as producer:
            producer.send(count)
            producer.flush()
        side.filled[what] = topic, count
    return side.filled[what]


def _fill_bytes(load: Load) -> int:
    return QUICK_FILL_BYTES if load.quick else FILL_BYTES


def run_consume(what: Produce, side: Side, load: Load) -> Mapping[str, float]:
    """Read a topic from its start to its end; the clock runs from the first record on."""
    topic, count = filled(side, what, _fill_bytes(load))
    with BulkConsumer(side.bootstrap, topic, what.partitions) as consumer, Meter(side) as meter:
        left = consumer.read(1)
        began = time.perf_counter()
        consumer.read(count - 1 + left)
        seconds = time.perf_counter() - began
    return {"rate": _rate(what.size, count, seconds), **meter.per_gigabyte(count * what.size)}


def run_fan_out(what: Produce, side: Side, load: Load) -> Mapping[str, float]:
    """Ten consumers read the same topic at the same time."""
    topic, count = filled(side, what, _fill_bytes(load) // 4)
    failures: list[BenchFailed] = []

    def read(consumer: BulkConsumer) -> None:
        try:
            consumer.read(count)
        except BenchFailed as failure:
            failures.append(failure)

    with ExitStack() as stack, Meter(side) as meter:
        consumers = [stack.enter_context(BulkConsumer(side.bootstrap, topic, what.partitions)) for _ in range(FAN_OUT)]
        threads = [threading.Thread(target=read, args=(consumer,)) for consumer in consumers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    return {"rate": FAN_OUT * _rate(what.size, count, meter.seconds), **meter.per_gigabyte(FAN_OUT * count * what.size)}


def forget_pages(side: Side, topic: str) -> None:
    """Have the system forget what it keeps of a topic's log files in memory, so that reads come from the disk."""
    assert side.cluster is not None
    for broker in side.cluster.brokers:
        for path in (broker.directory / "data").glob(f"{topic}-*/*.log"):
            descriptor = os.open(path, os.O_RDONLY)
            os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


@contextmanager
def one_in_flight_meanwhile(side: Side, seconds: float) -> Iterator[list[float]]:
    """A producer of one record after the other, until the block ends and at least for so long; the seconds of each, to be read afterwards."""
    topic = side.new_topic("meanwhile")
    taken: list[float] = []
    stop = threading.Event()

    def run() -> None:
        with OneInFlight(side.bootstrap, topic, 1, {"acks": "1"}) as client:
            client.run(0.05)
            while not stop.is_set():
                taken.extend(client.run(min(seconds, 0.2)))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield taken
    finally:
        stop.set()
        thread.join()
        side.delete_topic(topic)


def run_catch_up(what: Produce, side: Side, load: Load) -> Mapping[str, float]:
    """Read a topic that lies on the disk only, while somebody produces record by record."""
    topic, count = filled(side, what, _fill_bytes(load) // 2)
    forget_pages(side, topic)
    with one_in_flight_meanwhile(side, load.seconds) as taken, BulkConsumer(side.bootstrap, topic, what.partitions) as consumer:
        began = time.perf_counter()
        consumer.read(count)
        seconds = time.perf_counter() - began
    return {"rate": _rate(what.size, count, seconds), "p99": 1000 * sorted(taken)[int(len(taken) * 0.99)]}


def _workload(name: str, title: str, what: Produce, *, consume: bool = False, bar: float = 1.0) -> Workload:
    unit = "k msg/s" if what.size < 1000 else "MB/s"
    rows = {"rate": Row(title, unit, bar=bar), "cpu": Row(f"{title}: brokers' CPU", "s/GB", more_is_better=False)}
    return Workload(name, 3 if what.replicas > 1 else 1, partial(run_consume if consume else run_produce, what), rows)


WORKLOADS: Final = [
    _workload("produce-100", "produce 100 B", Produce(100)),
    _workload("produce-1k", "produce 1 KB", Produce(1000), bar=1.5),
    _workload("produce-10k", "produce 10 KB", Produce(10_000), bar=1.5),
    _workload("produce-1k-lz4", "produce 1 KB, lz4", Produce(1000, codec="lz4")),
    _workload("produce-1k-snappy", "produce 1 KB, snappy", Produce(1000, codec="snappy")),
    _workload("produce-1k-zstd", "produce 1 KB, zstd", Produce(1000, codec="zstd")),
    _workload("produce-1k-gzip", "produce 1 KB, gzip", Produce(1000, codec="gzip")),
    _workload("produce-1k-acks0", "produce 1 KB, acks=0", Produce(1000, acks="0")),
    _workload("produce-1k-60p", "produce 1 KB, 60 partitions", Produce(1000, partitions=60)),
    _workload("consume-100", "consume 100 B", Produce(100), consume=True),
    _workload("consume-1k", "consume 1 KB", Produce(1000), consume=True),
    _workload("consume-1k-lz4", "consume 1 KB, lz4", Produce(1000, codec="lz4"), consume=True),
    _workload("consume-1k-60p", "consume 1 KB, 60 partitions", Produce(1000, partitions=60), consume=True),
    Workload(
        "fan-out",
        1,
        partial(run_fan_out, Produce(1000)),
        {"rate": Row("10 consumers of 1 KB, together", "MB/s"), "cpu": Row("10 consumers of 1 KB: brokers' CPU", "s/GB", more_is_better=False)},
    ),
    Workload(
        "catch-up",
        1,
        partial(run_catch_up, Produce(1000)),
        {
            "rate": Row("read of cold data while producing", "MB/s"),
            "p99": Row("read of cold data: p99 of the producer meanwhile", "ms", more_is_better=False),
        },
    ),
    _workload("produce-rf3-100", "RF 3 acks=all, 100 B", Produce(100, acks="all", replicas=3), bar=1.5),
    _workload("produce-rf3-1k", "RF 3 acks=all, 1 KB", Produce(1000, acks="all", replicas=3), bar=1.5),
    _workload("produce-rf3-10k", "RF 3 acks=all, 10 KB", Produce(10_000, acks="all", replicas=3), bar=1.5),
    _workload("produce-rf3-1k-lz4", "RF 3 acks=all, 1 KB, lz4", Produce(1000, acks="all", codec="lz4", replicas=3), bar=1.5),
    _workload("produce-rf3-1k-12p", "RF 3 acks=all, 1 KB, 12 partitions", Produce(1000, acks="all", partitions=12, replicas=3), bar=1.5),
    _workload("produce-rf3-1k-acks1", "RF 3 acks=1, 1 KB, 12 partitions", Produce(1000, partitions=12, replicas=3)),
]
