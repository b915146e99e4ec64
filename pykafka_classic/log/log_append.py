"""What is asked of records before they are appended: whole batches, right checksums, offsets in order.

A follower takes over offsets and epochs as its leader gave them; a leader lets `log_validator` assign them. Both write batches as they came, never record by
record.

Source: facts/storage.md 8; Log.scala (analyzeAndValidateRecords, append).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.batch_header import BatchHeader, CorruptBatch, has_valid_crc, iterate_headers
from pykafka_classic.log.log_values import RELATIVE_OFFSET_MAX, LogAppendInfo
from pykafka_classic.log.time_index import NO_TIMESTAMP, TimestampOffset

Buffer: TypeAlias = "bytes | bytearray | memoryview"


class Incoming(NamedTuple):
    """Batches ready to be written: buffers, their size, their headers (positions from 0 on), and the largest timestamp with its offset."""

    buffers: Sequence[Buffer]
    size: int
    batches: Sequence[BatchHeader]
    largest: TimestampOffset

    @property
    def first_offset(self) -> int:
        """Of the first batch (magic 0 and 1: its last one, the header has no other)."""
        return self.batches[0].base_offset

    @property
    def last_offset(self) -> int:
        """Of the last batch."""
        return self.batches[-1].last_offset

    def append_info(self) -> LogAppendInfo:
        """What will be told about this append."""
        return LogAppendInfo(
            first_offset=self.first_offset,
            last_offset=self.last_offset,
            max_timestamp=self.largest.timestamp,
            offset_of_max_timestamp=self.largest.offset,
            size=self.size,
            batch_count=len(self.batches),
            last_leader_epoch=self.batches[-1].leader_epoch,
        )


def largest_of(batches: Sequence[BatchHeader]) -> TimestampOffset:
    """The largest timestamp of these batches, and the last offset of the first batch that has it."""
    largest = TimestampOffset(NO_TIMESTAMP, -1)
    for batch in batches:
        if batch.max_timestamp > largest.timestamp:
            largest = TimestampOffset(batch.max_timestamp, batch.last_offset)
    return largest


def from_leader(records: bytes | memoryview, log_end_offset: int, partition: object) -> Incoming | None:
    """Check what a follower fetched; None where there is no whole batch in it. A torn last batch is cut off.

    Raises KafkaError CORRUPT_MESSAGE for bytes that are no batches, OFFSET_OUT_OF_RANGE where offsets go backwards or begin below `log_end_offset`.
    """
    view = memoryview(records)
    try:
        batches = [header for header in iterate_headers(view) if _checked(view, header)]
    except CorruptBatch as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"Record is corrupt in topic partition {partition}: {error}") from error
    if not batches:
        return None
    _require_order(batches, log_end_offset, partition)
    size = batches[-1].position + batches[-1].size
    return Incoming([view[:size]], size, batches, largest_of(batches))


def _checked(view: memoryview, header: BatchHeader) -> bool:
    if not has_valid_crc(view[header.position : header.position + header.size], header):
        raise CorruptBatch(f"checksum of the batch at offset {header.base_offset}")
    return True


def _require_order(batches: Sequence[BatchHeader], log_end_offset: int, partition: object) -> None:
    expected = log_end_offset
    for batch in batches:
        first_offset = batch.base_offset
        if (first_offset < expected and batch.last_offset < expected) or (batch.magic == 2 and first_offset < expected):
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Unexpected offset in append to {partition}. First offset {first_offset} is less than the next offset {expected}.",
            )
        expected = batch.last_offset + 1


def fitting_runs(incoming: Incoming, active_size: int, segment_bytes: int) -> Iterator[Incoming]:
    """Cut an append that one segment cannot hold into runs that fit: the first into what room the active segment has, the others into new ones.

    It may have too many bytes, or (after compaction on the leader) offsets that lie further apart than an index can tell.
    """
    if incoming.size <= segment_bytes and incoming.last_offset - incoming.first_offset <= RELATIVE_OFFSET_MAX:
        yield incoming
        return
    view = memoryview(b"".join(incoming.buffers)) if len(incoming.buffers) > 1 else memoryview(incoming.buffers[0])
    run: list[BatchHeader] = []
    room = segment_bytes - active_size
    for batch in incoming.batches:
        if run and (batch.position + batch.size - run[0].position > room or batch.last_offset - run[0].base_offset > RELATIVE_OFFSET_MAX):
            yield _part(view, run)
            run, room = [], segment_bytes
        run.append(batch)
    yield _part(view, run)


def _part(view: memoryview, run: Sequence[BatchHeader]) -> Incoming:
    start, end = run[0].position, run[-1].position + run[-1].size
    batches = [batch._replace(position=batch.position - start) for batch in run]
    return Incoming([view[start:end]], end - start, batches, largest_of(batches))
