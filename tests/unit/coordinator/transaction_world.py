"""A transaction coordinator whose `__transaction_state` is a list of batches in memory, and brokers that answer markers as the test says."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.transaction import transaction_records
from pykafka_classic.coordinator.transaction.marker_channels import Peers
from pykafka_classic.coordinator.transaction.service import TransactionService
from pykafka_classic.coordinator.transaction.transaction_coordinator import Initialized, Producer
from pykafka_classic.coordinator.transaction.transaction_metadata import Row
from pykafka_classic.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.record_batch import iterate_batches
from tests.fakes.clock import FakeClock
from tests.unit.coordinator.helpers import FakeInternalTopic

T = TypeVar("T")

ID = "flights-writer"
TIMEOUT_MS = 60_000
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


class Brokers:
    """Who leads what, and what came of the markers. Implements `Leaders` and `Network`."""

    def __init__(self) -> None:
        self.leaders: dict[TopicPartition, int | None] = {A0: 1, A1: 2, B0: 1}
        self.errors: dict[TopicPartition, list[ErrorCode]] = {}  # answered one after the other, then NONE
        self.down: set[int] = set()
        self.held: list[tuple[Promise[Message], Message]] | None = None  # a list: answers wait until the test releases them
        self.markers: list[tuple[int, TopicPartition, bool, int, int]] = []  # broker, partition, commit, producer epoch, coordinator epoch
        self.requests = 0

    def exists(self, topic_partition: TopicPartition) -> bool:
        return topic_partition in self.leaders

    def leader(self, topic_partition: TopicPartition) -> Node | None:
        leader = self.leaders[topic_partition]
        return None if leader is None else Node(leader, "broker", 9000 + leader)

    def channel(self, host: str, port: int, *, client_id: str) -> Brokers._Channel:
        assert (host, client_id) == ("broker", "broker-0-txn-marker-sender")
        return Brokers._Channel(self, port - 9000)

    class _Channel:
        def __init__(self, brokers: Brokers, broker_id: int) -> None:
            self._brokers, self._id = brokers, broker_id

        def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
            assert isinstance(request, WriteTxnMarkersRequest)
            assert (version, timeout_ms) == (1, 30_000)
            return self._brokers.receive(self._id, request)

        def close(self) -> None:
            pass

    def receive(self, broker_id: int, request: WriteTxnMarkersRequest) -> Promise[Message]:
        self.requests += 1
        if broker_id in self.down:
            return Promise.failed(Disconnected("down"))
        answer = WriteTxnMarkersResponse(markers=[self._write(broker_id, marker) for marker in request.markers])
        if self.held is None:
            return Promise.resolved(answer)
        promise: Promise[Message] = Promise()
        self.held.append((promise, answer))
        return promise

    def _write(self, broker_id: int, marker: Any) -> WritableTxnMarkerResult:
        topics = []
        for topic in marker.topics:
            results = []
            for index in topic.partition_indexes:
                place = TopicPartition(topic.name, index)
                error = self.errors[place].pop(0) if self.errors.get(place) else ErrorCode.NONE
                if not error:
                    self.markers.append((broker_id, place, marker.transaction_result, marker.producer_epoch, marker.coordinator_epoch))
                results.append(WritableTxnMarkerPartitionResult(partition_index=index, error_code=error))
            topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=results))
        return WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics)

    def release(self) -> None:
        """Answer what was held, and no longer hold."""
        held, self.held = self.held or [], None
        for promise, answer in held:
            promise.resolve(answer)


class TransactionWorld:
    """A coordinator that leads the only partition of the topic, in leader epoch 7 unless said otherwise."""

    def __init__(self, *, topic: FakeInternalTopic | None = None, clock: FakeClock | None = None, brokers: Brokers | None = None, epoch: int = 7) -> None:
        self.clock = clock or FakeClock()
        self.topic = topic or FakeInternalTopic()
        self.brokers = brokers or Brokers()
        self.config = replace(KafkaConfig(zookeeper_connect="zk:2181"), broker_id=0)
        ids = count(1000)

        async def generate() -> int:
            return next(ids)

        self.service = TransactionService(self.config, self.clock, self.topic, Peers(self.brokers, self.brokers), generate)
        self.service.start()
        self.service.loader.on_election(0, epoch)
        self.clock.advance(0)

    def successor(self, epoch: int = 8) -> TransactionWorld:
        """Another broker's coordinator that takes over what the topic holds."""
        return TransactionWorld(topic=self.topic, clock=self.clock, brokers=self.brokers, epoch=epoch)

    @staticmethod
    def done(coroutine: Coroutine[Any, None, T]) -> T:
        """What is answered at once."""
        return spawn(coroutine).result()

    def initialize(self, expected: Producer | None = None, timeout_ms: int = TIMEOUT_MS, transactional_id: str = ID) -> Initialized:
        return self.done(self.service.coordinator.init_producer_id(transactional_id, timeout_ms, expected))

    def producer(self) -> Producer:
        """The next one."""
        outcome = self.initialize()
        assert outcome.error is ErrorCode.NONE
        return outcome.producer

    def add(self, producer: Producer, *partitions: TopicPartition, transactional_id: str = ID) -> ErrorCode:
        return self.done(self.service.coordinator.add_partitions(transactional_id, producer, frozenset(partitions)))

    def end(self, producer: Producer, *, commit: bool = True, transactional_id: str = ID) -> ErrorCode:
        return self.done(self.service.coordinator.end(transactional_id, producer, commit=commit))

    def rows(self) -> list[Row | None]:
        """What was written, oldest first."""
        return [
            None if record.value is None else transaction_records.read_value(record.value)
            for _, raw in self.topic.batches
            for batch in iterate_batches(raw)
            for record in batch.records()
        ]

    @property
    def states(self) -> list[str]:
        """The names of the states of what was written."""
        return ["-" if row is None else row.state.name for row in self.rows()]
