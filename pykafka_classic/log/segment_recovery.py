"""What a crash left of a segment: walk its batches, rebuild its indexes, cut off what is not whole.

A batch is believed when its size, magic and checksum are right and its offsets follow those before it. At the first that is not, the segment ends.

Brokers before 2.0 could write offsets too far from the segment's base for its indexes (KAFKA-6264). Such a rest of a segment is right, but belongs into one of
its own; who recovers says how (`split_off`).

Differs from Kafka where offsets are damaged, which no checksum covers: Kafka empties the whole segment when offsets go backwards, and does not start when one
is absurdly large. Here the segment is cut before the damaged batch: where an offset goes backwards, that is the batch before it if a gap gives that one away,
else this one. An offset that is too far away is damaged where smaller ones follow, or where it stands in the last batch and one bit makes all the difference.

Source: facts/storage.md 7, facts/observed.md "Recovery"; LogSegment.scala (recover).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.log import names
from pykafka_classic.log.batch_header import CHUNK, BatchHeader, CorruptBatch, has_valid_crc, scan_batches
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.leader_epoch_cache import LeaderEpochFileCache
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_values import RELATIVE_OFFSET_MAX
from pykafka_classic.log.producer_entry import CompletedTransaction
from pykafka_classic.log.producer_state import ProducerStateManager
from pykafka_classic.log.transaction_index import AbortedTransaction
from pykafka_classic.records.message_set import LegacyBatch

log = logging.getLogger("kafka.log.LogSegment")


class ValidPart(NamedTuple):
    """The whole batches at the start of a segment: their bytes, the offset after them, and why no more, if there is more."""

    size: int
    end_offset: int
    reason: str
    goes_on_at: int | None = None  # behind them a segment of its own could begin, at this offset


def recover_segment(
    segment: LogSegment,
    producers: ProducerStateManager,
    epochs: LeaderEpochFileCache | None = None,
    split_off: Callable[[LogSegment, ValidPart], bool] = lambda _, __: False,
    *,
    before_cut: Callable[[], None] | None = None,
) -> int:
    """Rebuild the indexes, bring producers and epochs up to the segment's end, cut off what is damaged; the number of bytes that are lost by it.

    `split_off` is given what goes on behind, to keep it elsewhere; False where it does not belong there. `before_cut` is called before damage is cut off: after
    that nobody sees any more that there was any.
    """
    valid = find_valid_part(segment)
    is_kept = valid.goes_on_at is not None and split_off(segment, valid)
    segment.start_recovery()
    file_size = segment.size
    segment.size = valid.size
    for header, batch in scan_batches(segment.file(), 0, valid.size):
        segment.note_batch(header)
        if header.magic < 2:
            continue
        latest_epoch = epochs.latest_epoch() if epochs is not None else None
        if epochs is not None and header.leader_epoch >= 0 and (latest_epoch is None or header.leader_epoch > latest_epoch):
            epochs.assign(header.leader_epoch, header.base_offset)
        completed = producers.replay(header, batch)
        if completed is not None:
            complete_transaction(segment, producers, completed)
    if file_size > valid.size:
        if not is_kept:
            log.warning("%s: cutting %d bytes at position %d: %s", segment.path(names.LOG), file_size - valid.size, valid.size, valid.reason)
            if before_cut is not None:
                before_cut()
        segment.file().truncate(valid.size)
    segment.on_become_inactive()
    return 0 if is_kept else file_size - valid.size


def copy_tail(file_system: FileSystem, segment: LogSegment, position: int, path: str) -> None:
    """Write all bytes of a segment from `position` on to a file of their own. fsync."""
    source, copy = segment.file(), file_system.open(path, create=True)
    try:
        copy.truncate(0)
        for start in range(position, segment.size, CHUNK):
            copy.append([source.read_at(start, min(CHUNK, segment.size - start))])
        copy.sync()
    finally:
        copy.close()


def complete_transaction(segment: LogSegment, producers: ProducerStateManager, completed: CompletedTransaction) -> None:
    """A marker in this segment ended a transaction: index it where it was aborted, and let go of it."""
    last_stable_offset = producers.last_stable_offset_after(completed)
    if completed.aborted:
        segment.transaction_index.append(AbortedTransaction(completed.producer_id, completed.first_offset, completed.last_offset, last_stable_offset))
    producers.complete(completed)


def find_valid_part(segment: LogSegment) -> ValidPart:
    """How much of a segment can be believed."""
    part = ValidPart(0, segment.base_offset, "no whole batch")
    before = part  # the part without its last batch
    gap = False  # whether offsets are missing just before that last batch
    try:
        for header, batch in scan_batches(segment.file(), 0, segment.size):
            _check(segment, header, batch)
            if header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX:
                return _too_far(segment, header, batch, part)
            if header.base_offset < part.end_offset:
                return (before if gap else part)._replace(reason=f"offset {header.base_offset} comes after {part.end_offset - 1}")
            before, gap = part, header.base_offset > part.end_offset
            part = ValidPart(header.position + header.size, header.last_offset + 1, "the last batch is not complete")
    except CorruptBatch as error:
        return part._replace(reason=str(error))
    return part


def _check(segment: LogSegment, header: BatchHeader, batch: memoryview) -> None:
    if not has_valid_crc(batch, header):
        raise CorruptBatch(f"the batch with offsets {header.base_offset} to {header.last_offset} has a wrong checksum")
    if header.last_offset < segment.base_offset:
        raise CorruptBatch(f"offset {header.last_offset} cannot be in a segment that starts at {segment.base_offset}")


def _too_far(segment: LogSegment, header: BatchHeader, batch: memoryview, part: ValidPart) -> ValidPart:
    """The part before a batch whose offset is too far away for the indexes: damaged, or the first of a segment of its own."""
    reason = f"offset {header.last_offset} cannot be in a segment that starts at {segment.base_offset}"
    try:
        base_offset = header.base_offset if header.magic == 2 else LegacyBatch(batch).base_offset
    except KafkaError as error:
        return part._replace(reason=f"{reason}, and cannot be unpacked: {error}")
    if base_offset >= part.end_offset and _goes_on(segment, header, part.end_offset):
        return part._replace(reason=reason, goes_on_at=base_offset)
    return part._replace(reason=reason)


def _goes_on(segment: LogSegment, first: BatchHeader, end_offset: int) -> bool:
    """Whether later batches agree with this one's offset; where it is the last, whether more than one bit of it differs from the offset expected."""
    expected, count = first.base_offset, 0
    for header, batch in _believed(segment, first.position, segment.size):
        if header.base_offset < expected:
            return count > 1
        if not has_valid_crc(batch, header):
            break
        expected, count = header.last_offset + 1, count + 1
    return count > 1 or (first.base_offset ^ end_offset).bit_count() > 1


def replay_producers(segment: LogSegment, producers: ProducerStateManager, position: int, end: int) -> None:
    """Bring producer state up to `end` (a position) without changing the segment: its transaction index is right already."""
    for header, batch in _believed(segment, position, end):
        completed = producers.replay(header, batch)
        if completed is not None:
            producers.complete(completed)


def _believed(segment: LogSegment, position: int, end: int) -> Iterator[tuple[BatchHeader, memoryview]]:
    try:
        yield from scan_batches(segment.file(), position, end)
    except CorruptBatch as error:
        log.warning("%s: %s", segment.path(names.LOG), error)
