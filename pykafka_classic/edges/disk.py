"""The real disk, behind the seam of `log/file_system.py`.

Few system calls: an append is one `pwritev` at the end that this process remembers, a read one `pread`; no seek, no fstat. Nobody else may write to these files
(the lock file in each log directory sees to that), so the remembered size is the size.

A file is closed when nobody holds it any more: `close` forbids further writing at once, but the descriptor lives on until the last `FileRecords` that points
into it, perhaps queued for a slow consumer, is gone. Until then a deleted segment can still be sent.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import posixpath
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

Buffer: TypeAlias = "bytes | bytearray | memoryview"

# How often a directory's removal begins anew because another thread writes in it.
REMOVALS_MAX: Final = 10

# The kernel takes no more buffers in one call (IOV_MAX).
BUFFERS_PER_WRITE: Final = os.sysconf("SC_IOV_MAX")


class DiskFile:
    """Implements `log.file_system.File`.

    Invariant: `_size` is the size of the file, between calls.
    """

    __slots__ = ("_closed", "_descriptor", "_file_system", "_path", "_size")

    def __init__(self, file_system: DiskFileSystem, path: str, *, create: bool = False) -> None:
        self._descriptor = -1  # first, for __del__ runs even when open fails
        self._file_system = file_system
        self._path = path
        self._closed = False
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o644)
        self._size = os.fstat(self._descriptor).st_size

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def size(self) -> int:
        """Bytes in the file; no system call."""
        return self._size

    def append(self, buffers: Sequence[Buffer]) -> int:
        """Write all buffers at the end; the position of the first byte. On failure the torn tail is cut off again and OSError raised."""
        self._check_open()
        start = self._size
        try:
            self._size = start + _write_all(self._descriptor, buffers, start)
        except OSError:
            os.ftruncate(self._descriptor, start)
            raise
        return start

    def read_at(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`; fewer only at the end of the file."""
        data = os.pread(self._descriptor, length, position)
        if len(data) == length or position + len(data) >= self._size:
            return data
        return data + self._read_rest(position + len(data), length - len(data))

    def write_at(self, position: int, data: bytes) -> None:
        """Overwrite in place; extends the file where it goes past its end."""
        self._check_open()
        _write_all(self._descriptor, [data], position)
        self._size = max(self._size, position + len(data))

    def truncate(self, size: int) -> None:
        """Cut, or extend with zeros, to `size` bytes."""
        self._check_open()
        os.ftruncate(self._descriptor, size)
        self._size = size

    def sync(self) -> None:
        """fsync. From any thread: the bound method keeps the descriptor open meanwhile."""
        os.fsync(self._descriptor)

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def unreadable(self, error: OSError) -> None:
        """Tell who listens."""
        self._file_system.on_unreadable(self._path, error)

    def close(self) -> None:
        """No more writing; the descriptor goes with the last reference to this object."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"{self._path} is closed")

    def _read_rest(self, position: int, length: int) -> bytes:
        # The kernel moves at most 2 GiB in one call, and a signal may cut a read short.
        parts = []
        while length and (part := os.pread(self._descriptor, length, position)):
            parts.append(part)
            position, length = position + len(part), length - len(part)
        return b"".join(parts)


def _temporary(path: str) -> str:
    return path + ".tmp"


def _write_new(path: str, data: bytes, *, sync: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        _write_all(descriptor, [data], 0)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(directory: str) -> None:
    """syncfs: write out all that the file system of this directory holds back. Where the system has no such call, sync: all file systems."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        os.sync()
        return
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), directory)
    finally:
        os.close(descriptor)


class OncePerDirectory:
    """Does something for the directory of a path, unless it was done for another path in it; fails for each path where it failed."""

    def __init__(self, do: Callable[[str], None]) -> None:
        self._do = do
        self._outcomes: dict[object, OSError | None] = {}

    def __call__(self, path: str) -> None:
        """Raises OSError."""
        directory = posixpath.dirname(path) or "."
        place = self._place(directory)
        if place not in self._outcomes:
            try:
                self._do(directory)
                self._outcomes[place] = None
            except OSError as error:
                self._outcomes[place] = error
        failure = self._outcomes[place]
        if failure is not None:
            raise failure

    def _place(self, directory: str) -> object:
        return directory


class OncePerDevice(OncePerDirectory):
    """The same once for all directories of a file system."""

    def _place(self, directory: str) -> object:
        return os.stat(directory).st_dev


class DiskFileSystem:
    """Implements `log.file_system.FileSystem`."""

    def __init__(self) -> None:
        self.on_unreadable: Callable[[str, OSError], None] = _ignore
        self._locks: dict[str, int] = {}  # path -> descriptor; held until `unlock` or the end of the process

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        """Open for reading and appending; FileNotFoundError where absent unless `create`."""
        return DiskFile(self, path, create=create)

    def read(self, path: str) -> bytes:
        """A small file, whole."""
        with open(path, "rb") as file:
            return file.read()

    def write_atomically(self, path: str, data: bytes) -> None:
        """Write a temporary file beside it, sync, rename, sync the directory."""
        _write_new(_temporary(path), data, sync=True)
        os.replace(_temporary(path), path)
        self.sync_directory(posixpath.dirname(path) or ".")

    def write_all_atomically(self, files: Mapping[str, bytes], *, all_at_once: bool = False) -> list[tuple[str, OSError]]:
        """Step by step for all of them: the journal is written once for many renames, where file by file it would be written for each."""
        failures: dict[str, OSError] = {}

        def each(step: Callable[[str], None]) -> None:
            for path in files.keys() - failures.keys():
                try:
                    step(path)
                except OSError as error:
                    failures[path] = error

        each(lambda path: _write_new(_temporary(path), files[path], sync=not all_at_once))
        if all_at_once:
            each(OncePerDevice(sync_file_system))
        each(lambda path: os.replace(_temporary(path), path))
        each(OncePerDevice(sync_file_system) if all_at_once else OncePerDirectory(self.sync_directory))
        return list(failures.items())

    def exists(self, path: str) -> bool:
        """True for a file or a directory."""
        return os.path.lexists(path)

    def is_directory(self, path: str) -> bool:
        """True for a directory."""
        return os.path.isdir(path)

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        return sorted(os.listdir(path))

    def size(self, path: str) -> int:
        """Bytes in a file."""
        return os.stat(path).st_size

    def modified_ms(self, path: str) -> int:
        """Time of last modification, ms since the epoch."""
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        """Set the time of last modification."""
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def make_directory(self, path: str) -> None:
        """Create with parents; fine where it exists."""
        os.makedirs(path, exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        """Atomic; replaces a file at `new`."""
        os.replace(old, new)

    def remove(self, path: str) -> None:
        """Remove a file; FileNotFoundError where absent."""
        os.remove(path)

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all in it; fine where absent, and where another thread still writes a file in it."""
        for _ in range(REMOVALS_MAX):
            try:
                if os.path.lexists(path):
                    shutil.rmtree(path)
                return
            except OSError as error:
                # A temporary file took its real name between the listing and the removal, or came after the listing: look again.
                if error.errno not in (errno.ENOENT, errno.ENOTEMPTY):
                    raise
        shutil.rmtree(path)

    def sync_directory(self, path: str) -> None:
        """fsync a directory, so that renames in it last."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def lock(self, path: str) -> None:
        """Exclusive lock of this process; BlockingIOError where another one holds it.

        A POSIX record lock, as Java's FileLock: a Java broker and ours keep each other out.
        """
        if path in self._locks:
            return
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise BlockingIOError(error.errno, f"{path} is locked by another process") from error
        self._locks[path] = descriptor

    def unlock_all(self) -> None:
        """Give the locks back: for a broker that ends before its process does."""
        while self._locks:
            os.close(self._locks.popitem()[1])


def _ignore(path: str, error: OSError) -> None:
    """Until somebody listens."""


def _write_all(descriptor: int, buffers: Sequence[Buffer], position: int) -> int:
    """Write everything at `position`; the number of bytes. One system call unless the kernel takes less at once, and then the next call says why."""
    total = sum(map(len, buffers))
    written = os.pwritev(descriptor, buffers[:BUFFERS_PER_WRITE], position) if total else 0
    while written < total:
        rest = memoryview(b"".join(buffers))[written:]  # rare: a disk nearly full, more than IOV_MAX buffers or 2 GiB
        step = os.pwrite(descriptor, rest, position + written)
        if not step:
            raise OSError(f"nothing written at {position + written}")
        written += step
    return total
