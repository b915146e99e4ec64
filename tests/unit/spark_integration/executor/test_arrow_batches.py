"""Which records of an answer become rows, and what the rows hold where records are unusual."""

from __future__ import annotations

import pytest

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.protocol.messages.fetch import AbortedTransaction
from pykafka_classic.records.batch_builder import BatchFields
from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.control import EndTransactionMarker, build_end_transaction_marker
from pykafka_classic.records.layout import ATTRIBUTES_POSITION, CRC, CRC_POSITION
from pykafka_classic.records.message_set import build_message_set
from pykafka_classic.records.record import Header, Record
from pykafka_classic.records.record_batch import build_batch
from spark_integration.executor import arrow_batches as module
from spark_integration.executor.arrow_batches import arrow_batches
from spark_integration.ranges import OffsetRange
from tests.golden.arrow_rows import records_in, stretch_of, tables


def some(first: int, count: int) -> list[Record]:
    return [Record(offset, 1000 + offset, b"k%d" % offset, b"v") for offset in range(first, first + count)]


def transactional(first: int, count: int, *, producer: int) -> bytes:
    return build_batch(some(first, count), BatchFields(producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True))


def marker(offset: int, *, producer: int, commit: bool) -> bytes:
    return build_end_transaction_marker(EndTransactionMarker(commit, 0), timestamp=0, producer_id=producer, producer_epoch=0, offset=offset)


def checked(batch: bytes | bytearray) -> bytes:
    """With the checksum that it should have."""
    return bytes(batch[:CRC_POSITION]) + CRC.pack(crc32c(bytes(batch[ATTRIBUTES_POSITION:]))) + bytes(batch[ATTRIBUTES_POSITION:])


def offsets(data: bytes, *, first: int = 0, end: int = 1000, aborted: list[AbortedTransaction] | None = None) -> list[int]:
    return [record.offset for record in records_in(tables(stretch_of(data, first=first, aborted=aborted or ()), end=end))]


def test_records_outside_the_range_are_no_rows() -> None:
    data = build_batch(some(0, 5)) + build_batch(some(5, 5)) + build_batch(some(10, 5))
    assert offsets(data, first=3, end=7) == [3, 4, 5, 6]
    assert offsets(data, first=5, end=10) == [5, 6, 7, 8, 9]
    assert offsets(data, first=14, end=15) == [14]


def test_batches_outside_the_range_are_not_decompressed() -> None:
    damaged = bytearray(build_batch(some(0, 5), codec=CompressionType.GZIP))
    damaged[61:] = bytes(len(damaged) - 61)
    assert offsets(checked(damaged) + build_batch(some(5, 5)), first=5) == [5, 6, 7, 8, 9]
    with pytest.raises(KafkaError):
        offsets(checked(damaged), first=4)


def test_holes_are_passed_over() -> None:
    data = build_batch([some(2, 1)[0], some(7, 1)[0]]) + build_batch(some(20, 1))
    assert offsets(data, first=0, end=20) == [2, 7]


def test_control_batches_are_no_rows() -> None:
    data = transactional(0, 2, producer=1) + marker(2, producer=1, commit=True) + build_batch(some(3, 1))
    assert offsets(data) == [0, 1, 3]


def test_records_of_aborted_transactions_are_no_rows_up_to_the_marker() -> None:
    data = b"".join(
        [
            transactional(0, 2, producer=1),
            transactional(2, 2, producer=2),
            build_batch(some(4, 1)),
            marker(5, producer=1, commit=False),
            transactional(6, 2, producer=1),
            marker(8, producer=2, commit=True),
            marker(9, producer=1, commit=True),
        ]
    )
    assert offsets(data, aborted=[AbortedTransaction(producer_id=1, first_offset=0)]) == [2, 3, 4, 6, 7]


def test_an_aborted_transaction_that_ends_before_the_range_does_not_hide_the_next_one() -> None:
    data = transactional(0, 2, producer=1) + marker(2, producer=1, commit=False) + transactional(3, 1, producer=1) + marker(4, producer=1, commit=True)
    assert offsets(data, first=3, aborted=[AbortedTransaction(producer_id=1, first_offset=0)]) == [3]


def test_a_wrong_checksum_is_told() -> None:
    data = bytearray(build_batch(some(0, 5)))
    data[-1] ^= 1
    with pytest.raises(KafkaError, match="Record is corrupt"):
        offsets(bytes(data))


def test_old_and_new_formats_may_follow_each_other() -> None:
    data = build_message_set(1, some(0, 3)) + build_batch(some(3, 3)) + build_message_set(0, some(6, 2), codec=CompressionType.GZIP)
    made = tables(stretch_of(data))
    assert [batch.column("timestampType").to_pylist() for batch in made] == [[0, 0, 0], [0, 0, 0], [-1, -1]]
    assert [record.timestamp for record in records_in(made)] == [1000, 1001, 1002, 1003, 1004, 1005, -1, -1]


def test_the_leaders_time_is_every_records_time() -> None:
    [made] = tables(stretch_of(build_batch(some(0, 2), log_append_time=77) + build_batch(some(2, 2))))
    assert made.column("timestampType").to_pylist() == [1, 1, 0, 0]
    assert [record.timestamp for record in records_in([made])] == [77, 77, 1002, 1003]


def test_a_time_that_spark_cannot_hold_becomes_the_last_one_that_it_can() -> None:
    times = [2**62, -(2**62), 5]
    data = build_batch([Record(offset, time, None, b"") for offset, time in enumerate(times)])
    assert [record.timestamp for record in records_in(tables(stretch_of(data)))] == [(2**63 - 1) // 1000, -((2**63 - 1) // 1000), 5]


def test_records_without_headers_have_null_headers() -> None:
    records = [Record(0, 0, None, None), Record(1, 0, b"", b"", (Header("a", b"1"), Header("a", None))), Record(2, 0, None, b"")]
    [made] = tables(stretch_of(build_batch(records)))
    assert made.column("headers").to_pylist() == [None, [{"key": "a", "value": b"1"}, {"key": "a", "value": None}], None]
    [bare] = tables(stretch_of(build_batch(some(0, 2))))
    assert bare.column("headers").to_pylist() == [None, None]


def test_header_names_that_are_no_utf_8_read_as_in_java() -> None:
    good = build_batch([Record(0, 0, None, None, (Header("ab", b"x"), Header("ok", b"y")))])
    broken = checked(good.replace(b"ab", b"a\xff"))
    [made] = tables(stretch_of(broken))
    assert made.column("headers").to_pylist() == [[{"key": "a\ufffd", "value": b"x"}, {"key": "ok", "value": b"y"}]]


def test_only_the_columns_asked_for_are_made() -> None:
    [made] = arrow_batches(stretch_of(build_batch(some(0, 3))), OffsetRange("t", 0, 0, 9), ("offset", "key"))
    assert made.to_pydict() == {"offset": [0, 1, 2], "key": [b"k0", b"k1", b"k2"]}


def test_much_data_comes_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    data = b"".join(build_batch(some(first, 5)) for first in range(0, 50, 5))
    made = tables(stretch_of(data))
    assert len(made) > 3
    assert [record.offset for record in records_in(made)] == list(range(50))


def test_a_batch_that_compaction_emptied_is_no_rows() -> None:
    emptied = bytearray(build_batch(some(0, 1)))[:61]
    emptied[8:12] = (61 - 12).to_bytes(4, "big")
    emptied[57:61] = bytes(4)
    assert offsets(checked(emptied) + build_batch(some(1, 1))) == [1]
    assert offsets(checked(emptied)) == []
