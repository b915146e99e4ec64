"""Producer state made again: from a snapshot and the batches behind it.

Differs from Kafka: a snapshot holds only the last batch of each producer, and with that alone an idempotent producer which had several batches in flight when
the broker died is refused for good when it sends the first of them again. Here the latest batches are looked up in the log, so that all five are known again.

Source: facts/storage.md 6; Log.scala (rebuildProducerState).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.log_segments import LogSegments
from pykafka_classic.log.producer_entry import BATCHES_RETAINED, BatchMetadata, ProducerStateEntry
from pykafka_classic.log.producer_state import ProducerStateManager
from pykafka_classic.log.segment_recovery import replay_producers

RECENT_BYTES: Final = (64 * 1024, 512 * 1024, 4 * 1024 * 1024)  # of the log's end, where batches of living producers are looked for: more and more of it
HEADERS_MAX: Final = 2000  # and no further than this promises to stay below: after a truncation everybody waits for it
RECENT_MS: Final = 15 * 60_000  # a producer gives up sooner (delivery.timeout.ms): logs that have been quiet for longer need no looking


class LogRange(NamedTuple):
    """The offsets that a log has."""

    start_offset: int
    end_offset: int


def replay_producers_from_snapshot(
    producers: ProducerStateManager, segments: LogSegments, offsets: LogRange, now_ms: int, *, snapshot_bases: Sequence[int] = ()
) -> None:
    """Bring producer state to the log's end: newest snapshot, then the batches behind it. At these segment bases a snapshot is taken on the way."""
    start_offset, end_offset = offsets
    was_empty = producers.is_empty and producers.map_end_offset >= end_offset
    producers.truncate_and_reload(start_offset, end_offset, now_ms)
    if end_offset > producers.map_end_offset and not was_empty:
        for segment in segments.between(producers.map_end_offset, end_offset):
            producers.map_end_offset = begin = max(segment.base_offset, producers.map_end_offset, start_offset)
            if segment.base_offset in snapshot_bases:
                producers.take_snapshot()
            first, last = segment.translate_offset(begin), segment.translate_offset(end_offset)
            if first is not None:
                replay_producers(segment, producers, first.position, segment.size if last is None else last.position)
    producers.map_end_offset = end_offset


def remember_recent_batches(producers: ProducerStateManager, segments: LogSegments, offsets: LogRange, now_ms: int) -> None:
    """Give each producer its last batches back, up to five, as far as they lie near the log's end."""
    lacking = {entry.producer_id: entry for entry in producers.producers.values() if 0 < len(entry.batches) < BATCHES_RETAINED}
    if not lacking or now_ms - segments.active.modified_ms() > RECENT_MS:
        return
    found: dict[int, deque[BatchMetadata]] = {}
    for size, next_size in pairwise((*RECENT_BYTES, 0)):
        headers = list(_recent_headers(segments, offsets, size))
        found = _batches_of(lacking, headers)
        is_all = not headers or headers[0].base_offset <= offsets.start_offset or all(len(batches) == BATCHES_RETAINED for batches in found.values())
        if is_all or len(headers) * next_size / size > HEADERS_MAX:
            break
    for producer_id, batches in found.items():
        entry = lacking[producer_id]
        if len(batches) > len(entry.batches) and batches[-1] == entry.batches[-1]:
            entry.batches = batches


def _batches_of(producers: Mapping[int, ProducerStateEntry], headers: Iterable[BatchHeader]) -> dict[int, deque[BatchMetadata]]:
    found: dict[int, deque[BatchMetadata]] = {producer_id: deque(maxlen=BATCHES_RETAINED) for producer_id in producers}
    for header in headers:
        entry = producers.get(header.producer_id)
        if entry is not None and not header.is_control and header.producer_epoch == entry.producer_epoch:
            found[header.producer_id].append(BatchMetadata.of(header))
    return found


def _recent_headers(segments: LogSegments, offsets: LogRange, size: int) -> Iterator[BatchHeader]:
    left, starts = size, []
    for segment in reversed(segments.between(offsets.start_offset, offsets.end_offset)):
        indexed = segment.offset_index.offset_at_or_after(segment.size - left) if segment.size > left else None
        starts.append((segment, 0 if indexed is None else segment.position_before(indexed)))
        left -= segment.size
        if left <= 0:
            break
    for segment, position in reversed(starts):
        for header in segment.headers(position):
            if offsets.start_offset <= header.last_offset < offsets.end_offset:
                yield header
