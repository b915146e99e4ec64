"""Magic 0 and 1: messages and wrappers."""

from __future__ import annotations

import pytest

from pykafka_classic.records.compression import GZIP, NONE, SNAPPY, compress
from pykafka_classic.records.layout import CorruptRecord, InvalidRecord, TimestampType
from pykafka_classic.records.message_set import LegacyBatch, build_message, build_message_set
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from tests.unit.records.vectors import MAGIC_0, MAGIC_1

RECORDS = [Record(100 + index, 1000 + index, b"key", b"value %d" % index) for index in range(3)]


def only(data: bytes) -> LegacyBatch:
    [batch] = iterate_batches(data)
    assert isinstance(batch, LegacyBatch)
    batch.ensure_valid()
    return batch


def test_the_worked_example_of_magic_0_is_read_and_written() -> None:
    record = Record(0, -1, None, b"hello")
    assert only(MAGIC_0).records() == [record]
    assert only(MAGIC_0).timestamp_type == TimestampType.NO_TIMESTAMP_TYPE
    assert build_message(0, record) == MAGIC_0


def test_the_worked_example_of_magic_1_is_read_and_written() -> None:
    record = Record(3, 1000, b"k", b"hello")
    assert only(MAGIC_1).records() == [record]
    assert only(MAGIC_1).timestamp_type == TimestampType.CREATE_TIME
    assert build_message(1, record) == MAGIC_1


def test_a_wrapper_of_magic_1_counts_its_messages_from_0() -> None:
    wrapper = only(build_message_set(1, RECORDS, codec=GZIP))
    assert [message.offset for message in wrapper.inner_messages()] == [0, 1, 2]
    assert (wrapper.base_offset, wrapper.last_offset, wrapper.max_timestamp) == (100, 102, 1002)
    assert wrapper.records() == RECORDS


def test_a_wrapper_of_magic_0_holds_absolute_offsets() -> None:
    wrapper = only(build_message_set(0, RECORDS, codec=GZIP))
    assert [message.offset for message in wrapper.inner_messages()] == [100, 101, 102]
    assert (wrapper.base_offset, wrapper.last_offset, wrapper.max_timestamp) == (100, 102, -1)


def test_gaps_in_a_wrapper_count_back_from_its_last_message() -> None:
    left = [RECORDS[0], Record(107, 1007, b"key", b"kept")]
    wrapper = only(build_message_set(1, left, codec=SNAPPY))
    assert [message.offset for message in wrapper.inner_messages()] == [0, 7]
    assert wrapper.records() == left


def test_a_wrapper_with_offset_0_takes_the_inner_offsets_as_they_are() -> None:
    wrapper = only(build_message_set(1, RECORDS, codec=GZIP))
    assert [record.offset for record in only(wrapper.stamped(0, TimestampType.CREATE_TIME, wrapper.max_timestamp)).records()] == [0, 1, 2]


def test_a_wrapper_offset_below_its_last_inner_one_is_invalid() -> None:
    wrapper = only(build_message_set(1, RECORDS, codec=GZIP))
    with pytest.raises(InvalidRecord, match="wrapper offset '1' is less"):
        only(wrapper.stamped(1, TimestampType.CREATE_TIME, wrapper.max_timestamp)).records()


def test_append_time_of_a_wrapper_is_that_of_all_its_messages() -> None:
    stamped = only(only(build_message_set(1, RECORDS, codec=GZIP)).stamped(7, TimestampType.LOG_APPEND_TIME, 5555))
    assert [record.timestamp for record in stamped.records()] == [5555] * 3
    assert [message.timestamp for message in stamped.inner_messages()] == [1000, 1001, 1002]


def test_stamping_only_an_offset_keeps_the_checksum() -> None:
    assert only(MAGIC_1).stamped(9, TimestampType.CREATE_TIME, 1000)[12:] == MAGIC_1[12:]


def test_magic_0_has_no_timestamp_to_stamp() -> None:
    assert only(MAGIC_0).stamped(9, TimestampType.LOG_APPEND_TIME, 1000)[8:] == MAGIC_0[8:]


def test_a_wrapper_within_a_wrapper_is_invalid() -> None:
    inner = build_message_set(1, RECORDS, codec=GZIP)
    outer = build_message(1, Record(102, 1002, None, _gzip(inner)), attributes=GZIP)
    with pytest.raises(InvalidRecord, match="must not be compressed"):
        only(outer).records()


def test_a_wrapper_around_nothing_is_invalid() -> None:
    with pytest.raises(InvalidRecord, match="null value"):
        only(build_message(1, Record(0, 0, None, None), attributes=GZIP)).records()
    with pytest.raises(InvalidRecord, match="no inner records"):
        only(build_message(1, Record(0, 0, None, _gzip(b"")), attributes=GZIP)).records()


def test_a_wrapper_that_ends_within_a_message_is_invalid() -> None:
    inner = build_message_set(1, RECORDS)
    with pytest.raises(InvalidRecord, match="no whole message"):
        only(build_message(1, Record(2, 0, None, _gzip(inner[:-1])), attributes=GZIP)).records()


def test_a_wrong_checksum_is_told() -> None:
    data = bytearray(MAGIC_1)
    data[-1] ^= 1
    [batch] = iterate_batches(data)
    assert not batch.is_valid()
    with pytest.raises(CorruptRecord):
        batch.ensure_valid()


def test_no_records_make_no_messages() -> None:
    assert build_message_set(1, [], codec=GZIP) == build_message_set(1, [], codec=NONE) == b""


def _gzip(data: bytes) -> bytes:
    return compress(GZIP, data)
