"""The bytes of one record, valid and not."""

from __future__ import annotations

import pytest

from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.record import Header, Record, encode_record, iterate_records, read_records, record_size
from pykafka_classic.records.record_scan import RecordScan, scan_records

PLAIN = Record(0, 0, b"k", b"value")


def encoded(*records: Record) -> bytes:
    return b"".join(b"".join(encode_record(record.offset, record.timestamp, record)) for record in records)


def test_the_size_is_known_without_the_bytes() -> None:
    for record in (PLAIN, Record(300, -1 << 40, None, b"v" * 9000, (Header("ž", None), Header("", b"x" * 70)))):
        assert record_size(record.offset, record.timestamp, record) == len(encoded(record))


def test_lengths_at_the_borders_of_varints_are_read_back() -> None:
    sizes = [0, 1, 54, 55, 56, 57, 63, 64, 65, 8180, 8181, 8182, 8183, 8184, 8191, 8192, 8193, 1 << 20]
    records = [Record(index, index, b"k" * (size % 130), b"v" * size) for index, size in enumerate(sizes)]
    data = encoded(*records)
    assert read_records(data, len(records), 0, 0) == records
    assert scan_records(data, len(records), first=len(records), complete=True) == RecordScan(len(records), 0, len(records) - 1, len(records) - 1, 0)


def test_offsets_at_the_borders_of_varints_are_looked_over() -> None:
    records = [Record(index, 0, None, b"") for index in range(8300)]
    data = encoded(*records)
    assert scan_records(data, 8300, first=8300, complete=True) == RecordScan(8300, 0, 0, 0, 8300)
    assert read_records(data, 8300, 0, 0) == records


@pytest.mark.parametrize("wrong", [0, 1, 62, 63, 64, 65, 8191, 8192, 8199])
def test_an_offset_out_of_line_is_found(wrong: int) -> None:
    records = [Record(index + (index == wrong), 0, None, b"") for index in range(8200)]
    with pytest.raises(InvalidRecord, match=f"record {wrong} has offset delta {wrong + 1}"):
        scan_records(encoded(*records), 8200, first=8200, complete=True)


BAD = {
    "nothing": b"",
    "negative length": bytes.fromhex("01"),
    "length beyond the end": bytes.fromhex("10000000010100"),
    "length too long by one": bytes.fromhex("0e00000001010000"),
    "length too short by one": bytes.fromhex("0a000000010100"),
    "key beyond the record": bytes.fromhex("0c000000020100"),
    "value beyond the record": bytes.fromhex("0c000000010200"),
    "negative number of headers": bytes.fromhex("0c000000010101"),
    "header without bytes": bytes.fromhex("0c000000010102"),
    "negative header key": bytes.fromhex("0e00000001010201"),
    "number without end": b"\xff" * 20,
    "bytes behind": bytes.fromhex("0c00000001010000"),
}


@pytest.mark.parametrize("name", BAD)
def test_broken_structure_is_found_by_reading_and_by_looking(name: str) -> None:
    with pytest.raises(InvalidRecord):
        read_records(BAD[name], 1, 0, 0)
    with pytest.raises(InvalidRecord):
        scan_records(BAD[name], 1, first=1, complete=True)


def test_any_negative_length_is_null() -> None:
    assert read_records(bytes.fromhex("0c000000030500"), 1, 0, 0) == [Record(0, 0, None, None)]


def test_only_the_first_records_are_looked_at_when_asked() -> None:
    data = encoded(PLAIN, Record(1, 7, None, b""), Record(99, 0, None, None))
    assert scan_records(data, 3, first=2, complete=True) == RecordScan(2, 0, 7, 1, 1)


def test_the_start_of_the_records_may_end_anywhere() -> None:
    data = encoded(PLAIN, Record(1, 7, None, b"x" * 100), Record(2, 0, None, b"y" * 100))
    for length in range(len(data)):
        assert scan_records(data[:length], 3, first=3, complete=False).looked_at == (length >= 13) + (length >= 13 + 109)


def test_append_time_replaces_every_timestamp() -> None:
    assert [record.timestamp for record in read_records(encoded(PLAIN, Record(1, 7, None, b"")), 2, 0, 5, append_time=99)] == [99, 99]


def test_records_before_the_damage_are_seen_one_by_one() -> None:
    data = encoded(PLAIN, Record(1, 1, None, b"x"), PLAIN)[:-3]
    records = iterate_records(data, 3, 100, 1000)
    assert [next(records), next(records)] == [Record(100, 1000, b"k", b"value"), Record(101, 1001, None, b"x")]
    with pytest.raises(InvalidRecord, match="a record of"):
        next(records)


@pytest.mark.parametrize("name", BAD)
def test_broken_structure_is_found_one_by_one_too(name: str) -> None:
    with pytest.raises(InvalidRecord):
        list(iterate_records(BAD[name], 1, 0, 0))
