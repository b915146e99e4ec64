"""Compaction: of each key the last record stays.

This module decides which log is next, lets cleaner.py do the work in the background, and swaps in what it wrote.

The dirtiest log comes first, if its dirty part is large enough (`min.cleanable.dirty.ratio`) or too old (`max.compaction.lag.ms`). What may not be cleaned yet:
the active segment, records of open transactions, records younger than `min.compaction.lag.ms`.

The swap survives a crash at any point (log_loader.py puts it right): the new segment is complete and synced as `.cleaned`; renaming it to `.swap` decides; the
old ones become
`.deleted`; the suffix goes.

While a log is being cleaned it may be truncated or deleted: `Log.version` has then changed, and the work is thrown away. How far logs are clean is kept in
`cleaner-offset-checkpoint`, per log dir.

Differs from Kafka: `log.cleaner.io.max.bytes.per.second` is shared out evenly among the cleaner threads, busy or not.

Source: facts/storage.md 11; LogCleaner.scala, LogCleanerManager.scala.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from pykafka_classic.common.clock import Timer
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import checkpoints, names
from pykafka_classic.log.checkpoints import MalformedCheckpoint, OffsetCheckpointFile
from pykafka_classic.log.cleanable_logs import LogToClean, filthiest
from pykafka_classic.log.cleaner import Cleaner, CleaningAborted, CleanStats, CleanTask, LastRecord, Source, Steps
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.open_files import OpenFiles

T = TypeVar("T")

log = logging.getLogger("kafka.log.LogCleaner")


class LogCleaner:
    """All compaction of one broker. Runs `threads` passes at the same time at most."""

    def __init__(self, services: LogServices, config: CleanerConfig, logs: Mapping[TopicPartition, Log]) -> None:
        self._services = services
        self._config = config
        self._logs = logs
        self._clean_offsets: dict[str, dict[TopicPartition, int]] = {}  # by log dir: first dirty offset
        self._in_progress: set[TopicPartition] = set()
        self._uncleanable: set[TopicPartition] = set()
        self._stopped = False
        self._waiting: dict[int, tuple[Timer, Promise[None]]] = {}
        self._loops: dict[int, Promise[None]] = {}  # by number, from 0
        self._started = False

    def start(self, log_dirs: Iterable[str]) -> None:
        """Read the checkpoints of these log dirs and begin."""
        for log_dir in log_dirs:
            self._clean_offsets[log_dir] = self._read_checkpoint(log_dir)
        self._started = True
        self._start_loops()

    def reconfigure(self, config: CleanerConfig) -> None:
        """Other limits from now on: loops are added, or end after the log that they clean now."""
        if config == self._config:
            return
        log.info("Reconfiguring log cleaner from %s to %s", self._config, config)
        self._config = config
        if self._started and not self._stopped:
            for number in self._loops.keys() & self._waiting.keys():  # pauses were for the old limits
                self._wake(number)
            self._start_loops()

    def _start_loops(self) -> None:
        for number in range(self._config.threads):
            if number not in self._loops or self._loops[number].settled:
                self._loops[number] = spawn(self._loop(number))

    def _wake(self, number: int) -> None:
        timer, woken = self._waiting[number]
        timer.cancel()
        woken.resolve(None)

    async def stop(self) -> None:
        """Give up what is going on; done when nothing is."""
        self._stopped = True
        for number in list(self._waiting):
            self._wake(number)
        await gather(list(self._loops.values()))

    def first_dirty_offset(self, partition: TopicPartition) -> int | None:
        """Up to where the log has been cleaned; None where it never was."""
        one = self._logs.get(partition)
        return None if one is None else self._clean_offsets.get(one.parent_dir, {}).get(partition)

    def forget(self, one: Log) -> None:
        """The log is being deleted."""
        if self._clean_offsets.get(one.parent_dir, {}).pop(one.topic_partition, None) is not None:
            self._write_checkpoint(one.parent_dir)

    def moved(self, old: Log, new: Log) -> None:
        """The replica lies in another log dir now."""
        offset = self._clean_offsets.get(old.parent_dir, {}).get(old.topic_partition)
        self.forget(old)
        if offset is not None:
            self._note(new, min(offset, new.segments.active.base_offset))

    def truncated(self, log_dir: str) -> None:
        """Logs in this log dir have been truncated: what is appended there again is dirty."""
        changed = False
        for partition, offset in self._clean_offsets.get(log_dir, {}).items():
            one = self._logs.get(partition)
            if one is not None and offset > one.segments.active.base_offset:
                self._clean_offsets[log_dir][partition] = one.segments.active.base_offset
                changed = True
        if changed:
            self._write_checkpoint(log_dir)

    def log_dir_failed(self, log_dir: str) -> None:
        """Its logs are offline."""
        self._clean_offsets.pop(log_dir, None)

    # Choosing

    async def _loop(self, number: int) -> None:
        while not self._stopped and number < self._config.threads:
            if not await self.clean_filthiest():
                await self._pause(number, self._config.backoff_ms)

    async def _pause(self, number: int, delay_ms: float) -> None:
        if self._stopped:
            return
        woken: Promise[None] = Promise()
        self._waiting[number] = (self._services.clock.call_later(delay_ms, lambda: woken.resolve(None)), woken)
        await woken
        del self._waiting[number]

    async def clean_filthiest(self) -> bool:
        """Clean the log that needs it most, and apply retention to compacted logs; False where none needed cleaning."""
        candidates = [one for partition, one in self._logs.items() if one.config.compact and partition not in self._in_progress | self._uncleanable]
        chosen = filthiest(candidates, self._clean_offsets, self._services.clock.now_ms())
        if chosen is not None:
            await self._clean_or_mark(chosen)
        self._delete_old_segments()
        return chosen is not None

    async def _clean_or_mark(self, chosen: LogToClean) -> None:
        partition = chosen.log.topic_partition
        self._in_progress.add(partition)
        try:
            await self._clean(chosen)
        except CleaningAborted:
            log.info("The cleaning for partition %s is aborted", partition)
        except OSError as error:
            chosen.log.storage_failed(error)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one log must not stop all compaction
            self._mark_uncleanable(chosen.log, error)
        finally:
            self._in_progress.discard(partition)

    def _mark_uncleanable(self, one: Log, error: Exception) -> None:
        log.warning("Unexpected exception thrown when cleaning log %s. Marking its partition as uncleanable", one, exc_info=error)
        self._uncleanable.add(one.topic_partition)

    def _delete_old_segments(self) -> None:
        for partition, one in list(self._logs.items()):
            if one.config.compact and partition not in self._in_progress:
                try:
                    one.delete_old_segments(self._services.clock.now_ms())
                except KafkaError as error:
                    log.warning("Retention of %s failed: %s", one, error)

    # Cleaning

    async def _clean(self, chosen: LogToClean) -> None:
        one, version = chosen.log, chosen.log.version
        task = self._task(chosen, version)
        cleaner = Cleaner(replace(self._services, open_files=OpenFiles()), task)
        log.info("Beginning cleaning of log %s, dirty section = [%d, %d)", one, chosen.first_dirty_offset, chosen.end_offset)
        started_ms = self._services.clock.monotonic_ms()
        for group in await self._run(cleaner.build_map(self._config.map_entries_max), task.stats, started_ms):
            cleaned = await self._run(cleaner.clean_group(group), task.stats, started_ms)
            if self._must_stop(one, version):
                cleaned.remove_files()
                raise CleaningAborted
            self._swap(one, cleaned, group)
        if self._must_stop(one, version):
            raise CleaningAborted
        self._note(one, cleaner.map.latest_offset + 1)
        _tell(one, task, cleaner.map.latest_offset + 1)

    def _must_stop(self, one: Log, version: int) -> bool:
        return self._stopped or one.version != version or self._logs.get(one.topic_partition) is not one

    def _task(self, chosen: LogToClean, version: int) -> CleanTask:
        one = chosen.log
        last_records = {
            entry.producer_id: LastRecord(entry.last_offset if entry.batches else None, entry.producer_epoch) for entry in one.producers.producers.values()
        }
        return CleanTask(
            one.directory, one.config, _sources(one, chosen.end_offset), chosen.first_dirty_offset, chosen.end_offset, last_records,
            should_stop=lambda: self._stopped or one.version != version,
        )  # fmt: skip

    def _swap(self, one: Log, cleaned: LogSegment, group: Sequence[Source]) -> None:
        old = [segment for source in group if (segment := one.segments.get(source.base_offset)) is not None]
        log.info("Swapping in cleaned segment %r for segment(s) %s in log %s", cleaned, old, one)
        cleaned.rename(names.SWAP)
        one.replace_segments(cleaned, old)
        cleaned.rename("")

    async def _run(self, steps: Steps[T], stats: CleanStats, started_ms: float) -> T:
        """Take the steps in the background, with pauses between them. Where the cleaning must stop, it is the next step that notices, and clears away."""
        results: list[T] = []

        def step() -> None:
            try:
                next(steps)
            except StopIteration as stop:
                results.append(stop.value)

        while not results:
            await self._services.background.run(step)
            await self._keep_within_rate(stats, started_ms)
        return results[0]

    async def _keep_within_rate(self, stats: CleanStats, started_ms: float) -> None:
        due_ms = stats.bytes_moved * 1000 / self._config.io_bytes_per_second
        ahead_ms = due_ms - (self._services.clock.monotonic_ms() - started_ms)
        if ahead_ms > 0:
            await self._pause(id(stats), ahead_ms)

    # Checkpoints

    def _note(self, one: Log, first_dirty_offset: int) -> None:
        self._clean_offsets.setdefault(one.parent_dir, {})[one.topic_partition] = first_dirty_offset
        self._write_checkpoint(one.parent_dir)

    def _write_checkpoint(self, log_dir: str) -> None:
        self._services.writer.submit(f"{log_dir}/{checkpoints.CLEANER}", OffsetCheckpointFile.encode(self._clean_offsets[log_dir]), of_log_dir=True)

    def _read_checkpoint(self, log_dir: str) -> dict[TopicPartition, int]:
        try:
            return OffsetCheckpointFile(self._services.file_system, f"{log_dir}/{checkpoints.CLEANER}").read()
        except MalformedCheckpoint as error:
            log.error("%s; all compacted logs in this log dir count as dirty", error)
            return {}


def _sources(one: Log, end_offset: int) -> list[Source]:
    segments = list(one.segments)
    return [
        Source(segment.base_offset, following.base_offset, segment.size, one.aborted_transactions(segment.base_offset, following.base_offset))
        for segment, following in pairwise(segments)
        if following.base_offset <= end_offset
    ]


def _tell(one: Log, task: CleanTask, end_offset: int) -> None:
    stats = task.stats
    log.info(
        "cleaned log %s (dirty section = [%d, %d]): %d bytes read, %d written, %d of %d records kept",
        one, task.first_dirty_offset, end_offset, stats.bytes_read, stats.bytes_written, stats.records_written, stats.records_read,
    )  # fmt: skip
    if stats.records_without_key:
        log.warning("Found %d invalid messages during compaction of %s.", stats.records_without_key, one)
