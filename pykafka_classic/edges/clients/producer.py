"""The blocking `Producer`.

    from pykafka_classic.clients import Producer

    with Producer("localhost:9092", acks="all", linger_ms=5, compression_type="lz4") as producer:
        producer.send("flights", b"IL 78, Krasnojarsk", key=b"RA-86906")
        where = producer.send("flights", "landed", key="RA-86906").result()
        print(where.partition, where.offset)

`send` gives a future at once. `flush` waits for all that was sent, `close` (and the end of the `with` block) too. A producer that is still open when the
interpreter exits is closed then, for at most `EXIT_TIMEOUT_MS`; what could not be sent until then is counted in the log. A process that is killed, or ends by
`os._exit`, loses what it has not flushed.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout
from pykafka_classic.client.client_settings import keywords_of, settings_of
from pykafka_classic.client.group_metadata import GroupMetadata
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.producing.delivery import Callback, Delivery, Headers, RecordMetadata
from pykafka_classic.client.producing.producer_core import ProducerCore
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.client_thread import ClientThread
from pykafka_classic.edges.clients.seams import make_seams

log = logging.getLogger("kafka.clients.producer.KafkaProducer")

EXIT_TIMEOUT_MS: Final = 30_000
_FREE_BEFORE_WAKING: Final = 4  # a sender that waited for room goes on when a quarter of the buffer is free

_open: Final[weakref.WeakSet[Producer]] = weakref.WeakSet()


class SendFuture(Delivery):
    """What becomes of one record."""

    __slots__ = ("_producer",)

    def __init__(self, producer: Producer, topic: str, value: bytes | None, key: bytes | None, headers: Headers) -> None:
        super().__init__(topic, value, key, headers)
        self._producer = producer

    def result(self, *, timeout_ms: float | None = None) -> RecordMetadata:
        """Where the record lies, once that is known. KafkaError, ClientTimeout, ClientClosed: why it does not; TimeoutError: it is not known in time."""
        self._producer._wait(lambda: self.done, timeout_ms)
        return self.outcome()


class Producer:
    """Sends records. Safe to use from several threads; also a context manager.

    Args:
        bootstrap_servers: host:port,host:port,...: some brokers of the cluster.
        settings: see `ProducerSettings`; names as there (`linger_ms`), values as there, or as text.

    Raises:
        NoBrokers: nobody at those addresses is a broker; the text says what is there instead.
        InvalidSetting: for a setting that there is not, or a value that means nothing.
    """

    def __init__(self, bootstrap_servers: str, **settings: Any) -> None:
        self.settings = settings_of(ProducerSettings, {"bootstrap_servers": bootstrap_servers, **settings})
        self._thread = ClientThread.shared()
        seams, self._background = make_seams(self._thread.reactor)
        self._core = ProducerCore(self.settings, seams, self._settled)
        self._changed = threading.Condition()
        self._inbox: deque[Delivery] = deque()
        self._scheduled = False  # the client thread will look into the inbox
        self._closed = False
        self._sent_bytes = 0
        self._settled_bytes = 0
        try:
            self._thread.call(lambda: spawn(self._core.start()))
        except BaseException:
            self._thread.call_soon(self._core.cluster.close)
            self._background.close()
            raise
        _open.add(self)

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self:
        """A producer from Kafka's own keys: `{"bootstrap.servers": "localhost:9092", "linger.ms": "5"}`."""
        return cls(**keywords_of(properties))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def send(  # noqa: PLR0913  # what a record consists of
        self,
        topic: str,
        value: bytes | str | None = None,
        key: bytes | str | None = None,
        *,
        headers: Sequence[tuple[str, bytes | None]] = (),
        partition: int | None = None,
        timestamp_ms: int | None = None,
        on_delivery: Callback | None = None,
    ) -> SendFuture:
        """Put a record on its way. Text is sent as UTF-8.

        Args:
            topic: is created by the broker where it is set so.
            value: what there is to say.
            key: decides on the partition, and on what compaction keeps.
            headers: pairs of name and bytes; names may repeat.
            partition: the partitioner's choice where it is not given.
            timestamp_ms: milliseconds since the epoch; now where it is not given.
            on_delivery: called with (metadata, None) or (None, error), on the clients' thread: it must be quick and must not wait for the producer.

        Raises:
            ClientTimeout: the buffer was full for `max_block_ms`.
            ClientClosed: the producer is closed.
        """
        record = SendFuture(self, topic, as_bytes(value), as_bytes(key), headers)
        record.callback = on_delivery
        record.partition = partition
        if timestamp_ms is not None:
            record.timestamp = timestamp_ms
        with self._changed:
            if self._closed:
                raise ClientClosed("the producer is closed")
            if self._sent_bytes - self._settled_bytes + record.size > self.settings.buffer_memory:
                self._wait_for_room(record.size)
            self._sent_bytes += record.size
            self._inbox.append(record)
            if self._scheduled:
                return record
            self._scheduled = True
        self._thread.call_soon(self._take_inbox)
        return record

    def flush(self, *, timeout_ms: float | None = None) -> None:
        """Wait until all that was sent before has its outcome; nothing lingers meanwhile. ClientTimeout."""
        waiting = self._thread.start(lambda: spawn(self._flush()))
        try:
            waiting.result(None if timeout_ms is None else timeout_ms / 1000)
        except TimeoutError:
            raise ClientTimeout(f"not all records could be sent within {timeout_ms} ms") from None

    @property
    def unsettled_bytes(self) -> int:
        """How large the records are that were sent and have no outcome yet."""
        with self._changed:
            return self._sent_bytes - self._settled_bytes

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has. KafkaError, ClientTimeout."""
        return self._thread.call(lambda: spawn(self._core.partition_count(topic)))

    # Transactions (with the setting `transactional_id`)

    def init_transactions(self) -> None:
        """Become the producer of the transactional id: whoever was it before is fenced, what it left open is aborted. KafkaError, ClientTimeout."""
        self._thread.call(lambda: spawn(self._core.required_transactions().initialize()))

    def begin_transaction(self) -> None:
        """What is sent from now on counts when it is committed, or not at all. IllegalState."""
        self._thread.call(lambda: spawn(self._begin()))

    def send_offsets_to_transaction(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: str | GroupMetadata) -> None:
        """Commit offsets of a group together with the transaction.

        Args:
            offsets: the next one to read of each partition.
            group: its id, or a member's `Consumer.group_metadata()`, by which a member of an older generation is refused.

        Raises:
            KafkaError: it was refused; abort. ClientTimeout.
        """
        wanted = {each: offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset) for each, offset in offsets.items()}
        whose = group if isinstance(group, GroupMetadata) else GroupMetadata(group)
        self._thread.call(lambda: spawn(self._core.required_transactions().send_offsets(wanted, whose)))

    def commit_transaction(self) -> None:
        """Wait until everything is sent, and let it count. Raises the error of a record that could not be sent: abort then. ClientTimeout: call it again."""
        self._thread.call(lambda: spawn(self._end(commit=True)))

    def abort_transaction(self) -> None:
        """Nothing that was sent since `begin_transaction` counts. ClientTimeout: call it again."""
        self._thread.call(lambda: spawn(self._end(commit=False)))

    def close(self, *, timeout_ms: float | None = None) -> None:
        """Send what waits, then let go; after `timeout_ms` (default: `delivery_timeout_ms`) what is left fails with ClientTimeout. May be called again."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
        _open.discard(self)
        limit_ms = self.settings.delivery_timeout_ms if timeout_ms is None else timeout_ms
        self._thread.call(lambda: spawn(self._close(limit_ms)))
        self._background.close()

    # The user's threads

    def _wait(self, until: Callable[[], bool], timeout_ms: float | None) -> None:
        with self._changed:
            if not self._changed.wait_for(until, None if timeout_ms is None else timeout_ms / 1000):
                raise TimeoutError(f"not known within {timeout_ms:g} ms")

    def _wait_for_room(self, size: int) -> None:
        """With the lock held, until there is room for more than one record, or time is up."""
        limit = max(self.settings.buffer_memory - max(size, self.settings.buffer_memory // _FREE_BEFORE_WAKING), 0)
        deadline = time.monotonic() + self.settings.max_block_ms / 1000
        room = self._changed.wait_for(lambda: self._closed or self._sent_bytes - self._settled_bytes <= limit, deadline - time.monotonic())
        if self._closed:
            raise ClientClosed("the producer was closed")
        if not room:
            raise ClientTimeout(f"no room for a record of {size} bytes within {self.settings.max_block_ms} ms: buffer.memory is full of records not sent")

    # The client thread

    def _take_inbox(self) -> None:
        with self._changed:
            self._scheduled = False
            records, self._inbox = self._inbox, deque()
        self._core.append(records)

    async def _begin(self) -> None:
        self._take_inbox()  # what was sent before must not count as sent in it
        self._core.required_transactions().begin()

    async def _end(self, *, commit: bool) -> None:
        self._take_inbox()
        await self._core.end_transaction(commit=commit)

    async def _flush(self) -> None:
        self._take_inbox()
        await self._core.flush()

    async def _close(self, limit_ms: float) -> None:
        self._take_inbox()
        await self._core.close(timeout_ms=limit_ms)

    def _settled(self, records: Sequence[Delivery]) -> None:
        with self._changed:
            self._settled_bytes += sum([record.size for record in records])
            self._changed.notify_all()
        for record in records:
            if record.callback is not None:
                _tell(record)


def _tell(record: Delivery) -> None:
    try:
        record.tell()
    except Exception:
        log.exception("A delivery callback failed")


def as_bytes(given: bytes | str | None) -> bytes | None:
    """A key or value as it is sent. TypeError."""
    if given is None or given.__class__ is bytes:
        return given
    if isinstance(given, str):
        return given.encode()
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    raise TypeError(f"a key or value is bytes, text or None, not {type(given).__name__}")


def _close_all() -> None:
    """At the end of the interpreter."""
    for producer in list(_open):
        left = producer._sent_bytes - producer._settled_bytes
        try:
            producer.close(timeout_ms=EXIT_TIMEOUT_MS)
        except Exception:
            log.exception("A producer that was open at exit could not be closed; %d bytes of records were not acknowledged", left)


atexit.register(_close_all)
