"""Sends the batches that are due, one request for all whose leader is the same broker, and settles them by the answers.

    records come, an answer comes, a timer fires -> look at all queues -> for each broker with room: take, number, compress, send

Only one request for a broker is being prepared at a time, and requests go out in the order in which they were prepared; so the batches of a partition do too.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/producer/internals/Sender.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pykafka_classic.client.client_errors import ClientTimeout, UnsupportedByBrokers
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.client.producing.delivery import Batch
from pykafka_classic.client.producing.producer_identity import NONE, ProducerId, ProducerIdentity, ask_producer_id
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.client.producing.producer_transactions import ProducerTransactions
from pykafka_classic.client.producing.record_accumulator import NEVER, PartitionQueue
from pykafka_classic.common.clock import Timer, after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.produce import PartitionProduceData, PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.compression import NONE as NO_CODEC
from pykafka_classic.records.compression import ZSTD

log = logging.getLogger("kafka.clients.producer.Sender")

PURPOSE: Final = "produce"
MAGIC_2_VERSION: Final = 3
ZSTD_VERSION: Final = 7
COMPRESS_IN_BACKGROUND_BYTES: Final = 32_768

_TOO_LARGE: Final = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})


class Sender:
    """See the module. `settled` is called with each batch whose outcome is known."""

    def __init__(
        self, cluster: ClusterClient, settings: ProducerSettings, settled: Callable[[Batch], None], transactions: ProducerTransactions | None = None
    ) -> None:
        self.queues: dict[TopicPartition, PartitionQueue] = {}
        self.flushing = 0  # how many wait for everything to be sent
        self._cluster = cluster
        self._settings = settings
        self._settled = settled
        self._transactions = transactions
        self._identity = transactions.identity if transactions is not None else ProducerIdentity() if settings.enable_idempotence else None
        self._asking_identity = False
        self._requests: dict[int, int] = {}  # in flight, by broker id
        self._preparing: set[int] = set()
        self._timer: Timer | None = None
        self._timer_due_ms = NEVER
        self._running = False
        cluster.when_updated(lambda _: self.run())

    def take_on(self, queue: PartitionQueue) -> None:
        """A queue that has got its first record."""
        queue.active = True
        self.queues[queue.partition] = queue

    def run(self) -> None:
        """Send what is due; come again when something will be."""
        if self._running or self._cluster.closed:
            return
        self._running = True
        try:
            now_ms = self._cluster.seams.clock.monotonic_ms()
            self._expire(now_ms)
            by_node, next_ms = self._due_queues(now_ms)
            for node_id, queues in by_node.items():
                self._send_to(node_id, queues)
        finally:
            self._running = False
        self._set_timer(next_ms)

    def fail_all(self, error: Exception) -> None:
        """Give up everything."""
        for queue in list(self.queues.values()):
            batches = list(queue)
            queue.waiting.clear()
            queue.retries.clear()
            queue.in_flight.clear()
            queue.active = False
            for batch in batches:
                self._finish(batch, error)
        self.queues.clear()

    def fail_unsent(self, error: Exception) -> None:
        """Give up what is not on its way."""
        for queue in list(self.queues.values()):
            batches = [*queue.retries, *queue.waiting]
            queue.sequences.has_gap |= bool(queue.retries)
            queue.retries.clear()
            queue.waiting.clear()
            for batch in batches:
                self._finish(batch, error)

    # Which, and when

    def _due_queues(self, now_ms: float) -> tuple[dict[int, list[PartitionQueue]], float]:
        by_node: dict[int, list[PartitionQueue]] = {}
        next_ms = NEVER
        for queue in list(self.queues.values()):
            if not queue:
                self._drop(queue)
                continue
            due_ms = queue.due_ms(flushing=self.flushing > 0)
            next_ms = min(next_ms, queue.oldest_ms() + self._settings.delivery_timeout_ms)
            if due_ms > now_ms:
                next_ms = min(next_ms, due_ms)
                continue
            leader = self._cluster.metadata.leader_of(queue.partition)
            if leader is None:
                self._cluster.update_soon()
            elif queue.in_flight and queue.node_id != leader:
                # A new leader: what the old one had must have come back first. Otherwise it could be appended, and forgotten behind five newer batches, when
                # it is sent again; and without idempotence the order would be lost.
                continue
            elif self._has_numbers(queue):
                by_node.setdefault(leader, []).append(queue)
        return by_node, next_ms

    def _drop(self, queue: PartitionQueue) -> None:
        """There is nothing in it."""
        queue.active = False
        del self.queues[queue.partition]

    def _has_numbers(self, queue: PartitionQueue) -> bool:
        if self._identity is None:
            return True
        if self._transactions is not None and not self._transaction_admits(self._transactions, self._identity, queue):
            return False
        if queue.in_flight or queue.sequences.settle(self._identity, queue.retries):
            return True
        self._ask_identity()
        return False

    @staticmethod
    def _transaction_admits(transactions: ProducerTransactions, identity: ProducerIdentity, queue: PartitionQueue) -> bool:
        sequences = queue.sequences
        if sequences.producer == identity.current and (sequences.has_gap or (sequences.unresolved and not queue.retries)):
            return False  # the transaction is broken: its abort brings the next epoch
        return transactions.admits(queue.partition)

    def _expire(self, now_ms: float) -> None:
        for queue in list(self.queues.values()):
            for batch in queue.expired(now_ms):
                if batch.attempts and batch.producer != NONE:
                    queue.sequences.unresolved = True
                text = f"{len(batch.records)} record(s) for {batch.partition} expired: {self._settings.delivery_timeout_ms} ms have passed since they came"
                self._finish(batch, ClientTimeout(text))
                self._break_transaction(ClientTimeout(text))

    def _set_timer(self, due_ms: float) -> None:
        clock = self._cluster.seams.clock
        if self._timer is not None:
            if self._timer_due_ms == due_ms:
                return
            self._timer.cancel()
            self._timer = None
        self._timer_due_ms = due_ms
        if due_ms != NEVER:
            self._timer = clock.call_later(max(due_ms - clock.monotonic_ms(), 0), self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer = None
        self.run()

    # Requests

    def _send_to(self, node_id: int, queues: Sequence[PartitionQueue]) -> None:
        while node_id not in self._preparing and self._requests.get(node_id, 0) < self._settings.max_in_flight_requests_per_connection:
            batches = self._take(node_id, queues)
            if not batches:
                return
            self._requests[node_id] = self._requests.get(node_id, 0) + 1
            self._preparing.add(node_id)
            spawn(self._request(node_id, batches)).when_settled(self._request_ended)

    def _take(self, node_id: int, queues: Sequence[PartitionQueue]) -> list[Batch]:
        """One batch of each that is due, as many as fit a request."""
        taken: list[Batch] = []
        size, now_ms = 0, self._cluster.seams.clock.monotonic_ms()
        for queue in queues:
            if queue.due_ms(flushing=self.flushing > 0) > now_ms or (taken and size + queue.next_size() > self._settings.max_request_size):
                continue
            batch = queue.take(node_id)
            batch.attempts += 1
            size += batch.size
            if self._identity is not None and batch.producer == NONE:
                queue.sequences.number(batch)
                batch.is_transactional = self._transactions is not None
            taken.append(batch)
            self.queues[queue.partition] = self.queues.pop(queue.partition)  # who was served goes to the end of the line
        return taken

    async def _request(self, node_id: int, batches: list[Batch]) -> None:
        try:
            try:
                answer = await self._prepare_and_send(node_id, batches)
            finally:
                self._preparing.discard(node_id)
            self.run()
            response = await answer
        except Disconnected as error:
            code = ErrorCode.REQUEST_TIMED_OUT if isinstance(error, RequestTimedOut) else ErrorCode.NETWORK_EXCEPTION
            self._cluster.update_soon()
            for batch in batches:
                self._refused(batch, KafkaError(code, f"{code.message} ({error})"))
        except Exception as error:  # noqa: BLE001  # whatever it is, these records' senders must hear of it
            for batch in batches:
                self._failed(batch, error)
        else:
            assert isinstance(response, ProduceResponse)
            await self._answered(batches, response)
        finally:
            self._requests[node_id] -= 1

    async def _prepare_and_send(self, node_id: int, batches: list[Batch]) -> Promise[Message]:
        codec = self._settings.codec
        node = self._cluster.node(node_id, PURPOSE)
        version = await node.version_of(ApiKey.PRODUCE)
        if version < MAGIC_2_VERSION or (codec == ZSTD and version < ZSTD_VERSION):
            wanted = "zstd needs one of 2.1" if version >= MAGIC_2_VERSION else "we need one of 0.11"
            raise UnsupportedByBrokers(f"broker {node} knows Produce up to v{version} only; {wanted} or newer")
        unprepared = [batch for batch in batches if batch.payload is None]
        if codec == NO_CODEC or sum(batch.size for batch in unprepared) < COMPRESS_IN_BACKGROUND_BYTES:
            _prepare(unprepared, codec)
        else:
            await self._cluster.seams.background.run(lambda: _prepare(unprepared, codec))
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            topics.setdefault(batch.partition.topic, []).append(PartitionProduceData(batch.partition.partition, batch.encoded()))
        request = ProduceRequest(
            transactional_id=self._settings.transactional_id,
            acks=self._settings.required_acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[TopicProduceData(*each) for each in topics.items()],
        )
        return spawn(node.send(request, version=version))

    def _request_ended(self, request: Promise[None]) -> None:
        error = request.error()
        if error is not None:
            log.error("A produce request ended in a way that it must not", exc_info=error)
        self.run()

    # Answers

    async def _answered(self, batches: Sequence[Batch], response: ProduceResponse) -> None:
        answers = {TopicPartition(topic.name, each.index): each for topic in response.responses for each in topic.partition_responses}
        for batch in batches:
            self._answered_batch(batch, answers)
        if response.throttle_time_ms > 0:
            await after(self._cluster.seams.clock, response.throttle_time_ms)

    def _answered_batch(self, batch: Batch, answers: Mapping[TopicPartition, PartitionProduceResponse]) -> None:
        if batch.done:
            return
        if not self._settings.required_acks:
            self._succeeded(batch, -1, -1)
            return
        answer = answers.get(batch.partition)
        if answer is None:
            self._failed(batch, KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"the broker's answer does not mention {batch.partition}"))
        elif answer.error_code == ErrorCode.NONE:
            self._succeeded(batch, answer.base_offset, answer.log_append_time_ms)
        elif answer.error_code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._succeeded(batch, -1, -1)
        else:
            code = ErrorCode(answer.error_code)
            text = "; ".join(filter(None, [answer.error_message or code.message, *_record_errors(answer)]))
            self._refused(batch, KafkaError(code, f"{batch.partition}: {text}"), log_start_offset=answer.log_start_offset)

    def _succeeded(self, batch: Batch, base_offset: int, append_time: int) -> None:
        queue = self.queues[batch.partition]
        queue.in_flight.remove(batch)
        queue.sequences.last_acked_offset = max(queue.sequences.last_acked_offset, base_offset + len(batch.records) - 1 if base_offset >= 0 else -1)
        queue.sequences.unresolved = False
        queue.sequences.confirmed |= batch.producer == queue.sequences.producer
        batch.succeed(base_offset, append_time)
        self._settled(batch)
        batch.tell_waiters()

    def _refused(self, batch: Batch, error: KafkaError, *, log_start_offset: int = -1) -> None:
        """An error of the broker's, or of the way to it: again, or given up."""
        if batch.done:
            return
        queue = self.queues[batch.partition]
        if error.code in _TOO_LARGE and len(batch.records) > 1:
            self._split(queue, batch)
            return
        now_ms = self._cluster.seams.clock.monotonic_ms()
        again = self._may_repeat(queue, batch, error.code, log_start_offset) and batch.attempts <= self._settings.retries
        if not again:
            self._failed(batch, error)
            return
        left = self._settings.retries - batch.attempts
        log.info("Got error produce response on topic-partition %s, retrying (%d attempts left). Error: %s", batch.partition, left, error.code.name)
        if error.code.invalid_metadata:
            self._cluster.update_soon()
        queue.in_flight.remove(batch)
        queue.again(batch, now_ms + self._settings.retry_backoff_ms)

    def _may_repeat(self, queue: PartitionQueue, batch: Batch, code: ErrorCode, log_start_offset: int) -> bool:
        sequences = queue.sequences
        if self._identity is None or batch.producer == NONE:
            return code.retriable
        if self._transactions is not None:  # another epoch than the coordinator's is not ours to choose
            return code.retriable or (code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not queue.is_oldest(batch))
        if code is ErrorCode.UNKNOWN_PRODUCER_ID:
            sequences.has_gap |= batch.producer == sequences.producer
            log.info("%s has forgotten us (log start %d, last acknowledged %d)", batch.partition, log_start_offset, sequences.last_acked_offset)
            return True
        if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            sequences.has_gap |= batch.producer == sequences.producer and queue.is_oldest(batch)
            return True
        return code.retriable

    def _split(self, queue: PartitionQueue, batch: Batch) -> None:
        log.info("A batch of %d records for %s is too large for its leader; sending it in halves", len(batch.records), batch.partition)
        queue.in_flight.remove(batch)
        halves = batch.split()
        if batch.producer == NONE:
            queue.retries[:0] = halves
        else:
            for half in halves:
                queue.again(half, 0)

    def _failed(self, batch: Batch, error: Exception) -> None:
        """Given up."""
        if batch.done:
            return
        queue = self.queues[batch.partition]
        queue.in_flight.remove(batch)
        if batch.producer == queue.sequences.producer and batch.producer != NONE:
            queue.sequences.has_gap = True
        self._finish(batch, error)
        self._break_transaction(error)

    def _break_transaction(self, error: Exception) -> None:
        if self._transactions is not None:
            self._transactions.failed(error)

    def _finish(self, batch: Batch, error: Exception) -> None:
        batch.fail(error)
        self._settled(batch)
        batch.tell_waiters()

    # Who we are

    def _ask_identity(self) -> None:
        if not self._asking_identity:
            self._asking_identity = True
            asking = spawn(ask_producer_id(self._cluster, self._settings.retry_backoff_ms, self._still_wants_identity))
            asking.when_settled(self._identity_ended)

    def _still_wants_identity(self) -> bool:
        self._expire(self._cluster.seams.clock.monotonic_ms())
        return not self._cluster.closed and any(self.queues.values())

    def _identity_ended(self, asked: Promise[ProducerId | None]) -> None:
        self._asking_identity = False
        error = asked.error()
        if isinstance(error, Exception):
            self.fail_all(error)
        elif self._identity is not None and (given := asked.result()) is not None:
            self._identity.current = given
        self.run()


def _prepare(batches: Sequence[Batch], codec: int) -> None:
    for batch in batches:
        batch.prepare(codec)


def _record_errors(answer: PartitionProduceResponse) -> list[str]:
    return [f"record {each.batch_index} of the batch: {each.batch_index_error_message}" for each in answer.record_errors if each.batch_index_error_message]
