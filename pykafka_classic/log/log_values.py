"""What a log hands out: where an offset lies, what was appended, what was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.log.transaction_index import AbortedTransaction

UNKNOWN: Final = -1
RELATIVE_OFFSET_MAX: Final = 0x7FFFFFFF  # how far behind its base offset a segment may reach: its indexes have 32 bits for it


class LogOffsetMetadata(NamedTuple):
    """An offset with the place of its batch: which segment, which byte in it. Two in one segment tell the bytes between them. -1: place not known."""

    offset: int
    segment_base_offset: int = UNKNOWN
    relative_position: int = UNKNOWN

    def is_on_older_segment_than(self, other: LogOffsetMetadata) -> bool:
        """True where another segment begins between the two."""
        return self.segment_base_offset < other.segment_base_offset

    def is_on_same_segment_as(self, other: LogOffsetMetadata) -> bool:
        """True where `bytes_after` means something."""
        return self.segment_base_offset == other.segment_base_offset

    def bytes_after(self, other: LogOffsetMetadata) -> int:
        """Bytes from `other` up to this one; both in one segment."""
        return self.relative_position - other.relative_position


@dataclass(slots=True)
class LogAppendInfo:
    """What an append did. `first_offset` -1: there was nothing to append. Timestamps in ms, -1 for none."""

    first_offset: int = UNKNOWN
    last_offset: int = UNKNOWN
    max_timestamp: int = UNKNOWN
    offset_of_max_timestamp: int = UNKNOWN
    log_append_time: int = UNKNOWN  # the broker's time, where the topic asks for it (or a duplicate's timestamp)
    log_start_offset: int = UNKNOWN
    size: int = 0  # bytes written
    batch_count: int = 0
    duplicate: bool = False  # the producer had sent this before: nothing was written, the offsets are the old ones
    last_leader_epoch: int = UNKNOWN  # of the last batch
    converted_count: int = 0  # records that had to be rewritten in another format


class FetchDataInfo(NamedTuple):
    """A range of a segment file that answers a fetch. `records` None: nothing (yet)."""

    fetch_offset_metadata: LogOffsetMetadata
    records: FileRecords | None = None
    first_entry_incomplete: bool = False  # `records` is too short for its first batch
    aborted_transactions: tuple[AbortedTransaction, ...] | None = None  # only for read_committed


class TimestampedOffset(NamedTuple):
    """A record found by time: its timestamp, offset and the leader epoch of its batch (None: the format has none)."""

    timestamp: int
    offset: int
    leader_epoch: int | None
