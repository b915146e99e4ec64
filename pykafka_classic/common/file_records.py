"""A stretch of a log file that stands for its bytes.

A fetch answer carries `FileRecords`, never the records themselves: the log finds file, position and length (index lookup, no decoding), the edge reads or
`sendfile`s them when it writes the response. Tests call `read()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ReadableFile(Protocol):
    """An open file that others may append to meanwhile; what was appended never changes (truncation aside)."""

    def read_at(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`; fewer only at the end of the file."""
        ...

    def fileno(self) -> int:
        """The descriptor, for sendfile; -1 where there is none (a file in memory)."""
        ...

    def unreadable(self, error: OSError) -> None:
        """Whoever sends from the file met this error: the disk fails. Reported to the log manager."""
        ...


@dataclass(slots=True)
class FileRecords:
    """`length` bytes of `file` from `position`; whole record batches unless an old client's size limit cut the last.

    Nobody changes it; not frozen, for that would make each one three times as slow.
    """

    file: ReadableFile
    position: int
    length: int

    def read(self) -> bytes:
        """The bytes."""
        return self.file.read_at(self.position, self.length)

    def __len__(self) -> int:
        return self.length
