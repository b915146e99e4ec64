"""One entry of `log.dirs`: its lock, its marker of a clean stop, its checkpoint files, the logs in it.

```
.lock                              held for the life of the broker
.kafka_cleanshutdown               there: the last stop was clean; removed before anything is loaded
meta.properties                    whose directory this is (meta_properties.py)
recovery-point-offset-checkpoint, log-start-offset-checkpoint, replication-offset-checkpoint, cleaner-offset-checkpoint
flights-0/ ...                     one directory a partition
```
A checkpoint that cannot be understood takes the log dir offline: what it knew, high watermarks and log starts, is nowhere else. Recovery points are, in the
logs themselves, at the price of reading them.

Differs from Kafka: 2.8 takes the log dir offline for a bad recovery point file too, after a warning that it starts from 0.

Source: facts/storage.md 3, 5, 7; LogManager.scala, CheckpointFile.scala.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import checkpoints, names
from pykafka_classic.log.checkpoints import MalformedCheckpoint, OffsetCheckpointFile
from pykafka_classic.log.file_system import FileSystem

LOCK_FILE: Final = ".lock"
STRAY_SUFFIX: Final = "-stray"
CLEAN_SHUTDOWN_FILE: Final = ".kafka_cleanshutdown"

log = logging.getLogger("kafka.log.LogManager")


class LogDirectoryError(Exception):
    """A log dir that must not be used at all: locked by another broker, or with directories in it that are no logs."""


@dataclass(slots=True)
class DirectoryContents:
    """What was found when a log dir was opened."""

    clean: bool
    recovery_points: dict[TopicPartition, int]
    log_start_offsets: dict[TopicPartition, int]
    high_watermarks: dict[TopicPartition, int]
    logs: list[tuple[str, TopicPartition, names.DirectoryKind]] = field(default_factory=list)  # directory name, whose, what for


class LogDirectory:
    """One log dir. Its methods do blocking I/O."""

    def __init__(self, file_system: FileSystem, path: str) -> None:
        self._file_system = file_system
        self.path = path
        self.online = True

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return f"{self.path}/{name}"

    def open(self) -> DirectoryContents:
        """Create it if need be, lock it, read what is in it. Raises OSError for a bad disk or checkpoint, LogDirectoryError for one in use."""
        self._file_system.make_directory(self.path)
        try:
            self._file_system.lock(self.file(LOCK_FILE))
        except BlockingIOError as error:
            message = f"Failed to acquire lock on file .lock in {self.path}. A Kafka instance in another process or thread is using this directory."
            raise LogDirectoryError(message) from error
        marker = self.file(CLEAN_SHUTDOWN_FILE)
        clean = self._file_system.exists(marker)
        log.info(
            "%s for all logs in %s since %s clean shutdown file was found",
            "Skipping recovery" if clean else "Attempting recovery",
            self.path,
            "a" if clean else "no",
        )
        contents = DirectoryContents(clean, self._recovery_points(), self._read(checkpoints.LOG_START), self._read(checkpoints.HIGH_WATERMARK))
        contents.logs = self._find_logs()
        if clean:
            self._file_system.remove(marker)  # a crash while loading is not a clean stop
            self._file_system.sync_directory(self.path)
        return contents

    def mark_clean(self) -> None:
        """All logs are closed and all checkpoints written."""
        self._file_system.open(self.file(CLEAN_SHUTDOWN_FILE), create=True).close()
        self._file_system.sync_directory(self.path)

    def _recovery_points(self) -> dict[TopicPartition, int]:
        try:
            return self._read(checkpoints.RECOVERY_POINT)
        except MalformedCheckpoint as error:
            message = "Error occurred while reading %s file of directory %s, resetting the recovery checkpoint to 0: %s"
            log.warning(message, checkpoints.RECOVERY_POINT, self.path, error)
            return {}

    def _read(self, name: str) -> dict[TopicPartition, int]:
        return OffsetCheckpointFile(self._file_system, self.file(name)).read()

    def _find_logs(self) -> list[tuple[str, TopicPartition, names.DirectoryKind]]:
        found = []
        for name in self._file_system.list(self.path):
            if not self._file_system.is_directory(self.file(name)):
                continue
            parsed = names.parse_directory_name(name)
            if parsed is None:
                raise LogDirectoryError(
                    f"Found directory {self.file(name)}, '{name}' is not in the form of topic-partition or topic-partition.uniqueId-delete "
                    "(if marked for deletion). Kafka's log directories (and children) should only contain Kafka topic data." + _advice(name)
                )
            found.append((name, *parsed))
        return found


def _advice(name: str) -> str:
    """What to do with a directory that a later release has left: Kafka 2.8 does not start over it either."""
    if not name.endswith(STRAY_SUFFIX):
        return ""
    return " It is a replica that belonged to this broker no more, set aside by Kafka 3: move it to another place."
