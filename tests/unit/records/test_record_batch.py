"""Magic 2 batches: views, building, stamping."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.records.layout import add_to_sequence
from pykafka_classic.records.record_batch import (
    BatchBuilder,
    BatchFields,
    CorruptRecord,
    Header,
    InvalidRecord,
    Record,
    RecordBatch,
    TimestampType,
    build_batch,
    iterate_batches,
    stamp_base_offset,
    stamp_partition_leader_epoch,
)
from tests.unit.records.vectors import MAGIC_0, MAGIC_1, MAGIC_2

RECORDS = [Record(0, 1000, b"k", b"hello"), Record(1, 1005, None, b"", (Header("h", b"x"),))]


def only(data: bytes) -> RecordBatch:
    [batch] = iterate_batches(data)
    assert isinstance(batch, RecordBatch)
    return batch


def test_the_worked_example_is_read() -> None:
    batch = only(MAGIC_2)
    batch.ensure_valid()
    assert batch.records() == RECORDS
    assert (batch.base_offset, batch.last_offset, batch.next_offset, batch.records_count) == (0, 1, 2, 2)
    assert (batch.base_timestamp, batch.max_timestamp, batch.timestamp_type) == (1000, 1005, TimestampType.CREATE_TIME)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (-1, -1, -1, -1)
    assert not batch.has_producer_id
    assert not batch.is_transactional
    assert not batch.is_control


def test_the_worked_example_is_written() -> None:
    assert build_batch(RECORDS, partition_leader_epoch=0) == MAGIC_2


def test_stamping_offset_and_epoch_leaves_the_checksum_right() -> None:
    data = bytearray(MAGIC_2)
    stamp_base_offset(data, 1 << 40)
    stamp_partition_leader_epoch(data, 12)
    batch = only(bytes(data))
    batch.ensure_valid()
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (1 << 40, (1 << 40) + 1, 12)
    assert [record.offset for record in batch.records()] == [1 << 40, (1 << 40) + 1]


def test_a_stamped_header_stands_before_the_records_as_they_were() -> None:
    batch = only(MAGIC_2)
    header = batch.stamped_header(500, 3, TimestampType.LOG_APPEND_TIME, 99_000)
    stamped = only(header + MAGIC_2[61:])
    stamped.ensure_valid()
    assert (stamped.base_offset, stamped.partition_leader_epoch, stamped.timestamp_type) == (500, 3, TimestampType.LOG_APPEND_TIME)
    assert [record.timestamp for record in stamped.records()] == [99_000, 99_000]


def test_batches_of_all_formats_follow_each_other() -> None:
    assert [batch.magic for batch in iterate_batches(MAGIC_0 + MAGIC_2 + MAGIC_1)] == [0, 2, 1]


def test_a_cut_last_batch_ends_the_iteration() -> None:
    for length in range(len(MAGIC_2)):
        assert [batch.magic for batch in iterate_batches(MAGIC_1 + MAGIC_2[:length])] == [1]


def test_an_unknown_magic_is_corruption() -> None:
    data = bytearray(MAGIC_2)
    data[16] = 3
    with pytest.raises(CorruptRecord, match="magic") as refused:
        list(iterate_batches(data))
    assert refused.value.code == ErrorCode.CORRUPT_MESSAGE


def test_a_length_below_the_header_is_corruption() -> None:
    data = bytearray(MAGIC_2)
    data[8:12] = (48).to_bytes(4, "big")
    with pytest.raises(CorruptRecord, match="Record size 48"):
        list(iterate_batches(data))


def test_a_wrong_checksum_is_told_with_both_values() -> None:
    data = bytearray(MAGIC_2)
    data[-1] ^= 1
    with pytest.raises(CorruptRecord, match=f"stored crc = {0xE5B77887}"):
        only(bytes(data)).ensure_valid()


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 1 << 30])
def test_a_count_other_than_that_of_the_records_is_invalid(count: int) -> None:
    data = bytearray(MAGIC_2)
    data[57:61] = count.to_bytes(4, "big", signed=True)
    with pytest.raises(InvalidRecord) as refused:
        only(bytes(data)).records()
    assert refused.value.code == ErrorCode.INVALID_RECORD


def test_sequences_go_on_at_zero_after_the_largest() -> None:
    batch = only(build_batch(RECORDS, producer_id=1, producer_epoch=0, base_sequence=0x7FFFFFFF))
    assert batch.last_sequence == 0
    assert add_to_sequence(0x7FFFFFFE, 3) == 1


def test_a_builder_knows_its_size_before_and_after() -> None:
    builder = BatchBuilder(BatchFields(base_offset=10))
    for record in (Record(12, 5, b"k" * 100, None), Record(20, -5, None, b"v" * 10_000, (Header("ž", None),))):
        expected = builder.size_with(record)
        builder.append(record)
        assert builder.uncompressed_size == expected
    assert builder.uncompressed_size == len(builder.build())
    assert builder.records_count == 2


def test_a_builder_refuses_offsets_that_do_not_rise() -> None:
    builder = BatchBuilder(BatchFields(base_offset=10))
    with pytest.raises(ValueError, match="offset 9"):
        builder.append(Record(9, 0, None, None))
    builder.append(Record(10, 0, None, None))
    with pytest.raises(ValueError, match="offset 10 after 10"):
        builder.append(Record(10, 0, None, None))


def test_a_sequence_may_be_given_when_the_batch_is_sent() -> None:
    builder = BatchBuilder()
    builder.append(Record(0, 0, None, b"v"))
    batch = only(builder.build(producer_id=7, producer_epoch=1, base_sequence=42))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 1, 42)


def test_a_batch_without_records_keeps_its_offset() -> None:
    batch = only(build_batch([], base_offset=33))
    assert (batch.size_in_bytes, batch.base_offset, batch.records()) == (61, 33, [])
