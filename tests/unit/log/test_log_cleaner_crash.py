"""A compaction that dies at every single change that it makes to the disk: by SIGKILL (what was written stays) or loss of power (what was not synced may go).

Whatever the step, the log afterwards holds every newest value, ends where it ended, knows its producers and its aborted transactions, has no leftovers, and the
next compaction comes to what the undisturbed one came to.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Final

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.records.record_batch import iterate_batches
from tests.fakes.file_system import Died
from tests.unit.log.helpers import LOG_DIR, NOW_MS, PARTITION, Disk, batch, marker, read_all

DELETE_DELAY_MS: Final = 60_000
ABORTING: Final = 7
COMMITTING: Final = 8
IDEMPOTENT: Final = 9
SILENT: Final = 10  # wrote once, and newer records of others have taken the place of its own

Row = tuple[int, bytes | None, bytes | None]


def make_disk() -> Disk:
    disk = Disk(segment_bytes=700, index_interval_bytes=100, cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.0)
    disk.file_system.now_ms = NOW_MS
    return disk


def fill(log: Log) -> None:
    """Three values of each key in some ten segments, with transactions and producers among them; all of it flushed."""
    log.append_as_leader(batch([(b"key-0", b"of the silent one")], producer=(SILENT, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    for number in range(12):
        for producer_id in (ABORTING, COMMITTING):
            transactional(log, producer_id, number, (b"key-%d" % (number % 4), b"in transaction %d of %d" % (number, producer_id)))
        for producer_id in (ABORTING, COMMITTING) if number % 3 == 2 else ():
            end = marker(producer_id=producer_id, producer_epoch=0, commit=producer_id == COMMITTING, timestamp=NOW_MS)
            log.append_as_leader(end, leader_epoch=0, origin=AppendOrigin.COORDINATOR)
        value = None if number == 5 else b"value %d" % number
        log.append_as_leader(batch([(b"key-%d" % (number % 4), value)], producer=(IDEMPOTENT, 0, number), timestamp=NOW_MS), leader_epoch=0)
    log.update_high_watermark(log.log_end_offset)
    log.flush()


def transactional(log: Log, producer_id: int, sequence: int, pair: tuple[bytes, bytes]) -> None:
    log.append_as_leader(batch([pair], producer=(producer_id, 0, sequence), attributes=0x10, timestamp=NOW_MS), leader_epoch=0)


def compact(disk: Disk, log: Log) -> None:
    """One pass, and the removal of the old files when their time has come."""
    cleaner = LogCleaner(disk.services, CleanerConfig(), {PARTITION: log})
    cleaner._clean_offsets[LOG_DIR] = {}
    assert spawn(cleaner.clean_filthiest()).result()
    assert not cleaner._uncleanable
    disk.clock.advance(DELETE_DELAY_MS)


def records(log: Log) -> list[Row]:
    return [(record.offset, record.key, record.value) for one in iterate_batches(read_all(log)) if not one.is_control for record in one.records()]


def newest_committed(log: Log) -> dict[bytes | None, bytes | None]:
    """By key, of what read_committed consumers are given."""
    aborted = log.aborted_transactions(log.log_start_offset, log.log_end_offset)
    newest: dict[bytes | None, bytes | None] = {}
    for one in iterate_batches(read_all(log)):
        hidden = one.is_transactional and any(
            each.producer_id == one.producer_id and each.first_offset <= one.base_offset <= each.last_offset for each in aborted
        )
        if not one.is_control and not hidden:
            newest.update({record.key: record.value for record in one.records()})
    return {key: value for key, value in newest.items() if value is not None}


@cache
def undisturbed() -> tuple[int, int, list[Row], dict[bytes | None, bytes | None]]:
    """Changes of the disk in one compaction, the log's end, what is left, and the newest values before."""
    disk = make_disk()
    log = disk.open()
    fill(log)
    newest, first = newest_committed(log), disk.file_system.changes
    compact(disk, log)
    assert newest_committed(log) == newest
    return disk.file_system.changes - first, log.log_end_offset, records(log), newest


STEPS: Final = undisturbed()[0]


def test_the_compaction_that_is_disturbed_here_has_something_to_do() -> None:
    _, end, left, newest = undisturbed()
    assert STEPS > 40
    assert len(left) < end / 2
    assert len(newest) == 4


@pytest.mark.parametrize("recovered_from", ["the recovery point", "the start"])
@pytest.mark.parametrize("step", range(STEPS))
def test_killed_at_any_step(step: int, recovered_from: str) -> None:
    check(step, lambda disk: disk.file_system.kill(), recovery_point=0 if recovered_from == "the start" else undisturbed()[1])


@pytest.mark.parametrize("step", range(STEPS))
def test_without_power_at_any_step(step: int) -> None:
    check(step, lambda disk: disk.file_system.crash(), recovery_point=undisturbed()[1])
    for seed in range(3):
        check(step, lambda disk, seed=seed: disk.file_system.crash(random.Random(seed)), recovery_point=undisturbed()[1])  # type: ignore[misc]


def check(step: int, end: Callable[[Disk], None], *, recovery_point: int) -> None:
    disk = make_disk()
    log = disk.open()
    fill(log)
    disk.file_system.die_at(step)
    with pytest.raises(Died):
        compact(disk, log)
    end(disk)
    check_what_is_left(disk, recovery_point=recovery_point)


def check_what_is_left(disk: Disk, *, recovery_point: int) -> None:
    """The next process finds everything, and finishes the work."""
    again = disk.open(clean=False, recovery_point=recovery_point)
    _, log_end_offset, left, newest = undisturbed()
    assert again.log_end_offset == log_end_offset
    assert newest_committed(again) == newest
    assert not [name for name in disk.names() if name.endswith((".cleaned", ".swap", ".deleted"))]
    assert producers_know_where_they_were(again)
    again.update_high_watermark(again.log_end_offset)
    if records(again) != left:  # else it died when all was done, or nearly
        compact(disk, again)
    assert records(again) == left
    assert newest_committed(again) == newest
    again.close()
    assert producers_know_where_they_were(disk.open(clean=False))


def producers_know_where_they_were(log: Log) -> bool:
    """Each producer's last batch is known: sent again it is a duplicate."""
    last = {ABORTING: (11, 0x10), COMMITTING: (11, 0x10), IDEMPOTENT: (11, 0), SILENT: (0, 0)}
    return all(
        log.append_as_leader(batch([(b"k", b"v")], producer=(producer, 0, sequence), attributes=attributes, timestamp=NOW_MS), leader_epoch=0).duplicate
        for producer, (sequence, attributes) in last.items()
    )
