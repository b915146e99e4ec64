"""fsync, and how far it has come: the recovery point.

Replication is what makes records durable, so nobody waits for the disk unless the topic says so (`flush.messages`: neither a producer nor a leader hears of an
append before it is on disk; docs/durability.md). A segment is flushed when it
is rolled, all are at a clean stop. After a crash, recovery looks at nothing that lies wholly below the recovery point, so that must never be ahead of the
disk: not of the batches, not of the index entries, and not of the leader epochs.

Source: facts/storage.md 13; Log.scala (flush).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.log.log_services import LogServices

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log
    from pykafka_classic.log.log_segment import LogSegment


class LogFlusher:
    """Flushes one log. Invariant: what lies below `recovery_point` survives a loss of power."""

    __slots__ = ("_log", "_running", "_services", "last_flush_ms", "recovery_point")

    def __init__(self, log: Log, services: LogServices, recovery_point: int) -> None:
        self._log = log
        self._running: tuple[int, Promise[None]] | None = None  # what `flush_until` waits for: how far it goes, and its end
        self._services = services
        self.recovery_point = recovery_point
        self.last_flush_ms = services.clock.now_ms()

    def flush(self, end: int) -> None:
        """fsync everything below `end`. Blocks; raises OSError."""
        if end > self.recovery_point:
            self._work(end)()
            self._flushed(end)

    def flush_in_background(self, end: int) -> Promise[None]:
        """The same in the background; a failure is reported and the promise kept all the same."""
        if end <= self.recovery_point:
            return Promise.resolved(None)
        return spawn(self._flush_later(end))

    async def flush_until(self, end: int) -> None:
        """Wait until everything below `end` is on disk. Raises KAFKA_STORAGE_ERROR where that does not come: the disk failed, or the log was truncated.

        All who wait while one flush is under way share the next one.
        """
        while end > self.recovery_point:
            running = self._running
            if running is None:
                log_end = self._log.log_end_offset
                running = self._running = (log_end, self.flush_in_background(log_end))
            await running[1]
            if self._running is running:
                self._running = None
            if end > self.recovery_point and (running[0] >= end or self._log.log_end_offset < end):
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self._log} could not be flushed up to offset {end}")

    async def _flush_later(self, end: int) -> None:
        version = self._log.version
        try:
            await self._services.background.run(self._work(end))
        except OSError as error:
            self._log.storage_failed(error)
            return
        await self._services.writer.drained()
        if version == self._log.version:  # nothing was truncated meanwhile, so what was synced is still the log
            self._flushed(min(end, self._log.log_end_offset))

    def _work(self, end: int) -> Callable[[], None]:
        segments: Sequence[LogSegment] = self._log.segments.between(self.recovery_point, end)
        for segment in segments:
            segment.write_indexes()
        file_system, directory = self._services.file_system, self._log.directory

        def sync() -> None:
            for segment in segments:
                segment.sync()
            if file_system.exists(directory):  # it may have been renamed to be deleted
                file_system.sync_directory(directory)

        return sync

    def _flushed(self, end: int) -> None:
        self.recovery_point = max(self.recovery_point, end)
        self.last_flush_ms = self._services.clock.now_ms()
