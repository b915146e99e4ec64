"""Which compacted log needs cleaning most, and how much of it may be cleaned now.

```
log start ... first dirty offset ... end offset ... active segment
    clean            dirty            not yet
```
Source: facts/storage.md 11; LogCleanerManager.scala (grabFilthiestCompactedLog, cleanableOffsets, maxCompactionDelay), LogToClean.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pykafka_classic.common.log_config import LONG_MAX
from pykafka_classic.common.topic_partition import TopicPartition

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log
    from pykafka_classic.log.log_segment import LogSegment

log = logging.getLogger("kafka.log.LogCleanerManager")


@dataclass(frozen=True, slots=True)
class LogToClean:
    """A log and the range of a pass over it. Sizes in bytes."""

    log: Log
    first_dirty_offset: int
    end_offset: int  # begin of the first segment that may not be cleaned
    clean_bytes: int
    dirty_bytes: int
    overdue: bool  # its oldest dirty record is older than max.compaction.lag.ms

    @property
    def ratio(self) -> float:
        """The dirty part of what is cleanable."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    @property
    def is_worth_it(self) -> bool:
        """True where a pass is due."""
        return self.dirty_bytes > 0 and (self.overdue or self.ratio > self.log.config.min_cleanable_dirty_ratio)


def filthiest(logs: Iterable[Log], clean_offsets: Mapping[str, Mapping[TopicPartition, int]], now_ms: int) -> LogToClean | None:
    """The log with the highest dirty ratio among those that are due."""
    due = [to_clean for one in logs if (to_clean := cleanable(one, clean_offsets.get(one.parent_dir, {}).get(one.topic_partition), now_ms)).is_worth_it]
    return max(due, key=lambda to_clean: to_clean.ratio, default=None)


def cleanable(one: Log, clean_offset: int | None, now_ms: int) -> LogToClean:
    """What could be cleaned of a log that has been cleaned up to `clean_offset`."""
    segments, active = one.segments, one.segments.active
    first_dirty = _first_dirty_offset(one, clean_offset)
    uncleanable = max(first_dirty, _first_uncleanable_offset(one, first_dirty, now_ms))
    holder = segments.floor(uncleanable) or segments.first
    end_offset = min(holder.base_offset, active.base_offset)
    clean_bytes = sum(segment.size for segment in segments.between(-1, first_dirty))
    dirty_bytes = sum(segment.size for segment in segments.between(min(first_dirty, end_offset), end_offset))
    return LogToClean(one, first_dirty, end_offset, clean_bytes, dirty_bytes, _is_overdue(one, first_dirty, now_ms))


def _first_dirty_offset(one: Log, clean_offset: int | None) -> int:
    if clean_offset is None:
        return one.log_start_offset
    if not one.log_start_offset <= clean_offset <= one.log_end_offset:
        message = "Resetting first dirty offset of %s to log start offset %d since the checkpointed offset %d is invalid."
        log.warning(message, one, one.log_start_offset, clean_offset)
        return one.log_start_offset
    return clean_offset


def _first_uncleanable_offset(one: Log, first_dirty: int, now_ms: int) -> int:
    # Not beyond the high watermark: what lies behind may yet be truncated, and the older value that it replaced would be gone (Kafka since 3.1: KAFKA-13194).
    candidates = [one.segments.active.base_offset, one.last_stable_offset]
    lag_ms = one.config.min_compaction_lag_ms
    if lag_ms > 0:
        young = [segment.base_offset for segment in _dirty_inactive(one, first_dirty) if segment.largest_timestamp.timestamp > now_ms - lag_ms]
        candidates += young[:1]
    return min(candidates)


def _is_overdue(one: Log, first_dirty: int, now_ms: int) -> bool:
    lag_ms = one.config.max_compaction_lag_ms
    if lag_ms >= LONG_MAX:
        return False
    timestamps = [segment.first_timestamp for segment in _dirty_inactive(one, first_dirty)]
    return min((timestamp for timestamp in timestamps if timestamp > 0), default=LONG_MAX) < now_ms - lag_ms


def _dirty_inactive(one: Log, first_dirty: int) -> list[LogSegment]:
    return one.segments.between(first_dirty, one.segments.active.base_offset)
