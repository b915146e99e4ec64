"""Record batches as the log sees them: headers only, never records.

In every format an entry starts `offset i64, size i32` (12 bytes) and has its magic byte at position 16, so one look at the first 61 bytes tells all that
appending, indexing, recovering and truncating need. Magic 2 says its first and last offset, leader epoch, producer and largest timestamp in the header. A
magic 0 or 1 entry (a message, or a wrapper around compressed ones) only says its last offset; its first one counts as the same here.

Where reading ends (facts/storage.md 7): with fewer than 17 bytes left, or an entry longer than what is left, the data simply ends (a torn tail); a size or
magic that cannot be is corruption.

Source: facts/storage.md 1; DefaultRecordBatch, AbstractLegacyRecordBatch, ByteBufferLogInputStream, FileLogInputStream.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.common.file_records import ReadableFile
from pykafka_classic.records.layout import (
    ATTRIBUTES_POSITION,
    BATCH_HEADER,
    CONTROL_MASK,
    LEGACY_HEADER,
    LEGACY_TIMESTAMP_POSITION,
    LOG_OVERHEAD,
    MAGIC_POSITION,
    SEQUENCE_MAX,
    SIZE_MIN,
    TRANSACTIONAL_MASK,
)

MAGIC_BYTES: Final = MAGIC_POSITION + 1  # so many bytes tell the format

_PREFIX: Final = Struct(">qiib")
_TIMESTAMP: Final = Struct(">q")
assert _PREFIX.size == MAGIC_BYTES

SCAN_WINDOW: Final = 8 * 1024  # bytes per read while walking headers
CHUNK: Final = 1024 * 1024  # bytes per read while walking whole batches


class CorruptBatch(Exception):
    """Bytes that are no record batch, or one whose checksum is wrong."""


class BatchHeader(NamedTuple):
    """What the log knows of one batch. `position` and `size` in bytes, within its file or buffer; -1 means none."""

    position: int
    size: int
    magic: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    leader_epoch: int
    attributes: int
    crc: int
    producer_id: int
    producer_epoch: int
    base_sequence: int

    @property
    def is_transactional(self) -> bool:
        """Part of a transaction (its marker too)."""
        return self.attributes & TRANSACTIONAL_MASK != 0 and self.magic == 2

    @property
    def is_control(self) -> bool:
        """Holds a transaction marker, not data."""
        return self.attributes & CONTROL_MASK != 0 and self.magic == 2

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record; after 2147483647 comes 0. -1 without sequence."""
        if self.base_sequence < 0:
            return -1
        return self.base_sequence + self.last_offset - self.base_offset & SEQUENCE_MAX


def parse_header(buffer: bytes | memoryview, index: int, position: int) -> BatchHeader:
    """The header at `index` of `buffer`, which needs the first 61 bytes (or the whole entry, if shorter). Raises CorruptBatch."""
    magic = buffer[index + MAGIC_POSITION]
    if magic == 2:
        fields = BATCH_HEADER.unpack_from(buffer, index)
        base_offset, size, leader_epoch, _, crc, attributes, last_delta, _, max_timestamp, producer_id, producer_epoch, base_sequence, _ = fields
        if size < SIZE_MIN[2]:
            raise CorruptBatch(f"batch at position {position} has size {size}")
        return BatchHeader(
            position,
            size + LOG_OVERHEAD,
            2,
            base_offset,
            base_offset + last_delta,
            max_timestamp,
            leader_epoch,
            attributes,
            crc,
            producer_id,
            producer_epoch,
            base_sequence,
        )
    return _parse_legacy_header(buffer, index, position, magic)


def _parse_legacy_header(buffer: bytes | memoryview, index: int, position: int, magic: int) -> BatchHeader:
    if magic > 1:
        raise CorruptBatch(f"entry at position {position} has magic {magic}")
    offset, size, crc, _, attributes = LEGACY_HEADER.unpack_from(buffer, index)
    if size < SIZE_MIN[magic]:
        raise CorruptBatch(f"entry at position {position} has size {size}")
    timestamp = _TIMESTAMP.unpack_from(buffer, index + LEGACY_TIMESTAMP_POSITION)[0] if magic else -1
    return BatchHeader(position, size + LOG_OVERHEAD, magic, offset, offset, timestamp, -1, attributes, crc, -1, -1, -1)


def entry_size(buffer: bytes | memoryview, index: int) -> int:
    """Bytes of the entry at `index`, its prefix included; needs 17 bytes. Raises CorruptBatch."""
    _, size, _, magic = _PREFIX.unpack_from(buffer, index)
    if not 0 <= magic <= 2 or size < SIZE_MIN[magic]:
        raise CorruptBatch(f"an entry of size {size} with magic {magic}")
    return int(size) + LOG_OVERHEAD


def has_valid_crc(batch: bytes | memoryview, header: BatchHeader) -> bool:
    """True where the checksum fits. `batch` is exactly this batch's bytes."""
    view = memoryview(batch)
    if header.magic == 2:
        return crc32c(view[ATTRIBUTES_POSITION:]) == header.crc
    return zlib.crc32(view[MAGIC_POSITION:]) == header.crc


def iterate_headers(buffer: bytes | memoryview) -> Iterator[BatchHeader]:
    """Headers of the batches in a buffer; stops before a torn tail. Raises CorruptBatch."""
    index, end = 0, len(buffer)
    while end - index >= MAGIC_BYTES:
        size = entry_size(buffer, index)
        if size > end - index:
            return
        yield parse_header(buffer, index, index)
        index += size


def scan_headers(file: ReadableFile, position: int, end: int) -> Iterator[BatchHeader]:
    """Headers of the batches in a file between two positions, read some at a time; stops before a torn tail. Raises CorruptBatch."""
    window, window_start = b"", position
    while end - position >= MAGIC_BYTES:
        index = position - window_start
        if index + min(BATCH_HEADER.size, end - position) > len(window):
            window, window_start, index = file.read_at(position, min(SCAN_WINDOW, end - position)), position, 0
            if len(window) < min(BATCH_HEADER.size, end - position):
                return
        size = entry_size(window, index)
        if size > end - position:
            return
        yield parse_header(window, index, position)
        position += size


def verified_batches(file: ReadableFile, end: int, base_offset: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    """All batches of a segment, to its last byte, each after a look at its checksum and offsets. Raises CorruptBatch with the position."""
    position, next_offset = 0, base_offset
    try:
        for header, batch in scan_batches(file, 0, end):
            position = header.position
            if not has_valid_crc(batch, header):
                raise CorruptBatch(f"the batch with offsets {header.base_offset} to {header.last_offset} has a wrong checksum")
            if header.base_offset < next_offset or header.last_offset < header.base_offset:
                raise CorruptBatch(f"offsets {header.base_offset} to {header.last_offset} where at least {next_offset} is expected")
            yield header, batch
            position, next_offset = position + header.size, header.last_offset + 1
    except CorruptBatch as error:
        raise CorruptBatch(f"position {position}: {error}") from error
    if position != end:
        raise CorruptBatch(f"position {position}: a batch that goes beyond the end of the file, at {end}")


def scan_batches(file: ReadableFile, position: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Batches with their bytes, read by the megabyte; stops before a torn tail. Checksums are not looked at. Raises CorruptBatch."""
    chunk, chunk_start = memoryview(b""), position
    while end - position >= MAGIC_BYTES:
        index = position - chunk_start
        if index + MAGIC_BYTES > len(chunk):
            chunk, chunk_start, index = memoryview(file.read_at(position, min(CHUNK, end - position))), position, 0
            if len(chunk) < MAGIC_BYTES:
                return
        size = entry_size(chunk, index)
        if size > end - position:
            return
        if index + size > len(chunk):
            chunk, chunk_start, index = memoryview(file.read_at(position, min(max(CHUNK, size), end - position))), position, 0
            if len(chunk) < size:
                return
        yield parse_header(chunk, index, position), chunk[index : index + size]
        position += size
