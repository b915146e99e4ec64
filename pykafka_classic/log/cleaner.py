"""Compaction of one log, the part that reads and writes: it runs on background threads and touches only segments that never change.

1. `build_map`: walk the dirty part (what no pass has seen yet) and note the last offset of every key.
2. `clean_group`: walk the log from its start, segment by segment, and copy into `.cleaned` segments what is not outdated. Small neighbours are written
   together.

A record is kept if it has a key, no later record of the map has the same one, and, if it is a tombstone (no value), it is not old enough to be forgotten. What
lies behind the map's end is copied as it is. Checksums are looked at before anything is copied: batches that lose records get new ones, and damage would be
covered up. A damaged segment is left as it is, and the log is not compacted any more.

See cleaned_transactions.py for transactions and record_filter.py for batches.

Both are generators that pause after some megabytes: what drives them may wait there, to keep to `log.cleaner.io.max.bytes.per.second`.

Source: facts/storage.md 11; LogCleaner.scala (Cleaner).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias, TypeVar

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.log import names
from pykafka_classic.log.batch_header import BatchHeader, CorruptBatch, parse_header, verified_batches
from pykafka_classic.log.cleaned_transactions import CleanedTransactions
from pykafka_classic.log.file_system import File, FileSystem
from pykafka_classic.log.log_append import largest_of
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.log_values import RELATIVE_OFFSET_MAX
from pykafka_classic.log.offset_map import OffsetMap
from pykafka_classic.log.record_filter import with_records, without_records
from pykafka_classic.log.transaction_index import AbortedTransaction
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, iterate_batches

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]  # work with pauses, and its result

WRITE_BYTES: Final = 1024 * 1024  # collected before they are written
STEP_BYTES: Final = 4 * 1024 * 1024  # read between two pauses


class CleaningAborted(Exception):
    """The log was truncated, deleted or moved meanwhile, or the broker stops: what has been written is thrown away."""


class LastRecord(NamedTuple):
    """Where a producer stands: its last batch of records (None: only markers are left of it) and its epoch."""

    last_data_offset: int | None
    producer_epoch: int


class Source(NamedTuple):
    """A segment to be read."""

    base_offset: int
    end_offset: int  # where the next segment begins
    size: int
    aborted: Sequence[AbortedTransaction]  # those that overlap it


@dataclass(slots=True)
class CleanStats:
    """What a pass did."""

    bytes_read: int = 0
    bytes_written: int = 0
    map_bytes_read: int = 0
    records_read: int = 0
    records_written: int = 0
    records_without_key: int = 0

    @property
    def bytes_moved(self) -> int:
        """What the disk had to do."""
        return self.bytes_read + self.bytes_written + self.map_bytes_read


@dataclass(slots=True)
class CleanTask:
    """One pass over one log. `should_stop` is asked between batches."""

    directory: str
    config: LogConfig
    sources: Sequence[Source]  # from the log's start to the first that may not be cleaned
    first_dirty_offset: int
    end_offset: int  # exclusive
    last_records: Mapping[int, LastRecord]  # by producer id
    should_stop: Callable[[], bool]
    delete_horizon_ms: int = 0  # a segment not modified since loses its tombstones and markers
    stats: CleanStats = field(default_factory=CleanStats)


class Cleaner:
    """Does the work of one pass. `services` are its own: their open files are used on the background thread only."""

    def __init__(self, services: LogServices, task: CleanTask) -> None:
        self._services = services
        self._file_system: FileSystem = services.file_system
        self._task = task
        self._transactions = CleanedTransactions()
        self.map = OffsetMap(0)

    def build_map(self, entries_max: int) -> Steps[list[list[Source]]]:
        """Note the keys of the dirty part, as many as fit; the sources, in groups that go into one cleaned segment each.

        The first batch goes in whole, however many keys it has: without it there would never be a second.
        """
        self.map = OffsetMap(entries_max)
        dirty = [source for source in self._task.sources if source.end_offset > self._task.first_dirty_offset]
        transactions = CleanedTransactions({aborted for source in dirty for aborted in source.aborted})
        for source in dirty:
            if not (yield from self._map_segment(source, transactions)):
                break
            self.map.latest_offset = max(self.map.latest_offset, min(source.end_offset, self._task.end_offset) - 1)
        self._set_horizon()
        return self._grouped([source for source in self._task.sources if source.base_offset <= self.map.latest_offset])

    def clean_group(self, group: Sequence[Source]) -> Steps[LogSegment]:
        """Write one `.cleaned` segment, synced, with the last source's time of modification. Raises CleaningAborted, after removing it."""
        task = self._task
        cleaned = LogSegment.create(self._services, task.directory, group[0].base_offset, task.config, names.CLEANED)
        self._transactions.index = cleaned.transaction_index
        try:
            for source in group:
                self._transactions.add(source.aborted)
                yield from self._copy(source, cleaned)
        except BaseException:
            cleaned.remove_files()
            raise
        cleaned.on_become_inactive()
        cleaned.sync()
        cleaned.release()
        self._file_system.set_modified_ms(cleaned.path(names.LOG), self._modified_ms(group[-1]))
        return cleaned

    def _map_segment(self, source: Source, transactions: CleanedTransactions) -> Steps[bool]:
        """False where the map is full."""
        stats, pause_at = self._task.stats, self._task.stats.map_bytes_read + STEP_BYTES
        for header, view in self._batches(source):
            stats.map_bytes_read += header.size
            if stats.map_bytes_read >= pause_at:
                yield
                pause_at = stats.map_bytes_read + STEP_BYTES
            if header.last_offset < self._task.first_dirty_offset:
                continue
            if header.is_control:
                transactions.is_marker_obsolete(header, view)
            elif not transactions.is_aborted(header) and not self._map_batch(view):
                return False
            self.map.latest_offset = header.last_offset
        return True

    def _map_batch(self, view: memoryview) -> bool:
        is_first, offsets = self.map.latest_offset < self._task.first_dirty_offset, self.map
        for record in _batch(view).records():
            if record.key is not None and record.offset >= self._task.first_dirty_offset and not offsets.put(record.key, record.offset, over_limit=is_first):
                return False
        return True

    def _set_horizon(self) -> None:
        clean = [source for source in self._task.sources if source.base_offset < self._task.first_dirty_offset]
        self._task.delete_horizon_ms = self._modified_ms(clean[-1]) - self._task.config.delete_retention_ms if clean else 0

    def _grouped(self, sources: Sequence[Source]) -> list[list[Source]]:
        groups: list[list[Source]] = []
        log_size = index_size = 0
        for source in sources:
            source_index_size = self._index_size(source)
            fits = (
                bool(groups)
                and log_size + source.size <= self._task.config.segment_bytes
                and index_size + source_index_size <= self._task.config.segment_index_bytes
                and source.end_offset - 1 - groups[-1][0].base_offset <= RELATIVE_OFFSET_MAX
            )
            if not fits:
                groups.append([])
                log_size = index_size = 0
            groups[-1].append(source)
            log_size, index_size = log_size + source.size, index_size + source_index_size
        return groups

    def _copy(self, source: Source, cleaned: LogSegment) -> Steps[None]:
        retain_deletes = self._modified_ms(source) > self._task.delete_horizon_ms
        stats, pause_at = self._task.stats, self._task.stats.bytes_read + STEP_BYTES
        out, size = list[bytes | memoryview](), 0
        for header, view in self._batches(source):
            stats.bytes_read += header.size
            kept = self._kept(header, view, retain_deletes=retain_deletes)
            if kept is not None:
                out.append(kept)
                size += len(kept)
            if size >= WRITE_BYTES:
                self._write(cleaned, out)
                out, size = [], 0
            if stats.bytes_read >= pause_at:
                yield
                pause_at = stats.bytes_read + STEP_BYTES
        self._write(cleaned, out)

    def _kept(self, header: BatchHeader, view: memoryview, *, retain_deletes: bool) -> bytes | memoryview | None:
        """What is left of a batch; None for nothing."""
        if header.is_control:
            discard = self._transactions.is_marker_obsolete(header, view) and not retain_deletes
            if not discard and len(view) > _EMPTY_BATCH_SIZE:
                return view
        else:
            discard = self._transactions.is_aborted(header)
        batch = _batch(view)
        records = [] if discard or header.is_control else batch.records()
        retained = [record for record in records if self._is_kept(record, retain_deletes=retain_deletes)]
        stats = self._task.stats
        stats.records_read, stats.records_written = stats.records_read + len(records), stats.records_written + len(retained)
        if retained:
            return view if len(retained) == len(records) else with_records(batch, retained)
        return without_records(batch) if isinstance(batch, RecordBatch) and self._is_last_of_producer(header) else None

    def _is_kept(self, record: Record, *, retain_deletes: bool) -> bool:
        if record.offset > self.map.latest_offset:
            return True
        if record.key is None:
            self._task.stats.records_without_key += 1
            return False
        return record.offset >= self.map.get(record.key) and (record.value is not None or retain_deletes)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last = self._task.last_records.get(header.producer_id)
        if last is None or header.producer_id < 0:
            return False
        if last.last_data_offset is not None:
            return header.last_offset == last.last_data_offset
        return header.is_control and header.producer_epoch == last.producer_epoch

    def _write(self, cleaned: LogSegment, out: Sequence[bytes | memoryview]) -> None:
        if not out:
            return
        headers, position = [], 0
        for batch in out:
            headers.append(parse_header(batch, 0, position))
            position += len(batch)
        cleaned.append([b"".join(out)], headers, largest_of(headers))
        self._task.stats.bytes_written += position

    def _batches(self, source: Source) -> Iterator[tuple[BatchHeader, memoryview]]:
        with self._opened(source) as file:
            try:
                for found in verified_batches(file, source.size, source.base_offset):
                    if self._task.should_stop():
                        raise CleaningAborted
                    yield found
            except CorruptBatch as error:
                raise CorruptBatch(f"{self._path(source, names.LOG)}, {error}") from error

    @contextmanager
    def _opened(self, source: Source) -> Iterator[File]:
        try:
            file = self._file_system.open(self._path(source, names.LOG))
        except FileNotFoundError as error:  # the log was deleted or renamed
            raise CleaningAborted from error
        try:
            yield file
        finally:
            file.close()

    def _path(self, source: Source, kind: str) -> str:
        return f"{self._task.directory}/{names.numbered_name(source.base_offset, kind)}"

    def _index_size(self, source: Source) -> int:
        paths = (self._path(source, names.INDEX), self._path(source, names.TIME_INDEX))
        return max(self._file_system.size(path) if self._file_system.exists(path) else 0 for path in paths)

    def _modified_ms(self, source: Source) -> int:
        try:
            return self._file_system.modified_ms(self._path(source, names.LOG))
        except FileNotFoundError as error:
            raise CleaningAborted from error


_EMPTY_BATCH_SIZE = 61


def _batch(view: memoryview) -> AnyBatch:
    return next(iterate_batches(view))
