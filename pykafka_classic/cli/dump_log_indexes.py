"""What kafka-dump-log prints of the files beside a .log: .index, .timeindex, .txnindex and .snapshot. `log/` has their formats.

The entries are read here as they lie there: the index classes of `log/` leave out what looks damaged, and that is what one wants to see. An index that was
allocated in advance (the active segment's, of a Java broker) ends with zeros, where the dump ends too.

Source: facts/tools.md 14; 2.8 DumpLogSegments.scala, AbstractIndex.scala.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from pykafka_classic.cli.dump_log_files import DumpError, LogFile, base_offset_of, beside, log_beside
from pykafka_classic.cli.dump_log_findings import Findings
from pykafka_classic.cli.dump_log_records import records_of
from pykafka_classic.log import names, offset_index, time_index, transaction_index
from pykafka_classic.log.producer_snapshot import decode_snapshot
from pykafka_classic.records.layout import SEQUENCE_MAX


@dataclass(frozen=True, slots=True)
class IndexCheck:
    """What to do with an index.

    Attributes:
        sanity_only: only what a broker looks at when it starts.
        verify_only: compare with the log, print nothing.
        message_size_max: bytes of the largest batch that is looked for.
    """

    sanity_only: bool
    verify_only: bool
    message_size_max: int


def dump_offset_index(path: str, check: IndexCheck, findings: Findings) -> Iterator[str]:
    """The lines for an .index. Raises DumpError, OSError."""
    base_offset = base_offset_of(path)
    log = LogFile(log_beside(path))
    try:
        data = _whole_entries(path, offset_index.ENTRY)
        if not data:
            yield f"{path} is empty."
            return
        if check.sanity_only:
            relative, _ = offset_index.ENTRY.unpack(data[-offset_index.ENTRY.size :])
            _check_sanity(path, offset_index.ENTRY.size, base_offset, base_offset + relative)
            yield f"{path} passed sanity check."
            return
        for offset, position in _used_offsets(data, base_offset):
            found = next(log.batches(position, check.message_size_max), None)
            if found is None:
                raise DumpError(
                    f"{path} says position {position} for offset {offset}, where {log.path} has no batch of at most {check.message_size_max} bytes."
                )
            if found.batch.last_offset != offset:
                findings.index_mismatch(path, offset, found.batch.last_offset)
            if not check.verify_only:
                yield f"offset: {offset} position: {position}"
    finally:
        log.close()


def dump_time_index(path: str, check: IndexCheck, findings: Findings) -> Iterator[str]:
    """The lines for a .timeindex. Raises DumpError, OSError."""
    base_offset = base_offset_of(path)
    log = LogFile(log_beside(path))
    try:
        positions = list(_used_offsets(_whole_entries(beside(path, names.INDEX), offset_index.ENTRY), base_offset))
        data = _whole_entries(path, time_index.ENTRY)
        if check.sanity_only:
            _check_time_sanity(path, data, base_offset)
            yield f"{path} passed sanity check."
            return
        before = time_index.NO_TIMESTAMP
        for offset, timestamp in _used(((base_offset + relative, timestamp) for timestamp, relative in time_index.ENTRY.iter_unpack(data)), base_offset):
            index = bisect_right(positions, offset, key=lambda entry: entry[0])
            _check_time(log, positions[index - 1][1] if index else 0, (path, offset, timestamp, before), findings)
            if not check.verify_only:
                yield f"timestamp: {timestamp} offset: {offset}"
            before = timestamp
    finally:
        log.close()


def _check_time(log: LogFile, position: int, entry: tuple[str, int, int, int], findings: Findings) -> None:
    """Compare one entry (file, offset, timestamp, timestamp before) with the log, from a position on."""
    path, offset, timestamp, before = entry
    found = next((each for each in log.batches(position) if each.batch.last_offset >= offset), None)
    if found is None or found.batch.last_offset != offset:
        findings.time_of_no_batch(path, offset, -1 if found is None else found.batch.last_offset)
        return
    largest = max((seen.record.timestamp for seen in records_of(found, log.path)), default=time_index.NO_TIMESTAMP)
    largest = max(largest, time_index.NO_TIMESTAMP)
    if largest != timestamp:
        findings.wrong_time(path, timestamp, largest)
    if before >= timestamp:
        findings.time_out_of_order(path, timestamp, before)


def dump_transaction_index(path: str) -> Iterator[str]:
    """The lines for a .txnindex. Raises DumpError, OSError."""
    base_offset_of(path)
    for version, *fields in transaction_index.ENTRY.iter_unpack(_whole_entries(path, transaction_index.ENTRY)):
        entry = transaction_index.AbortedTransaction(*fields)
        yield (
            f"version: {version} producerId: {entry.producer_id} firstOffset: {entry.first_offset}"
            f" lastOffset: {entry.last_offset} lastStableOffset: {entry.last_stable_offset}"
        )


def dump_snapshot(path: str) -> Iterator[str]:
    """The lines for a .snapshot. Raises CorruptSnapshot, OSError."""
    for entry in decode_snapshot(Path(path).read_bytes()):
        first_offset = "None" if entry.first_offset_of_transaction is None else f"Some({entry.first_offset_of_transaction})"
        line = (
            f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} coordinatorEpoch: {entry.coordinator_epoch}"
            f" currentTxnFirstOffset: {first_offset} "
        )
        if entry.batches:
            batch = entry.batches[0]
            first_sequence = (batch.last_sequence - batch.offset_delta) & SEQUENCE_MAX
            line += (
                f"firstSequence: {first_sequence} lastSequence: {batch.last_sequence} lastOffset: {batch.last_offset}"
                f" offsetDelta: {batch.offset_delta} timestamp: {batch.timestamp}"
            )
        yield line


def _whole_entries(path: str, entry: Struct) -> bytes:
    data = Path(path).read_bytes()
    return data[: len(data) // entry.size * entry.size]


def _used_offsets(data: bytes, base_offset: int) -> Iterator[tuple[int, int]]:
    """(offset, position) of the entries of an .index that are in use."""
    return _used(((base_offset + relative, position) for relative, position in offset_index.ENTRY.iter_unpack(data)), base_offset)


def _used(entries: Iterable[tuple[int, int]], base_offset: int) -> Iterator[tuple[int, int]]:
    """The entries, offset first, before the zeros at the end: before the second or later one that says the base offset."""
    for index, entry in enumerate(entries):
        if index and entry[0] == base_offset:
            return
        yield entry


def _check_time_sanity(path: str, data: bytes, base_offset: int) -> None:
    """As `_check_sanity`, and the last timestamp is not less than the first. Raises DumpError."""
    last_offset = base_offset
    if data:
        first_timestamp, _ = time_index.ENTRY.unpack_from(data)
        last_timestamp, relative = time_index.ENTRY.unpack(data[-time_index.ENTRY.size :])
        last_offset += relative
        if last_timestamp < first_timestamp:
            raise DumpError(f"Corrupt time index found, time index file ({path}) ends with a timestamp that is less than its first.")
    _check_sanity(path, time_index.ENTRY.size, base_offset, last_offset)


def _check_sanity(path: str, entry_size: int, base_offset: int, last_offset: int) -> None:
    """What a broker looks at when it starts. Raises DumpError."""
    size = Path(path).stat().st_size
    if last_offset < base_offset:
        raise DumpError(
            f"Corrupt index found, index file ({path}) has non-zero size but the last offset is {last_offset} which is less than the base offset {base_offset}."
        )
    if size % entry_size:
        raise DumpError(f"Index file {path} is corrupt, found {size} bytes which is neither positive nor a multiple of {entry_size}.")
