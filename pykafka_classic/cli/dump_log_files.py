"""Files of a log as kafka-dump-log reads them: beside the broker that writes them, without locks, and without believing anything in them.

Nothing is mapped into memory: the broker may cut a file while it is read.

Source: 2.8 FileLogInputStream.java, FileRecords.java.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pykafka_classic.log import names
from pykafka_classic.records.layout import LENGTH_POSITION, LOG_OVERHEAD, MAGIC_POSITION, SIZE_MIN, CorruptRecord
from pykafka_classic.records.message_set import LegacyBatch
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch

_BUFFER: Final = 1 << 20  # bytes; a read from disk
_TO_MAGIC: Final = MAGIC_POSITION + 1


class DumpError(Exception):
    """What ends the dump; the text is a sentence."""


class FoundBatch(NamedTuple):
    """A batch and its place in its file, in bytes."""

    position: int
    batch: AnyBatch


class LogFile:
    """A .log file, as long as it was when it was opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = Path(path).open("rb", buffering=_BUFFER)  # noqa: SIM115  # `close` closes it
        self.size = os.fstat(self._file.fileno()).st_size

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def batches(self, start: int = 0, bytes_max: int | None = None) -> Iterator[FoundBatch]:
        """The batches from a position on, as far as they lie whole in `bytes_max` bytes. Raises DumpError for bytes that begin none."""
        if not 0 <= start <= self.size:
            raise DumpError(f"Slice from position {start} exceeds end position of {self.path}, which has {self.size} bytes")
        end = self.size if bytes_max is None else min(self.size, start + bytes_max)
        while end - start > _TO_MAGIC:
            size = self._size_at(start)
            if size > end - start:
                return
            self._file.seek(start)
            yield FoundBatch(start, self._batch(start, self._file.read(size)))
            start += size

    def _size_at(self, position: int) -> int:
        self._file.seek(position)
        prefix = self._file.read(LOG_OVERHEAD)
        size = int.from_bytes(prefix[LENGTH_POSITION:], "big", signed=True)
        if size < SIZE_MIN[0]:
            raise DumpError(f"Found record size {size} smaller than minimum record overhead ({SIZE_MIN[0]}) in file {self.path}.")
        return size + LOG_OVERHEAD

    def _batch(self, position: int, data: bytes) -> AnyBatch:
        magic = data[MAGIC_POSITION]
        if magic > 2 or len(data) < SIZE_MIN[magic] + LOG_OVERHEAD:
            raise DumpError(f"Found {len(data)} bytes with magic {magic}, which are no record batch, at position {position} in file {self.path}.")
        try:
            return RecordBatch(memoryview(data)) if magic == 2 else LegacyBatch(memoryview(data))
        except CorruptRecord as error:
            raise DumpError(f"{error}, at position {position} in file {self.path}.") from error


def java_path(text: str) -> str:
    """A path as Java prints it: slashes single, and none at the end."""
    return re.sub("/+", "/", text).rstrip("/") or text[:1]


def base_offset_of(path: str) -> int:
    """The offset in a file's name. Raises DumpError."""
    digits = Path(path).name.partition(".")[0]
    if not re.fullmatch(r"[+-]?[0-9]+", digits):
        raise DumpError(f"{path} does not begin with the base offset of its segment.")
    return int(digits)


def beside(path: str, kind: str) -> str:
    """The path of another file of the same segment."""
    return str(Path(path).with_name(Path(path).name.partition(".")[0] + kind))


def log_beside(path: str) -> str:
    """The path of the segment's .log."""
    return beside(path, names.LOG)
