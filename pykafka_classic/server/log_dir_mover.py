"""Fills future logs from current ones, and swaps them when they have caught up: moves of replicas between log dirs of one broker (KIP-113).

A step copies one piece (`replica.fetch.max.bytes`) of one replica and leaves the rest of the broker its turn; replicas take turns. Records are copied up to the
end of the current log, not only up to its high watermark: when the current log is truncated, so is the future one, in the same breath
(`Partition.truncate_to`). A step that reaches the end swaps the logs before anything else can be appended.

What a future log holds from before a restart is cut first where its epochs leave those of the current log.

Mirrors kafka.server.{ReplicaAlterLogDirsManager,ReplicaAlterLogDirsThread}, without their threads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.partition_fetch_state import truncation_state
from pykafka_classic.server.replication_quota import ReplicationQuota

log = logging.getLogger("kafka.server.ReplicaAlterLogDirsThread")

BETWEEN_PIECES_MS: Final = 1  # others have their turn


class LogDirMover:
    """The moves under way.

    Invariant: `_moving` holds those whose future log agrees with the current one as far as it goes; a timer runs exactly while it is not empty.
    """

    def __init__(self, config: KafkaConfig, clock: Clock, log_manager: LogManager, hosted: HostedPartitions, quota: ReplicationQuota) -> None:
        self.on_swapped: Callable[[TopicPartition], None] = lambda _: None
        self._max_bytes = config.replica_fetch_max_bytes
        self._backoff_ms = config.replica_fetch_backoff_ms
        self._clock = clock
        self._log_manager = log_manager
        self._hosted = hosted
        self._quota = quota
        self._moving: dict[TopicPartition, None] = {}
        self._stopped = False

    def start(self, topic_partition: TopicPartition) -> None:
        """Begin, or go on, to fill this replica's future log."""
        if topic_partition in self._moving:
            return
        was_idle = not self._moving
        self._moving[topic_partition] = None
        log.info("Moving %s to another log dir", topic_partition)
        self._attempt(topic_partition, self._cut)
        if was_idle and self._moving:
            self._clock.call_later(BETWEEN_PIECES_MS, self._step)

    def shutdown(self) -> None:
        """Leave the moves as they are; they go on after the next start."""
        self._stopped = True
        self._moving.clear()

    def _step(self) -> None:
        if self._stopped or not self._moving:
            return
        if self._quota.is_exceeded():
            self._clock.call_later(self._backoff_ms, self._step)
            return
        topic_partition = next(iter(self._moving))
        del self._moving[topic_partition]  # to the end of the row
        self._moving[topic_partition] = None
        self._attempt(topic_partition, self._copy)
        if self._moving:
            self._clock.call_later(BETWEEN_PIECES_MS, self._step)

    def _attempt(self, topic_partition: TopicPartition, action: Callable[[Log, Log], None]) -> None:
        """A move ends where one of the logs is gone: deleted, or in a log dir that failed, or bound for another one."""
        current, future = self._log_manager.get_log(topic_partition), self._log_manager.get_log(topic_partition, future=True)
        if current is None or future is None or topic_partition not in self._hosted.online:
            self._moving.pop(topic_partition, None)
            return
        try:
            action(current, future)
        except KafkaError as error:
            if error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                log.error("The move of %s ends: %s", topic_partition, error)
                self._moving.pop(topic_partition, None)
                return
            # What was copied does not fit what follows any more: retention or the leader have moved the current log meanwhile.
            log.warning("The move of %s begins again: %s", topic_partition, error)
            future.truncate_fully_and_start_at(current.log_start_offset)

    def _cut(self, current: Log, future: Log) -> None:
        """Drop what a future log from before a restart has and the current one has not."""
        for _ in range(len(future.leader_epoch_cache.entries) + 1):
            epoch = future.leader_epoch_cache.latest_epoch()
            if epoch is None:
                break
            found_epoch, end = current.leader_epoch_cache.end_offset_for(epoch, current.log_end_offset)
            cut = truncation_state(future, future.high_watermark, found_epoch, end)
            future.truncate_to(cut.offset)
            if cut.completed:
                break
        else:
            future.truncate_fully_and_start_at(current.log_start_offset)
        if future.leader_epoch_cache.latest_epoch() is None and future.log_end_offset > future.log_start_offset:
            future.truncate_to(min(future.high_watermark, current.log_end_offset))  # an old record format knows no epochs

    def _copy(self, current: Log, future: Log) -> None:
        if future.log_end_offset < current.log_start_offset:
            future.truncate_fully_and_start_at(current.log_start_offset)
        if future.log_end_offset > current.log_end_offset:
            future.truncate_to(current.log_end_offset)
        if future.log_end_offset < current.log_end_offset:
            self._copy_piece(current, future)
        future.update_high_watermark(min(current.high_watermark, future.log_end_offset))
        if current.log_start_offset > future.log_start_offset:
            future.maybe_increment_log_start_offset(min(current.log_start_offset, future.high_watermark))
        if future.log_end_offset == current.log_end_offset:
            self._swap(current.topic_partition)

    def _copy_piece(self, current: Log, future: Log) -> None:
        info = current.read(future.log_end_offset, max_length=self._max_bytes, max_offset=current.log_end_offset, min_one_message=True)
        records = b"" if info.records is None else info.records.read()
        if not records:
            message = f"{current} has no records from {future.log_end_offset} up to its end, {current.log_end_offset}"
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, message)
        future.append_as_follower(records)
        self._quota.record(len(records))

    def _swap(self, topic_partition: TopicPartition) -> None:
        partition = self._hosted.online[topic_partition]
        partition.log = self._log_manager.replace_current_with_future(topic_partition)
        del self._moving[topic_partition]
        self.on_swapped(topic_partition)
