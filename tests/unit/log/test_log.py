"""One log: appending, reading, rolling, truncating, retention, and what is left after a crash."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.log import Log
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import GZIP
from pykafka_classic.records.record import Record
from tests.unit.log.helpers import NOW_MS, Disk, batch, fill, marker, message, offsets_of, read_all


@pytest.fixture
def disk() -> Disk:
    return Disk(segment_bytes=1000, index_interval_bytes=200)


@pytest.fixture
def log(disk: Disk) -> Log:
    return disk.open()


def code_of(call: object) -> int:
    with pytest.raises(KafkaError) as caught:
        call()  # type: ignore[operator]
    return int(caught.value.code)


# Appending


def test_a_leader_gives_out_offsets_from_the_log_end_on(log: Log) -> None:
    first = log.append_as_leader(batch([(None, b"a"), (None, b"b")]), leader_epoch=4)
    second = log.append_as_leader(batch([(None, b"c")]), leader_epoch=4)
    assert (first.first_offset, first.last_offset, second.first_offset, second.last_offset) == (0, 1, 2, 2)
    assert log.log_end_offset == 3


def test_a_leader_stamps_base_offset_and_epoch_and_nothing_else(log: Log) -> None:
    log.append_as_leader(batch(), leader_epoch=4)
    log.append_as_leader(batch(), leader_epoch=4)
    assert read_all(log) == batch(base_offset=0, leader_epoch=4) + batch(base_offset=1, leader_epoch=4)


def test_a_leader_notes_where_its_epoch_began(log: Log) -> None:
    fill(log, 2, leader_epoch=1)
    fill(log, 2, leader_epoch=3)
    assert log.leader_epoch_cache.entries == [(1, 0), (3, 2)]


def test_nothing_to_append_changes_nothing(log: Log) -> None:
    assert log.append_as_leader(b"", leader_epoch=0).first_offset == -1
    assert log.append_as_follower(b"").first_offset == -1


def test_a_batch_with_a_wrong_checksum_is_refused(log: Log) -> None:
    data = bytearray(batch())
    data[-2] ^= 1
    assert code_of(lambda: log.append_as_leader(bytes(data), leader_epoch=0)) == ErrorCode.CORRUPT_MESSAGE
    assert code_of(lambda: log.append_as_follower(bytes(data))) == ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 0


def test_a_follower_takes_over_offsets_and_epochs(log: Log) -> None:
    data = batch([(None, b"a")] * 3, base_offset=0, leader_epoch=2) + batch(base_offset=3, leader_epoch=5)
    info = log.append_as_follower(data)
    assert (info.first_offset, info.last_offset, info.batch_count, info.last_leader_epoch) == (0, 3, 2, 5)
    assert read_all(log) == data
    assert log.leader_epoch_cache.entries == [(2, 0), (5, 3)]


def test_a_follower_accepts_gaps_but_no_steps_back(log: Log) -> None:
    log.append_as_follower(batch(base_offset=5))
    assert code_of(lambda: log.append_as_follower(batch(base_offset=5))) == ErrorCode.OFFSET_OUT_OF_RANGE
    assert code_of(lambda: log.append_as_follower(batch(base_offset=9) + batch(base_offset=8))) == ErrorCode.OFFSET_OUT_OF_RANGE
    log.append_as_follower(batch(base_offset=9))
    assert log.log_end_offset == 10


def test_a_torn_last_batch_is_cut_off(log: Log) -> None:
    log.append_as_follower(batch(base_offset=0) + batch(base_offset=1)[:-1])
    assert log.log_end_offset == 1
    assert read_all(log) == batch(base_offset=0)


def test_a_follower_takes_old_formats(log: Log) -> None:
    data = message(b"a", offset=0) + message(b"b", offset=1, timestamp=None)
    log.append_as_follower(data)
    assert read_all(log) == data
    assert log.leader_epoch_cache.entries == []


def test_an_append_larger_than_a_segment_is_spread_over_several(log: Log) -> None:
    data = b"".join(batch([(None, b"v" * 300)], base_offset=offset) for offset in range(10))
    log.append_as_follower(data)
    assert [segment.base_offset for segment in log.segments] == [0, 2, 4, 6, 8]
    assert read_all(log) == data


def test_offsets_too_far_apart_for_one_segment_go_into_several(log: Log) -> None:
    far = 2**31
    data = b"".join(batch(base_offset=offset) for offset in (0, 7, far - 1, far, far + 7, 3 * far))
    log.append_as_follower(data)
    assert [segment.base_offset for segment in log.segments] == [0, far, 3 * far]
    assert read_all(log) == data
    assert log.log_end_offset == 3 * far + 1


def test_offsets_too_far_from_the_active_segments_start_go_into_a_new_one(disk: Disk, log: Log) -> None:
    log.append_as_follower(batch(base_offset=0))
    log.append_as_follower(batch(base_offset=2**31 + 5))
    assert [segment.base_offset for segment in log.segments] == [0, 2**31 + 5]
    log.close()
    assert disk.open().log_end_offset == 2**31 + 6


# Producers


def test_a_batch_sent_twice_is_answered_with_its_old_offset_and_not_written(log: Log) -> None:
    fill(log, 2)
    data = batch([(None, b"v")] * 2, producer=(7, 0, 0), timestamp=1234)
    first, second = (log.append_as_leader(data, leader_epoch=0) for _ in range(2))
    assert (first.duplicate, first.first_offset, first.last_offset) == (False, 2, 3)
    assert (second.duplicate, second.first_offset, second.last_offset, second.log_append_time) == (True, 2, 3, 1234)
    assert log.log_end_offset == 4


def test_a_duplicate_is_recognised_after_a_clean_restart(disk: Disk, log: Log) -> None:
    log.append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    log.close()
    assert disk.open().append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_a_duplicate_is_recognised_after_a_crash(disk: Disk, log: Log) -> None:
    log.append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0)
    assert disk.open(clean=False).append_as_leader(batch(producer=(7, 0, 0), timestamp=NOW_MS), leader_epoch=0).duplicate


def test_a_gap_in_the_sequence_numbers_is_refused_and_leaves_no_trace(log: Log) -> None:
    log.append_as_leader(batch(producer=(7, 0, 0)), leader_epoch=0)
    assert code_of(lambda: log.append_as_leader(batch(producer=(7, 0, 2)), leader_epoch=0)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append_as_leader(batch(producer=(7, 0, 1)), leader_epoch=0).first_offset == 1


def transaction(log: Log, producer_id: int, sequence: int) -> int:
    return log.append_as_leader(batch(producer=(producer_id, 0, sequence), attributes=0x10), leader_epoch=0).first_offset


def end(log: Log, producer_id: int, *, commit: bool) -> None:
    log.append_as_leader(marker(producer_id=producer_id, producer_epoch=0, commit=commit), leader_epoch=0, origin=AppendOrigin.COORDINATOR)


def test_an_open_transaction_holds_back_the_last_stable_offset(log: Log) -> None:
    fill(log, 2)
    transaction(log, 7, 0)
    fill(log, 1)
    assert (log.high_watermark, log.last_stable_offset) == (4, 2)
    end(log, 7, commit=True)
    assert log.last_stable_offset == 2  # the marker is not replicated yet
    log.update_high_watermark(5)
    assert log.last_stable_offset == 5


def test_the_last_stable_offset_is_never_above_the_high_watermark(log: Log) -> None:
    fill(log, 2)
    transaction(log, 7, 0)
    log.update_high_watermark(1)
    assert log.last_stable_offset == 1


def test_a_read_committed_fetch_names_the_aborted_transactions_in_its_range(log: Log) -> None:
    transaction(log, 7, 0)
    transaction(log, 8, 0)
    end(log, 7, commit=False)
    end(log, 8, commit=True)
    transaction(log, 9, 0)
    end(log, 9, commit=False)
    log.update_high_watermark(log.log_end_offset)
    info = log.read(0, max_length=10_000, max_offset=log.last_stable_offset, min_one_message=True, include_aborted=True)
    assert info.aborted_transactions is not None
    assert [(aborted.producer_id, aborted.first_offset, aborted.last_offset) for aborted in info.aborted_transactions] == [(7, 0, 2), (9, 4, 5)]


def test_aborted_transactions_are_found_in_later_segments(log: Log) -> None:
    transaction(log, 7, 0)
    fill(log, 20)
    end(log, 7, commit=False)
    log.update_high_watermark(log.log_end_offset)
    assert len(log.segments) > 2
    info = log.read(0, max_length=10_000, max_offset=log.last_stable_offset, min_one_message=True, include_aborted=True)
    assert info.aborted_transactions is not None
    assert [aborted.producer_id for aborted in info.aborted_transactions] == [7]


def test_open_transactions_are_known_after_a_restart(disk: Disk, log: Log) -> None:
    fill(log, 2)
    transaction(log, 7, 0)
    log.close()
    again = disk.open()
    again.update_high_watermark(again.log_end_offset)
    assert again.last_stable_offset == 2


def test_truncating_reopens_a_transaction(log: Log) -> None:
    transaction(log, 7, 0)
    end(log, 7, commit=False)
    log.update_high_watermark(2)
    log.truncate_to(1)
    log.update_high_watermark(1)
    assert log.last_stable_offset == 0
    assert log.active_segment.transaction_index.entries == []


# Reading


def test_a_read_begins_with_the_batch_that_holds_the_offset(log: Log) -> None:
    fill(log, 4, records=3, size=10)
    info = log.read(4, max_length=10_000, max_offset=12, min_one_message=False)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [5, 8, 11]
    assert info.fetch_offset_metadata.offset == 4


def test_a_read_ends_below_the_bound(log: Log) -> None:
    fill(log, 4)
    info = log.read(0, max_length=10_000, max_offset=2, min_one_message=False)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [0, 1]


def test_a_read_stays_within_one_segment(log: Log) -> None:
    fill(log, 12)
    info = log.read(0, max_length=10_000, max_offset=12, min_one_message=False)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [0, 1, 2, 3, 4]


def test_a_read_is_cut_at_its_size_limit(log: Log) -> None:
    fill(log, 4)
    info = log.read(0, max_length=100, max_offset=4, min_one_message=False)
    assert info.records is not None
    assert (len(info.records), info.first_entry_incomplete) == (100, True)


def test_one_batch_comes_whole_where_asked_for(log: Log) -> None:
    fill(log, 4)
    info = log.read(0, max_length=1, max_offset=4, min_one_message=True)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [0]
    assert not info.first_entry_incomplete


def test_at_the_end_there_is_nothing(log: Log) -> None:
    fill(log, 4)
    info = log.read(4, max_length=100, max_offset=4, min_one_message=True)
    assert info.records is None
    assert info.fetch_offset_metadata == log.offset_metadata(4)


@pytest.mark.parametrize("offset", [4, 11])
def test_outside_the_log_is_out_of_range(log: Log, offset: int) -> None:
    fill(log, 10)
    log.maybe_increment_log_start_offset(5)
    assert code_of(lambda: log.read(offset, max_length=100, max_offset=10, min_one_message=True)) == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_segment_emptied_by_compaction_is_skipped(disk: Disk) -> None:
    log = disk.open()
    log.append_as_follower(batch(base_offset=0))
    log.roll(10)
    log.append_as_follower(batch(base_offset=10))
    info = log.read(5, max_length=1000, max_offset=11, min_one_message=True)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [10]


def test_what_was_handed_out_stays_readable_after_deletion(disk: Disk, log: Log) -> None:
    fill(log, 12)
    info = log.read(0, max_length=10_000, max_offset=12, min_one_message=False)
    log.truncate_fully_and_start_at(50)
    disk.clock.advance(60_000)
    assert info.records is not None
    assert offsets_of(info.records.read()) == [0, 1, 2, 3, 4]


def test_bytes_between_two_offsets_are_counted_over_segments(log: Log) -> None:
    fill(log, 12)
    size = log.active_segment.size // 2
    assert log.bytes_from(0, 12) == 12 * size
    assert log.bytes_from(3, 11) == 8 * size
    assert log.bytes_from(12, 12) == 0
    assert log.bytes_from(7, 3) == 0


# By time


def test_the_first_record_not_older_than_a_time_is_found_across_segments(log: Log) -> None:
    fill(log, 12, timestamp=1000, leader_epoch=3)
    assert log.offset_for_timestamp(1007).result() == (1007, 7, 3)
    assert log.offset_for_timestamp(1).result() == (1000, 0, 3)
    assert log.offset_for_timestamp(2000).result() is None


def test_records_below_the_log_start_are_not_found_by_time(log: Log) -> None:
    fill(log, 12, timestamp=1000)
    log.maybe_increment_log_start_offset(3)
    assert log.offset_for_timestamp(1).result() == (1003, 3, 0)


def test_the_ends_are_found_by_their_special_times(log: Log) -> None:
    fill(log, 3, leader_epoch=1)
    fill(log, 3, leader_epoch=2)
    assert log.offset_for_timestamp(-2).result() == (-1, 0, 1)
    assert log.offset_for_timestamp(-1).result() == (-1, 6, 2)


def test_a_log_without_timestamps_cannot_be_searched_by_time() -> None:
    log = Disk(message_format_version="0.9.0").open()
    assert code_of(lambda: log.offset_for_timestamp(5).result()) == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_old_clients_are_told_segment_starts(disk: Disk, log: Log) -> None:
    fill(log, 12)
    for segment, modified_ms in zip(log.segments, (100, 200, 300), strict=True):
        disk.file_system.set_modified_ms(segment.path(".log"), modified_ms)
    assert log.legacy_offsets_before(-1, 10) == [12, 10, 5, 0]
    assert log.legacy_offsets_before(-1, 2) == [12, 10]
    assert log.legacy_offsets_before(-2, 10) == [0]
    assert log.legacy_offsets_before(250, 10) == [5, 0]
    assert log.legacy_offsets_before(99, 10) == []


# High watermark and log start


@pytest.mark.parametrize(("wanted", "got"), [(-5, 0), (3, 3), (50, 6)])
def test_the_high_watermark_stays_within_the_log(log: Log, wanted: int, got: int) -> None:
    fill(log, 6)
    assert log.update_high_watermark(wanted) == got


def test_the_high_watermark_of_a_leader_only_rises(log: Log) -> None:
    fill(log, 6)
    log.update_high_watermark(3)
    assert log.maybe_increment_high_watermark(5)
    assert not log.maybe_increment_high_watermark(5)
    assert not log.maybe_increment_high_watermark(4)
    assert log.high_watermark == 5


def test_the_log_start_rises_but_never_above_the_high_watermark(log: Log) -> None:
    fill(log, 6, leader_epoch=2)
    log.update_high_watermark(4)
    assert log.maybe_increment_log_start_offset(3)
    assert not log.maybe_increment_log_start_offset(2)
    assert code_of(lambda: log.maybe_increment_log_start_offset(5)) == ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.log_start_offset == 3
    assert log.leader_epoch_cache.entries == [(2, 3)]


# Rolling and flushing


def test_a_full_segment_is_rolled_and_the_old_one_flushed(disk: Disk, log: Log) -> None:
    fill(log, 6)
    assert [segment.base_offset for segment in log.segments] == [0, 5]
    assert log.recovery_point == 5
    assert "00000000000000000005.snapshot" in disk.names()


def test_an_empty_segment_is_not_rolled(log: Log) -> None:
    assert log.roll() is log.active_segment
    assert len(log.segments) == 1


def test_a_follower_rolls_at_the_offset_that_comes(log: Log) -> None:
    fill(log, 5)
    log.append_as_follower(batch([(None, b"v" * 200)], base_offset=20))
    assert [segment.base_offset for segment in log.segments] == [0, 20]


def test_the_old_segment_is_flushed_in_the_background(disk: Disk) -> None:
    disk.background.queued = True
    log = disk.open()
    fill(log, 6)
    assert log.recovery_point == 0
    disk.background.run_all()
    assert log.recovery_point == 5


def test_a_flush_that_ends_after_a_truncation_does_not_count(disk: Disk) -> None:
    disk.background.queued = True
    log = disk.open()
    fill(log, 6)
    log.truncate_to(2)
    disk.background.run_all()
    assert log.recovery_point == 0


def test_so_many_records_force_a_flush() -> None:
    disk = Disk(flush_messages=3)
    log = disk.open()
    fill(log, 2)
    asked = [log.must_flush]
    fill(log, 1)
    asked.append(log.must_flush)
    assert log.recovery_point == 0
    spawn(log.flusher.flush_until(3)).result()
    assert log.recovery_point == 3
    assert [*asked, log.must_flush] == [False, True, False]


def test_those_who_wait_for_a_flush_share_the_next_one() -> None:
    disk = Disk(flush_messages=1)
    log = disk.open()
    fill(log, 1)  # its leader epoch is written
    disk.background.queued = True
    waiting = []
    for number in range(1, 6):
        fill(log, 1)
        waiting.append(spawn(log.flusher.flush_until(number + 1)))
    disk.background.run_next()
    assert [each.settled for each in waiting] == [True, False, False, False, False]
    assert disk.background.pending == 1
    disk.background.run_next()
    assert [each.settled for each in waiting] == [True] * 5


def test_who_waits_for_a_flush_of_what_is_truncated_hears_of_it() -> None:
    disk = Disk(flush_messages=1)
    disk.background.queued = True
    log = disk.open()
    fill(log, 3)
    waiting = spawn(log.flusher.flush_until(3))
    log.truncate_to(1)
    disk.background.run_all()
    assert code_of(waiting.result) == ErrorCode.KAFKA_STORAGE_ERROR


def test_what_was_flushed_survives_a_loss_of_power(disk: Disk, log: Log) -> None:
    fill(log, 12)
    log.flush()
    disk.file_system.crash()
    again = disk.open(clean=False, recovery_point=12)
    assert offsets_of(read_all(again)) == list(range(12))


# Truncating


@pytest.mark.parametrize("offset", [0, 3, 5, 7, 11])
def test_truncation_removes_everything_from_an_offset_on(disk: Disk, log: Log, offset: int) -> None:
    fill(log, 12)
    assert log.truncate_to(offset)
    assert (log.log_end_offset, log.high_watermark) == (offset, offset)
    assert log.recovery_point <= offset
    assert offsets_of(read_all(log)) == list(range(offset))
    log.close()
    assert offsets_of(read_all(disk.open())) == list(range(offset))


def test_truncation_at_or_above_the_end_removes_nothing(log: Log) -> None:
    fill(log, 3)
    assert not log.truncate_to(3)
    assert log.log_end_offset == 3


def test_truncation_drops_epochs_that_began_behind(log: Log) -> None:
    fill(log, 3, leader_epoch=1)
    fill(log, 3, leader_epoch=2)
    log.truncate_to(3)
    assert log.leader_epoch_cache.entries == [(1, 0)]


def test_an_epoch_that_wrote_nothing_is_dropped_by_a_truncation_without_effect(log: Log) -> None:
    fill(log, 3, leader_epoch=1)
    log.leader_epoch_cache.assign(2, 3)
    log.truncate_to(5)
    assert log.leader_epoch_cache.entries == [(1, 0)]


def test_truncation_below_the_first_segment_starts_anew_there(log: Log) -> None:
    log.truncate_fully_and_start_at(100)
    log.append_as_follower(batch(base_offset=100))
    assert log.truncate_to(50)
    assert (log.log_start_offset, log.log_end_offset, log.active_segment.base_offset) == (50, 50, 50)


def test_truncating_fully_leaves_an_empty_log_at_the_given_offset(disk: Disk, log: Log) -> None:
    fill(log, 12)
    log.truncate_fully_and_start_at(100)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark, log.size) == (100, 100, 100, 0)
    assert log.leader_epoch_cache.entries == []
    assert [name for name in disk.names() if name.endswith(".log")] == ["00000000000000000100.log"]


def test_removed_segments_disappear_after_a_delay(disk: Disk, log: Log) -> None:
    fill(log, 12)
    log.truncate_to(2)
    assert "00000000000000000005.log.deleted" in disk.names()
    disk.clock.advance(60_000)
    assert not [name for name in disk.names() if name.endswith(".deleted")]


def test_truncation_tells_the_log_manager(disk: Disk, log: Log) -> None:
    told: list[str] = []
    disk.services.on_truncated = told.append
    fill(log, 3)
    log.truncate_to(1)
    assert told == ["/data"]


# Retention


def test_old_segments_are_deleted_oldest_first(disk: Disk) -> None:
    disk.config = replace(disk.config, retention_ms=100)
    log = disk.open()
    fill(log, 12, timestamp=1000)
    assert log.delete_old_segments(1000 + 4 + 100) == 0
    assert log.delete_old_segments(1000 + 5 + 100) == 1
    assert (log.log_start_offset, log.segments.first.base_offset) == (5, 5)


def test_the_active_segment_is_rolled_when_all_have_had_their_time(disk: Disk) -> None:
    disk.config = replace(disk.config, retention_ms=100)
    log = disk.open()
    fill(log, 12, timestamp=1000)
    assert log.delete_old_segments(10_000) == 3
    assert (log.log_start_offset, log.log_end_offset, log.size) == (12, 12, 0)
    assert log.delete_old_segments(10_000_000) == 0


def test_nothing_above_the_high_watermark_is_deleted(disk: Disk) -> None:
    disk.config = replace(disk.config, retention_ms=100)
    log = disk.open()
    fill(log, 12, timestamp=1000)
    log.update_high_watermark(7)
    assert log.delete_old_segments(10_000) == 1


def test_segments_beyond_the_retained_size_are_deleted(disk: Disk) -> None:
    log = disk.open()
    fill(log, 12)
    log.update_config(replace(disk.config, retention_bytes=log.size - log.segments.first.size, retention_ms=-1))
    assert log.delete_old_segments(NOW_MS) == 1
    assert log.delete_old_segments(NOW_MS) == 0


def test_a_compacted_topic_loses_only_what_lies_below_its_start(disk: Disk) -> None:
    disk.config = replace(disk.config, retention_ms=100, cleanup_policy=frozenset({"compact"}))
    log = disk.open()
    fill(log, 12, timestamp=1000)
    assert log.delete_old_segments(10_000) == 0
    log.maybe_increment_log_start_offset(6)
    assert log.delete_old_segments(10_000) == 1


def test_the_snapshot_goes_with_its_segment(disk: Disk) -> None:
    disk.config = replace(disk.config, retention_ms=100)
    log = disk.open()
    fill(log, 12, timestamp=1000)
    log.delete_old_segments(1000 + 10 + 100)
    assert [name for name in disk.names() if name.endswith(".snapshot")] == ["00000000000000000010.snapshot"]


# The rest


def test_a_topic_id_is_noted_once(disk: Disk, log: Log) -> None:
    topic_id = UUID("a7e3db9a-bee9-4211-a5e3-9f469daca9b2")
    log.assign_topic_id(topic_id)
    log.assign_topic_id(topic_id)
    assert disk.open().topic_id == topic_id
    assert code_of(lambda: log.assign_topic_id(UUID(int=5))) == ErrorCode.INCONSISTENT_TOPIC_ID


def test_a_failing_disk_is_a_storage_error_and_is_told(disk: Disk, log: Log) -> None:
    fill(log, 2)
    disk.file_system.fail("/data")
    assert code_of(lambda: log.append_as_leader(batch(), leader_epoch=0)) == ErrorCode.KAFKA_STORAGE_ERROR
    assert disk.storage_errors[0][0] == "/data"


def test_a_renamed_log_goes_on(disk: Disk, log: Log) -> None:
    fill(log, 7)
    log.rename_directory("flights-0.0123-delete")
    fill(log, 5)
    assert offsets_of(read_all(log)) == list(range(12))
    assert not disk.file_system.is_directory(disk.directory)


def test_epochs_are_written_to_their_checkpoint(disk: Disk, log: Log) -> None:
    assert disk.file_system.read(f"{disk.directory}/leader-epoch-checkpoint") == b"0\n0\n"
    fill(log, 3, leader_epoch=2)
    assert disk.file_system.read(f"{disk.directory}/leader-epoch-checkpoint") == b"0\n1\n2 0\n"


def test_a_log_of_an_old_format_has_no_epoch_checkpoint() -> None:
    disk = Disk(message_format_version="0.10.0")
    log = disk.open()
    log.leader_epoch_cache.assign(3, 0)
    log.append_as_follower(message(b"a"))
    assert "leader-epoch-checkpoint" not in disk.names()


def test_offset_metadata_tells_the_bytes_between_offsets_of_one_segment(log: Log) -> None:
    fill(log, 4)
    first, last = log.offset_metadata(1), log.offset_metadata(4)
    assert last.is_on_same_segment_as(first)
    assert last.bytes_after(first) == 3 * log.size // 4
    fill(log, 4)
    assert log.offset_metadata(1).is_on_older_segment_than(log.offset_metadata(8))


def test_a_compressed_batch_is_searched_by_time_in_a_thread(disk: Disk) -> None:
    log = disk.open()
    records = [Record(index, 1000 + index, b"k", b"v") for index in range(3)]
    log.append_as_leader(build_batch(records, BatchFields(codec=GZIP)), leader_epoch=0)
    disk.background.queued = True
    found = log.offset_for_timestamp(1002)
    assert not found.settled
    disk.background.run_all()
    assert found.result() == (1002, 2, 0)


def test_a_damaged_batch_is_not_searched_by_time(disk: Disk) -> None:
    log = disk.open()
    log.append_as_leader(batch(timestamp=1000), leader_epoch=0)
    file = log.active_segment.file()
    file.write_at(70, bytes([file.read_at(70, 1)[0] ^ 1]))
    assert code_of(lambda: log.offset_for_timestamp(1000).result()) == ErrorCode.CORRUPT_MESSAGE
