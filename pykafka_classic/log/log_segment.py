"""One segment: a file of record batches from a base offset on, with its indexes.

Only the last segment of a log, the active one, is appended to; the others never change until they are deleted, truncated away or replaced by the cleaner.

Reading finds a byte range, it never decodes. Consumers and followers mostly stand at the end, so the active segment remembers the positions of its latest
batches (recent_batches.py) and answers them without touching the disk; others cost an index lookup and a walk over a few batch headers.

The index rule: a batch that begins more than `index.interval.bytes` behind the last indexed one gets an entry in both indexes. Appending and recovering share
it, so both give the same indexes.

With `preallocate` the file gets its full length when it is made, and loses what was not used when the segment is rolled, closed or truncated. After a crash the
zeros that are left end the data like any torn tail.

Differs from Kafka: that rule goes batch by batch where Kafka's goes append by append, so a follower's large fetch chunks are indexed as finely as what a
leader takes in; files are opened when needed (open_files.py); index entries are written in groups (index_file.py).

Source: facts/storage.md 4, 9, 14; LogSegment.scala.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.log import names, segment_times
from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.file_system import File, FileSystem
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.log_values import RELATIVE_OFFSET_MAX
from pykafka_classic.log.offset_index import OffsetIndex
from pykafka_classic.log.recent_batches import RecentBatches
from pykafka_classic.log.segment_headers import SegmentHeaders
from pykafka_classic.log.time_index import NO_TIMESTAMP, TimeIndex, TimestampOffset
from pykafka_classic.log.transaction_index import TransactionIndex

log = logging.getLogger("kafka.log.LogSegment")


class OffsetPosition(NamedTuple):
    """Where a batch lies in its segment: its last offset, first byte and size."""

    last_offset: int
    position: int
    size: int


class LogSegment:
    """See the module. `directory` and `suffix` (.cleaned, .swap, .deleted) make its path; they change by renaming."""

    __slots__ = (
        "_allocated",
        "_config",
        "_file",
        "_file_system",
        "_first_timestamp",
        "_jitter_ms",
        "_largest",
        "_max_age_ms",
        "_recent",
        "_services",
        "_since_index_entry",
        "base_offset",
        "created_ms",
        "directory",
        "offset_index",
        "size",
        "suffix",
        "time_index",
        "transaction_index",
    )

    def __init__(self, services: LogServices, directory: str, base_offset: int, config: LogConfig, suffix: str = "") -> None:
        self._services = services
        self._file_system: FileSystem = services.file_system
        self._config = config
        self.directory = directory
        self.base_offset = base_offset
        self.suffix = suffix
        self.size = 0  # bytes in the .log
        self.created_ms = services.clock.now_ms()
        self._jitter_ms = services.random.randrange(min(config.segment_jitter_ms, config.segment_ms)) if config.segment_jitter_ms else 0
        self._max_age_ms = config.max_segment_ms - self._jitter_ms
        self.offset_index = OffsetIndex(self._file_system, self.path(names.INDEX), base_offset, config.segment_index_bytes)
        self.time_index = TimeIndex(self._file_system, self.path(names.TIME_INDEX), base_offset, config.segment_index_bytes)
        self.transaction_index = TransactionIndex(self._file_system, self.path(names.TXN_INDEX), base_offset)
        self._file: File | None = None
        self._allocated = False  # the file is longer than `size`: room for what is to come, all zeros
        self._largest: TimestampOffset | None = None  # None: not looked up in the time index yet
        self._first_timestamp: int | None = None  # of the first batch; None: not read yet
        self._since_index_entry = 0
        self._recent = RecentBatches(base_offset)

    @classmethod
    def create(cls, services: LogServices, directory: str, base_offset: int, config: LogConfig, suffix: str = "") -> LogSegment:
        """A new, empty segment on disk; files of that name are emptied."""
        segment = cls(services, directory, base_offset, config, suffix)
        file = segment.file()
        if file.size():
            file.truncate(0)
        if config.preallocate and not suffix:
            file.truncate(config.segment_bytes)
            segment._allocated = True
        segment.offset_index.reset()
        segment.time_index.reset()
        segment.transaction_index.reset()
        segment._largest = TimestampOffset(NO_TIMESTAMP, base_offset)
        return segment

    @classmethod
    def load(cls, services: LogServices, directory: str, base_offset: int, config: LogConfig, suffix: str = "") -> LogSegment:
        """A segment found on disk. Reads nothing but the size."""
        segment = cls(services, directory, base_offset, config, suffix)
        segment.size = segment._file_system.size(segment.path(names.LOG))
        if segment.size:
            segment._recent.forget()
        return segment

    def __repr__(self) -> str:
        return f"LogSegment(baseOffset={self.base_offset}, size={self.size})"

    # Files

    def path(self, kind: str) -> str:
        """The path of one of its files."""
        return f"{self.directory}/{names.numbered_name(self.base_offset, kind, self.suffix)}"

    def file(self) -> File:
        """The .log, opened if need be."""
        if self._file is None:
            self._file = self._file_system.open(self.path(names.LOG), create=True)
            self._services.open_files.opened(self)
        else:
            self._services.open_files.used(self)
        return self._file

    def adopt(self, services: LogServices) -> None:
        """From now on belong to these services (a segment is loaded on another thread than it is used on)."""
        self.release()
        self._services = services

    def release(self) -> None:
        """Close the .log, write and unload the indexes; all come back when needed."""
        self._services.open_files.closed(self)
        if self._file is not None:
            self._file.close()
            self._file = None
        self.write_indexes()
        self.offset_index.unload()
        self.time_index.unload()
        self.transaction_index.unload()

    def close(self) -> None:
        """A clean end: complete indexes, no open file."""
        self.on_become_inactive()
        self.release()

    def rename(self, suffix: str) -> None:
        """Give all its files another suffix."""
        self.release()
        old_paths = [self.path(kind) for kind in (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX)]
        self.suffix = suffix
        for old, kind in zip(old_paths, (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX), strict=True):
            if self._file_system.exists(old):
                self._file_system.rename(old, self.path(kind))
        self._move_indexes()

    def moved_to(self, directory: str) -> None:
        """The log's directory has been renamed; the segment was released before."""
        self.directory = directory
        self._move_indexes()

    def remove_files(self) -> None:
        """Remove all its files from disk; absent ones do not matter."""
        self._services.open_files.closed(self)
        if self._file is not None:
            self._file.close()
            self._file = None
        for kind in (names.LOG, names.INDEX, names.TIME_INDEX, names.TXN_INDEX):
            path = self.path(kind)
            if self._file_system.exists(path):
                self._file_system.remove(path)

    def write_indexes(self) -> None:
        """Write index entries that are only in memory."""
        self.offset_index.write_pending()
        self.time_index.write_pending()

    def sync(self) -> None:
        """fsync all its files; those that are gone were deleted meanwhile. May run on a background thread, after `write_indexes`."""
        try:
            file = self._file_system.open(self.path(names.LOG))
        except FileNotFoundError:
            return
        try:
            file.sync()
        finally:
            file.close()
        self.offset_index.file.sync()
        self.time_index.file.sync()
        self.transaction_index.file.sync()

    # Appending

    def append(self, buffers: Sequence[bytes | bytearray | memoryview], batches: Sequence[BatchHeader], largest: TimestampOffset) -> int:
        """Write whole batches at the end; the position of the first byte.

        `batches` have positions from 0 on. `largest` is their largest timestamp with the offset that has it: for one batch a leader knows the very record.
        """
        file, start = self.file(), self.size
        if self._allocated:
            file.write_at(start, b"".join(buffers))
        else:
            start = file.append(buffers)
        if len(batches) == 1:
            batch = batches[0]
            self._note(start, batch.size, batch.last_offset, largest)
        else:
            for batch in batches:
                self._note(start + batch.position, batch.size, batch.last_offset, TimestampOffset(batch.max_timestamp, batch.last_offset))
        return start

    def note_batch(self, header: BatchHeader) -> None:
        """A batch found in the file by recovery counts as appended."""
        self._note(header.position, header.size, header.last_offset, TimestampOffset(header.max_timestamp, header.last_offset))

    def _note(self, position: int, size: int, last_offset: int, largest: TimestampOffset) -> None:
        known = self._largest or self.largest_timestamp
        if largest.timestamp > known.timestamp:
            self._largest = largest
        if self._since_index_entry > self._config.index_interval_bytes:
            self.offset_index.append(last_offset, position)
            self.time_index.maybe_append(*self.largest_timestamp)
            self._since_index_entry = 0
        self._since_index_entry += size
        if position == 0:
            self._first_timestamp = largest.timestamp
        self.size = position + size
        self._recent.append(last_offset, position)

    def should_roll(self, incoming_size: int, incoming_timestamp: int, incoming_last_offset: int) -> bool:
        """Whether the incoming batches belong into a new segment."""
        if self.size > self._config.segment_bytes - incoming_size or incoming_last_offset - self.base_offset > RELATIVE_OFFSET_MAX:
            return True
        if self.size and self.waited_ms(incoming_timestamp) > self._max_age_ms:
            return True
        return self.offset_index.is_full or self.time_index.is_full

    def waited_ms(self, incoming_timestamp: int) -> int:
        """Age for a roll by time: of the first batch's largest timestamp at the incoming records, else of this object at the clock."""
        first_timestamp = self.first_timestamp
        if first_timestamp >= 0:
            return incoming_timestamp - first_timestamp
        return self._services.clock.now_ms() - self.created_ms

    def on_become_inactive(self) -> None:
        """The segment is rolled or closed: its largest timestamp becomes the last time index entry."""
        largest = self.largest_timestamp
        self.time_index.maybe_append(*largest, at_roll=True)
        self.write_indexes()
        if self._allocated:
            self._cut_file(self.size)
        if self.size:
            self._recent.forget()

    def update_config(self, config: LogConfig) -> None:
        """A changed topic configuration; the size of the indexes stays."""
        self._config = config
        self._max_age_ms = config.max_segment_ms - self._jitter_ms

    # Looking

    @property
    def largest_timestamp(self) -> TimestampOffset:
        """The largest timestamp and the offset of a record that has it; (-1, base offset) without one."""
        if self._largest is None:
            self._largest = segment_times.largest_timestamp(self)
        return self._largest

    @property
    def first_timestamp(self) -> int:
        """The first batch's largest timestamp; -1 while there is none."""
        if self._first_timestamp is None:
            header = next(self.headers(), None)
            self._first_timestamp = header.max_timestamp if header is not None else NO_TIMESTAMP
        return self._first_timestamp

    def modified_ms(self) -> int:
        """Time of the file's last change."""
        return self._file_system.modified_ms(self.path(names.LOG))

    def retention_timestamp(self) -> int:
        """What retention goes by: the largest timestamp, or the file's time where records have none."""
        timestamp = self.largest_timestamp.timestamp
        return timestamp if timestamp >= 0 else self.modified_ms()

    def translate_offset(self, offset: int) -> OffsetPosition | None:
        """The first batch that ends at or after `offset`; None where there is none."""
        if offset >= self._recent.from_offset:
            found = self._recent.find(offset, self.size)
            return None if found is None else OffsetPosition(*found)
        for header in self.headers(self.position_before(offset)):
            if header.last_offset >= offset:
                return OffsetPosition(header.last_offset, header.position, header.size)
        return None

    def position_before(self, offset: int) -> int:
        """A position of a batch that begins at or before `offset`, as near as the index knows."""
        indexed_offset, position = self.offset_index.lookup(offset)
        if position == 0:
            return 0
        header = self._header_at(position)
        if header is None or not self.base_offset <= header.base_offset <= indexed_offset:
            log.warning("%s has a wrong entry for offset %d; reading from the segment's start", self.offset_index.file.path, indexed_offset)
            return 0
        return position

    def headers(self, position: int = 0) -> SegmentHeaders:
        """Batch headers from `position` to the end; damage ends the walk (and is logged)."""
        return SegmentHeaders(self.path(names.LOG), self.file(), position, self.size)

    def require_readable(self, offset: int) -> None:
        """For who found nothing at or after `offset`: raise CorruptRecord where that is so because of damage. Walks the headers from there."""
        headers = self.headers(self.position_before(offset))
        for _ in headers:
            continue
        headers.require_end()

    def end_offset(self) -> int:
        """The offset after its last batch; the base offset while it is empty. Walks the headers behind the last index entry."""
        remembered = self._recent.end_offset
        if remembered is not None:
            return remembered
        end = self.base_offset
        for header in self.headers(self.position_before(self.offset_index.last_offset)):
            end = header.last_offset + 1
        self._recent.begin(end)
        return end

    # Changing

    def truncate_to(self, offset: int) -> int:
        """Remove the batches from the one that holds `offset` on; the number of bytes cut."""
        found = self.translate_offset(offset)
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.transaction_index.truncate_to(offset)
        if found is None:
            self.require_readable(offset)
            return 0
        return self.truncate_to_position(found.position, offset)

    def truncate_to_position(self, position: int, offset: int) -> int:
        """Cut the file at a batch boundary, where `offset` would begin; the number of bytes cut. The indexes are the caller's."""
        cut = self.size - position
        if cut > 0 or self._allocated:
            self._cut_file(position)
        self.size = position
        self._since_index_entry = 0
        self._recent.truncate(position, offset)
        if position == 0:
            self.created_ms, self._first_timestamp = self._services.clock.now_ms(), None
        self._largest = segment_times.scan_largest_timestamp(self)
        return cut

    def _cut_file(self, size: int) -> None:
        self.file().truncate(size)
        self._allocated = False

    def start_recovery(self) -> None:
        """Empty the indexes and forget what was derived from them."""
        for index in (self.offset_index, self.time_index, self.transaction_index):
            index.reset()
        self._largest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._first_timestamp = None
        self._since_index_entry = 0
        self._recent = RecentBatches(self.base_offset)

    def _header_at(self, position: int) -> BatchHeader | None:
        return next(self.headers(position), None) if position < self.size else None

    def _move_indexes(self) -> None:
        self.offset_index.file.path = self.path(names.INDEX)
        self.time_index.file.path = self.path(names.TIME_INDEX)
        self.transaction_index.file.path = self.path(names.TXN_INDEX)
