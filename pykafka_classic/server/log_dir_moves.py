"""Moving replicas from one log dir of this broker to another (KIP-113), while they are produced to and fetched from.

A second log, the future one, is made in the other log dir and filled from the current one, batch for batch as a follower's is. When it has all, it takes the
current one's place in the same turn, so nothing can be appended in between; the old directory is deleted later. A future log that a restart left behind goes on
being filled as soon as the controller gives the partition its role. Where the current log is cut meanwhile (a follower's), the future one is cut to match, by
leader epochs.

Mirrors ReplicaAlterLogDirsThread and ReplicaManager.alterReplicaLogDirs; facts/storage.md 6 for the names of the directories. Differs from Kafka: the
cleaner goes on with the current log meanwhile, as the copy is by offsets.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.partition_fetch_state import truncation_state
from pykafka_classic.server.replica_services import ReplicaServices
from pykafka_classic.server.replication_quota import ReplicationQuota

log = logging.getLogger("kafka.server.ReplicaAlterLogDirsManager")

COPY_BYTES_MAX: Final = 1024 * 1024  # at a time: what a follower asks of one partition (replica.fetch.max.bytes)
QUOTA_PAUSE_MS: Final = 100.0
FILE_NAME_MAX: Final = 255
FUTURE_SUFFIX_LENGTH: Final = len(".") + 32 + len("-future")


@dataclass(slots=True, eq=False)
class _Move:
    """One replica on its way. `aligned_to` is the version of the current log that the future one was last cut to match."""

    topic_partition: TopicPartition
    aligned_to: int | None = None
    stopped: bool = False


class LogDirMoves:
    """All moves of this broker.

    Invariant: a partition with a move has a future log, and at most one move.
    """

    def __init__(self, hosted: HostedPartitions, log_manager: LogManager, services: ReplicaServices, quota: ReplicationQuota) -> None:
        self.on_swapped: Callable[[TopicPartition], None] = lambda _: None
        self._hosted = hosted
        self._log_manager = log_manager
        self._clock = services.clock
        self._background = services.background
        self._quota = quota
        self._moves: dict[TopicPartition, _Move] = {}

    def move(self, wanted: Mapping[TopicPartition, str]) -> dict[TopicPartition, ErrorCode]:
        """AlterReplicaLogDirs: begin to move these replicas to these log dirs; an error for each."""
        errors: dict[TopicPartition, ErrorCode] = {}
        for topic_partition, log_dir in wanted.items():
            try:
                self._move(topic_partition, log_dir)
                errors[topic_partition] = ErrorCode.NONE
            except KafkaError as error:
                log.warning("Unable to alter log dirs for %s: %s", topic_partition, error)
                errors[topic_partition] = error.code
        return errors

    def _move(self, topic_partition: TopicPartition, log_dir: str) -> None:
        if len(str(topic_partition)) + FUTURE_SUFFIX_LENGTH > FILE_NAME_MAX:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic name is too long for a directory that is on its way to another log dir")
        if log_dir not in self._log_manager.log_dirs:
            raise KafkaError(ErrorCode.LOG_DIR_NOT_FOUND, f"Log dir {log_dir} is not found in the config.")
        if log_dir not in self._log_manager.online_log_dirs or topic_partition in self._hosted.offline:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"Log directory {log_dir} is offline")
        future = self._log_manager.get_log(topic_partition, future=True)
        if future is not None and future.parent_dir != log_dir:
            self.cancel(topic_partition)
        self._log_manager.prefer_log_dir(topic_partition, log_dir)
        partition = self._hosted.online.get(topic_partition)
        if partition is None or partition.log is None:  # it will be made there
            raise KafkaError(ErrorCode.REPLICA_NOT_AVAILABLE, f"No replica of {topic_partition} is here yet: it will be created in {log_dir}")
        if partition.log.parent_dir == log_dir:
            return
        self._log_manager.get_or_create_log(topic_partition, is_new=False, future=True, topic_id=partition.log.topic_id)
        self.resume([topic_partition])

    def resume(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Fill the future logs that these have, if they are not being filled already."""
        for topic_partition in topic_partitions:
            if topic_partition not in self._moves and self._log_manager.get_log(topic_partition, future=True) is not None:
                move = self._moves[topic_partition] = _Move(topic_partition)
                spawn(self._run(move)).when_settled(lambda outcome, move=move: self._ended(move, outcome))  # type: ignore[misc]

    def stop(self, topic_partition: TopicPartition) -> None:
        """Go no further; the future log stays."""
        move = self._moves.pop(topic_partition, None)
        if move is not None:
            move.stopped = True

    def cancel(self, topic_partition: TopicPartition) -> None:
        """Go no further, and remove the future log. Raises KAFKA_STORAGE_ERROR."""
        self.stop(topic_partition)
        if self._log_manager.get_log(topic_partition, future=True) is not None:
            self._log_manager.async_delete(topic_partition, future=True)

    def shutdown(self) -> None:
        """Go no further with any."""
        for topic_partition in list(self._moves):
            self.stop(topic_partition)

    def _ended(self, move: _Move, outcome: Promise[None]) -> None:
        if self._moves.get(move.topic_partition) is move:
            del self._moves[move.topic_partition]
        error = outcome.error()
        if isinstance(error, KafkaError):
            log.error("The move of %s to another log dir has stopped: %s", move.topic_partition, error)
        elif error is not None:
            log.error("The move of %s to another log dir has stopped", move.topic_partition, exc_info=error)

    async def _run(self, move: _Move) -> None:
        while not move.stopped:
            partition = self._hosted.online.get(move.topic_partition)
            current = None if partition is None else partition.log
            future = self._log_manager.get_log(move.topic_partition, future=True)
            if partition is None or current is None or future is None:
                return
            if move.aligned_to != current.version:
                _align(future, current)
                move.aligned_to = current.version
            copied = await self._copy(move, future, current)
            if copied == 0 and future.log_end_offset == current.log_end_offset and move.aligned_to == current.version and not move.stopped:
                self._finish(partition, future, current)
                return
            self._quota.record(copied)
            await self._turn()

    async def _copy(self, move: _Move, future: Log, current: Log) -> int:
        """The next batches; their bytes, 0 where there are none."""
        end = current.log_end_offset
        info = current.read(future.log_end_offset, max_length=COPY_BYTES_MAX, max_offset=end, min_one_message=True)
        if info.records is None:
            future.log_end_offset = end  # what is missing at the end was compacted away; offsets are not given twice
            return 0
        try:
            data = await self._background.run(info.records.read)
        except OSError as error:
            raise current.storage_failed(error) from error
        if move.stopped or move.aligned_to != current.version:
            return 0  # it was cut in the meantime: these batches may be gone
        before = future.log_end_offset
        future.append_as_follower(data)
        _follow_offsets(future, current)
        return len(data) if future.log_end_offset > before else 0

    async def _turn(self) -> None:
        """The others' turn first; and as long as more was copied than the quota allows."""
        pause_ms = 0.0
        while True:
            done: Promise[None] = Promise()
            self._clock.call_later(pause_ms, partial(done.resolve, None))
            await done
            if not self._quota.is_exceeded():
                return
            pause_ms = QUOTA_PAUSE_MS

    def _finish(self, partition: Partition, future: Log, current: Log) -> None:
        """The future log takes the place of the current one; nothing else runs meanwhile."""
        latest = future.leader_epoch_cache.latest_epoch()
        for epoch, start_offset in current.leader_epoch_cache.entries:
            if latest is None or epoch > latest:  # epochs in which nothing was written
                future.leader_epoch_cache.assign(epoch, start_offset)
        _follow_offsets(future, current)
        partition.log = self._log_manager.replace_current_with_future(partition.topic_partition)
        self.on_swapped(partition.topic_partition)


def _follow_offsets(future: Log, current: Log) -> None:
    future.update_high_watermark(current.high_watermark)
    if future.log_start_offset < current.log_start_offset <= future.high_watermark:
        future.maybe_increment_log_start_offset(current.log_start_offset)


def _align(future: Log, current: Log) -> None:
    """Cut from the future log what the current one does not have, as a follower does with its leader's answers."""
    if future.log_end_offset < current.log_start_offset:
        future.truncate_fully_and_start_at(current.log_start_offset)
        return
    while True:
        epoch = future.leader_epoch_cache.latest_epoch()
        if epoch is None:  # nothing in it, or message formats without epochs: beyond the high watermark nothing is certain
            future.truncate_to(min(future.log_end_offset, max(current.high_watermark, current.log_start_offset)))
            return
        known, end_offset = current.leader_epoch_cache.end_offset_for(epoch, current.log_end_offset)
        if end_offset < current.log_start_offset:
            future.truncate_fully_and_start_at(current.log_start_offset)
            return
        cut = truncation_state(future, future.log_end_offset, known, end_offset)
        future.truncate_to(cut.offset)
        if cut.completed:
            return
