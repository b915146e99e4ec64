"""Whole brokers in this process whose work is counted: calls of Python functions, calls to the disk, memory. No clock is looked at, so the counts are the same
on every machine and in every run.

Requests go in as bytes and answers come out as parts, as between a socket and a broker: what is counted is all between the two system calls.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final, TypeVar

from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.broker_protocol import BrokerProtocol, Dispatch
from pykafka_classic.edges.sending import Part
from pykafka_classic.edges.turn_budget import TurnBudget
from pykafka_classic.log.log import Log
from pykafka_classic.protocol.connection import ClientConnection
from pykafka_classic.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from pykafka_classic.protocol.schema import Message, join_records
from tests.fakes.file_system import FakeFile, FakeFileSystem
from tests.simulation.cluster import SimBroker, SimCluster
from tests.simulation.world import World

M = TypeVar("M", bound=Message)

TOPIC: Final = "flights"
DEADLINE_MS: Final = 60_000
PROPERTIES: Final = {"log.segment.bytes": str(1 << 30), "min.insync.replicas": "1", "group.initial.rebalance.delay.ms": "0"}
DISK_CALLS: Final = (*(f"FakeFile.{name}" for name in ("append", "read_at", "write_at", "truncate", "sync")), *("FakeFileSystem.open", "FakeFileSystem.read"))


class Counted:
    """What happened while something was done. `calls`: of Python functions, those of fakes aside. `disk`: calls of the disk's seam."""

    def __init__(self) -> None:
        self.functions: Counter[str] = Counter()
        self.disk: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """All of them."""
        return sum(self.functions.values())

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """For sys.setprofile."""
        if event != "call":
            return
        code = frame.f_code
        if "/tests/" not in code.co_filename:
            self.functions[f"{code.co_filename.rpartition('pykafka_classic/')[2]}:{code.co_qualname}"] += 1
        elif code.co_qualname in DISK_CALLS:
            self.disk[code.co_qualname.rpartition(".")[2]] += 1

    def tell(self) -> str:
        """For a test that fails: every function that was called."""
        return "\n".join(f"{count:6} {name}" for name, count in self.functions.most_common())


def count(work: Callable[[], object]) -> Counted:
    """Do it, and count."""
    counted = Counted()
    sys.setprofile(counted.note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


def memory_peak(work: Callable[[], object]) -> int:
    """The most bytes that were in use at one time because of this work."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class _Address:
    host, port = "127.0.0.1", 1


class _Transport:
    """Keeps what was sent."""

    sessionno, unsent = 1, 0

    def __init__(self) -> None:
        self.sent: list[Part] = []

    def getHost(self) -> _Address:  # noqa: N802
        return _Address()

    getPeer = getHost  # noqa: N815

    def setTcpNoDelay(self, on: bool) -> None:  # noqa: N802
        """No TCP."""

    setTcpKeepAlive = setTcpNoDelay  # noqa: N815

    def send_parts(self, parts: Sequence[Part]) -> None:
        self.sent += parts

    def pauseProducing(self) -> None:  # noqa: N802
        """It reads nothing by itself."""

    resumeProducing = pauseProducing  # noqa: N815


class _Owner:
    """The listener of one connection."""

    request_max_bytes, processing, prefix = 1 << 27, True, "[test]"

    def __init__(self, broker: SimBroker, dispatch: Dispatch) -> None:
        assert broker.parts is not None
        self.apis = broker.parts.services.served_apis
        self.dispatch = dispatch
        self.turn = TurnBudget(lambda: 0, lambda _: None, now=lambda: 0.0)

    def connected(self, connection: BrokerProtocol) -> None:
        """Nobody counts."""

    disconnected = connected


class CountedCluster:
    """Brokers 1 to `machines`, and a connection to the first, which leads all partitions of TOPIC."""

    def __init__(self, machines: int = 1, partitions: int = 1) -> None:
        self.world = World(1)
        self.cluster = SimCluster(self.world, machines, {**PROPERTIES, "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1"})
        self.world.after_step = lambda _: self.cluster.pump()
        for machine in self.cluster.machines:  # one after the other: the first is the controller
            self.cluster.start(machine)
            self.wait(lambda: all(broker.started for broker in self.cluster.brokers.values()))
        self.broker = self.cluster.brokers[1]
        listener = next(each for each in self.cluster.wires.listeners.values() if each.process is self.broker.process)
        self._protocol = BrokerProtocol(_Owner(self.broker, listener.dispatch))
        self._transport = _Transport()
        self._protocol.transport = self._transport  # type: ignore[assignment]  # all that it uses of one
        self._protocol.connectionMade()
        self._client = ClientConnection("counted")
        self._create(list(self.cluster.machines), partitions)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Let time pass until it holds."""
        assert self.world.run_until(self.world.now_ms + DEADLINE_MS, done=condition), self.cluster.failures

    def pause(self, ms: float) -> None:
        """Let time pass."""
        self.world.run_until(self.world.now_ms + ms)

    def log(self, machine: int = 1, partition: int = 0) -> Log:
        """A replica's log."""
        parts = self.cluster.brokers[machine].parts
        assert parts is not None
        found = parts.replica_manager.partition(TopicPartition(TOPIC, partition)).log
        assert found is not None
        return found

    def _create(self, replicas: list[int], partitions: int) -> None:
        assignments = [CreatableReplicaAssignment(index, replicas) for index in range(partitions)]
        topic = CreatableTopic(name=TOPIC, num_partitions=-1, replication_factor=-1, assignments=assignments)
        created = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 4)
        assert isinstance(created, CreateTopicsResponse)
        assert not created.topics[0].error_code, created
        self.pause(5_000)

    def frame(self, request: Message, version: int) -> bytes:
        """The bytes of a request, whose answer is due from now on."""
        return join_records(self._client.send(request, version)[1])

    def send(self, frame: bytes) -> None:
        """They come in. What is answered at once is answered when this returns."""
        self._protocol.dataReceived(frame)

    def answer(self) -> Message:
        """The answer to the last request, waiting for it if need be."""
        self.wait(lambda: bool(self._transport.sent))
        [(_, response)] = self._client.receive_data(_joined(self._take()))
        return response

    def _take(self) -> list[Part]:
        taken, self._transport.sent = self._transport.sent, []
        return taken

    def ask(self, request: Message, version: int) -> Message:
        """Send, and wait for the answer."""
        self.send(self.frame(request, version))
        return self.answer()

    def count_request(self, request: Message, version: int) -> Counted:
        """What it takes from the bytes of a request to the parts of its answer; the second time, for at the first much is made ready."""
        self.ask(request, version)
        frame = self.frame(request, version)
        counted = count(lambda: self.send(frame))
        self.answer()
        return counted

    def parts_of(self, request: Message, version: int) -> list[Part]:
        """The answer's parts as they would go to the socket."""
        self.send(self.frame(request, version))
        parts = self._take()
        self._client.receive_data(_joined(parts))
        return parts


def _joined(parts: Sequence[Part]) -> bytes:
    return b"".join(part.read() if isinstance(part, FileRecords) else part for part in parts)


def is_slice(part: Part) -> bool:
    """Bytes that stay in their file until the kernel sends them."""
    return isinstance(part, FileRecords)


assert all(hasattr({"FakeFile": FakeFile, "FakeFileSystem": FakeFileSystem}[name.partition(".")[0]], name.partition(".")[2]) for name in DISK_CALLS)
