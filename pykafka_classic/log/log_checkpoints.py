"""The checkpoint files of all log dirs, written in the background.

Source: facts/storage.md 5; LogManager.scala (checkpointRecoveryOffsetsInDir, checkpointLogStartOffsetsInDir), ReplicaManager.scala (checkpointHighWatermarks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import checkpoints
from pykafka_classic.log.checkpoints import OffsetCheckpointFile
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_services import LogServices


def recovery_point(log: Log) -> int:
    """What recovery may skip."""
    return log.recovery_point


def log_start(log: Log) -> int | None:
    """The log start, where the first segment's name does not say it."""
    return log.log_start_offset if log.log_start_offset > log.segments.first.base_offset else None


def high_watermark(log: Log) -> int:
    """What a leader may serve at once after a restart."""
    return log.high_watermark


class LogCheckpoints:
    """Writes the offsets of the current logs (not of future ones), one file a log dir and kind."""

    def __init__(self, services: LogServices, logs: Mapping[TopicPartition, Log]) -> None:
        self._services = services
        self._logs = logs

    def write_recovery_points(self, log_dirs: Iterable[str]) -> Promise[None]:
        """Kept when they are on disk."""
        return self._write(checkpoints.RECOVERY_POINT, recovery_point, log_dirs)

    def write_log_starts(self, log_dirs: Iterable[str]) -> Promise[None]:
        """Kept when they are on disk."""
        return self._write(checkpoints.LOG_START, log_start, log_dirs)

    def write_high_watermarks(self, log_dirs: Iterable[str]) -> Promise[None]:
        """Kept when they are on disk."""
        return self._write(checkpoints.HIGH_WATERMARK, high_watermark, log_dirs)

    def _write(self, name: str, value: Callable[[Log], int | None], log_dirs: Iterable[str]) -> Promise[None]:
        offsets: dict[str, dict[TopicPartition, int]] = {log_dir: {} for log_dir in log_dirs}
        for partition, log in self._logs.items():
            offset = value(log)
            if offset is not None and log.parent_dir in offsets:
                offsets[log.parent_dir][partition] = offset
        for log_dir, of_dir in offsets.items():
            self._services.writer.submit(f"{log_dir}/{name}", OffsetCheckpointFile.encode(of_dir), of_log_dir=True)
        return self._services.writer.drained()
