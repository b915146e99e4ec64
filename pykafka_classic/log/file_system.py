"""The seam to the disk: exactly the calls that the log uses, no more.

Real: `edges/disk.py`. In tests: a file system in memory that forgets on `crash()` whatever was not synced. Paths are plain strings with `/`.
Every call may raise `OSError`; who calls decides whether that takes the log directory offline (`KafkaStorageError`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol


class File(Protocol):
    """An open file for reading and appending. Satisfies `common.file_records.ReadableFile`."""

    def size(self) -> int:
        """Bytes in the file (as this process sees it, no system call on the append path)."""
        ...

    def append(self, buffers: Sequence[bytes | bytearray | memoryview]) -> int:
        """Write all buffers at the end, in one system call where possible; the position of the first byte.

        A short or failed write leaves the file as long as it was (the torn tail is cut off again) and raises OSError.
        """
        ...

    def read_at(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`."""
        ...

    def write_at(self, position: int, data: bytes) -> None:
        """Overwrite in place (index files); extends the file where it goes past its end."""
        ...

    def truncate(self, size: int) -> None:
        """Cut, or extend with zeros, to `size` bytes."""
        ...

    def sync(self) -> None:
        """fsync: what is in the file now survives a loss of power. May be called from a background thread."""
        ...

    def fileno(self) -> int:
        """The descriptor, or -1 (in memory)."""
        ...

    def unreadable(self, error: OSError) -> None:
        """Call the file system's `on_unreadable`."""
        ...

    def close(self) -> None:
        """Close; reading through slices handed out before must go on to work until they are gone (reference counted)."""
        ...


class FileSystem(Protocol):
    """Files and directories by path.

    Attributes:
        on_unreadable: called with the path of a file from which nothing could be sent any more, and why. Every other failure is raised where it happens;
            a fetch answer is sent long after the log has looked at it.
    """

    on_unreadable: Callable[[str, OSError], None]

    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and appending; FileNotFoundError where absent unless `create`."""
        ...

    def read(self, path: str) -> bytes:
        """A small file, whole."""
        ...

    def write_atomically(self, path: str, data: bytes) -> None:
        """Write `path`.tmp, fsync, rename over `path`, fsync the directory: after a crash either the old content or the new."""
        ...

    def write_all_atomically(self, files: Mapping[str, bytes], *, all_at_once: bool = False) -> list[tuple[str, OSError]]:
        """The same for many files, each durable when it returns; those that failed, and why.

        all_at_once: write out whatever the file systems hold back, instead of file by file: for thousands of files, by one who is about to stop.
        """
        ...

    def exists(self, path: str) -> bool:
        """True for a file or a directory."""
        ...

    def is_directory(self, path: str) -> bool:
        """True for a directory."""
        ...

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        ...

    def size(self, path: str) -> int:
        """Bytes in a file."""
        ...

    def modified_ms(self, path: str) -> int:
        """Time of last modification, ms since the epoch."""
        ...

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        """Set the time of last modification (a cleaned segment keeps its source's)."""
        ...

    def make_directory(self, path: str) -> None:
        """Create with parents; fine where it exists."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces a file at `new`."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file; FileNotFoundError where absent."""
        ...

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all in it; fine where absent."""
        ...

    def sync_directory(self, path: str) -> None:
        """fsync a directory, so that renames in it last."""
        ...

    def lock(self, path: str) -> None:
        """Take an exclusive lock on a file (created if absent) for the life of the process; BlockingIOError where another process holds it."""
        ...
