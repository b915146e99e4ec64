"""Small files written off the deciders' thread: leader epochs and topic ids.

Becoming leader of a thousand partitions changes a thousand leader-epoch-checkpoints, each with an fsync. The caches in memory count at once; the files follow
in the background, the newest content of each only. Nothing waits for them but the recovery point: segments count as flushed only once their epochs are on
disk.
"""

from __future__ import annotations

from collections.abc import Callable

from pykafka_classic.common.clock import Background
from pykafka_classic.common.promise import Promise
from pykafka_classic.log.file_system import FileSystem


class DeferredWriter:
    """One writing job at a time; it takes along all that is waiting when it starts."""

    def __init__(self, file_system: FileSystem, background: Background, on_error: Callable[[str, OSError], None]) -> None:
        self._file_system = file_system
        self._background = background
        self._on_error = on_error  # told the path and what went wrong
        self._waiting: dict[str, bytes] = {}
        self._written: Promise[None] | None = None  # of the running job and those behind it

    def submit(self, path: str, data: bytes) -> None:
        """Write `path` soon, atomically; the newest content wins."""
        self._waiting[path] = data
        if self._written is None:
            self._written = Promise()
            self._start()

    def discard(self, directory: str) -> None:
        """The directory was renamed or is going to be removed: what waits for it is not written."""
        prefix = directory + "/"
        self._waiting = {path: data for path, data in self._waiting.items() if not path.startswith(prefix)}

    def drained(self) -> Promise[None]:
        """Kept once all that was submitted so far has been written, or has failed and been reported."""
        return self._written or Promise.resolved(None)

    def _start(self) -> None:
        batch, self._waiting = self._waiting, {}
        self._background.run(lambda: self._write(batch)).when_settled(self._done)

    def _write(self, batch: dict[str, bytes]) -> list[tuple[str, OSError]]:
        failures = []
        for path, data in batch.items():
            try:
                self._file_system.write_atomically(path, data)
            except FileNotFoundError:
                continue  # the log's directory was renamed or removed meanwhile; its new owner writes its own
            except OSError as error:
                failures.append((path, error))
        return failures

    def _done(self, outcome: Promise[list[tuple[str, OSError]]]) -> None:
        for path, error in outcome.result():
            self._on_error(path, error)
        if self._waiting:
            self._start()
        else:
            written, self._written = self._written, None
            assert written is not None
            written.resolve(None)
