"""From the bytes of a Fetch answer to the records that a consumer hands out.

An answer begins with a whole batch that may start before the offset asked for, and may end in a batch that is cut off; control batches are for the
broker's own eyes, but their offsets count as read (facts/protocol.md 9).

With read_committed the answer names the transactions that were aborted: the records of such a producer are dropped from the first offset named until its abort
marker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.fetch import AbortedTransaction
from pykafka_classic.protocol.schema import Records, join_records
from pykafka_classic.records.control import ControlType
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, TimestampType, iterate_batches


class ConsumerRecord(NamedTuple):
    """A record and where it lies. `timestamp`: ms since the epoch, -1: none; `leader_epoch`: of its batch, -1: not known."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_type: TimestampType = TimestampType.CREATE_TIME
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """What one answer holds of one partition."""

    records: tuple[ConsumerRecord, ...]
    next_offset: int  # where to fetch next


class HiddenBatches:
    """Which batches of one answer no consumer may see: control batches, and those of aborted transactions. To be asked about every batch, in their order.

    `aborted`: of a read_committed fetch; empty for others.
    """

    def __init__(self, aborted: Iterable[AbortedTransaction] = ()) -> None:
        self._aborted = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
        self._producers: set[int] = set()  # whose transaction, up to the next marker, was aborted

    def hides(self, batch: AnyBatch) -> bool:
        """True for a batch whose records are not to be handed out."""
        if not isinstance(batch, RecordBatch):
            return False
        while self._aborted and self._aborted[-1].first_offset <= batch.last_offset:
            self._producers.add(self._aborted.pop().producer_id)
        if not batch.is_control:
            return batch.is_transactional and batch.producer_id in self._producers
        if batch.producer_id in self._producers:
            markers = batch.records()
            if markers and ControlType.of(markers[0].key) is ControlType.ABORT:
                self._producers.discard(batch.producer_id)
        return True


class BatchReader:
    """Reads one answer's batches, one after the other; `next_offset` and `leader_epoch` follow. `aborted`: of a read_committed fetch; empty for others."""

    def __init__(self, partition: TopicPartition, data: Records | None, *, fetch_offset: int, aborted: Iterable[AbortedTransaction] = ()) -> None:
        self.partition = partition
        self.next_offset = fetch_offset
        self.leader_epoch = -1
        self.check_crcs = True
        self._fetch_offset = fetch_offset
        buffer = join_records([data]) if data is not None and not isinstance(data, (bytes, memoryview)) else data
        self._batches = iterate_batches(buffer or b"")
        self._hidden = HiddenBatches(aborted)
        self.size_in_bytes = len(buffer) if buffer is not None else 0

    def __iter__(self) -> Iterator[list[ConsumerRecord]]:
        """The records of each batch from the fetch offset on; may be empty. Raises as the records package does for a batch that is damaged."""
        for batch in self._batches:
            if self.check_crcs:
                batch.ensure_valid()
            records = [] if self._hidden.hides(batch) else self._records_of(batch)
            self.next_offset = max(self.next_offset, batch.next_offset if isinstance(batch, RecordBatch) else batch.last_offset + 1)
            self.leader_epoch = batch.partition_leader_epoch
            yield records

    def _records_of(self, batch: AnyBatch) -> list[ConsumerRecord]:
        (topic, number), kind, epoch, new = self.partition, batch.timestamp_type, batch.partition_leader_epoch, tuple.__new__
        records: list[Record] = batch.records()
        if records and records[0].offset < self._fetch_offset:
            records = [each for each in records if each.offset >= self._fetch_offset]
        return [new(ConsumerRecord, (topic, number, offset, timestamp, key, value, headers, kind, epoch)) for offset, timestamp, key, value, headers in records]


def read_fetched(partition: TopicPartition, data: Records | None, *, fetch_offset: int) -> FetchedRecords:
    """All records from `fetch_offset` on. Raises as the records package does for a batch whose checksum is wrong."""
    reader = BatchReader(partition, data, fetch_offset=fetch_offset)
    found: list[ConsumerRecord] = []
    for records in reader:
        found += records
    return FetchedRecords(tuple(found), reader.next_offset)
