"""Requests one at a time, from one client and from many, and how long a record takes from producer to consumer."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple, cast

import confluent_kafka

from comparison.librdkafka import BenchFailed, OneInFlight
from comparison.sides import Side
from comparison.workloads import Load, Meter, Row, Workload
from pykafka_classic.protocol.connection import ClientConnection
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.record import Record

CONNECTIONS: Final = 1_000
AT_ONCE: Final = 40  # Kafka lets 50 wait to be accepted; those that come then wait a second for TCP to try again
PRODUCE_VERSION: Final = 8
STAMP: Final = struct.Struct(">d")
WARM_UP_S: Final = 0.3


def percentile(values: list[float], share: float) -> float:
    """Of unsorted values."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


class InFlight(NamedTuple):
    """Clients, each with one record of 100 B on its way."""

    clients: int
    replicas: int = 1
    partitions: int = 1
    brokers: int = 1


def run_one_in_flight(what: InFlight, side: Side, load: Load) -> Mapping[str, float]:
    """Records that are acknowledged in a second, and how long each takes."""
    topic = side.new_topic("one-in-flight", what.partitions, what.replicas)
    with OneInFlight(side.bootstrap, topic, what.clients, {"acks": "all" if what.replicas > 1 else "1"}) as client:
        client.run(WARM_UP_S)
        with Meter(side) as meter:
            taken = client.run(load.seconds)
    side.delete_topic(topic)
    return {"rate": len(taken) / meter.seconds, "p99": 1000 * percentile(taken, 0.99), **meter.per_request(len(taken))}


def run_end_to_end(rate: int, replicas: int, side: Side, load: Load) -> Mapping[str, float]:
    """A producer that sends `rate` records of 100 B a second, acks=all, and a consumer that reads them; milliseconds from send to receipt."""
    topic = side.new_topic("end-to-end", 1, replicas)
    consumer = confluent_kafka.Consumer({"bootstrap.servers": side.bootstrap, "group.id": topic, "enable.auto.commit": False, "log_level": 0})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    count = int(rate * (WARM_UP_S + load.seconds))
    producer = threading.Thread(target=_send_steadily, args=(side.bootstrap, topic, rate, count))
    producer.start()
    taken: list[float] = []
    deadline = time.perf_counter() + 30 + count / rate
    while len(taken) < count:
        message = consumer.poll(1.0)
        now = time.perf_counter()
        if message is not None and message.error() is None:
            taken.append(now - STAMP.unpack_from(message.value() or b"")[0])
        if now > deadline:
            raise BenchFailed(f"{count - len(taken)} records did not come")
    producer.join()
    consumer.close()
    side.delete_topic(topic)
    measured = [1000 * each for each in taken[int(rate * WARM_UP_S) :]]
    return {"p50": percentile(measured, 0.5), "p99": percentile(measured, 0.99)}


def _send_steadily(bootstrap: str, topic: str, rate: int, count: int) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0, "log_level": 0})
    producer.list_topics(topic)
    began = time.perf_counter()
    for number in range(count):
        pause = began + number / rate - time.perf_counter()
        if pause > 0:
            time.sleep(pause)
        producer.produce(topic, STAMP.pack(time.perf_counter()) + bytes(92))
        producer.poll(0)
    producer.flush(30)


def _produce_frame(topic: str) -> bytes:
    batch = build_batch([Record(0, int(time.time() * 1000), None, bytes(100))], BatchFields())
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=memoryview(batch))])
    _, parts = ClientConnection("bench").send(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[data]), PRODUCE_VERSION)
    return b"".join(bytes(cast("bytes", part)) for part in parts)


def run_connections(side: Side, load: Load) -> Mapping[str, float]:
    """A thousand connections, each with one Produce request on its way all the time."""
    topic = side.new_topic("connections")
    frame = _produce_frame(topic)
    address = ("127.0.0.1", side.ports[0])
    selector = selectors.DefaultSelector()
    began = time.perf_counter()
    connections: list[socket.socket] = []
    while len(connections) < CONNECTIONS:
        for _ in range(AT_ONCE):
            connections.append(socket.create_connection(address))
            connections[-1].sendall(frame)
            selector.register(connections[-1], selectors.EVENT_READ)
        _count_answers(selector, frame, AT_ONCE, 60.0)
    opened = time.perf_counter() - began
    with Meter(side) as meter:
        answered = _count_answers(selector, frame, 10**9, load.seconds)
    for connection in connections:
        connection.close()
    selector.close()
    side.delete_topic(topic)
    return {"rate": answered / meter.seconds, "open": 1000 * opened, **meter.per_request(answered)}


def _count_answers(selector: selectors.BaseSelector, frame: bytes, count: int, seconds: float) -> int:
    """Answer each answer with the next request, until `count` answers or for so long."""
    until, answered = time.perf_counter() + seconds, 0
    while answered < count and time.perf_counter() < until:
        for key, _ in selector.select(0.1):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            if not connection.recv(65536):
                raise BenchFailed("a connection was closed")
            connection.sendall(frame)
            answered += 1
    return answered


def _cpu_row(title: str) -> Row:
    return Row(f"{title}: brokers' CPU", "us/req", more_is_better=False)


def _in_flight(name: str, what: InFlight, bar: float = 1.0) -> Workload:
    who = "one client" if what.clients == 1 else f"{what.clients} clients"
    title = f"one request in flight, {who}"
    if what.brokers > 1:
        title += ", RF 3 acks=all" if what.replicas > 1 else f", {what.partitions} partitions on 3 brokers"
    rows = {"rate": Row(title, "req/s", bar=bar), "p99": Row(f"{title}: p99", "ms", more_is_better=False), "cpu": _cpu_row(title)}
    return Workload(name, what.brokers, partial(run_one_in_flight, what), rows)


def _end_to_end(rate: int) -> Workload:
    title = f"end to end at {rate:,} msg/s, RF 3 acks=all"
    rows = {"p50": Row(f"{title}: p50", "ms", more_is_better=False), "p99": Row(f"{title}: p99", "ms", more_is_better=False)}
    return Workload(f"end-to-end-{rate}", 3, partial(run_end_to_end, rate, 3), rows)


WORKLOADS: Final = [
    _in_flight("in-flight-1", InFlight(1), 1.5),
    _in_flight("in-flight-8", InFlight(8), 1.5),
    _in_flight("in-flight-64", InFlight(64), 1.5),
    Workload(
        "connections",
        1,
        run_connections,
        {
            "rate": Row("1,000 connections, one request in flight each", "req/s"),
            "open": Row("1,000 connections opened and served", "ms", more_is_better=False),
            "cpu": _cpu_row("1,000 connections"),
        },
    ),
    _in_flight("in-flight-64-3b", InFlight(64, partitions=12, brokers=3)),
    _in_flight("in-flight-1-rf3", InFlight(1, replicas=3, brokers=3), 2.0),
    _in_flight("in-flight-8-rf3", InFlight(8, replicas=3, brokers=3), 2.0),
    _end_to_end(100),
    _end_to_end(1_000),
    _end_to_end(5_000),
]
