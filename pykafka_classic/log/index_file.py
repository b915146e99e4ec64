"""What the three indexes of a segment share: a file that is only a copy of what is in memory.

An index entry is needed for reading, and for restarting after a clean stop; after a crash the entries of unflushed segments are made anew from the batches.
So entries are kept in memory and written some hundred at a time, always before the segment is flushed or closed. The file is opened for each write and closed
again: 3,000 partitions need no descriptors for their indexes, and inactive segments need no memory before somebody reads them.

Differs from Kafka: no memory mapping and no preallocation; Kafka's readers take the file's length for the index's length, which is what they do after a clean
stop of their own.

Source: facts/storage.md 4; AbstractIndex.scala.
"""

from __future__ import annotations

from pykafka_classic.log.file_system import FileSystem


class IndexFile:
    """The bytes of one index on disk. `path` changes when the segment is renamed."""

    __slots__ = ("_file_system", "_unsynced", "path", "size_written")

    def __init__(self, file_system: FileSystem, path: str) -> None:
        self._file_system = file_system
        self.path = path
        self.size_written = 0  # bytes of the file that agree with memory; what lies behind has not been written yet
        self._unsynced = False

    def exists(self) -> bool:
        """True where there is such a file, even an empty one."""
        return self._file_system.exists(self.path)

    def create(self) -> None:
        """Make an empty file, or empty an old one: Kafka takes a segment without .index for damaged."""
        file = self._file_system.open(self.path, create=True)
        try:
            if file.size():
                file.truncate(0)
        finally:
            file.close()
        self.size_written = 0
        self._unsynced = True

    def read(self, entry_size: int) -> bytes:
        """Whole entries of the file; empty where it is absent."""
        try:
            data = self._file_system.read(self.path)
        except FileNotFoundError:
            data = b""
        self.size_written = len(data) // entry_size * entry_size
        return data[: self.size_written]

    def append(self, data: bytes) -> None:
        """Write `data` behind what has been written, over anything that may stand there."""
        file = self._file_system.open(self.path, create=True)
        try:
            file.write_at(self.size_written, data)
            self.size_written += len(data)
            if file.size() > self.size_written:
                file.truncate(self.size_written)
        finally:
            file.close()
        self._unsynced = True

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes where more of them have been written."""
        if self.size_written <= size:
            return
        file = self._file_system.open(self.path, create=True)
        try:
            file.truncate(size)
        finally:
            file.close()
        self.size_written = size
        self._unsynced = True

    def sync(self) -> None:
        """fsync what has been written. May run on a background thread."""
        if not self._unsynced:
            return
        self._unsynced = False
        try:
            file = self._file_system.open(self.path)
        except FileNotFoundError:  # deleted meanwhile with its segment
            return
        try:
            file.sync()
        finally:
            file.close()
