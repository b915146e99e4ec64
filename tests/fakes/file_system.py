"""A file system in memory that forgets on `crash()` whatever was not synced.

Two states are kept: what the process sees, and what is on the platter. `File.sync` moves a file's bytes from the first to the second; `sync_directory` moves
the names in a directory (creations, renames, removals of files). Directories themselves are made, renamed and removed at once in both. `write_atomically` is
durable when it returns. So is a cut (a journaling file system may forget it, but never brings back bytes that were overwritten since).

* `crash()`: power loss. Nothing unsynced survives; with `random`, part of it does, as on a journaling file system: the first so many changes of names, in their
  order, and of each file a prefix of the unsynced tail.
* `kill()`: SIGKILL. Everything written survives; open handles and locks are gone.
* `fail(prefix)`: from now on every call under that path raises OSError, as a dead disk does.
* `die_at(n)`: the process dies in its n-th change of the disk from now on, before it happens (of an append: in its midst). `Died` is raised then and by every
  call after it, until `crash` or `kill` makes room for the next process.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from errno import EIO

from pykafka_classic.common.clock import Random


class Died(BaseException):
    """The process is no more; a BaseException, so that nothing takes it for an error to be dealt with."""


class _Inode:
    """A file's bytes: as seen, and as they would be after a power loss."""

    def __init__(self, now_ms: int) -> None:
        self.data = bytearray()
        self.durable = b""
        self.modified_ms = now_ms

    def after_crash(self, random: Random | None) -> _Inode:
        """What is left of it; with `random`, part of an unsynced tail survives, or of what was written over zeros."""
        survivor = _Inode(self.modified_ms)
        content = self.durable
        if random is not None:
            kept = len(content.rstrip(b"\0"))  # zeros at the end may be room that was allocated in advance
            if bytes(self.data[:kept]) == content[:kept]:
                written = bytes(self.data[: kept + random.randrange(len(self.data) - kept + 1)])
                content = written + content[len(written) :]
        survivor.data[:] = content
        survivor.durable = content
        return survivor


class FakeFile:
    """An open file; reading goes on to work after `close` and after the file's removal."""

    def __init__(self, file_system: FakeFileSystem, path: str, inode: _Inode) -> None:
        self._file_system = file_system
        self._path = path
        self._inode = inode

    def size(self) -> int:
        """Bytes in the file."""
        return len(self._inode.data)

    def append(self, buffers: Sequence[bytes | bytearray | memoryview]) -> int:
        """Write at the end; the position of the first byte."""
        self._file_system.check(self._path)
        position, data = len(self._inode.data), b"".join(buffers)
        try:
            self._file_system.changing()
        except Died:
            self._inode.data += data[: len(data) // 2]
            raise
        self._inode.data += data
        self._changed()
        return position

    def read_at(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`."""
        self._file_system.check(self._path)
        self._file_system.reads += 1
        return bytes(self._inode.data[position : position + length])

    def write_at(self, position: int, data: bytes) -> None:
        """Overwrite in place."""
        self._file_system.check(self._path)
        self._file_system.changing()
        if position > len(self._inode.data):
            self._inode.data.extend(bytes(position - len(self._inode.data)))
        self._inode.data[position : position + len(data)] = data
        self._changed()

    def truncate(self, size: int) -> None:
        """Cut, or extend with zeros."""
        self._file_system.check(self._path)
        self._file_system.changing()
        data = self._inode.data
        if size < len(data):
            del data[size:]
            self._inode.durable = self._inode.durable[:size]
        else:
            data.extend(bytes(size - len(data)))
        self._changed()

    def sync(self) -> None:
        """What is in the file now survives a crash (its name may not)."""
        self._file_system.check(self._path)
        self._file_system.changing()
        self._inode.durable = bytes(self._inode.data)
        self._file_system.syncs += 1

    def fileno(self) -> int:
        """There is no descriptor."""
        return -1

    def unreadable(self, error: OSError) -> None:
        """Tell who listens."""
        self._file_system.on_unreadable(self._path, error)

    def close(self) -> None:
        """Nothing to do."""

    def _changed(self) -> None:
        self._inode.modified_ms = self._file_system.now_ms


class FakeFileSystem:
    """Files and directories of one machine. `now_ms` is what new modification times are."""

    def __init__(self) -> None:
        self.now_ms = 1_600_000_000_000
        self.on_unreadable: Callable[[str, OSError], None] = lambda _path, _error: None
        self.reads = 0
        self.syncs = 0
        self._files: dict[str, _Inode] = {}
        self._durable_files: dict[str, _Inode] = {}
        self._journal: list[tuple[str, _Inode | None]] = []  # changes of names since they were last synced, in order
        self._directories: set[str] = {"/"}
        self._locks: set[str] = set()
        self._failing: tuple[str, ...] = ()
        self._dead = False
        self._changes_left: int | None = None  # until the process dies; None: it lives on
        self.changes = 0

    # What tests do to it

    def crash(self, random: Random | None = None) -> None:
        """Lose power: only what was synced is left; with `random`, some of the rest: the first so many changes of names, and parts of unsynced tails."""
        for path, inode in self._journal[: random.randrange(len(self._journal) + 1) if random is not None else 0]:
            self._apply(path, inode)
        survivors = {id(inode): inode.after_crash(random) for inode in self._durable_files.values()}
        self._files = {path: survivors[id(inode)] for path, inode in self._durable_files.items()}
        self._durable_files = dict(self._files)
        self._journal.clear()
        self.kill()

    def kill(self) -> None:
        """The process dies: what was written stays, its locks go."""
        self._locks.clear()
        self._dead, self._changes_left = False, None

    def die_at(self, change: int) -> None:
        """Die in this change of the disk, counted from 0."""
        self._changes_left = change

    def changing(self) -> None:
        """A change of the disk is about to happen."""
        if self._changes_left == 0:
            self._dead = True
            raise Died
        if self._changes_left is not None:
            self._changes_left -= 1
        self.changes += 1

    def fail(self, *prefixes: str) -> None:
        """From now on calls under these paths raise OSError; none: all is well again."""
        self._failing = prefixes

    def check(self, path: str) -> None:
        """Raise OSError where the path has been made to fail, Died where the process is dead."""
        if self._dead:
            raise Died
        for prefix in self._failing:
            if path.startswith(prefix):
                raise OSError(EIO, "Input/output error", path)

    def files_under(self, path: str) -> dict[str, bytes]:
        """All files below a directory with their bytes, for comparisons."""
        return {name: bytes(inode.data) for name, inode in sorted(self._files.items()) if name.startswith(path.rstrip("/") + "/")}

    # The seam

    def open(self, path: str, *, create: bool = False) -> FakeFile:
        """Open for reading and appending."""
        self.check(path)
        inode = self._files.get(path)
        if inode is None:
            if not create or posixpath.dirname(path) not in self._directories:
                raise FileNotFoundError(path)
            self.changing()
            inode = _Inode(self.now_ms)
            self._set_name(path, inode)
        return FakeFile(self, path, inode)

    def read(self, path: str) -> bytes:
        """A file, whole."""
        self.check(path)
        self.reads += 1
        return bytes(self._inode(path).data)

    def write_all_atomically(self, files: Mapping[str, bytes], *, all_at_once: bool = False) -> list[tuple[str, OSError]]:
        """Each durable when it returns."""
        del all_at_once
        failures = []
        for path, data in files.items():
            try:
                self.write_atomically(path, data)
            except OSError as error:
                failures.append((path, error))
        return failures

    def write_atomically(self, path: str, data: bytes) -> None:
        """Durable when it returns."""
        self.check(path)
        if posixpath.dirname(path) not in self._directories:
            raise FileNotFoundError(path)
        self.changing()
        inode = _Inode(self.now_ms)
        inode.data[:] = data
        inode.durable = data
        self._journal = [(name, earlier) for name, earlier in self._journal if name != path]
        self._files[path] = self._durable_files[path] = inode

    def exists(self, path: str) -> bool:
        """True for a file or a directory."""
        self.check(path)
        return path in self._files or path in self._directories

    def is_directory(self, path: str) -> bool:
        """True for a directory."""
        self.check(path)
        return path in self._directories

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        self.check(path)
        if path not in self._directories:
            raise FileNotFoundError(path)
        prefix = path.rstrip("/") + "/"
        below = [*self._files, *self._directories]
        return sorted({name[len(prefix) :].split("/")[0] for name in below if name.startswith(prefix) and name != prefix})

    def size(self, path: str) -> int:
        """Bytes in a file."""
        self.check(path)
        return len(self._inode(path).data)

    def modified_ms(self, path: str) -> int:
        """Time of last modification."""
        self.check(path)
        return self._inode(path).modified_ms

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        """Set the time of last modification."""
        self.check(path)
        self.changing()
        self._inode(path).modified_ms = modified_ms

    def make_directory(self, path: str) -> None:
        """Create with parents."""
        self.check(path)
        while path not in self._directories:
            self._directories.add(path)
            path = posixpath.dirname(path)

    def rename(self, old: str, new: str) -> None:
        """Atomic. A file's new name lasts after `sync_directory`, a directory's at once."""
        self.check(old)
        self.changing()
        if old in self._directories:
            self._rename_directory(old, new)
        else:
            inode = self._inode(old)
            self._set_name(new, inode)
            self._set_name(old, None)

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.check(path)
        self.changing()
        self._inode(path)
        self._set_name(path, None)

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all in it."""
        self.check(path)
        self.changing()
        prefix = path + "/"
        for files in (self._files, self._durable_files):
            for name in [name for name in files if name.startswith(prefix)]:
                del files[name]
        self._journal = [(name, inode) for name, inode in self._journal if not name.startswith(prefix)]
        self._directories = {name for name in self._directories if name != path and not name.startswith(prefix)}

    def sync_directory(self, path: str) -> None:
        """The names in this directory are now as they look."""
        self.check(path)
        self.changing()
        for name, inode in self._journal:
            if posixpath.dirname(name) == path:
                self._apply(name, inode)
        self._journal = [(name, inode) for name, inode in self._journal if posixpath.dirname(name) != path]

    def lock(self, path: str) -> None:
        """Exclusive until `crash` or `kill`."""
        self.check(path)
        if path in self._locks:
            raise BlockingIOError(path)
        self.open(path, create=True)
        self._locks.add(path)

    def _inode(self, path: str) -> _Inode:
        if path not in self._files:
            raise FileNotFoundError(path)
        return self._files[path]

    def _apply(self, path: str, inode: _Inode | None) -> None:
        if inode is not None:
            self._durable_files[path] = inode
        else:
            self._durable_files.pop(path, None)

    def _set_name(self, path: str, inode: _Inode | None) -> None:
        """A file has this name now (None: no file has); it lasts when the directory is synced."""
        if inode is not None:
            self._files[path] = inode
        else:
            del self._files[path]
        self._journal.append((path, inode))

    def _rename_directory(self, old: str, new: str) -> None:
        prefix = old + "/"

        def moved(path: str) -> str:
            return new + path[len(old) :] if path == old or path.startswith(prefix) else path

        self._files = {moved(path): inode for path, inode in self._files.items()}
        self._durable_files = {moved(path): inode for path, inode in self._durable_files.items()}
        self._journal = [(moved(path), inode) for path, inode in self._journal]
        self._directories = {moved(path) for path in self._directories}
