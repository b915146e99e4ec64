"""What a segment's time index says, and whether to believe it.

An entry says that no record up to its offset is younger than its timestamp, and that the record with that offset has just this timestamp. The second can be
checked with one look at a batch header. An entry that lies (a damaged file: no checksum covers indexes) would hide records from lookups, and make retention
delete a segment too soon; so it is not believed, and the batches are asked instead.

Source: facts/storage.md 4, 14; LogSegment.scala (findOffsetByTimestamp, loadLargestTimestamp). Kafka believes its index.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.time_index import NO_TIMESTAMP, TimestampOffset

if TYPE_CHECKING:
    from pykafka_classic.log.log_segment import LogSegment

log = logging.getLogger("kafka.log.LogSegment")


def largest_timestamp(segment: LogSegment) -> TimestampOffset:
    """The largest timestamp of a segment found on disk, by its index where that can be believed: a closed one with timestamps has one entry at least."""
    largest = segment.time_index.last_entry
    lost = largest.timestamp < 0 and segment.first_timestamp >= 0
    return scan_largest_timestamp(segment) if lost or segment.time_index.is_damaged or not _is_true(segment, largest) else largest


def scan_largest_timestamp(segment: LogSegment) -> TimestampOffset:
    """The same with a walk over the batches behind the last entry: more may have come than is indexed."""
    largest = _believed(segment, segment.time_index.last_entry)
    for header in segment.headers(segment.position_before(largest.offset)):
        if header.max_timestamp > largest.timestamp:
            largest = TimestampOffset(header.max_timestamp, header.last_offset)
    return largest


def first_batch_not_before(segment: LogSegment, timestamp: int, starting_offset: int) -> BatchHeader | None:
    """The first batch with a timestamp at or above `timestamp` that ends at or after `starting_offset`."""
    indexed = _believed(segment, segment.time_index.lookup(timestamp))
    for header in segment.headers(segment.position_before(max(indexed.offset, starting_offset))):
        if header.max_timestamp >= timestamp and header.last_offset >= starting_offset:
            return header
    return None


def _believed(segment: LogSegment, entry: TimestampOffset) -> TimestampOffset:
    return entry if _is_true(segment, entry) else TimestampOffset(NO_TIMESTAMP, segment.base_offset)


def _is_true(segment: LogSegment, entry: TimestampOffset) -> bool:
    if entry.timestamp < 0:
        return True
    header = next((header for header in segment.headers(segment.position_before(entry.offset)) if header.last_offset >= entry.offset), None)
    if header is not None and header.max_timestamp == entry.timestamp:
        return True
    log.warning("%s has a wrong entry for timestamp %d; reading without it", segment.time_index.file.path, entry.timestamp)
    return False
