"""A producer without its face: records in, outcomes out, all on one thread.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/KafkaProducer.java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pykafka_classic.client.broker_node import ClientSeams
from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, IllegalState
from pykafka_classic.client.cluster_client import ClusterClient, with_deadline
from pykafka_classic.client.cluster_metadata import ClusterMetadata, TopicInfo
from pykafka_classic.client.producing.delivery import Batch, Delivery
from pykafka_classic.client.producing.partitioners import Choice, partitioner_of
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.client.producing.producer_transactions import ProducerTransactions
from pykafka_classic.client.producing.record_accumulator import PartitionQueue
from pykafka_classic.client.producing.sender import Sender
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.records.layout import NO_TIMESTAMP


class ProducerCore:
    """See the module. `settled` is called with records whose outcome is known, a batch at a time, in the order of each partition."""

    def __init__(self, settings: ProducerSettings, seams: ClientSeams, settled: Callable[[Sequence[Delivery]], None]) -> None:
        self.settings = settings
        self.cluster = ClusterClient(settings, seams)
        self._settled = settled
        self._make_choice = partitioner_of(settings.partitioner)
        self._choices: dict[str, Choice] = {}
        self._queues: dict[str, dict[int, PartitionQueue]] = {}  # by topic and partition; those that hold records are the sender's too
        self._unplaced: dict[str, list[Delivery]] = {}  # their topics are not known yet
        self.transactions = None  # without a transactional id
        if settings.transactional_id is not None:
            self.transactions = ProducerTransactions(self.cluster, settings, self._run_sender, self._give_up_unsent)
        self._sender = Sender(self.cluster, settings, self._batch_settled, self.transactions)
        self._placed_waiters: list[Promise[None]] = []
        self._closing = False
        self.cluster.when_updated(self._metadata_updated)

    async def start(self) -> None:
        """Find the cluster. NoBrokers."""
        await self.cluster.update()

    def append(self, records: Iterable[Delivery]) -> None:
        """Put records on their way, in this order."""
        now_ms = self.cluster.seams.clock.monotonic_ms()
        time_ms = self.cluster.seams.clock.now_ms()
        closed = None if self.transactions is None else self.transactions.why_not()
        for record in records:
            if self._closing:
                self._refuse([record], ClientClosed("the producer is closed"))
            elif closed is not None:
                self._refuse([record], closed)
            elif record.size > self.settings.max_request_size:
                text = f"a record of {record.size} bytes is larger than max.request.size, {self.settings.max_request_size}"
                self._refuse([record], KafkaError(ErrorCode.MESSAGE_TOO_LARGE, text))
            else:
                if record.timestamp == NO_TIMESTAMP:
                    record.timestamp = time_ms
                self._append(record, now_ms)
        self._sender.run()

    async def partition_count(self, topic: str) -> int:
        """How many partitions a topic has. KafkaError, ClientTimeout."""
        return (await self._topic(topic)).partition_count

    async def flush(self) -> None:
        """Send everything now, without lingering; done when all that was appended before has its outcome."""
        self._sender.flushing += 1
        try:
            self._sender.run()
            while self._unplaced:
                waiter: Promise[None] = Promise()
                self._placed_waiters.append(waiter)
                await waiter
            self._sender.run()
            await gather([batch.when_settled() for queue in self._sender.queues.values() for batch in queue])
        finally:
            self._sender.flushing -= 1

    async def end_transaction(self, *, commit: bool) -> None:
        """Commit or abort, when all that was appended before has its outcome. See `ProducerTransactions.end`."""
        await self.required_transactions().end(commit=commit, settled=lambda: spawn(self.flush()))

    def required_transactions(self) -> ProducerTransactions:
        """IllegalState where there is no transactional id."""
        if self.transactions is None:
            raise IllegalState("this producer has no transactional.id")
        return self.transactions

    async def close(self, *, timeout_ms: float) -> None:
        """Flush, for so long at most; what is not settled then fails with ClientTimeout."""
        self._closing = True
        timer = self.cluster.seams.clock.call_later(timeout_ms, lambda: self._give_up(timeout_ms))
        await self.flush()
        timer.cancel()
        self.cluster.close()

    # inside

    def _append(self, record: Delivery, now_ms: float) -> None:
        choice = self._choices.get(record.topic)
        if choice is None:
            self._wait_for_topic(record)
            return
        queues, partition = self._queues[record.topic], record.partition
        if partition is None:
            try:
                partition = choice.choose(record.key, record.value)
                queue = queues.get(partition)
                if queue is not None and queue.would_open(record):
                    choice.batch_filled(partition)
                    partition = choice.choose(record.key, record.value)
            except Exception as error:  # noqa: BLE001  # the user's partitioner may raise anything
                self._refuse([record], error)
                return
        queue = queues.get(partition)
        if queue is None and not 0 <= partition < choice.partition_count:
            text = f"there is no partition {partition} of {record.topic}, which has {choice.partition_count}"
            self._refuse([record], KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text))
            return
        if queue is None:
            queue = queues[partition] = PartitionQueue(TopicPartition(record.topic, partition), self.settings)
        queue.add(record, now_ms)
        if not queue.active:
            self._sender.take_on(queue)

    def _wait_for_topic(self, record: Delivery) -> None:
        waiting = self._unplaced.get(record.topic)
        if waiting is not None:
            waiting.append(record)
            return
        self._unplaced[record.topic] = [record]
        topic = record.topic
        self._topic(topic).when_settled(lambda found: self._topic_found(topic, found))

    def _topic(self, name: str) -> Promise[TopicInfo]:
        deadline_ms = self.cluster.seams.clock.monotonic_ms() + self.settings.max_block_ms

        def find() -> Promise[TopicInfo]:
            return spawn(self.cluster.topic(name, timeout_ms=deadline_ms - self.cluster.seams.clock.monotonic_ms()))

        return spawn(with_deadline(self.cluster, deadline_ms, f"metadata of topic {name!r}", find))

    def _topic_found(self, topic: str, found: Promise[TopicInfo]) -> None:
        waiting = self._unplaced.pop(topic, [])
        error = found.error()
        if isinstance(error, Exception):
            self._refuse(waiting, error)
            self._tell_placed()
            return
        if topic not in self._choices:
            self._choices[topic], self._queues[topic] = self._make_choice(topic, self.cluster.seams.random), {}
            self._metadata_updated(self.cluster.metadata)
        now_ms = self.cluster.seams.clock.monotonic_ms()
        for record in waiting:
            self._append(record, now_ms)
        self._sender.run()
        self._tell_placed()

    def _metadata_updated(self, metadata: ClusterMetadata) -> None:
        for name, choice in self._choices.items():
            topic = metadata.topics.get(name)
            if topic is not None and topic.partitions:
                available = [number for number, each in sorted(topic.partitions.items()) if each.leader in metadata.brokers]
                choice.set_partitions(topic.partition_count, available)

    def _refuse(self, records: Sequence[Delivery], error: Exception) -> None:
        for record in records:
            record.refuse(error)
        self._settled(records)

    def _run_sender(self) -> None:
        self._sender.run()

    def _batch_settled(self, batch: Batch) -> None:
        self._settled(batch.records)

    def _tell_placed(self) -> None:
        waiters, self._placed_waiters = self._placed_waiters, []
        for waiter in waiters:
            waiter.resolve(None)

    def _give_up(self, timeout_ms: float) -> None:
        error = ClientTimeout(f"the producer was closed, and {timeout_ms:g} ms were not enough to send this")
        self._give_up_unplaced(error)
        self._sender.fail_all(error)
        self._tell_placed()

    def _give_up_unsent(self, error: Exception) -> None:
        self._give_up_unplaced(error)
        self._sender.fail_unsent(error)
        self._tell_placed()

    def _give_up_unplaced(self, error: Exception) -> None:
        for topic in list(self._unplaced):
            waiting = self._unplaced[topic]
            self._unplaced[topic] = []
            for record in waiting:
                record.refuse(error)
            self._settled(waiting)
        self._unplaced.clear()
