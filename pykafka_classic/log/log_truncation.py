"""Cutting a log off: a follower throws away what its leader does not have.

Segments, indexes, epochs, producer state, high watermark and recovery point all go back to the new end together. The recovery points on disk are written at
once: one that is too high would let a later recovery skip batches that were never flushed.

Source: facts/storage.md 15; Log.scala (truncateTo, truncateFullyAndStartAt, completeTruncation).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.producer_replay import LogRange, remember_recent_batches, replay_producers_from_snapshot

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log

logger = logging.getLogger("kafka.log.Log")


def truncate_to(log: Log, offset: int) -> bool:
    """Remove all records at or above `offset`; True where there were any."""
    if offset >= log.log_end_offset:
        log.leader_epoch_cache.truncate_from_end(log.log_end_offset)  # an epoch that began here but wrote nothing may contradict the new leader's
        return False
    logger.info("%s Truncating to offset %d", log, offset)
    if offset < log.segments.first.base_offset:
        truncate_fully_and_start_at(log, offset)
        return True
    _remove_last_to_first(log, [segment for segment in log.segments if segment.base_offset > offset])
    log.segments.active.truncate_to(offset)
    log.leader_epoch_cache.truncate_from_end(offset)
    _complete(log, LogRange(min(offset, log.log_start_offset), offset))
    return True


def truncate_fully_and_start_at(log: Log, offset: int) -> None:
    """Remove everything; the log is empty and begins at `offset`."""
    logger.info("%s Truncate and start at offset %d", log, offset)
    _remove_last_to_first(log, list(log.segments))
    log.segments.add(LogSegment.create(log.services, log.directory, offset, log.config))
    log.leader_epoch_cache.clear()
    log.producers.truncate_fully_and_start_at(offset)
    _complete(log, LogRange(offset, offset))


def _remove_last_to_first(log: Log, segments: list[LogSegment]) -> None:
    # Durable before anything else changes: a segment that came back after a loss of power would stand behind a gap.
    if segments:
        log.remove_segments(segments[::-1])
        log.services.file_system.sync_directory(log.directory)


def _complete(log: Log, offsets: LogRange) -> None:
    log.version += 1
    log.log_start_offset, log.log_end_offset = offsets
    log.flusher.recovery_point = min(log.recovery_point, offsets.end_offset)
    replay_producers_from_snapshot(log.producers, log.segments, offsets, log.now_ms())
    remember_recent_batches(log.producers, log.segments, offsets, log.now_ms())
    log.update_high_watermark(min(log.high_watermark, offsets.end_offset))
    log.services.on_truncated(log.parent_dir)
