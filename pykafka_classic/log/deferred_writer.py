"""Small files written off the deciders' thread: leader epochs and topic ids of logs, checkpoints of log dirs.

Becoming leader of a thousand partitions changes a thousand leader-epoch-checkpoints, each with an fsync. The caches in memory count at once; the files follow
in the background, the newest content of each only. Nothing waits for them but the recovery point: segments count as flushed only once their epochs are on
disk.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from pykafka_classic.common.clock import Background
from pykafka_classic.common.promise import Promise
from pykafka_classic.log.file_system import FileSystem

FILES_AT_ONCE: Final = 64  # in one job: whoever stops waits for no more than this many files, one after the other


class _Wanted(NamedTuple):
    """A file's next content; `of_log_dir`: it lies in a log dir itself."""

    data: bytes
    of_log_dir: bool


class DeferredWriter:
    """One writing job at a time; it takes along what waits longest."""

    def __init__(self, file_system: FileSystem, background: Background, on_error: Callable[[str, OSError], None]) -> None:
        self._file_system = file_system
        self._background = background
        self._on_error = on_error  # told the path and what went wrong
        self._waiting: dict[str, _Wanted] = {}
        self._hurry = False
        self._written: Promise[None] | None = None  # of the running job and those behind it

    def submit(self, path: str, data: bytes, *, of_log_dir: bool = False) -> None:
        """Write `path` soon, atomically; the newest content wins. A log's directory may be gone by then, a log dir may not."""
        self._waiting[path] = _Wanted(data, of_log_dir)
        if self._written is None:
            self._written = Promise()
            self._start()

    def discard(self, directory: str) -> None:
        """The directory was renamed or is going to be removed: what waits for it is not written."""
        prefix = directory + "/"
        self._waiting = {path: wanted for path, wanted in self._waiting.items() if not path.startswith(prefix)}

    def hurry(self) -> None:
        """The process is about to stop: what waits is written in one go, though that may write out much else that the disk holds back."""
        self._hurry = True

    def drained(self) -> Promise[None]:
        """Kept once all that was submitted so far has been written, or has failed and been reported."""
        return self._written or Promise.resolved(None)

    def _start(self) -> None:
        size = len(self._waiting) if self._hurry else FILES_AT_ONCE
        batch = dict(islice(self._waiting.items(), size))
        for path in batch:
            del self._waiting[path]
        self._background.run(lambda: self._write(batch)).when_settled(self._done)

    def _write(self, batch: dict[str, _Wanted]) -> list[tuple[str, OSError]]:
        contents = {path: wanted.data for path, wanted in batch.items()}
        failures = self._file_system.write_all_atomically(contents, all_at_once=len(batch) > FILES_AT_ONCE)
        # A log's directory that was renamed or removed meanwhile has a new owner, who writes his own file.
        return [(path, error) for path, error in failures if not isinstance(error, FileNotFoundError) or batch[path].of_log_dir]

    def _done(self, outcome: Promise[list[tuple[str, OSError]]]) -> None:
        for path, error in outcome.result():
            self._on_error(path, error)
        if self._waiting:
            self._start()
        else:
            written, self._written = self._written, None
            assert written is not None
            written.resolve(None)
