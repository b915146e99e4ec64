"""A record on its way, and the batch that it travels in.

The sender of a record gets its `Delivery` at once. It learns its place when the batch is settled: one outcome for all, from which each record's offset follows
by its index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.records.batch_builder import BatchFields, frame_batch
from pykafka_classic.records.bulk_encoding import SIZE_MIN, encode_records, size_bound
from pykafka_classic.records.compression import NONE, compress
from pykafka_classic.records.layout import NO_OFFSET, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]


class RecordMetadata(NamedTuple):
    """Where a record lies. `offset` -1: not known (acks=0, or a duplicate of long ago); `timestamp`: ms since the epoch, the leader's where it decides."""

    topic: str
    partition: int
    offset: int
    timestamp: int


Callback: TypeAlias = "Callable[[RecordMetadata | None, Exception | None], object]"


class Delivery:
    """One record, and what becomes of it. `partition` None: the partitioner's choice; `timestamp` -1: when it is put into a batch."""

    __slots__ = ("_error", "batch", "callback", "headers", "index", "key", "partition", "size", "timestamp", "topic", "value")

    def __init__(self, topic: str, value: bytes | None, key: bytes | None, headers: Headers, callback: Callback | None = None) -> None:
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
        self.callback = callback
        self.partition: int | None = None
        self.timestamp = NO_TIMESTAMP
        self.batch: Batch | None = None
        self.index = 0
        self.size = size_bound(key, value, headers) if headers else SIZE_MIN + (len(key) if key else 0) + (len(value) if value else 0)
        self._error: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether the outcome is known."""
        return self._error is not None or (self.batch is not None and self.batch.done)

    def outcome(self) -> RecordMetadata:
        """Where it lies, or why it does not; only when `done`."""
        if self._error is not None:
            raise self._error
        assert self.batch is not None, "not known yet"
        return self.batch.outcome_of(self)

    def refuse(self, error: Exception) -> None:
        """It never came into a batch."""
        self._error = error

    def tell(self) -> None:
        """Call back."""
        if self.callback is not None:
            try:
                metadata = self.outcome()
            except Exception as error:  # noqa: BLE001  # whatever the outcome is
                self.callback(None, error)
            else:
                self.callback(metadata, None)


class Batch:
    """Records for one partition. Invariant: records are added only before `close`; a sequence is given only after it."""

    def __init__(self, partition: TopicPartition, created_ms: float) -> None:
        self.partition = partition
        self.created_ms = created_ms  # monotonic
        self.records: list[Delivery] = []
        self.size = 0  # bytes, an upper bound before compression
        self.attempts = 0
        self.producer: tuple[int, int] = (NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
        self.base_sequence = NO_SEQUENCE
        self.is_transactional = False
        self.payload: bytes | None = None
        self.done = False
        self._codec = NONE
        self._base_offset = NO_OFFSET
        self._append_time = NO_TIMESTAMP
        self._error: Exception | None = None
        self._waiters: list[Promise[None]] = []

    def add(self, record: Delivery) -> None:
        """One more."""
        record.batch = self
        record.index = len(self.records)
        self.records.append(record)
        self.size += record.size

    @property
    def last_sequence(self) -> int:
        """Of its last record; only with a sequence."""
        return self.base_sequence + len(self.records) - 1

    def prepare(self, codec: int) -> None:
        """Encode and compress; may run in any thread, for nobody changes a batch that is on its way."""
        payload = encode_records(self.records, self.records[0].timestamp)
        self._codec = codec
        self.payload = compress(codec, payload) if codec != NONE else payload

    def encoded(self) -> bytes:
        """The bytes of a batch of magic 2."""
        assert self.payload is not None, "not prepared"
        producer_id, epoch = self.producer
        fields = BatchFields(
            0, self._codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=self.base_sequence, is_transactional=self.is_transactional
        )
        timestamps = self.records[0].timestamp, max(record.timestamp for record in self.records)
        count = len(self.records)
        return frame_batch(fields, self.payload, records_count=count, last_offset_delta=count - 1, timestamps=timestamps)

    def succeed(self, base_offset: int, append_time: int) -> None:
        """It was written, its first record at `base_offset`; -1: nobody knows where. `append_time` -1: the records' own times count."""
        self._base_offset, self._append_time = base_offset, append_time
        self._settle()

    def fail(self, error: Exception) -> None:
        """It was not written, or nobody knows."""
        self._error = error
        self._settle()

    def outcome_of(self, record: Delivery) -> RecordMetadata:
        """Where a record of it lies, or why it does not."""
        if self._error is not None:
            raise self._error
        offset = NO_OFFSET if self._base_offset == NO_OFFSET else self._base_offset + record.index
        return RecordMetadata(*self.partition, offset, record.timestamp if self._append_time == NO_TIMESTAMP else self._append_time)

    def split(self) -> list[Batch]:
        """Two halves, for a leader that found it too large; they share its sequence numbers."""
        middle = len(self.records) // 2
        halves = []
        for some in (self.records[:middle], self.records[middle:]):
            half = Batch(self.partition, self.created_ms)
            half.producer = self.producer
            half.is_transactional = self.is_transactional
            half.base_sequence = NO_SEQUENCE if self.base_sequence == NO_SEQUENCE else self.base_sequence + some[0].index
            for record in some:
                half.add(record)
            halves.append(half)
        gather([half.when_settled() for half in halves]).when_settled(lambda _: self.tell_waiters())
        return halves

    def when_settled(self) -> Promise[None]:
        """Kept when its outcome is known, and was told."""
        waiter: Promise[None] = Promise()
        if self.done:
            waiter.resolve(None)
        else:
            self._waiters.append(waiter)
        return waiter

    def tell_waiters(self) -> None:
        """After all records' senders have been told."""
        self.done = True
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.resolve(None)

    def _settle(self) -> None:
        self.done = True
        self.payload = None
