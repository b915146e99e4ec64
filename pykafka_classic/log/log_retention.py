"""Which segments have had their time.

Oldest first, and no further than the first that has to stay; only segments wholly below the high watermark, and never an empty active one.

Source: facts/storage.md 10; Log.scala (deletableSegments and the three rules).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pykafka_classic.log.log import Log
    from pykafka_classic.log.log_segment import LogSegment

log = logging.getLogger("kafka.log.Log")


def deletable_segments(partition_log: Log, now_ms: int) -> list[LogSegment]:
    """Segments to delete by the topic's policy. A topic that is only compacted loses just what lies below its log start."""
    config = partition_log.config
    found: list[LogSegment] = []
    if config.delete and config.retention_ms >= 0:
        found = _oldest_while(partition_log, lambda segment, _: now_ms - segment.retention_timestamp() > config.retention_ms)
        _tell(partition_log, found, f"retention time {config.retention_ms}ms breach")
    if config.delete and config.retention_bytes >= 0:
        excess = partition_log.size - config.retention_bytes
        by_size = _oldest_while(partition_log, _exceeds(excess))
        _tell(partition_log, by_size[len(found) :], f"retention size in bytes {config.retention_bytes} breach")
        found = max(found, by_size, key=len)
    by_start = _oldest_while(partition_log, lambda _, following: following is not None and following.base_offset <= partition_log.log_start_offset)
    _tell(partition_log, by_start[len(found) :], f"log start offset {partition_log.log_start_offset} breach")
    return max(found, by_start, key=len)


def _exceeds(excess: int) -> Callable[[LogSegment, LogSegment | None], bool]:
    left = excess

    def can_go(segment: LogSegment, _: LogSegment | None) -> bool:
        nonlocal left
        left -= segment.size
        return left >= 0

    return can_go


def _oldest_while(partition_log: Log, can_go: Callable[[LogSegment, LogSegment | None], bool]) -> list[LogSegment]:
    segments = list(partition_log.segments)
    found: list[LogSegment] = []
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        end = following.base_offset if following is not None else partition_log.log_end_offset
        if partition_log.high_watermark < end or (following is None and not segment.size) or not can_go(segment, following):
            break
        found.append(segment)
    return found


def _tell(partition_log: Log, segments: list[LogSegment], reason: str) -> None:
    if segments:
        log.info("%s Deleting segments %s due to %s", partition_log, ", ".join(map(repr, segments)), reason)
