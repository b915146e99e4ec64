"""What a partition lets whom read (facts/coordination.md 4.4, 4.5, 4.9; storage.md 14)."""

from __future__ import annotations

import pytest

from pykafka_classic.cluster.partition_fetch import EpochEndOffset, FetchIsolation, LogReadInfo, PartitionFetch, Reader
from pykafka_classic.cluster.partition_reads import (
    fetch_offset_for_timestamp,
    last_offset_for_leader_epoch,
    legacy_fetch_offsets_for_timestamp,
    read_records,
)
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import spawn
from pykafka_classic.log.log_values import TimestampedOffset
from tests.unit.cluster.helpers import TP, OnePartition

FOLLOWER = Reader(FetchIsolation.LOG_END, only_leader=True, follower_id=1)
CONSUMER = Reader(FetchIsolation.HIGH_WATERMARK)
READ_UNCOMMITTED = 0


@pytest.fixture
def one() -> OnePartition:
    """Offsets 0 to 2 in epoch 0 (committed up to 2), 3 in epoch 4."""
    made = OnePartition()
    made.lead(0)
    made.append(b"a", b"b")
    for follower in (1, 2):
        made.fetched(follower, 2)
    made.append(b"c")
    made.lead(4)
    made.append(b"d")
    return made


def read(one: OnePartition, offset: int, reader: Reader = FOLLOWER, *, epoch: int = -1, last_fetched: int = -1, max_bytes: int = 1 << 20) -> LogReadInfo:
    fetch = PartitionFetch(TP, offset, 0, max_bytes, epoch, last_fetched)
    return read_records(one.partition, fetch, reader, max_bytes=max_bytes, min_one_message=True)


def error_of(one: OnePartition, offset: int, reader: Reader = FOLLOWER, *, epoch: int = -1, last_fetched: int = -1) -> ErrorCode:
    with pytest.raises(KafkaError) as raised:
        read(one, offset, reader, epoch=epoch, last_fetched=last_fetched)
    return raised.value.code


def test_a_follower_reads_to_the_log_end(one: OnePartition) -> None:
    records = read(one, 3).fetched.records
    assert records is not None
    assert b"d" in records.read()


def test_a_consumer_reads_to_the_high_watermark(one: OnePartition) -> None:
    records = read(one, 0, CONSUMER).fetched.records
    assert records is not None
    assert b"b" in records.read()
    assert b"c" not in records.read()


@pytest.mark.parametrize("offset", [2, 3, 4])
def test_between_the_high_watermark_and_the_log_end_a_consumer_gets_nothing_and_no_error(one: OnePartition, offset: int) -> None:
    info = read(one, offset, CONSUMER)
    assert info.fetched.records is None
    assert (info.high_watermark, info.log_start_offset, info.log_end_offset, info.last_stable_offset) == (2, 0, 4, 2)


def test_beyond_the_log_end_is_out_of_range(one: OnePartition) -> None:
    assert error_of(one, 5) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_follower_reads_from_leaders_only(one: OnePartition) -> None:
    one.follow(1, 5)
    assert error_of(one, 0) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_consumer_that_may_reads_from_a_follower(one: OnePartition) -> None:
    one.follow(1, 5)
    assert read(one, 0, Reader(FetchIsolation.HIGH_WATERMARK, only_leader=False)).fetched.records is not None


@pytest.mark.parametrize(("epoch", "error"), [(3, ErrorCode.FENCED_LEADER_EPOCH), (5, ErrorCode.UNKNOWN_LEADER_EPOCH)])
def test_another_leader_epoch_than_ours_is_refused(one: OnePartition, epoch: int, error: ErrorCode) -> None:
    assert error_of(one, 0, epoch=epoch) is error


@pytest.mark.parametrize(
    ("offset", "last_fetched", "diverging"),
    [
        (3, 0, None),  # epoch 0 ended at 3: all fine
        (4, 4, None),
        (4, 0, (0, 3)),  # its epoch 0 goes on where ours had ended
        (3, 2, (0, 3)),  # an epoch that we never had
    ],
)
def test_logs_that_part_are_told_where(one: OnePartition, offset: int, last_fetched: int, diverging: tuple[int, int] | None) -> None:
    info = read(one, offset, last_fetched=last_fetched)
    assert info.diverging_epoch == diverging
    if diverging is not None:
        assert info.fetched.records is None


def test_an_epoch_newer_than_ours_is_out_of_range(one: OnePartition) -> None:
    assert error_of(one, 3, last_fetched=9) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_below_the_log_start_is_out_of_range_whatever_the_epochs_say(one: OnePartition) -> None:
    one.partition.local_log().maybe_increment_log_start_offset(1)
    assert error_of(one, 0, last_fetched=0) is ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("epoch", "found"),
    [(0, EpochEndOffset(0, 3)), (2, EpochEndOffset(0, 3)), (4, EpochEndOffset(4, 4)), (5, EpochEndOffset(-1, -1)), (-1, EpochEndOffset(-1, -1))],
)
def test_the_leader_tells_where_an_epoch_ended(one: OnePartition, epoch: int, found: EpochEndOffset) -> None:
    assert last_offset_for_leader_epoch(one.partition, epoch, current_leader_epoch=4, only_leader=True) == found


def test_only_the_leader_tells_where_an_epoch_ended(one: OnePartition) -> None:
    one.follow(1, 5)
    with pytest.raises(KafkaError) as raised:
        last_offset_for_leader_epoch(one.partition, 0, current_leader_epoch=-1, only_leader=True)
    assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


# ListOffsets


def latest(one: OnePartition, isolation_level: int | None, timestamp: int = -1) -> TimestampedOffset | None:
    return spawn(fetch_offset_for_timestamp(one.partition, timestamp, isolation_level=isolation_level, current_leader_epoch=-1, only_leader=True)).result()


def test_the_latest_offset_for_a_replica_is_the_log_end(one: OnePartition) -> None:
    assert latest(one, None) == TimestampedOffset(-1, 4, 4)


def test_a_new_leader_tells_consumers_no_latest_offset_before_its_high_watermark_has_reached_its_epoch(one: OnePartition) -> None:
    with pytest.raises(KafkaError) as raised:
        latest(one, READ_UNCOMMITTED)
    assert raised.value.code is ErrorCode.OFFSET_NOT_AVAILABLE


def test_the_latest_offset_for_a_consumer_is_the_high_watermark(one: OnePartition) -> None:
    for follower in (1, 2):
        one.fetched(follower, 3)
    assert latest(one, READ_UNCOMMITTED) == TimestampedOffset(-1, 3, 4)


def test_the_earliest_offset_is_told_at_any_time(one: OnePartition) -> None:
    found = latest(one, READ_UNCOMMITTED, timestamp=-2)
    assert found is not None
    assert found.offset == 0


def test_a_timestamp_that_only_records_above_the_high_watermark_have_is_not_found_while_it_lags(one: OnePartition) -> None:
    with pytest.raises(KafkaError) as raised:
        latest(one, READ_UNCOMMITTED, timestamp=one.clock.now_ms() + 1)
    assert raised.value.code is ErrorCode.OFFSET_NOT_AVAILABLE


def test_a_timestamp_that_no_visible_record_has_finds_nothing(one: OnePartition) -> None:
    for follower in (1, 2):
        one.fetched(follower, 4)
    assert latest(one, READ_UNCOMMITTED, timestamp=one.clock.now_ms() + 1) is None


def test_a_consumers_old_style_offsets_are_capped_by_the_high_watermark(one: OnePartition) -> None:
    found = legacy_fetch_offsets_for_timestamp(one.partition, -1, max_num_offsets=10, from_consumer=True, only_leader=True)
    assert found == [2, 0]


def test_a_replicas_old_style_offsets_are_not(one: OnePartition) -> None:
    found = legacy_fetch_offsets_for_timestamp(one.partition, -1, max_num_offsets=10, from_consumer=False, only_leader=True)
    assert found == [4, 0]
