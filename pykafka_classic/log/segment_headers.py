"""A walk over the batch headers of a segment's file, and what it means when it ends too early.

A healthy segment ends with a whole batch. Where the bytes make no sense, offsets go backwards, or a batch would go beyond the end of the file, the walk stops:
nothing behind can be found any more. Who looks for something then has to tell "it is not there" from "I could not look": records after the damage must not be
passed over in silence.
"""

from __future__ import annotations

import logging

from pykafka_classic.common.file_records import ReadableFile
from pykafka_classic.log.batch_header import BatchHeader, CorruptBatch, scan_headers
from pykafka_classic.records.layout import CorruptRecord

log = logging.getLogger("kafka.log.LogSegment")


class SegmentHeaders:
    """Headers from `position` to `end`. Damage ends the walk, and is logged."""

    def __init__(self, path: str, file: ReadableFile, position: int, end: int) -> None:
        self._path = path
        self._end = end
        self._scan = scan_headers(file, position, end)
        self._damage = "a batch that goes beyond the end of the file"
        self._next_offset = 0
        self.position = position  # where the next one begins

    def __iter__(self) -> SegmentHeaders:
        return self

    def __next__(self) -> BatchHeader:
        try:
            header = next(self._scan)
            if not self._next_offset <= header.base_offset <= header.last_offset:
                raise CorruptBatch(f"a batch with offsets {header.base_offset} to {header.last_offset}, where at least {self._next_offset} is expected")
        except CorruptBatch as error:
            self._damage = str(error)
            log.warning("%s: %s", self._path, error)
            raise StopIteration from error
        self.position, self._next_offset = header.position + header.size, header.last_offset + 1
        return header

    def require_end(self) -> None:
        """After the walk: raise CorruptRecord (CORRUPT_MESSAGE) with path and position where it has not come to the end."""
        if self.position < self._end:
            raise CorruptRecord(f"Damaged log: {self._path} at position {self.position}: {self._damage}; what lies behind cannot be read")
