"""The producer for programs that live on a Twisted reactor.

from twisted.internet import reactor
from pykafka_classic.clients import TwistedProducer

async def main() -> None:
    producer = TwistedProducer(reactor, "localhost:9092", acks="all")
    await producer.start()
    where = await producer.send("flights", b"IL 78, Krasnojarsk", key=b"RA-86906")
    await producer.close()
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred

from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout
from pykafka_classic.client.client_settings import settings_of
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.producing.delivery import Delivery, Headers, RecordMetadata
from pykafka_classic.client.producing.producer_core import ProducerCore
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.producer import as_bytes
from pykafka_classic.edges.clients.seams import make_seams
from pykafka_classic.edges.deferreds import as_deferred
from pykafka_classic.edges.reactor import Reactor


class _TwistedDelivery(Delivery):
    """One record, and whom to tell."""

    __slots__ = ("deferred",)

    def __init__(self, topic: str, value: bytes | None, key: bytes | None, headers: Headers) -> None:
        super().__init__(topic, value, key, headers)
        self.deferred: Deferred[RecordMetadata] = Deferred()

    def tell(self) -> None:
        """Fire."""
        try:
            metadata = self.outcome()
        except Exception as error:  # noqa: BLE001  # whatever the outcome is
            self.deferred.errback(error)
        else:
            self.deferred.callback(metadata)


class TwistedProducer:
    """Sends records, all on the reactor's thread. The settings are those of `Producer`.

    Nobody is made to wait for room: who sends faster than brokers take should await `send` now and then. A `send` beyond `buffer_memory` fails at once.
    """

    def __init__(self, reactor: Any, bootstrap_servers: str, **settings: Any) -> None:
        self.settings = settings_of(ProducerSettings, {"bootstrap_servers": bootstrap_servers, **settings})
        self._reactor: Reactor = reactor
        seams, self._background = make_seams(self._reactor)
        self._core = ProducerCore(self.settings, seams, self._settled)
        self._inbox: deque[Delivery] = deque()
        self._buffered_bytes = 0
        self._closed = False

    def start(self) -> Deferred[None]:
        """Find the cluster. NoBrokers."""
        return as_deferred(spawn(self._core.start()))

    def send(
        self,
        topic: str,
        value: bytes | str | None = None,
        key: bytes | str | None = None,
        *,
        headers: Sequence[tuple[str, bytes | None]] = (),
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Deferred[RecordMetadata]:
        """Put a record on its way; fires with where it lies, or fails with why it does not (KafkaError, ClientTimeout, ClientClosed).

        Args:
            topic: is created by the broker where it is set so.
            value: what there is to say.
            key: decides on the partition, and on what compaction keeps.
            headers: pairs of name and bytes; names may repeat.
            partition: the partitioner's choice where it is not given.
            timestamp_ms: milliseconds since the epoch; now where it is not given.
        """
        record = _TwistedDelivery(topic, as_bytes(value), as_bytes(key), headers)
        record.partition = partition
        if timestamp_ms is not None:
            record.timestamp = timestamp_ms
        if self._closed:
            record.deferred.errback(ClientClosed("the producer is closed"))
        elif self._buffered_bytes + record.size > self.settings.buffer_memory:
            record.deferred.errback(ClientTimeout(f"no room for a record of {record.size} bytes: buffer.memory is full of records not sent"))
        else:
            self._buffered_bytes += record.size
            self._inbox.append(record)
            if len(self._inbox) == 1:
                self._reactor.callLater(0, self._take_inbox)
        return record.deferred

    def flush(self) -> Deferred[None]:
        """Fires when all that was sent before has its outcome; nothing lingers meanwhile."""
        self._take_inbox()
        return as_deferred(spawn(self._core.flush()))

    def init_transactions(self) -> Deferred[None]:
        """See `Producer.init_transactions`."""
        return as_deferred(spawn(self._core.required_transactions().initialize()))

    def begin_transaction(self) -> None:
        """See `Producer.begin_transaction`."""
        self._take_inbox()
        self._core.required_transactions().begin()

    def send_offsets_to_transaction(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata) -> Deferred[None]:
        """See `Producer.send_offsets_to_transaction`."""
        return as_deferred(spawn(self._core.required_transactions().send_offsets(offsets, group)))

    def commit_transaction(self) -> Deferred[None]:
        """See `Producer.commit_transaction`."""
        self._take_inbox()
        return as_deferred(spawn(self._core.end_transaction(commit=True)))

    def abort_transaction(self) -> Deferred[None]:
        """See `Producer.abort_transaction`."""
        self._take_inbox()
        return as_deferred(spawn(self._core.end_transaction(commit=False)))

    def partition_count(self, topic: str) -> Deferred[int]:
        """How many partitions a topic has. KafkaError, ClientTimeout."""
        return as_deferred(spawn(self._core.partition_count(topic)))

    def close(self, *, timeout_ms: float | None = None) -> Deferred[None]:
        """Send what waits, then let go; after `timeout_ms` (default: `delivery_timeout_ms`) what is left fails with ClientTimeout."""
        self._closed = True
        self._take_inbox()
        closing = spawn(self._core.close(timeout_ms=self.settings.delivery_timeout_ms if timeout_ms is None else timeout_ms))
        closing.when_settled(lambda _: self._background.close())
        return as_deferred(closing)

    def _take_inbox(self) -> None:
        records, self._inbox = self._inbox, deque()
        if records:
            self._core.append(records)

    def _settled(self, records: Sequence[Delivery]) -> None:
        self._buffered_bytes -= sum([record.size for record in records])
        for record in records:
            record.tell()
