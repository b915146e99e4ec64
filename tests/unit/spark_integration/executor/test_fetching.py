"""Reading a range: where fetches begin, when a range ends, and what is done about answers that are no good."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import build_batch
from spark_integration.executor.fetching import DataLoss, RangeFetching, RangeUnreadable
from spark_integration.ranges import OffsetRange, ReadSettings
from tests.unit.spark_integration.executor.fake_leader import FakeLeader, answer, patience

SETTINGS = ReadSettings("localhost:9092", "read_uncommitted", False, True, 100, 1000, ("value",))
LENIENT = replace(SETTINGS, fail_on_data_loss=False)
COMMITTED = replace(SETTINGS, isolation="read_committed")


def batch(first: int, count: int) -> bytes:
    return build_batch([Record(offset, 0, None, b"") for offset in range(first, first + count)])


def read(leader: FakeLeader, start: int, end: int, settings: ReadSettings = SETTINGS) -> list[tuple[int, list[int]]]:
    """Of each stretch: where it is read from, and its batches' first offsets."""
    stretches = RangeFetching(OffsetRange("t", 0, start, end), settings, leader, patience(settings.request_timeout_ms))
    return [(each.first, [one.base_offset for one in each.batches]) for each in stretches]


def test_each_fetch_begins_behind_the_last_batch_of_the_one_before() -> None:
    leader = FakeLeader([answer(batch(0, 5) + batch(5, 5)), answer(batch(10, 5))])
    assert read(leader, 2, 12) == [(2, [0, 5]), (10, [10])]
    assert leader.told == [2, 10]


def test_the_next_fetch_is_under_way_while_a_stretch_is_worked_on() -> None:
    leader = FakeLeader([answer(batch(0, 5)), answer(batch(5, 5))])
    stretches = iter(RangeFetching(OffsetRange("t", 0, 0, 10), SETTINGS, leader, patience()))
    next(stretches)
    assert leader.told == [0, 5]


def test_a_batch_that_is_cut_off_is_asked_for_again() -> None:
    leader = FakeLeader([answer(batch(0, 5) + batch(5, 5)[:-1]), answer(batch(5, 5))])
    assert read(leader, 0, 10) == [(0, [0]), (5, [5])]
    assert leader.told == [0, 5]


def test_where_no_whole_batch_fits_more_is_asked_for() -> None:
    leader = FakeLeader([answer(batch(0, 5)[:50]), answer(batch(0, 5)[:60]), answer(batch(0, 5))])
    assert read(leader, 0, 5) == [(0, [0])]
    assert leader.max_bytes == [100, 200, 400]


def test_an_empty_range_asks_nobody() -> None:
    leader = FakeLeader([answer()])
    assert read(leader, 7, 7) == []
    assert leader.told == []


def test_a_range_that_ends_in_a_hole_ends() -> None:
    leader = FakeLeader([answer(batch(0, 5)), answer(end=10)])
    assert read(leader, 0, 10) == [(0, [0])]


def test_a_batch_behind_the_hole_ends_the_range_too() -> None:
    assert read(FakeLeader([answer(batch(20, 5))]), 0, 10) == [(0, [20])]


def test_a_new_leader_whose_watermark_lags_is_waited_for() -> None:
    leader = FakeLeader([answer(end=3), answer(end=3), answer(batch(0, 5), end=5)])
    assert read(leader, 0, 5) == [(0, [0])]
    assert leader.told == [0, 0, 0]


def test_a_log_that_stays_too_short_is_data_loss() -> None:
    with pytest.raises(DataLoss, match=r"offsets 3 to 9 of t-0 are gone: the partition ends at offset 3; .*failOnDataLoss=false"):
        read(FakeLeader([answer(end=3)]), 3, 10)


def test_an_open_transaction_is_told_as_such() -> None:
    with pytest.raises(RangeUnreadable, match="offset 3 of t-0 cannot be read yet: a transaction is open there"):
        read(FakeLeader([answer(end=10, stable=3)]), 3, 10, COMMITTED)


def test_the_last_stable_offset_counts_for_read_committed_only() -> None:
    assert read(FakeLeader([answer(end=10, stable=3)]), 3, 10) == []
    assert read(FakeLeader([answer(end=10, stable=10)]), 3, 10, COMMITTED) == []


@pytest.mark.parametrize("error", [Disconnected("gone"), KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)])
def test_a_leader_that_is_gone_is_looked_for_again(error: Exception) -> None:
    leader = FakeLeader([answer(batch(0, 5)), error, answer(batch(5, 5))])
    assert read(leader, 0, 10) == [(0, [0]), (5, [5])]
    assert leader.told == [0, 5, "lose", 5]


@pytest.mark.parametrize("code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.OFFSET_NOT_AVAILABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
def test_errors_that_pass_are_tried_again_at_the_same_offset(code: ErrorCode) -> None:
    leader = FakeLeader([answer(error=code), answer(batch(0, 5))])
    assert read(leader, 0, 5) == [(0, [0])]
    assert leader.told == [0, "lose", 0]


def test_an_error_that_stays_is_told_when_the_time_is_up() -> None:
    with pytest.raises(RangeUnreadable, match=r"offset 4 of t-0 could not be read for 1 s; the last error: .*not the current leader"):
        read(FakeLeader([answer(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)]), 4, 5)


def test_time_counts_from_the_last_progress() -> None:
    lagging = [answer(error=ErrorCode.LEADER_NOT_AVAILABLE)] * 8
    leader = FakeLeader([*lagging, answer(batch(0, 5)), *lagging, answer(batch(5, 5))])
    assert read(leader, 0, 10) == [(0, [0]), (5, [5])]


def test_an_error_that_does_not_pass_is_raised_at_once() -> None:
    leader = FakeLeader([answer(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED)])
    with pytest.raises(KafkaError, match="authorization"):
        read(leader, 0, 5)
    assert leader.told == [0, "lose"]


def test_what_retention_deleted_is_data_loss() -> None:
    leader = FakeLeader([answer(error=ErrorCode.OFFSET_OUT_OF_RANGE)], earliest=7)
    with pytest.raises(DataLoss, match=r"offsets 2 to 6 of t-0 are gone: the partition begins at offset 7"):
        read(leader, 2, 10)


def test_what_is_left_is_read_where_loss_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    leader = FakeLeader([answer(error=ErrorCode.OFFSET_OUT_OF_RANGE), answer(batch(7, 5))], earliest=7)
    with caplog.at_level(logging.WARNING):
        assert read(leader, 2, 10, LENIENT) == [(7, [7])]
    assert leader.told == [2, "earliest", 7]
    assert "offsets 2 to 6 of t-0 are gone" in caplog.text


def test_a_range_that_is_gone_whole_is_empty_where_loss_is_no_failure() -> None:
    leader = FakeLeader([answer(error=ErrorCode.OFFSET_OUT_OF_RANGE)], earliest=50)
    assert read(leader, 2, 10, LENIENT) == []


def test_an_offset_behind_the_end_is_data_loss_if_it_stays_so() -> None:
    leader = FakeLeader([answer(error=ErrorCode.OFFSET_OUT_OF_RANGE), answer(batch(2, 8))], earliest=0)
    assert read(leader, 2, 10) == [(2, [2])]
    with pytest.raises(DataLoss, match="offsets 2 to 9 of t-0 are gone: the partition ends before them"):
        read(FakeLeader([answer(error=ErrorCode.OFFSET_OUT_OF_RANGE)]), 2, 10)


def test_a_topic_that_was_deleted_is_data_loss() -> None:
    gone = [answer(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    with pytest.raises(DataLoss, match="there is no such partition any more"):
        read(FakeLeader(gone), 2, 10)
    assert read(FakeLeader(gone), 2, 10, LENIENT) == []
