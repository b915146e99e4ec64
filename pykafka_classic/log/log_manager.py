"""All logs of a broker: in which log dir they lie, how they are created, loaded, tended and removed.

Start: every log dir is locked and its logs are loaded in the background, with recovery where the last stop was not clean. Then timers apply retention, flush,
and write the checkpoint files. Stop: flush and close everything, write the checkpoints, leave the marker of a clean stop.

A log dir whose disk fails goes offline with all its logs; the others go on. The replica manager hears of it through `add_failure_listener`.

Differs from Kafka: creations, retention and deletions are decided on the one deciders' thread; only I/O that may block for long goes to the background.

Source: facts/storage.md 3, 7, 10, 13; LogManager.scala.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from uuid import UUID

from pykafka_classic.common.api_version import KAFKA_2_1_IV2, KAFKA_2_8_IV0
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import Promise, gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import names
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_checkpoints import LogCheckpoints
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.log.log_directory import LogDirectory
from pykafka_classic.log.log_loader import LoadRequest, load_log
from pykafka_classic.log.log_services import LogSeams, LogServices
from pykafka_classic.log.log_startup import DirectoryLoad, load_directory
from pykafka_classic.log.meta_properties import FILE_NAME, MetaProperties, read_meta_properties
from pykafka_classic.log.periodic_tasks import PeriodicTasks

PRODUCER_EXPIRATION_CHECK_MS: Final = 600_000
CLOSE_AT_ONCE: Final = 64  # logs flushed together at shutdown, per log dir

log = logging.getLogger("kafka.log.LogManager")


class LogManager:
    """See the module. One per broker."""

    def __init__(self, log_dirs: Iterable[str], seams: LogSeams, config: KafkaConfig, topic_overrides: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self._file_system = seams.file_system
        self._clock = seams.clock
        self._background = seams.background
        self._random = seams.random
        self._config = config
        self._default_log_config = config.log_config()
        self._overrides = dict(topic_overrides or {})
        self._log_configs: dict[str, LogConfig] = {}
        self.services = LogServices(
            seams.file_system,
            seams.clock,
            seams.background,
            seams.random,
            producer_expiration_ms=config.transactional_id_expiration_ms,
            topic_ids=config.inter_broker_api_version >= KAFKA_2_8_IV0,
            zstd_allowed=config.inter_broker_api_version >= KAFKA_2_1_IV2,
            on_storage_error=self._storage_failed,
            on_truncated=self._truncated,
        )
        seams.file_system.on_unreadable = lambda path, error: self._storage_failed(posixpath.dirname(path), error)
        self._directories = {path: LogDirectory(seams.file_system, path) for path in log_dirs}
        self._current: dict[TopicPartition, Log] = {}
        self._future: dict[TopicPartition, Log] = {}
        self._preferred_dirs: dict[TopicPartition, str] = {}
        self._failure_listeners: list[Callable[[str], None]] = []
        self._checkpoints = LogCheckpoints(self.services, self._current)
        self._tasks = PeriodicTasks(seams.clock)
        self._cleaner = LogCleaner(self.services, CleanerConfig.of(config), self._current)
        self._truncated_dirs: set[str] = set()

    # Looking

    @property
    def log_dirs(self) -> list[str]:
        """All configured log dirs."""
        return list(self._directories)

    @property
    def online_log_dirs(self) -> list[str]:
        """Those that work."""
        return [path for path, directory in self._directories.items() if directory.online]

    @property
    def offline_log_dirs(self) -> list[str]:
        """Those whose disk has failed."""
        return [path for path, directory in self._directories.items() if not directory.online]

    def get_log(self, topic_partition: TopicPartition, *, future: bool = False) -> Log | None:
        """The partition's log on this broker; None where it has none (or its log dir is offline)."""
        return (self._future if future else self._current).get(topic_partition)

    def all_logs(self) -> list[Log]:
        """Current and future ones."""
        return [*self._current.values(), *self._future.values()]

    def logs_in(self, log_dir: str, *, future: bool = False) -> dict[TopicPartition, Log]:
        """The logs of one log dir."""
        return {partition: one for partition, one in (self._future if future else self._current).items() if one.parent_dir == log_dir}

    def log_config(self, topic: str) -> LogConfig:
        """How this topic's logs are kept."""
        config = self._log_configs.get(topic)
        if config is None:
            config = self._log_configs[topic] = self._default_log_config.with_overrides(self._overrides.get(topic, {}))
        return config

    def add_failure_listener(self, listener: Callable[[str], None]) -> None:
        """Tell of a log dir (by path) that went offline; its logs are out of the account by then."""
        self._failure_listeners.append(listener)

    # Starting

    def load(self) -> Promise[None]:
        """Lock the log dirs and load all logs. Fails where one is in use or holds strange directories (LogDirectoryError), and where all are offline."""
        return spawn(self._load())

    async def _load(self) -> None:
        log.info("Loading logs from log dirs %s", ", ".join(self._directories))
        started_ms, threads = self._clock.monotonic_ms(), self._config.num_recovery_threads_per_data_dir
        loads = [
            DirectoryLoad(directory, self.services, self.log_config, self._add_loaded, self._remove_later, threads) for directory in self._directories.values()
        ]
        await gather([spawn(load_directory(load)) for load in loads])
        if not self.online_log_dirs:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"none of the specified log dirs from {', '.join(self._directories)} can be created or validated")
        log.info("Loaded %d logs in %dms.", len(self._current), self._clock.monotonic_ms() - started_ms)

    def _add_loaded(self, one: Log, kind: names.DirectoryKind, high_watermark: int) -> None:
        logs = self._future if kind is names.DirectoryKind.FUTURE else self._current
        previous = logs.get(one.topic_partition)
        if previous is not None:
            raise ValueError(
                f"Duplicate log directories for {one.topic_partition} are found in both {one.directory} and {previous.directory}. "
                "It is likely because log directory failure happened while broker was replacing current replica with future replica. "
                "Remove the one in the log dir that has failed."
            )
        one.update_high_watermark(high_watermark)
        logs[one.topic_partition] = one

    def start(self) -> None:
        """Begin to apply retention, to flush, to compact, and to write checkpoints. High watermarks are the replica manager's to write."""
        config, tasks = self._config, self._tasks
        tasks.every(config.log_retention_check_interval_ms, self.apply_retention)
        tasks.every(config.log_flush_scheduler_interval_ms, self.flush_dirty_logs)
        tasks.every(config.log_flush_offset_checkpoint_interval_ms, self.checkpoint_recovery_points)
        tasks.every(config.log_flush_start_offset_checkpoint_interval_ms, self.checkpoint_log_start_offsets)
        tasks.every(PRODUCER_EXPIRATION_CHECK_MS, self._expire_producers)
        if config.log_cleaner_enable:
            self._cleaner.start(self.online_log_dirs)

    # Creating and removing

    def get_or_create_log(
        self, topic_partition: TopicPartition, *, is_new: bool = True, future: bool = False, topic_id: UUID | None = None, config: LogConfig | None = None
    ) -> Log:
        """The partition's log, created where it has none: in the preferred log dir, else in the one with the fewest.

        Raises KAFKA_STORAGE_ERROR where no log dir works, or where the log is not new and may lie in one that is offline.
        """
        existing = self.get_log(topic_partition, future=future)
        if existing is not None:
            return existing
        if not is_new and self.offline_log_dirs:
            offline = ",".join(self.offline_log_dirs)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"Can not create log for {topic_partition} because log directories {offline} are offline")
        name = names.marked_directory_name(topic_partition, names.DirectoryKind.FUTURE, self._random) if future else str(topic_partition)
        for log_dir in self._candidates(topic_partition):
            try:
                one = self._create(topic_partition, f"{log_dir}/{name}", config or self.log_config(topic_partition.topic))
            except OSError as error:
                log.warning("Error while creating log for %s in dir %s: %s", topic_partition, log_dir, error)
                self._storage_failed(log_dir, error)
                continue
            (self._future if future else self._current)[topic_partition] = one
            self._preferred_dirs.pop(topic_partition, None)
            if topic_id is not None:
                one.assign_topic_id(topic_id)
            log.info("Created log for partition %s in %s", topic_partition, one.directory)
            return one
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"No log directories available for {topic_partition}. Tried {', '.join(self._directories)}")

    def _create(self, topic_partition: TopicPartition, directory: str, config: LogConfig) -> Log:
        is_new = not self._file_system.is_directory(directory)
        self._file_system.make_directory(directory)
        request = LoadRequest(directory, topic_partition, config, clean=True, is_new=is_new)
        return Log(self.services, directory, topic_partition, config, load_log(self.services, request))

    def _candidates(self, topic_partition: TopicPartition) -> list[str]:
        preferred = self._preferred_dirs.get(topic_partition)
        if preferred is not None:
            return [preferred] if self._directories[preferred].online else []
        online = self.online_log_dirs
        if len(online) == 1:
            return online
        counts = dict.fromkeys(online, 0)
        for one in self.all_logs():
            counts[one.parent_dir] = counts.get(one.parent_dir, 0) + 1
        return sorted(online, key=counts.__getitem__)

    def prefer_log_dir(self, topic_partition: TopicPartition, log_dir: str) -> None:
        """Where the partition is to be created (AlterReplicaLogDirs); nothing where it lies there already."""
        logs = (self._current.get(topic_partition), self._future.get(topic_partition))
        if not any(one is not None and one.parent_dir == log_dir for one in logs):
            self._preferred_dirs[topic_partition] = log_dir

    def async_delete(self, topic_partition: TopicPartition, *, future: bool = False) -> Log | None:
        """Take the log out of the account and rename its directory; the files go after `log.segment.delete.delay.ms`. None where there is no such log.

        Raises KAFKA_STORAGE_ERROR where it may lie in an offline log dir, or its disk fails.
        """
        logs = self._future if future else self._current
        one = logs.pop(topic_partition, None)
        if one is None:
            if self.offline_log_dirs:
                raise KafkaError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"Failed to delete log for {topic_partition} because it may be in one of the offline directories"
                )
            return None
        self._cleaner.forget(one)
        self._rename_to_delete(one)
        self._truncated(one.parent_dir)
        log.info("Log for partition %s is renamed to %s and is scheduled for deletion", topic_partition, one.directory)
        return one

    def replace_current_with_future(self, topic_partition: TopicPartition) -> Log:
        """The future replica has caught up: it becomes the current one, the old one is deleted. Raises KAFKA_STORAGE_ERROR where either is missing."""
        current, future = self._current.get(topic_partition), self._future.get(topic_partition)
        if current is None or future is None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"The {'current' if current is None else 'future'} replica for {topic_partition} is offline")
        future.rename_directory(str(topic_partition))
        future.update_high_watermark(current.high_watermark)
        del self._future[topic_partition]
        self._current[topic_partition] = future
        self._cleaner.moved(current, future)
        self._rename_to_delete(current)
        for log_dir in (current.parent_dir, future.parent_dir):
            self._truncated(log_dir)
        log.info("The current replica is successfully replaced with the future replica for %s", topic_partition)
        return future

    def _rename_to_delete(self, one: Log) -> None:
        one.rename_directory(names.marked_directory_name(one.topic_partition, names.DirectoryKind.DELETE, self._random))
        one.release()
        self._remove_later(one.directory, one.parent_dir)

    def _remove_later(self, directory: str, log_dir: str) -> None:
        def removed(outcome: Promise[None]) -> None:
            error = outcome.error()
            if isinstance(error, OSError):
                self._storage_failed(log_dir, error)
            elif error is None:
                log.info("Deleted log %s.", directory)

        def remove() -> None:
            self._background.run(lambda: self._file_system.remove_tree(directory)).when_settled(removed)

        self._clock.call_later(self._default_log_config.file_delete_delay_ms, remove)

    # Configuration

    def update_topic_config(self, topic: str, overrides: Mapping[str, str]) -> None:
        """The topic's overrides have changed; its logs go by them from now on. Raises ConfigError."""
        config = self._default_log_config.with_overrides(overrides)
        self._overrides[topic], self._log_configs[topic] = overrides, config
        for one in self.all_logs():
            if one.topic_partition.topic == topic:
                one.update_config(config)

    def update_default_config(self, config: KafkaConfig) -> None:
        """The broker's own configuration has changed."""
        self._config, self._default_log_config = config, config.log_config()
        self._cleaner.reconfigure(CleanerConfig.of(config))
        self._log_configs.clear()
        for one in self.all_logs():
            one.update_config(self.log_config(one.topic_partition.topic))

    def read_meta_properties(self, log_dir: str) -> MetaProperties | None:
        """Whose directory this is. Raises InvalidMetaProperties, OSError."""
        return read_meta_properties(self._file_system, log_dir)

    def write_meta_properties(self, properties: MetaProperties) -> None:
        """Note in every log dir whose it is."""
        for log_dir in self.online_log_dirs:
            self.services.writer.submit(f"{log_dir}/{FILE_NAME}", properties.encode(), of_log_dir=True)

    # Tending

    def apply_retention(self) -> int:
        """Delete what retention allows; the number of segments. Compacted logs are the cleaner's, also where it is disabled: Kafka leaves them alone."""
        deleted = 0
        for one in self.all_logs():
            if one.config.compact:
                continue
            try:
                deleted += one.delete_old_segments(self._clock.now_ms())
            except KafkaError as error:
                log.error("Retention of %s failed: %s", one, error)  # its log dir is offline by now; the others still have to be looked after
        return deleted

    def flush_dirty_logs(self) -> None:
        """fsync the logs whose oldest unsynced record is older than flush.ms."""
        now_ms = self._clock.now_ms()
        for one in self.all_logs():
            if now_ms - one.flusher.last_flush_ms >= one.config.flush_ms:
                one.flush_in_background()

    def _expire_producers(self) -> None:
        for one in self.all_logs():
            one.producers.remove_expired(self._clock.now_ms())

    # Checkpoints

    def checkpoint_recovery_points(self) -> Promise[None]:
        """Write the recovery points of all log dirs; kept when they are on disk."""
        return self._checkpoints.write_recovery_points(self.online_log_dirs)

    def checkpoint_log_start_offsets(self) -> Promise[None]:
        """Write the log starts that cannot be seen from the first segment."""
        return self._checkpoints.write_log_starts(self.online_log_dirs)

    def checkpoint_high_watermarks(self) -> Promise[None]:
        """Write the high watermarks."""
        return self._checkpoints.write_high_watermarks(self.online_log_dirs)

    def _truncated(self, log_dir: str) -> None:
        """Recovery points in this log dir have fallen, or logs gone: the files must not keep higher ones. One write for all that happens in this turn."""
        self._cleaner.truncated(log_dir)
        if not self._truncated_dirs:
            self._clock.call_later(0, self._checkpoint_truncated)
        self._truncated_dirs.add(log_dir)

    def _checkpoint_truncated(self) -> None:
        log_dirs, self._truncated_dirs = [path for path in self._truncated_dirs if self._directories[path].online], set()
        self._checkpoints.write_recovery_points(log_dirs)
        self._checkpoints.write_log_starts(log_dirs)

    # Failing and stopping

    def _storage_failed(self, path: str, error: OSError) -> None:
        log_dir = path if path in self._directories else posixpath.dirname(path)
        directory = self._directories.get(log_dir)
        if directory is None or not directory.online:
            return
        directory.online = False
        log.error("Stopping serving logs in dir %s: %s", log_dir, error)
        # Those who listen change partitions, perhaps the very one in whose append this happens: let it come to its end first.
        self._clock.call_later(0, lambda: self._take_offline(log_dir))

    def _take_offline(self, log_dir: str) -> None:
        self._cleaner.log_dir_failed(log_dir)
        for logs in (self._current, self._future):
            for partition in [partition for partition, one in logs.items() if one.parent_dir == log_dir]:
                del logs[partition]
        for listener in list(self._failure_listeners):
            listener(log_dir)

    def prepare_shutdown(self) -> None:
        """The broker is stopping: what waits to be written is written in one go."""
        self.services.writer.hurry()

    def shutdown(self) -> Promise[None]:
        """Flush and close all logs, write the checkpoints, leave the clean marker in every log dir that works."""
        self._tasks.stop()
        return spawn(self._shutdown())

    async def _shutdown(self) -> None:
        await self._cleaner.stop()
        logs = [one for one in self.all_logs() if self._directories[one.parent_dir].online]
        for start in range(0, len(logs), CLOSE_AT_ONCE):
            await gather([one.flush_in_background() for one in logs[start : start + CLOSE_AT_ONCE]])
        for one in logs:
            try:
                one.close()
            except KafkaError as error:
                log.error("%s could not be closed: %s", one, error)  # its log dir goes offline, without a marker
        self.checkpoint_recovery_points()
        self.checkpoint_log_start_offsets()
        await self.checkpoint_high_watermarks()
        for directory in self._directories.values():
            if directory.online:
                await self._mark_clean(directory)
        log.info("Shutdown complete.")

    async def _mark_clean(self, directory: LogDirectory) -> None:
        try:
            await self._background.run(directory.mark_clean)
        except OSError as error:
            self._storage_failed(directory.path, error)
