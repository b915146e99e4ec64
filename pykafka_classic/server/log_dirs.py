"""Replicas and the log dirs of this broker: where each lies, and moves from one to another (KIP-113).

A move: a future log, `T-P.HASH-future`, is made in the other log dir and filled from the current one (log_dir_mover.py); when it has caught up it takes the
current one's place. Who leads does not matter. After a restart a move goes on as soon as the replica has its role.

Mirrors ReplicaManager.{alterReplicaLogDirs,describeLogDirs}.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.log_dir_mover import LogDirMover

log = logging.getLogger("kafka.server.ReplicaManager")

NO_LAG: Final = -1  # of a replica that has no current log


@dataclass(frozen=True, slots=True)
class LogDirReplica:
    """One replica in a log dir. `offset_lag`: of a future log behind the current one; of a current one behind the high watermark."""

    topic_partition: TopicPartition
    size: int  # bytes
    offset_lag: int
    is_future: bool


class LogDirs:
    """See the module."""

    def __init__(self, log_manager: LogManager, hosted: HostedPartitions, mover: LogDirMover) -> None:
        self._log_manager = log_manager
        self._hosted = hosted
        self._mover = mover

    def describe(self, wanted: Collection[TopicPartition] | None) -> dict[str, list[LogDirReplica] | None]:
        """The replicas of each log dir, all or those wanted; None for a log dir that is offline."""
        offline = set(self._log_manager.offline_log_dirs)
        return {log_dir: None if log_dir in offline else self._replicas_in(log_dir, wanted) for log_dir in self._log_manager.log_dirs}

    def _replicas_in(self, log_dir: str, wanted: Collection[TopicPartition] | None) -> list[LogDirReplica]:
        return [
            LogDirReplica(topic_partition, one.size, self._lag(one, future=future), future)
            for future in (False, True)
            for topic_partition, one in self._log_manager.logs_in(log_dir, future=future).items()
            if wanted is None or topic_partition in wanted
        ]

    def _lag(self, one: Log, *, future: bool) -> int:
        current = self._log_manager.get_log(one.topic_partition)
        if current is None:
            return NO_LAG
        return current.log_end_offset - one.log_end_offset if future else max(current.high_watermark - one.log_end_offset, 0)

    def alter(self, topic_partition: TopicPartition, log_dir: str) -> ErrorCode:
        """Begin to move a replica to this log dir; a move to another one ends. Without a replica here, it will be made there."""
        try:
            self._alter(topic_partition, log_dir.rstrip("/"))
        except KafkaError as error:
            log.warning("Unable to alter log dirs for %s: %s", topic_partition, error)
            # As before 2.4, when this API got its form: the other error would make clients look for the leader.
            return ErrorCode.REPLICA_NOT_AVAILABLE if error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER else error.code
        return ErrorCode.NONE

    def _alter(self, topic_partition: TopicPartition, log_dir: str) -> None:
        if log_dir not in self._log_manager.log_dirs:
            raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND, f"Log dir {log_dir} is not found in the config.")
        if log_dir not in self._log_manager.online_log_dirs:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"Log directory {log_dir} is offline")
        future = self._log_manager.get_log(topic_partition, future=True)
        if future is not None and future.parent_dir != log_dir:
            self._log_manager.async_delete(topic_partition, future=True)
            future = None
        self._log_manager.prefer_log_dir(topic_partition, log_dir)
        current = self._hosted.get(topic_partition).local_log()
        if future is None and current.parent_dir != log_dir:
            self._log_manager.get_or_create_log(topic_partition, future=True)
            self._mover.start(topic_partition)

    def resume(self, topic_partitions: Collection[TopicPartition]) -> None:
        """These replicas have roles now: go on with their moves."""
        for topic_partition in topic_partitions:
            if self._log_manager.get_log(topic_partition, future=True) is not None:
                self._mover.start(topic_partition)
