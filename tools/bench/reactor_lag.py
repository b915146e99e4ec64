"""How long the append path keeps a broker's reactor busy in one go, with 64 MB of Produce requests in flight.

The broker is a process as always, with a probe in it: a timer that should fire every two milliseconds and notes how late it was, and how much processor
time the reactor's thread has used since the last time. The first counts everything that made it wait, other processes of the machine too; the second only what
the broker itself did in one turn.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pykafka_classic.__main__ import main as run_broker
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.broker_reactor import install_broker_reactor
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.processes import BrokerProcess
from pykafka_classic.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.records.batch_builder import BatchFields
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import build_batch
from pykafka_classic.testing.cluster import LocalCluster

TOPIC: Final = "bench"
PARTITIONS: Final = 60
CONNECTIONS: Final = 8
IN_FLIGHT: Final = 8  # requests of a megabyte on each connection: 64 MB in all
SECONDS: Final = 8.0
PROBE_S: Final = 0.002
AIM_MS: Final = 10.0


class Probe:
    """Runs inside the broker: (monotonic time, seconds late, processor seconds of this thread since the last sample)."""

    def __init__(self, path: Path) -> None:
        self._reactor = install_broker_reactor()
        self._path = path
        self._samples: list[tuple[float, float, float]] = []
        self._due = self._used = 0.0
        self._reactor.callWhenRunning(self._begin)
        self._reactor.addSystemEventTrigger("before", "shutdown", self._write)

    def _begin(self) -> None:
        self._due, self._used = time.monotonic() + PROBE_S, time.thread_time()
        self._reactor.callLater(PROBE_S, self._sample)

    def _sample(self) -> None:
        now, used = time.monotonic(), time.thread_time()
        self._samples.append((now, now - self._due, used - self._used))
        self._begin()

    def _write(self) -> None:
        self._path.write_text(json.dumps(self._samples))


class ProbedBroker(BrokerProcess):
    """A broker whose process has the probe in it."""

    def __init__(self, directory: Path, properties: Mapping[str, str]) -> None:
        super().__init__(directory, properties)
        self.samples_path = directory / "samples.json"
        self._command = [sys.executable, __file__, "--broker", str(directory / "server.properties"), str(self.samples_path)]


def batch_of(size: int, codec: int = 0) -> bytes:
    """A batch of 1 KB records of about `size` bytes."""
    return build_batch([Record(index, 1_600_000_000_000, b"key", bytes(range(256)) * 4) for index in range(size // 1040)], BatchFields(codec=codec))


def request_of(partitions: int, size: int, codec: int = 0) -> ProduceRequest:
    """A Produce with a batch for each of so many partitions."""
    batch = memoryview(batch_of(size, codec))
    data = [PartitionProduceData(index=number, records=batch) for number in range(partitions)]
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)])


def keep_sending(port: int, request: ProduceRequest, until: float, counts: list[int]) -> None:
    """Keep `IN_FLIGHT` requests unanswered."""
    with BlockingClient("127.0.0.1", port) as client:
        for _ in range(IN_FLIGHT):
            client.post(request, 8)
        answered = 0
        while time.monotonic() < until:
            response = client.receive()
            assert isinstance(response, ProduceResponse)
            assert all(not each.error_code for each in response.responses[0].partition_responses), response
            client.post(request, 8)
            answered += 1
        for _ in range(IN_FLIGHT):
            client.receive()
        counts.append(answered)


def load(port: int, request: ProduceRequest) -> tuple[float, float, int]:
    """Some seconds of load; its begin and end, and the requests answered."""
    counts: list[int] = []
    began = time.monotonic()
    threads = [threading.Thread(target=keep_sending, args=(port, request, began + SECONDS, counts)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == CONNECTIONS, "a connection failed"
    return began, time.monotonic(), sum(counts)


def tell(what: str, samples: list[tuple[float, float, float]], phase: tuple[float, float, int], megabytes: float) -> None:
    """Print one line."""
    began, ended, count = phase
    mine = [sample for sample in samples if began <= sample[0] <= ended]
    late, used = [percentiles(sorted(1000 * sample[column] for sample in mine)) for column in (1, 2)]
    print(f"{what}: {count * megabytes / (ended - began):.0f} MB/s; the reactor was late by {late}; its own work in one turn: {used} (aim: below {AIM_MS:g})")


def percentiles(values: list[float]) -> str:
    """Median, 99% and worst, in ms."""
    return f"{values[len(values) // 2]:.1f} ms (median), {values[int(len(values) * 0.99)]:.1f} (99%), {values[-1]:.1f} (worst)"


def main() -> None:
    """Start a broker, load it in several ways, print the figures."""
    loads = {
        "one batch of 1 MB": (request_of(1, 1_000_000), 1.0),
        f"{PARTITIONS} batches of 16 KB": (request_of(PARTITIONS, 16_000), PARTITIONS * 0.016),
    }
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory:
        cluster = LocalCluster(Path(directory), brokers=1, overrides={"log.retention.ms": "-1"})
        broker = ProbedBroker(cluster.brokers[0].directory, cluster.brokers[0]._properties)
        cluster.brokers[0] = broker
        with cluster:
            port = cluster.ports[0]
            with BlockingClient("127.0.0.1", port) as client:
                client.send(CreateTopicsRequest(topics=[CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)], timeout_ms=30_000), 4)
            wait_until(lambda: is_led(cluster), seconds=30)
            phases = {name: load(port, request) for name, (request, _) in loads.items()}
            broker.stop()
            samples = json.loads(broker.samples_path.read_text())
        for name, phase in phases.items():
            tell(f"{CONNECTIONS * IN_FLIGHT} MB in flight, {name} a request", samples, phase, loads[name][1])


def is_led(cluster: LocalCluster) -> bool:
    """Has every partition a leader?"""
    metadata = cluster.metadata(0, [TOPIC])
    return metadata is not None and all(each.error_code == ErrorCode.NONE for topic in metadata.topics for each in topic.partitions)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--broker"]:
        logging.captureWarnings(True)
        Probe(Path(sys.argv[3]))
        sys.exit(run_broker(sys.argv[2:3]))
    main()
