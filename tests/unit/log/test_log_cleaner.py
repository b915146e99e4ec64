"""Compaction on a fake disk: what stays, what goes, and that no crash loses anything. The cases follow LogCleanerTest and LogCleanerManagerTest."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.cleanable_logs import cleanable
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.log.offset_map import OffsetMap
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from tests.unit.log.helpers import LOG_DIR, NOW_MS, PARTITION, Disk, batch, marker, message, read_all

DAY_MS = 86_400_000
COMPACT = frozenset({"compact"})


@pytest.fixture
def disk() -> Disk:
    return Disk(segment_bytes=1000, index_interval_bytes=200, cleanup_policy=COMPACT, min_cleanable_dirty_ratio=0.0)


def put(log: Log, *pairs: tuple[bytes | None, bytes | None], **options: object) -> None:
    """Append each record in a batch of its own."""
    for pair in pairs:
        log.append_as_leader(batch([pair], **options), leader_epoch=0)  # type: ignore[arg-type]
    log.update_high_watermark(log.log_end_offset)


def keys(number: int, start: int = 0, count: int = 10) -> list[tuple[bytes | None, bytes | None]]:
    return [(b"key-%d" % (start + index % number), b"value %d" % index) for index in range(count)]


def cleaner_of(disk: Disk, log: Log, **config: int) -> LogCleaner:
    cleaner = LogCleaner(disk.services, CleanerConfig(**config), {PARTITION: log})
    cleaner._clean_offsets[LOG_DIR] = {}
    return cleaner


def clean(disk: Disk, log: Log, cleaner: LogCleaner | None = None) -> bool:
    cleaner = cleaner or cleaner_of(disk, log)
    cleaned = spawn(cleaner.clean_filthiest()).result()
    assert not cleaner._uncleanable
    return cleaned


def content(log: Log) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(record.offset, record.key, record.value) for one in iterate_batches(read_all(log)) if not one.is_control for record in one.records()]


def latest(log: Log) -> dict[bytes | None, bytes | None]:
    return {key: value for _, key, value in content(log) if value is not None}


def test_of_each_key_the_last_record_stays(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    before = latest(log)
    assert clean(disk, log)
    assert latest(log) == before
    assert [offset for offset, _, _ in content(log)][:2] != [0, 1]
    inactive = [(offset, key) for offset, key, _ in content(log) if offset < log.active_segment.base_offset]
    assert len(inactive) == len({key for _, key in inactive})


def test_offsets_and_ends_stay(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    records = {offset: (key, value) for offset, key, value in content(log)}
    clean(disk, log)
    assert log.log_end_offset == 40
    assert all(records[offset] == (key, value) for offset, key, value in content(log))


def test_the_active_segment_is_left_alone(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(1, count=5))
    assert len(log.segments) == 1
    assert not clean(disk, log)


def test_small_segments_are_written_together(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log)
    for _ in range(3):
        put(log, *keys(3, count=60))
        clean(disk, log, cleaner)
    segments = list(log.segments)
    assert len([segment for segment in segments if segment.size]) < 8
    assert segments[0].base_offset == 0


def test_a_second_pass_has_nothing_to_do(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    cleaner = cleaner_of(disk, log)
    assert clean(disk, log, cleaner)
    assert cleaner.first_dirty_offset(PARTITION) == log.active_segment.base_offset
    assert not clean(disk, log, cleaner)


def test_old_values_go_when_newer_ones_come_in_a_later_pass(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log)
    put(log, *keys(3, count=40))
    clean(disk, log, cleaner)
    put(log, *keys(3, count=40))
    clean(disk, log, cleaner)
    inactive = [key for offset, key, _ in content(log) if offset < log.active_segment.base_offset]
    assert len(inactive) == len(set(inactive)) == 3


def test_records_without_key_go(disk: Disk) -> None:
    disk.config = replace(disk.config, cleanup_policy=frozenset({"delete"}))
    log = disk.open()
    put(log, (None, b"no key"), *keys(2, count=20))
    log.update_config(replace(disk.config, cleanup_policy=COMPACT))
    clean(disk, log)
    assert b"no key" not in {value for _, _, value in content(log)}


def test_a_tombstone_hides_older_values_and_stays_for_its_time(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log)
    put(log, (b"gone", b"old"), *keys(2, count=12), (b"gone", None), *keys(2, count=12))
    disk.file_system.now_ms = NOW_MS
    clean(disk, log, cleaner)
    assert [value for _, key, value in content(log) if key == b"gone"] == [None]
    put(log, *keys(2, count=12))
    clean(disk, log, cleaner)
    assert [value for _, key, value in content(log) if key == b"gone"] == [None]
    disk.file_system.now_ms += 2 * DAY_MS
    put(log, *keys(2, count=24))
    clean(disk, log, cleaner)
    put(log, *keys(2, count=24))
    clean(disk, log, cleaner)
    assert [value for _, key, value in content(log) if key == b"gone"] == []


def test_a_batch_keeps_what_is_left_of_it(disk: Disk) -> None:
    log = disk.open()
    log.append_as_leader(batch([(b"a", b"1"), (b"b", b"1"), (b"c", b"1")], timestamp=5000), leader_epoch=0)
    put(log, (b"b", b"2"), *keys(1, count=12))
    clean(disk, log)
    first = next(iterate_batches(read_all(log)))
    assert (first.base_offset, first.last_offset, first.records_count) == (0, 2, 2)
    assert [(record.offset, record.key) for record in first.records()] == [(0, b"a"), (2, b"c")]
    assert first.is_valid()


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_every_codec_is_kept(disk: Disk, codec: int) -> None:
    log = disk.open()
    records = [Record(index, 1000, b"key-%d" % index, b"value" * 20) for index in range(4)]
    log.append_as_leader(build_batch(records, BatchFields(codec=codec)), leader_epoch=0)
    put(log, (b"key-2", b"new"), *keys(1, start=9, count=12))
    clean(disk, log)
    first = next(iterate_batches(read_all(log)))
    assert (first.codec, [record.key for record in first.records()]) == (codec, [b"key-0", b"key-1", b"key-3"])


def test_old_messages_are_compacted_one_by_one() -> None:
    disk = Disk(segment_bytes=300, cleanup_policy=COMPACT, min_cleanable_dirty_ratio=0.0, message_format_version="0.10.0")
    log = disk.open()
    for offset in range(20):
        log.append_as_follower(message(b"value %d" % offset, key=b"key-%d" % (offset % 2), offset=offset))
    log.update_high_watermark(20)
    clean(disk, log)
    inactive = [key for offset, key, _ in content(log) if offset < log.active_segment.base_offset]
    assert sorted(inactive) == [b"key-0", b"key-1"]  # type: ignore[type-var]


# Transactions


def transactional(log: Log, producer_id: int, sequence: int, *pairs: tuple[bytes, bytes]) -> None:
    log.append_as_leader(batch(pairs, producer=(producer_id, 0, sequence), attributes=0x10, timestamp=NOW_MS), leader_epoch=0)


def end(log: Log, producer_id: int, *, commit: bool) -> None:
    log.append_as_leader(marker(producer_id=producer_id, producer_epoch=0, commit=commit, timestamp=NOW_MS), leader_epoch=0, origin=AppendOrigin.COORDINATOR)
    log.update_high_watermark(log.log_end_offset)


def test_aborted_records_do_not_count_and_go(disk: Disk) -> None:
    log = disk.open()
    put(log, (b"a", b"committed"))
    transactional(log, 7, 0, (b"a", b"aborted"), (b"x", b"aborted"))
    end(log, 7, commit=False)
    put(log, *keys(1, count=12))
    clean(disk, log)
    assert latest(log)[b"a"] == b"committed"
    assert b"x" not in latest(log)


def test_committed_records_count(disk: Disk) -> None:
    log = disk.open()
    put(log, (b"a", b"old"))
    transactional(log, 7, 0, (b"a", b"new"))
    end(log, 7, commit=True)
    put(log, *keys(1, count=12))
    clean(disk, log)
    assert [value for _, key, value in content(log) if key == b"a"] == [b"new"]


def test_an_open_transaction_is_not_cleaned(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(2, count=12))
    transactional(log, 7, 0, (b"key-0", b"open"))
    put(log, *keys(2, count=24))
    assert clean(disk, log)
    assert cleaner_end(disk, log) <= 12 < log.active_segment.base_offset
    assert len([1 for offset, key, _ in content(log) if offset > 12 and key == b"key-1"]) == 12


def cleaner_end(disk: Disk, log: Log) -> int:
    return cleanable(log, None, disk.clock.now_ms()).end_offset


def test_an_abort_marker_is_indexed_anew_in_the_cleaned_segment(disk: Disk) -> None:
    log = disk.open()
    put(log, (b"a", b"1"))
    transactional(log, 7, 0, (b"x", b"aborted"))
    end(log, 7, commit=False)
    put(log, *keys(1, count=12))
    clean(disk, log)
    entries = [one for segment in log.segments for one in segment.transaction_index.entries]
    assert [(one.producer_id, one.first_offset, one.last_offset) for one in entries] == [(7, 1, 2)]


def test_a_marker_goes_when_nothing_of_its_transaction_is_left_and_its_time_has_passed(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log)
    disk.file_system.now_ms = NOW_MS
    transactional(log, 7, 0, (b"a", b"1"))
    end(log, 7, commit=True)
    transactional(log, 7, 1, (b"a", b"2"))
    end(log, 7, commit=True)
    for round_ in range(4):
        put(log, (b"a", b"3"), *keys(1, count=12))
        clean(disk, log, cleaner)
        disk.file_system.now_ms += 2 * DAY_MS * (round_ > 0)
    markers = [one for one in iterate_batches(read_all(log)) if one.is_control]
    assert len(markers) <= 1  # that of the producer's last transaction may stay


def test_a_producers_last_batch_stays_as_an_empty_header(disk: Disk) -> None:
    log = disk.open()
    log.append_as_leader(batch([(b"a", b"1")], producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    log.append_as_leader(batch([(b"a", b"2")], producer=(7, 0, 1), timestamp=NOW_MS), leader_epoch=0)
    put(log, (b"a", b"3"), *keys(1, count=12))
    clean(disk, log)
    ours = [one for one in iterate_batches(read_all(log)) if one.producer_id == 7]
    assert [(one.base_offset, one.base_sequence, one.records_count, one.max_timestamp) for one in ours] == [(1, 1, 0, NOW_MS)]
    assert ours[0].is_valid()
    log.close()
    again = disk.open(clean=False)
    assert again.append_as_leader(batch([(b"a", b"4")], producer=(7, 0, 2), timestamp=NOW_MS), leader_epoch=0).first_offset == log.log_end_offset


# Choosing


def test_a_log_below_its_dirty_ratio_is_not_cleaned(disk: Disk) -> None:
    disk.config = replace(disk.config, min_cleanable_dirty_ratio=0.5)
    log = disk.open()
    cleaner = cleaner_of(disk, log)
    put(log, *keys(30, count=60))
    assert clean(disk, log, cleaner)
    put(log, *keys(30, count=12))
    assert not clean(disk, log, cleaner)
    put(log, *keys(30, count=60))
    assert clean(disk, log, cleaner)


def test_an_overdue_log_is_cleaned_whatever_its_ratio(disk: Disk) -> None:
    disk.config = replace(disk.config, min_cleanable_dirty_ratio=0.99, max_compaction_lag_ms=5000)
    log = disk.open()
    put(log, *keys(3, count=40), timestamp=NOW_MS)
    cleaner = cleaner_of(disk, log)
    cleaner._clean_offsets[LOG_DIR][PARTITION] = list(log.segments)[1].base_offset
    assert not clean(disk, log, cleaner)
    disk.clock.advance(5001)
    assert clean(disk, log, cleaner)


def test_young_records_are_not_cleaned(disk: Disk) -> None:
    disk.config = replace(disk.config, min_compaction_lag_ms=5000)
    log = disk.open()
    put(log, *keys(3, count=20), timestamp=NOW_MS - 6000)
    young = log.active_segment.base_offset
    put(log, *keys(3, count=20), timestamp=NOW_MS)
    assert cleaner_end(disk, log) == young
    disk.clock.advance(5001)
    assert cleaner_end(disk, log) == log.active_segment.base_offset


@pytest.mark.parametrize("checkpoint", [3, 1000])
def test_a_checkpoint_outside_the_log_is_reset_to_its_start(disk: Disk, checkpoint: int) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    log.maybe_increment_log_start_offset(5)
    assert cleanable(log, checkpoint, NOW_MS).first_dirty_offset == 5


def test_a_map_that_is_too_small_takes_several_passes(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(20, count=60))
    before = latest(log)
    cleaner = cleaner_of(disk, log, map_entries_max=7)
    passes = 0
    while clean(disk, log, cleaner):
        passes += 1
        assert passes < 20
    assert passes > 1
    assert latest(log) == before


def test_compacted_and_deleted_topics_lose_old_segments_too(disk: Disk) -> None:
    disk.config = replace(disk.config, cleanup_policy=frozenset({"compact", "delete"}), retention_ms=1000)
    log = disk.open()
    put(log, *keys(3, count=40), timestamp=NOW_MS - 5000)
    clean(disk, log)
    assert log.log_start_offset == 40


def test_the_checkpoint_of_cleaned_offsets_is_written(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    clean(disk, log)
    expected = b"0\n1\nflights 0 %d\n" % log.active_segment.base_offset
    assert disk.file_system.read(f"{LOG_DIR}/cleaner-offset-checkpoint") == expected


def test_truncation_lowers_the_checkpoint(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    cleaner = cleaner_of(disk, log)
    clean(disk, log, cleaner)
    log.truncate_to(3)
    cleaner.truncated(LOG_DIR)
    assert cleaner.first_dirty_offset(PARTITION) == log.active_segment.base_offset <= 3


# In the background


def test_a_log_truncated_meanwhile_is_left_as_it_is(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    disk.background.queued = True
    cleaning = spawn(cleaner_of(disk, log).clean_filthiest())
    disk.background.run_next()
    log.truncate_to(12)
    before = content(log)
    disk.background.run_all()
    assert cleaning.settled
    assert content(log) == before
    assert not [name for name in disk.names() if name.endswith((".cleaned", ".swap"))]


def test_stopping_gives_up_what_is_going_on(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    before = content(log)
    disk.background.queued = True
    cleaner = cleaner_of(disk, log)
    cleaner.start([LOG_DIR])
    stopping = spawn(cleaner.stop())
    waited = stopping.settled
    disk.background.run_all()
    assert (waited, stopping.settled) == (False, True)
    assert content(log) == before


def test_other_limits_count_at_once_and_not_after_the_pause(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log, backoff_ms=1_000_000)
    cleaner.start([LOG_DIR])
    put(log, *keys(3, count=40))
    before = log.size
    cleaner.reconfigure(CleanerConfig(backoff_ms=5000))
    assert log.size < before
    spawn(cleaner.stop()).result()


def test_threads_come_and_go_with_the_configuration(disk: Disk) -> None:
    cleaner = LogCleaner(disk.services, CleanerConfig(threads=1), {})
    cleaner.start([LOG_DIR])
    for threads in (4, 2, 3):
        cleaner.reconfigure(CleanerConfig(threads=threads))
        assert sum(not loop.settled for loop in cleaner._loops.values()) == threads
    spawn(cleaner.stop()).result()
    assert all(loop.settled for loop in cleaner._loops.values())


def test_the_cleaner_looks_again_after_its_pause(disk: Disk) -> None:
    log = disk.open()
    cleaner = cleaner_of(disk, log, backoff_ms=100)
    cleaner.start([LOG_DIR])
    put(log, *keys(3, count=40))
    disk.clock.advance(99)
    assert len(content(log)) == 40
    disk.clock.advance(1)
    assert len(content(log)) < 40
    spawn(cleaner.stop()).result()


def test_damage_marks_the_log_and_spares_the_others(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    path = log.segments.first.path(".log")
    disk.file_system.open(path).write_at(16, b"\x07")
    cleaner = cleaner_of(disk, log)
    spawn(cleaner.clean_filthiest()).result()
    assert cleaner._uncleanable == {PARTITION}
    assert not spawn(cleaner.clean_filthiest()).result()


@pytest.mark.parametrize("place", [8 + 2, 40, 70], ids=["length", "header", "records"])
def test_damage_is_never_copied_into_a_cleaned_segment(disk: Disk, place: int, caplog: pytest.LogCaptureFixture) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    segment = log.segments.first
    [second, *_] = list(iterate_headers(segment.file().read_at(0, segment.size)))[1:]
    file = disk.file_system.open(segment.path(".log"))
    file.write_at(second.position + place, bytes([file.read_at(second.position + place, 1)[0] ^ 0x01]))
    before = disk.file_system.files_under(disk.directory)
    cleaner = cleaner_of(disk, log)
    spawn(cleaner.clean_filthiest()).result()
    assert {name: data for name, data in disk.file_system.files_under(disk.directory).items() if name.endswith(".log")} == {
        name: data for name, data in before.items() if name.endswith(".log")
    }
    assert cleaner._uncleanable == {PARTITION}
    assert f"{segment.path('.log')}, position {second.position}" in caplog.text


def test_reading_goes_on_while_segments_are_replaced(disk: Disk) -> None:
    log = disk.open()
    put(log, *keys(3, count=40))
    info = log.read(0, max_length=1000, max_offset=40, min_one_message=True)
    assert info.records is not None
    before = info.records.read()
    clean(disk, log)
    disk.clock.advance(60_000)
    assert info.records.read() == before


@pytest.mark.parametrize("seed", range(30))
def test_a_crash_at_any_point_of_a_compaction_loses_no_latest_value(seed: int) -> None:
    disk = Disk(segment_bytes=1000, index_interval_bytes=200, cleanup_policy=COMPACT, min_cleanable_dirty_ratio=0.0)
    log = disk.open()
    put(log, *keys(4, count=50))
    log.flush()
    before = latest(log)
    clean(disk, log)
    disk.file_system.crash(random.Random(seed))
    again = disk.open(clean=False, recovery_point=50)
    assert latest(again) == before
    assert again.log_end_offset == 50
    assert not [name for name in disk.names() if name.endswith((".cleaned", ".swap", ".deleted"))]


# The map


def test_the_map_holds_the_last_offset_of_each_key() -> None:
    offsets = OffsetMap(10)
    assert offsets.put(b"a", 1)
    assert offsets.put(b"a", 5)
    assert (offsets.get(b"a"), offsets.get(b"b"), len(offsets)) == (5, -1, 1)


def test_long_keys_do_not_take_more_room() -> None:
    offsets = OffsetMap(10)
    offsets.put(b"k" * 10_000, 1)
    offsets.put(b"k" * 10_001, 2)
    assert (offsets.get(b"k" * 10_000), offsets.get(b"k" * 10_001)) == (1, 2)
    assert all(len(key) < 40 for key in offsets._offsets)


def test_a_full_map_takes_nothing_more() -> None:
    offsets = OffsetMap(1)
    assert offsets.put(b"a", 1)
    assert not offsets.put(b"b", 2)
    assert offsets.get(b"b") == -1


# How fast, how much


def test_a_batch_with_more_keys_than_the_map_holds_does_not_stop_the_cleaning(disk: Disk) -> None:
    log = disk.open()
    for _ in range(8):
        log.append_as_leader(batch([(b"key-%d" % number, b"v") for number in range(20)]), leader_epoch=0)
    log.update_high_watermark(log.log_end_offset)
    before = latest(log)
    cleaner = cleaner_of(disk, log, map_entries_max=3)
    passes = 0
    while clean(disk, log, cleaner):
        passes += 1
        assert passes < 10
    assert cleaner.first_dirty_offset(PARTITION) == log.active_segment.base_offset
    assert latest(log) == before


def test_the_cleaner_keeps_to_its_rate_within_a_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pykafka_classic.log.cleaner.STEP_BYTES", 1000)
    disk = Disk(segment_bytes=10_000, cleanup_policy=COMPACT, min_cleanable_dirty_ratio=0.0)
    log = disk.open()
    put(log, *keys(3, count=300))
    dirty = log.size - log.active_segment.size
    cleaning = spawn(cleaner_of(disk, log, io_bytes_per_second=10_000).clean_filthiest())
    pauses = 0
    while not cleaning.settled:
        assert disk.clock.advance_to_next()
        pauses += 1
    assert pauses > 2 * dirty / 1000 - 10  # it reads everything twice, a kilobyte at a time
    assert disk.clock.monotonic_ms() == pytest.approx(2 * dirty / 10, rel=0.05)  # ms: at 10 bytes a ms; what it writes is little
    assert content(log)[0][0] > 0


def test_stopping_in_the_midst_of_a_segment_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pykafka_classic.log.cleaner.STEP_BYTES", 1000)
    disk = Disk(segment_bytes=10_000, cleanup_policy=COMPACT, min_cleanable_dirty_ratio=0.0)
    log = disk.open()
    put(log, *keys(3, count=300))
    cleaner = cleaner_of(disk, log, io_bytes_per_second=10_000)
    cleaner.start([LOG_DIR])
    while not [name for name in disk.names() if name.endswith(".cleaned")]:
        assert disk.clock.advance_to_next()
    stopping = spawn(cleaner.stop())
    assert stopping.settled
    assert not [name for name in disk.names() if name.endswith(".cleaned")]
