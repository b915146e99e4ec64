"""One segment: its records, its indexes, and their recovery."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pykafka_classic.log.batch_header import BatchHeader, iterate_headers
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.recent_batches import BATCHES_MAX
from pykafka_classic.log.segment_times import first_batch_not_before
from pykafka_classic.log.time_index import TimestampOffset
from tests.fakes.clock import SeededRandom
from tests.unit.log.helpers import LOG_DIR, NOW_MS, Disk, batch, message, offsets_of


@pytest.fixture
def disk() -> Disk:
    return Disk(index_interval_bytes=200, segment_bytes=10_000, segment_index_bytes=1000)


def new_segment(disk: Disk, base_offset: int = 0) -> LogSegment:
    return LogSegment.create(disk.services, LOG_DIR, base_offset, disk.config)


def put(segment: LogSegment, data: bytes) -> list[BatchHeader]:
    headers = list(iterate_headers(data))
    newest = max(headers, key=lambda header: header.max_timestamp)
    segment.append([data], headers, TimestampOffset(newest.max_timestamp, newest.last_offset))
    return headers


def fill(segment: LogSegment, offsets: range, *, records: int = 1) -> None:
    for offset in offsets[::records]:
        put(segment, batch([(None, b"v" * 40)] * records, base_offset=offset, timestamp=1000 + offset))


def reloaded(disk: Disk, segment: LogSegment) -> LogSegment:
    segment.close()
    again = LogSegment.load(disk.services, LOG_DIR, segment.base_offset, disk.config)
    again.end_offset()
    return again


def test_a_new_segment_has_a_log_and_two_empty_indexes_but_no_transaction_index(disk: Disk) -> None:
    new_segment(disk, 64)
    assert disk.file_system.list(LOG_DIR) == ["00000000000000000064.index", "00000000000000000064.log", "00000000000000000064.timeindex"]


def test_the_first_batch_gets_no_index_entry_and_later_ones_one_per_interval(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(10))
    size = segment.size // 10  # 109 bytes: the third batch begins more than 200 bytes behind the first
    assert segment.offset_index.entries == [(offset, offset * size) for offset in (2, 4, 6, 8)]
    assert segment.time_index.entries == [(1000 + offset, offset) for offset in (2, 4, 6, 8)]


def test_every_offset_is_found_in_memory_and_on_disk(disk: Disk) -> None:
    segment = new_segment(disk, 100)
    fill(segment, range(100, 160), records=3)
    expected = {offset: segment.translate_offset(offset) for offset in range(100, 160)}
    again = reloaded(disk, segment)
    for offset, found in expected.items():
        assert found is not None and found.last_offset - 2 <= offset <= found.last_offset
        assert again.translate_offset(offset) == found
    assert again.translate_offset(160) is None


def test_the_tail_is_found_without_reading(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(50))
    disk.file_system.reads = 0
    assert all(segment.translate_offset(offset) is not None for offset in range(50))
    assert disk.file_system.reads == 0


def test_positions_beyond_the_remembered_tail_are_found_through_the_index() -> None:
    disk = Disk(index_interval_bytes=4096, segment_bytes=1 << 20)
    segment = new_segment(disk)
    fill(segment, range(3 * BATCHES_MAX))
    found = [segment.translate_offset(offset) for offset in range(3 * BATCHES_MAX)]
    assert [position.last_offset for position in found if position is not None] == list(range(3 * BATCHES_MAX))


def test_a_gap_left_by_compaction_leads_to_the_next_batch(disk: Disk) -> None:
    segment = new_segment(disk)
    put(segment, batch(base_offset=3))
    put(segment, batch(base_offset=20))
    assert [segment.translate_offset(offset).last_offset for offset in (0, 3, 4, 20)] == [3, 3, 20, 20]  # type: ignore[union-attr]


def test_the_end_offset_is_found_after_loading(disk: Disk) -> None:
    segment = new_segment(disk, 7)
    assert segment.end_offset() == 7
    fill(segment, range(7, 31), records=3)
    assert reloaded(disk, segment).end_offset() == 31


def test_closing_notes_the_largest_timestamp(disk: Disk) -> None:
    segment = new_segment(disk)
    for offset, timestamp in enumerate((1000, 5000, 3000)):
        put(segment, batch(base_offset=offset, timestamp=timestamp))
    assert reloaded(disk, segment).largest_timestamp == (5000, 1)


def test_a_segment_without_timestamps_is_as_old_as_its_file(disk: Disk) -> None:
    segment = new_segment(disk)
    put(segment, message(b"old", timestamp=None))
    disk.file_system.set_modified_ms(segment.path(".log"), 777)
    assert segment.retention_timestamp() == 777


def test_it_rolls_when_the_incoming_bytes_do_not_fit(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(10))
    assert not segment.should_roll(10_000 - segment.size, 1000, 11)
    assert segment.should_roll(10_001 - segment.size, 1000, 11)


def test_it_rolls_when_the_incoming_records_are_too_much_younger_than_the_first() -> None:
    segment = new_segment(Disk(segment_ms=1000))
    put(segment, batch(timestamp=5000))
    assert not segment.should_roll(100, 6000, 1)
    assert segment.should_roll(100, 6001, 1)


def test_the_first_timestamp_survives_a_restart() -> None:
    disk = Disk(segment_ms=1000)
    segment = new_segment(disk)
    put(segment, batch(timestamp=5000))
    assert reloaded(disk, segment).should_roll(100, 6001, 1)


def test_without_timestamps_the_clock_decides() -> None:
    disk = Disk(segment_ms=1000)
    segment = new_segment(disk)
    put(segment, message(b"old", timestamp=None))
    disk.clock.advance(1000)
    assert not segment.should_roll(100, -1, 1)
    disk.clock.advance(1)
    assert segment.should_roll(100, -1, 1)


def test_an_empty_segment_never_rolls_by_time() -> None:
    disk = Disk(segment_ms=1000)
    segment = new_segment(disk)
    disk.clock.advance(5000)
    assert not segment.should_roll(100, NOW_MS, 0)


def test_jitter_makes_it_roll_earlier() -> None:
    disk = Disk(segment_ms=1000, segment_jitter_ms=1000)
    segment = new_segment(disk)
    put(segment, batch(timestamp=5000))
    assert segment.should_roll(100, 6000, 1)


class Largest(SeededRandom):
    """Chance at its worst: the largest number that was asked for."""

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        return (start if stop is None else stop) - 1


def test_jitter_is_never_more_than_the_age_itself_nor_than_was_set() -> None:
    for jitter_ms, rolls_after_ms in ((5000, 1), (300, 701)):
        disk = Disk(segment_ms=1000, segment_jitter_ms=jitter_ms)
        segment = LogSegment.create(replace(disk.services, random=Largest()), LOG_DIR, 0, disk.config)
        put(segment, batch(timestamp=5000))
        assert not segment.should_roll(100, 5000 + rolls_after_ms, 1)
        assert segment.should_roll(100, 5000 + rolls_after_ms + 1, 1)


def test_it_rolls_when_an_offset_cannot_be_told_relatively(disk: Disk) -> None:
    segment = new_segment(disk)
    assert not segment.should_roll(100, 1000, 2147483647)
    assert segment.should_roll(100, 1000, 2147483648)


def test_it_rolls_when_an_index_is_full() -> None:
    segment = new_segment(Disk(segment_index_bytes=24, index_interval_bytes=0))
    fill(segment, range(2))
    assert segment.should_roll(100, 1000, 5)


def test_truncating_removes_the_batch_that_holds_the_offset(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(30), records=3)
    cut = segment.truncate_to(16)
    assert segment.end_offset() == 15
    assert cut == segment.size
    assert offsets_of(disk.file_system.read(segment.path(".log"))) == [2, 5, 8, 11, 14]
    assert all(offset < 16 for offset, _ in segment.offset_index.entries)
    assert segment.largest_timestamp == (1012, 14)


def test_after_truncation_everything_is_still_found(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(30))
    segment.truncate_to(11)
    fill(segment, range(11, 20))
    for one in (segment, reloaded(disk, segment)):
        found = [one.translate_offset(offset) for offset in range(20)]
        assert [position.last_offset for position in found if position is not None] == list(range(20))


def test_truncating_everything_starts_a_new_age(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(3))
    disk.clock.advance(1000)
    segment.truncate_to(0)
    assert (segment.size, segment.created_ms, segment.first_timestamp) == (0, NOW_MS + 1000, -1)


@pytest.mark.parametrize(("timestamp", "offset"), [(0, 0), (1000, 0), (1001, 3), (1003, 3), (1057, 57), (1058, None)])
def test_the_first_batch_not_older_than_a_time_is_found(disk: Disk, timestamp: int, offset: int | None) -> None:
    segment = new_segment(disk)
    fill(segment, range(60), records=3)
    header = first_batch_not_before(segment, timestamp, 0)
    assert (header.base_offset if header else None) == offset


def test_a_wrong_index_entry_costs_time_but_no_record(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(20))
    segment.close()
    data = bytearray(disk.file_system.read(segment.path(".index")))
    data[7] += 3  # the first entry points into the middle of a batch
    disk.file_system.write_atomically(segment.path(".index"), bytes(data))
    again = LogSegment.load(disk.services, LOG_DIR, 0, disk.config)
    found = [again.translate_offset(offset) for offset in range(20)]
    assert [position.last_offset for position in found if position is not None] == list(range(20))


def test_a_released_segment_opens_its_file_again(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(5))
    file = segment.file()
    segment.release()
    put(segment, batch(base_offset=5))
    assert segment.file() is not file
    assert segment.end_offset() == 6


def test_renaming_moves_all_files(disk: Disk) -> None:
    segment = new_segment(disk)
    fill(segment, range(5))
    segment.rename(".deleted")
    assert disk.file_system.list(LOG_DIR) == [f"00000000000000000000.{kind}.deleted" for kind in ("index", "log", "timeindex")]
    assert segment.translate_offset(3) is not None


@pytest.fixture
def allocating() -> Disk:
    return Disk(index_interval_bytes=200, segment_bytes=10_000, segment_index_bytes=1000, preallocate=True)


def file_size(disk: Disk, segment: LogSegment) -> int:
    return disk.file_system.size(segment.path(".log"))


def test_a_preallocated_file_has_its_full_length_from_the_start(allocating: Disk) -> None:
    segment = new_segment(allocating)
    assert (segment.size, file_size(allocating, segment)) == (0, 10_000)
    fill(segment, range(20))
    assert segment.size < file_size(allocating, segment) == 10_000


def test_records_of_a_preallocated_segment_are_found_like_others(allocating: Disk, disk: Disk) -> None:
    segment, other = new_segment(allocating), new_segment(disk)
    for one in (segment, other):
        fill(one, range(20))
    assert [segment.translate_offset(offset) for offset in range(21)] == [other.translate_offset(offset) for offset in range(21)]
    assert (segment.size, segment.end_offset(), list(segment.headers())) == (other.size, other.end_offset(), list(other.headers()))


def test_what_was_not_used_of_a_preallocated_file_goes_when_it_is_rolled_or_closed(allocating: Disk) -> None:
    segment = new_segment(allocating)
    fill(segment, range(20))
    segment.on_become_inactive()
    assert file_size(allocating, segment) == segment.size
    assert reloaded(allocating, segment).end_offset() == 20


def test_a_truncated_segment_is_no_longer_preallocated_and_goes_on(allocating: Disk) -> None:
    segment = new_segment(allocating)
    fill(segment, range(20))
    segment.truncate_to(5)
    assert file_size(allocating, segment) == segment.size
    fill(segment, range(5, 9))
    assert [header.last_offset for header in segment.headers()] == list(range(9))
    assert file_size(allocating, segment) == segment.size


def test_files_of_the_cleaner_are_not_preallocated(allocating: Disk) -> None:
    segment = LogSegment.create(allocating.services, LOG_DIR, 0, allocating.config, ".cleaned")
    assert file_size(allocating, segment) == 0
