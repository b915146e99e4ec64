"""From the bytes of a Fetch answer to the records that a consumer hands out.

An answer begins with a whole batch that may start before the offset asked for, and may end in a batch that is cut off; control batches are for the
broker's own eyes, but their offsets count as read (facts/protocol.md 9).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.schema import Records, join_records
from pykafka_classic.records.record_batch import RecordBatch, iterate_batches


@dataclass(frozen=True, slots=True)
class ConsumerRecord:
    """A record and where it lies. `timestamp`: ms since the epoch, -1: none."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """What one answer holds of one partition."""

    records: tuple[ConsumerRecord, ...]
    next_offset: int  # where to fetch next


def read_fetched(partition: TopicPartition, data: Records | None, *, fetch_offset: int) -> FetchedRecords:
    """The records from `fetch_offset` on. Raises as the records package does for a batch whose checksum is wrong."""
    found: list[ConsumerRecord] = []
    next_offset = fetch_offset
    for batch in iterate_batches(join_records([data]) if data is not None else b""):
        batch.ensure_valid()
        next_offset = max(next_offset, batch.next_offset if isinstance(batch, RecordBatch) else batch.last_offset + 1)
        if isinstance(batch, RecordBatch) and batch.is_control:
            continue
        found += [
            ConsumerRecord(
                partition.topic,
                partition.partition,
                each.offset,
                each.timestamp,
                each.key,
                each.value,
                tuple((header.key, header.value) for header in each.headers),
            )
            for each in batch.records()
            if each.offset >= fetch_offset
        ]
    return FetchedRecords(tuple(found), next_offset)
