"""Finding things in a log: byte ranges for fetches, offsets by time.

Source: facts/storage.md 14; Log.scala (read, fetchOffsetByTimestamp, legacyFetchOffsetsBefore), LogSegment.scala (read).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.file_records import FileRecords, ReadableFile
from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.log_values import FetchDataInfo, LogOffsetMetadata, TimestampedOffset
from pykafka_classic.log.segment_times import first_batch_not_before
from pykafka_classic.log.transaction_index import AbortedTransaction
from pykafka_classic.records.layout import CODEC_MASK
from pykafka_classic.records.record_batch import iterate_batches

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log
    from pykafka_classic.log.log_segment import LogSegment, OffsetPosition

EARLIEST: Final = -2
LATEST: Final = -1
SEARCHED_AT_ONCE: Final = 64 * 1024  # bytes of a plain batch whose records are looked at without another thread


def read_segment(segment: LogSegment, start_offset: int, max_length: int, end: int, *, min_one_message: bool) -> FetchDataInfo | None:
    """The batches of one segment from `start_offset` on, up to position `end`; None where all of them end before.

    Raises CorruptRecord (CORRUPT_MESSAGE) where damage hides them.
    """
    found = segment.translate_offset(start_offset)
    if found is None:
        segment.require_readable(start_offset)
        return None
    metadata = LogOffsetMetadata(start_offset, segment.base_offset, found.position)
    length = min(end - found.position, max(max_length, found.size) if min_one_message else max_length)
    if length <= 0:
        return FetchDataInfo(metadata)
    return FetchDataInfo(metadata, FileRecords(segment.file(), found.position, length), first_entry_incomplete=length < found.size)


def position_of(segment: LogSegment, offset: int) -> int:
    """Where `offset` begins in this segment, or would."""
    found: OffsetPosition | None = segment.translate_offset(offset)
    return segment.size if found is None else found.position


def bytes_between(log: Log, offset: int, max_offset: int) -> int:
    """Bytes of the batches from `offset` up to `max_offset`, over segments."""
    if max_offset <= offset:
        return 0
    start, end = log.offset_metadata(offset), log.offset_metadata(max_offset)
    if start.is_on_same_segment_as(end):
        return max(end.bytes_after(start), 0)
    between = log.segments.between(start.segment_base_offset, end.segment_base_offset)
    return max(sum(segment.size for segment in between) - start.relative_position + end.relative_position, 0)


def out_of_range(log: Log, offset: int) -> KafkaError:
    """What a reader outside the log is told."""
    message = (
        f"Received request for offset {offset} for partition {log.topic_partition}, "
        f"but we only have log segments in the range {log.log_start_offset} to {log.log_end_offset}."
    )
    return KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)


def with_aborted(log: Log, segment: LogSegment, info: FetchDataInfo, max_offset: int) -> FetchDataInfo:
    """The same answer with the aborted transactions that overlap it."""
    return info._replace(aborted_transactions=_aborted_transactions(log, segment, info, max_offset))


def _aborted_transactions(log: Log, segment: LogSegment, info: FetchDataInfo, max_offset: int) -> tuple[AbortedTransaction, ...]:
    """Those that overlap what was read; a few behind it may be among them, never one below missing."""
    if info.records is None:
        return ()
    upper_bound = segment.offset_index.offset_at_or_after(info.records.position + info.records.length)
    if upper_bound is None:
        following = log.segments.higher(segment.base_offset)
        upper_bound = following.base_offset if following is not None else log.log_end_offset
    return tuple(aborted_between(log, info.fetch_offset_metadata.offset, min(upper_bound, max_offset)))


def aborted_between(log: Log, offset: int, max_offset: int) -> list[AbortedTransaction]:
    """Aborted transactions that overlap [offset, max_offset), in the order of their markers."""
    collected: list[AbortedTransaction] = []
    for segment in log.segments.from_offset(offset):
        found, complete = segment.transaction_index.collect(offset, max_offset)
        collected += found
        if complete:
            break
    return collected


async def offset_for_timestamp(log: Log, timestamp: int) -> TimestampedOffset | None:
    """The first record at or after the log start with a timestamp not below `timestamp`; EARLIEST and LATEST name the log's ends.

    A batch that takes long to unpack is searched in a thread. Raises KafkaError.
    """
    if timestamp == EARLIEST:
        first = log.leader_epoch_cache.entries[:1]
        return TimestampedOffset(-1, log.log_start_offset, first[0][0] if first and first[0][1] <= log.log_start_offset else None)
    if timestamp == LATEST:
        return TimestampedOffset(-1, log.log_end_offset, log.leader_epoch_cache.latest_epoch())
    if log.record_version == 0:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            f"Cannot search offsets based on timestamp because message format version for partition {log.topic_partition} is "
            f"{log.config.message_format_version} which is earlier than the minimum required version 0.10.0-IV0",
        )
    try:
        for segment in list(log.segments):
            if segment.retention_timestamp() >= timestamp and (found := await _record_at_or_after(log, segment, timestamp)) is not None:
                return found  # a segment that was truncated to nothing goes by its file's time, and holds no record
    except OSError as error:
        raise log.storage_failed(error) from error
    return None


async def _record_at_or_after(log: Log, segment: LogSegment, timestamp: int) -> TimestampedOffset | None:
    start = log.log_start_offset
    header = first_batch_not_before(segment, timestamp, start)
    while header is not None:
        search = partial(_search, segment.file(), header, timestamp, start)
        is_small = header.size <= SEARCHED_AT_ONCE and not header.attributes & CODEC_MASK
        found = search() if is_small else await log.services.background.run(search)
        if found is not None:
            return found
        header = first_batch_not_before(segment, timestamp, header.last_offset + 1)
    return None


def _search(file: ReadableFile, header: BatchHeader, timestamp: int, start: int) -> TimestampedOffset | None:
    """The first such record of one batch. In any thread."""
    (batch,) = iterate_batches(file.read_at(header.position, header.size))
    batch.ensure_valid()
    for record in batch.records():
        if record.timestamp >= timestamp and record.offset >= start:
            return TimestampedOffset(record.timestamp, record.offset, header.leader_epoch if header.leader_epoch >= 0 else None)
    return None


def legacy_offsets_before(log: Log, timestamp: int, max_num: int) -> list[int]:
    """ListOffsets v0: segment starts with their file's times, and the log's end with now; newest first, from the last not younger than `timestamp`."""
    segments = list(log.segments)
    candidates = [(max(segment.base_offset, log.log_start_offset), segment.modified_ms()) for segment in segments]
    if segments[-1].size:
        candidates.append((log.log_end_offset, log.now_ms()))
    if timestamp == EARLIEST:
        candidates = candidates[:1]
    elif timestamp != LATEST:
        while candidates and candidates[-1][1] > timestamp:
            candidates.pop()
    return sorted((offset for offset, _ in candidates[::-1][:max_num]), reverse=True)
