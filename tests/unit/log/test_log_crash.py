"""A log whose process dies at every single change that it makes to the disk while it rolls, flushes, truncates, applies retention, stops or recovers.

What must hold afterwards: no record is lost that the work did not want gone, offsets have no gap, and the next life goes on. By SIGKILL (what was written
stays) and by loss of power (what was not synced may go; what lies below the recovery point may not).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from pykafka_classic.log.log import Log
from tests.fakes.file_system import Died
from tests.unit.log.helpers import NOW_MS, Disk, batch, fill, message, offsets_of, read_all
from tests.unit.log.test_log_cleaner_crash import check_what_is_left, compact, make_disk
from tests.unit.log.test_log_cleaner_crash import fill as fill_compacted

COUNT: Final = 12
STEPS_MAX: Final = 500

Act = Callable[[Log], object]


def filled() -> tuple[Disk, Log]:
    """Three segments: 0 to 4, 5 to 9, 10 and 11; all of it flushed."""
    disk = Disk(segment_bytes=1000, index_interval_bytes=200, retention_ms=100)
    log = disk.open()
    fill(log, COUNT)
    log.flush()
    return disk, log


def deaths(act: Act) -> Iterator[tuple[Disk, Log]]:
    """The disk after each possible death, and the log as it was in memory; ends when `act` came to its end."""
    for step in range(STEPS_MAX):
        disk, log = filled()
        disk.file_system.die_at(step)
        try:
            act(log)
            disk.clock.advance(60_000)
        except Died:
            yield disk, log
        else:
            assert step > 0, "it changes nothing"
            return
    raise AssertionError(f"more than {STEPS_MAX} changes")


def retention(log: Log) -> None:
    """The first two segments have had their time."""
    assert log.delete_old_segments(1000 + 10 + 100) == 2


def delete_records(log: Log) -> None:
    """DeleteRecords up to the middle of the second segment."""
    log.maybe_increment_log_start_offset(7)
    log.delete_old_segments(0)


def append_and_flush(log: Log) -> None:
    """More records, over a roll."""
    fill(log, 6)
    log.flush()


# What is done, and the offsets that must be there whatever happens: from .. up to.
WORK: Final[dict[str, tuple[Act, int, int]]] = {
    "roll": (lambda log: log.roll(), 0, COUNT),
    "append and flush": (append_and_flush, 0, COUNT),
    "retention": (retention, 10, COUNT),
    "delete records": (delete_records, 7, COUNT),
    "truncate": (lambda log: log.truncate_to(7), 0, 7),
    "truncate to a segment's start": (lambda log: log.truncate_to(5), 0, 5),
    "truncate all": (lambda log: log.truncate_fully_and_start_at(50), 50, 0),
    "stop": (lambda log: log.close(), 0, COUNT),
}


@pytest.mark.parametrize("end", ["killed", "without power", "with half of it on the platter"])
@pytest.mark.parametrize("work", WORK)
def test_a_death_at_any_step_leaves_a_log_without_gap(work: str, end: str) -> None:
    act, first, stop = WORK[work]
    count = 0
    for disk, before in deaths(act):
        count += 1
        for recovery_point in {0, min(before.recovery_point, COUNT)}:
            again = revived(disk, end, count, recovery_point)
            offsets = offsets_of(read_all(again))
            assert offsets == list(range(again.log_start_offset, again.log_end_offset))
            assert set(range(first, stop)) <= set(offsets), f"death {count}"
            assert not [name for name in disk.names() if name.endswith(".deleted")]
            fill(again, 1)
            assert offsets_of(read_all(again)) == [*offsets, again.log_end_offset - 1]
    assert count


def revived(disk: Disk, end: str, seed: int, recovery_point: int) -> Log:
    match end:
        case "killed":
            disk.file_system.kill()
        case "without power":
            disk.file_system.crash()
        case _:
            disk.file_system.crash(random.Random(seed))
    return disk.open(clean=False, recovery_point=recovery_point)


@pytest.mark.parametrize("end", ["killed", "without power"])
def test_a_death_at_any_step_of_a_recovery_only_means_another_recovery(end: str) -> None:
    for step in range(STEPS_MAX):
        disk = damaged()
        disk.file_system.die_at(step)
        try:
            disk.open(clean=False)
        except Died:
            again = revived(disk, end, step, 0)
            assert offsets_of(read_all(again)) == list(range(7))
            assert again.append_as_leader(batch(producer=(7, 0, 3), timestamp=NOW_MS), leader_epoch=0).duplicate
        else:
            assert step > 10
            return


def damaged() -> Disk:
    """A flipped bit in the batch of offset 7; producer 7 wrote what stands before it."""
    disk = Disk(segment_bytes=1000, index_interval_bytes=200)
    log = disk.open()
    fill(log, 3, timestamp=NOW_MS)
    for sequence in range(4):
        log.append_as_leader(batch(producer=(7, 0, sequence), timestamp=NOW_MS), leader_epoch=0)
    fill(log, 8, timestamp=NOW_MS)
    log.flush()
    segment = log.segments.floor(7)
    assert segment is not None and len(log.segments) > 1
    found = segment.translate_offset(7)
    assert found is not None
    file = disk.file_system.open(segment.path(".log"))
    file.write_at(found.position + 70, b"\xff")
    file.sync()
    return disk


@pytest.mark.parametrize("step", range(0, 100, 4))
def test_a_death_in_the_recovery_after_a_death_in_a_compaction_loses_nothing(step: int) -> None:
    for second in range(0, STEPS_MAX, 3):
        disk = make_disk()
        log = disk.open()
        fill_compacted(log)
        end = log.log_end_offset
        disk.file_system.die_at(step)
        with pytest.raises(Died):
            compact(disk, log)
        disk.file_system.kill()
        disk.file_system.die_at(second)
        try:
            disk.open(clean=False, recovery_point=end)
        except Died:
            disk.file_system.kill()
            check_what_is_left(disk, recovery_point=end)
        else:
            return


def test_segments_of_messages_without_time_go_by_their_files() -> None:
    disk = Disk(segment_bytes=300, retention_ms=5000, message_format_version="0.9.0")
    disk.file_system.now_ms = NOW_MS
    log = disk.open()
    for offset in range(8):
        log.append_as_follower(message(b"v" * 60, offset=offset, timestamp=None))
    assert log.segments.base_offsets == [0, 3, 6]
    disk.file_system.now_ms = NOW_MS + 3000
    log.append_as_follower(message(b"v" * 60, offset=8, timestamp=None))
    log.update_high_watermark(9)
    assert log.delete_old_segments(NOW_MS + 5000) == 0
    assert log.delete_old_segments(NOW_MS + 5001) == 2  # not the one that was written to since
    assert log.log_start_offset == 6
