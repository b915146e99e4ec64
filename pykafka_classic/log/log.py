"""One partition's log on this broker: an append-only sequence of record batches in segments, and the offsets that say how much of it counts.

```
log_start_offset <= last_stable_offset <= high_watermark <= log_end_offset
```
* log_end_offset (LEO): the offset that the next record will get.
* high_watermark (HW): records below are on all in-sync replicas; consumers see no others.
* last_stable_offset (LSO): records below belong to no open transaction; read_committed consumers see no others.
* log_start_offset: records below are gone, by retention or DeleteRecords.
* recovery_point: records below survive a loss of power.

Loading is log_loader.py's work, checking of what is appended log_append.py's and log_validator.py's, finding log_reads.py's.

Not thread-safe: everything happens on the deciders' thread but for fsync, loading, and the cleaner's reading of old segments.

Source: facts/storage.md 8-15; Log.scala.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import log_reads, log_truncation, names
from pykafka_classic.log.append_checks import AppendRules
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.checkpoints import encode_epochs
from pykafka_classic.log.leader_epoch_cache import LeaderEpochFileCache
from pykafka_classic.log.leader_records import Produced, prepare_leader_append
from pykafka_classic.log.log_append import Incoming, fitting_runs, from_leader
from pykafka_classic.log.log_flusher import LogFlusher
from pykafka_classic.log.log_loader import LoadedLog
from pykafka_classic.log.log_retention import deletable_segments
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.log_values import FetchDataInfo, LogAppendInfo, LogOffsetMetadata, TimestampedOffset
from pykafka_classic.log.partition_metadata import encode_partition_metadata
from pykafka_classic.log.producer_append import ProducerUpdates, check_producers
from pykafka_classic.log.segment_recovery import complete_transaction
from pykafka_classic.log.segment_removal import remove_files_later
from pykafka_classic.log.storage_errors import storage_errors
from pykafka_classic.log.transaction_index import AbortedTransaction

log = logging.getLogger("kafka.log.Log")

MAGIC_WITH_EPOCHS: Final = 2


class Log:
    """See the module. Made by `log_loader.load_log`, or by the log manager."""

    def __init__(self, services: LogServices, directory: str, topic_partition: TopicPartition, config: LogConfig, loaded: LoadedLog) -> None:
        self.services = services
        self.directory = directory
        self.parent_dir = posixpath.dirname(directory)
        self.topic_partition = topic_partition
        self.config = config
        self.record_version = config.record_version  # magic of what is appended here
        self.append_rules = AppendRules.of(topic_partition, config, zstd_allowed=services.zstd_allowed)
        self.topic_id: UUID | None = loaded.topic_id
        self.segments = loaded.segments
        self.producers = loaded.producers
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.flusher = LogFlusher(self, services, loaded.recovery_point)
        self.high_watermark = loaded.log_start_offset
        self.version = 0  # grows when segments are removed or replaced otherwise than by rolling: what the cleaner read before is then stale
        self._failed = False
        for segment in self.segments:
            segment.adopt(services)
        self.leader_epoch_cache = LeaderEpochFileCache(loaded.epochs, self._write_epochs, enabled=self.record_version >= MAGIC_WITH_EPOCHS)
        if loaded.epochs_changed:
            self._write_epochs()

    def __str__(self) -> str:
        return f"[Log partition={self.topic_partition}, dir={self.parent_dir}]"

    @property
    def size(self) -> int:
        """Bytes of all segments."""
        return self.segments.size

    @property
    def active_segment(self) -> LogSegment:
        """The one that is appended to."""
        return self.segments.active

    @property
    def is_future(self) -> bool:
        """A replica that is being moved to this log dir."""
        return self.directory.endswith(f"-{names.DirectoryKind.FUTURE.value}")

    @property
    def last_stable_offset(self) -> int:
        """The end of what read_committed consumers see."""
        unstable = self.producers.first_unstable_offset
        if unstable is None or unstable >= self.high_watermark:
            return self.high_watermark
        return max(unstable, self.log_start_offset)

    @property
    def recovery_point(self) -> int:
        """Everything below is on disk for good."""
        return self.flusher.recovery_point

    @property
    def must_flush(self) -> bool:
        """flush.messages is reached: what was appended last is not to be acknowledged before `flusher.flush_until` says so."""
        return self.log_end_offset - self.flusher.recovery_point >= self.config.flush_messages

    def now_ms(self) -> int:
        """The broker's time."""
        return self.services.clock.now_ms()

    def offset_metadata(self, offset: int) -> LogOffsetMetadata:
        """Where `offset` lies: segment and position. Cheap near the end of the log."""
        active = self.segments.active
        if offset >= self.log_end_offset:
            return LogOffsetMetadata(offset, active.base_offset, active.size)
        segment = self.segments.floor(offset) or self.segments.first
        return LogOffsetMetadata(offset, segment.base_offset, log_reads.position_of(segment, offset))

    def update_high_watermark(self, offset: int) -> int:
        """Set the high watermark, bounded to [log start, LEO]; the new value. It may fall: after truncation, or as a follower is told."""
        self.high_watermark = max(self.log_start_offset, min(offset, self.log_end_offset))
        self.producers.on_high_watermark_updated(self.high_watermark)
        return self.high_watermark

    def maybe_increment_high_watermark(self, offset: int) -> bool:
        """Raise the high watermark to `offset` if that is higher; True where it rose."""
        if offset <= self.high_watermark:
            return False
        before = self.high_watermark
        return self.update_high_watermark(offset) > before

    @storage_errors
    def maybe_increment_log_start_offset(self, offset: int) -> bool:
        """Records below `offset` no longer count; True where the start rose. Raises OFFSET_OUT_OF_RANGE above the high watermark."""
        if offset > self.high_watermark:
            message = f"Cannot increment the log start offset to {offset} of partition {self.topic_partition} since it is larger than the high watermark"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{message} {self.high_watermark}")
        if offset <= self.log_start_offset:
            return False
        log.info("%s Incrementing log start offset to %d", self, offset)
        self._set_log_start_offset(offset)
        self.leader_epoch_cache.truncate_from_start(offset)
        self.producers.on_log_start_offset_incremented(offset)
        return True

    # Appending

    @storage_errors
    def append_as_leader(self, records: Produced, *, leader_epoch: int, origin: AppendOrigin = AppendOrigin.CLIENT) -> LogAppendInfo:
        """Give records offsets from the LEO on and write them.

        Raises KafkaError with the code that a Produce answer carries, RecordValidationError (a KafkaError) where single records are at fault.
        """
        append = prepare_leader_append(self, records, leader_epoch, origin)
        if append is None:
            return LogAppendInfo(log_start_offset=self.log_start_offset)
        incoming, info = append
        updates = check_producers(self.producers, incoming, origin)
        if updates is not None and updates.duplicate is not None:
            duplicate = updates.duplicate
            info.first_offset, info.last_offset, info.log_append_time = duplicate.first_offset, duplicate.last_offset, duplicate.timestamp
            info.duplicate, info.size, info.batch_count = True, 0, 0
            return info
        self._write(incoming, updates)
        return info

    @storage_errors
    def append_as_follower(self, records: bytes | memoryview) -> LogAppendInfo:
        """Write what was fetched from the leader, with its offsets and epochs. Raises CORRUPT_MESSAGE, OFFSET_OUT_OF_RANGE for offsets out of order."""
        incoming = from_leader(records, self.log_end_offset, self.topic_partition)
        if incoming is None:
            return LogAppendInfo(log_start_offset=self.log_start_offset)
        info = incoming.append_info()
        info.log_start_offset = self.log_start_offset
        for part in fitting_runs(incoming, self.segments.active.size, self.config.segment_bytes):
            self._write(part, check_producers(self.producers, part, AppendOrigin.REPLICATION))
        return info

    def _write(self, incoming: Incoming, updates: ProducerUpdates | None) -> None:
        segment = self.segments.active
        last_offset = incoming.batches[-1].last_offset
        if segment.should_roll(incoming.size, incoming.largest.timestamp, last_offset):
            segment = self.roll(incoming.first_offset)
        segment.append(incoming.buffers, incoming.batches, incoming.largest)
        self.log_end_offset = last_offset + 1
        self._assign_epochs(incoming)
        if updates is not None:
            for info in updates.infos.values():
                self.producers.update(info)
            for completed in updates.completed:
                complete_transaction(segment, self.producers, completed)
        self.producers.map_end_offset = last_offset + 1

    def _assign_epochs(self, incoming: Incoming) -> None:
        cache = self.leader_epoch_cache
        for batch in incoming.batches:
            if batch.magic >= MAGIC_WITH_EPOCHS:
                cache.assign(batch.leader_epoch, batch.base_offset)
            else:
                cache.clear()  # an older format without epochs: what is known about epochs stops being true

    # Reading

    @storage_errors
    def read(self, start_offset: int, *, max_length: int, max_offset: int, min_one_message: bool, include_aborted: bool = False) -> FetchDataInfo:
        """Whole batches from the one with `start_offset` on, below `max_offset`, at most `max_length` bytes of one segment (the last may be cut).

        `min_one_message`: the first batch whole, however large. Raises OFFSET_OUT_OF_RANGE outside [log start, LEO].
        """
        if not self.log_start_offset <= start_offset <= self.log_end_offset:
            raise log_reads.out_of_range(self, start_offset)
        if start_offset >= max_offset:
            return FetchDataInfo(self.offset_metadata(start_offset), aborted_transactions=() if include_aborted else None)
        segment: LogSegment | None = self.segments.floor(start_offset) or self.segments.first
        while segment is not None:
            info = log_reads.read_segment(segment, start_offset, max_length, self._end_in(segment, max_offset), min_one_message=min_one_message)
            if info is not None:
                return log_reads.with_aborted(self, segment, info, max_offset) if include_aborted else info
            segment = self.segments.higher(segment.base_offset)  # all that this one held from there on was compacted away
        return FetchDataInfo(self.offset_metadata(self.log_end_offset), aborted_transactions=() if include_aborted else None)

    @storage_errors
    def bytes_from(self, offset: int, max_offset: int) -> int:
        """Bytes of the batches from `offset` up to `max_offset`."""
        return log_reads.bytes_between(self, max(offset, self.log_start_offset), max_offset)

    def aborted_transactions(self, offset: int, max_offset: int) -> list[AbortedTransaction]:
        """Those that overlap [offset, max_offset)."""
        return log_reads.aborted_between(self, offset, max_offset)

    def offset_for_timestamp(self, timestamp: int) -> Promise[TimestampedOffset | None]:
        """The first record not older than `timestamp` (ms); -2 and -1 ask for the log's ends. UNSUPPORTED_FOR_MESSAGE_FORMAT where records have no time."""
        return spawn(log_reads.offset_for_timestamp(self, timestamp))

    @storage_errors
    def legacy_offsets_before(self, timestamp: int, max_num: int) -> list[int]:
        """ListOffsets v0: at most `max_num` segment starts not younger than `timestamp`, newest first."""
        return log_reads.legacy_offsets_before(self, timestamp, max_num)

    def _end_in(self, segment: LogSegment, max_offset: int) -> int:
        if max_offset >= self.log_end_offset or self.segments.floor(max_offset) is not segment:
            return segment.size
        return log_reads.position_of(segment, max_offset)

    # Rolling, flushing

    @storage_errors
    def roll(self, expected_next_offset: int = 0) -> LogSegment:
        """Begin a new segment at the LEO, or further on where the next record will have `expected_next_offset`; the old one is flushed in the background."""
        old = self.segments.active
        base_offset = max(expected_next_offset, self.log_end_offset)
        if base_offset == old.base_offset:
            return old  # empty: it can serve as the new one
        old.on_become_inactive()
        segment = self.segments.add(LogSegment.create(self.services, self.directory, base_offset, self.config))
        self.producers.map_end_offset = base_offset
        self.producers.take_snapshot()
        log.info("%s Rolled new log segment at offset %d", self, base_offset)
        self.flush_in_background(base_offset)
        return segment

    @storage_errors
    def flush(self, offset: int | None = None) -> None:
        """fsync everything below `offset` (the LEO). Blocks."""
        self.flusher.flush(self.log_end_offset if offset is None else offset)

    def flush_in_background(self, offset: int | None = None) -> Promise[None]:
        """The same off the deciders' thread; kept when it is done. A failing disk is reported like any other, and the promise kept all the same."""
        if self._failed:
            return Promise.resolved(None)
        return self.flusher.flush_in_background(self.log_end_offset if offset is None else offset)

    # Truncating, deleting

    @storage_errors
    def truncate_to(self, offset: int) -> bool:
        """Remove all records at or above `offset`; True where there were any."""
        return log_truncation.truncate_to(self, offset)

    @storage_errors
    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove everything; the log is empty and begins at `offset`."""
        log_truncation.truncate_fully_and_start_at(self, offset)

    @storage_errors
    def delete_old_segments(self, now_ms: int) -> int:
        """Apply the topic's retention; the number of segments deleted."""
        deletable = deletable_segments(self, now_ms)
        if not deletable:
            return 0
        if len(deletable) == len(self.segments):
            self.roll()
        self.remove_segments(deletable)
        self.maybe_increment_log_start_offset(self.segments.first.base_offset)
        return len(deletable)

    def remove_segments(self, segments: Sequence[LogSegment], *, with_snapshots: bool = True) -> None:
        """Take segments out of the log: their files become `.deleted` at once and disappear after `file.delete.delay.ms`."""
        if not segments:
            return
        self.version += 1
        for segment in segments:
            self.segments.remove(segment)
            segment.rename(names.DELETED)
            if with_snapshots:
                self.producers.remove_snapshot(segment.base_offset)
        remove_files_later(self.services, segments, self.config.file_delete_delay_ms, self.storage_failed)

    @storage_errors
    def replace_segments(self, cleaned: LogSegment, old: Sequence[LogSegment]) -> None:
        """Compaction: `cleaned` takes the place of `old` and of their files, which become `.deleted`; their snapshots stay."""
        cleaned.adopt(self.services)
        for segment in old:
            self.segments.remove(segment)
            segment.rename(names.DELETED)
        self.segments.add(cleaned)
        remove_files_later(self.services, old, self.config.file_delete_delay_ms, self.storage_failed)

    # Life

    @storage_errors
    def update_config(self, config: LogConfig) -> None:
        """The topic's configuration has changed."""
        if config.record_version < self.record_version:
            log.warning("%s Record format version has been downgraded from %d to %d.", self, self.record_version, config.record_version)
        if (config.record_version < MAGIC_WITH_EPOCHS) != (self.record_version < MAGIC_WITH_EPOCHS):
            self.leader_epoch_cache.clear()
            self.leader_epoch_cache = LeaderEpochFileCache((), self._write_epochs, enabled=config.record_version >= MAGIC_WITH_EPOCHS)
        self.config, self.record_version = config, config.record_version
        self.append_rules = AppendRules.of(self.topic_partition, config, zstd_allowed=self.services.zstd_allowed)
        for segment in self.segments:
            segment.update_config(config)

    def assign_topic_id(self, topic_id: UUID) -> None:
        """Note which topic this is. Raises INCONSISTENT_TOPIC_ID where another one is noted."""
        if self.topic_id == topic_id or not self.services.topic_ids:
            return
        if self.topic_id is not None:
            raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID, f"{self.topic_partition} has topic id {self.topic_id}, not {topic_id}")
        self.topic_id = topic_id
        self.services.writer.submit(f"{self.directory}/{names.PARTITION_METADATA}", encode_partition_metadata(topic_id))

    @storage_errors
    def close(self) -> None:
        """A clean end: producer snapshot, complete indexes. The log is not used any more."""
        self.producers.take_snapshot(sync=bool(self.producers.producers))
        for segment in self.segments:
            segment.close()

    def release(self) -> None:
        """Close files and give memory back; they come again when they are needed."""
        for segment in self.segments:
            segment.release()

    @storage_errors
    def rename_directory(self, name: str) -> None:
        """Move the log to another directory beside its own: to be deleted, or to replace the current replica."""
        self.services.writer.discard(self.directory)
        self.release()
        directory = posixpath.join(self.parent_dir, name)
        self.services.file_system.rename(self.directory, directory)
        self.directory = self.producers.directory = directory
        for segment in self.segments:
            segment.moved_to(directory)
        if self.record_version >= MAGIC_WITH_EPOCHS:
            self._write_epochs()
        if self.topic_id is not None:
            self.services.writer.submit(f"{directory}/{names.PARTITION_METADATA}", encode_partition_metadata(self.topic_id))

    def storage_failed(self, error: OSError) -> KafkaError:
        """Report a failing disk; the error for whoever asked."""
        if not self._failed:
            log.error("%s I/O error, the log directory goes offline: %s", self, error)
        self._failed = True
        self.services.on_storage_error(self.parent_dir, error)
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"Error in log for {self.topic_partition} in dir {self.parent_dir}: {error}")

    def _set_log_start_offset(self, offset: int) -> None:
        self.log_start_offset = offset
        if self.high_watermark < offset:
            self.update_high_watermark(offset)
        self.flusher.recovery_point = max(self.recovery_point, offset)

    def _write_epochs(self) -> None:
        self.services.writer.submit(f"{self.directory}/{names.LEADER_EPOCH_CHECKPOINT}", encode_epochs(self.leader_epoch_cache.entries))
