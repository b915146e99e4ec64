"""Down-conversion, where Kafka's recorded cases do not reach."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.records.compression import GZIP, ZSTD
from pykafka_classic.records.conversion import READ_SIZE_MAX, DownConversion, down_convert_for_fetch, magic_for_fetch, overflow_message
from pykafka_classic.records.record_batch import EndTransactionMarker, Record, build_batch, build_end_transaction_marker, iterate_batches


def batch(first: int, count: int = 3, *, codec: int = 0, size: int = 10) -> bytes:
    return build_batch([Record(offset, 1000, b"k", b"v" * size) for offset in range(first, first + count)], codec=codec)


def offsets(data: bytes) -> list[int]:
    return [record.offset for entry in iterate_batches(data) for record in entry.records()]


def test_fetch_versions_know_formats() -> None:
    assert [magic_for_fetch(version) for version in range(6)] == [0, 0, 1, 1, 2, 2]


def test_a_batch_behind_a_marker_is_sent_once() -> None:
    marker = build_end_transaction_marker(EndTransactionMarker(True, 0), timestamp=1, producer_id=1, producer_epoch=0, offset=4)
    assert offsets(down_convert_for_fetch(marker + batch(5) + batch(8), to_magic=1, fetch_offset=0)) == list(range(5, 11))


def test_zstd_at_the_front_is_refused() -> None:
    with pytest.raises(KafkaError) as refused:
        DownConversion(batch(0, codec=ZSTD) + batch(3), 1, 0)
    assert refused.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_zstd_further_on_ends_the_answer() -> None:
    stored = batch(0) + batch(3, codec=GZIP) + batch(6, codec=ZSTD) + batch(9)
    data = down_convert_for_fetch(stored, to_magic=1, fetch_offset=0)
    assert offsets(data) == list(range(6))
    assert len(data) == len(stored)


def test_what_grows_beyond_the_announced_size_is_cut() -> None:
    stored = batch(0, 100, size=0) + batch(100, 100, size=0)
    conversion = DownConversion(stored, 1, 0)
    data = conversion.read()
    assert len(data) == len(conversion) < 200 * 35
    assert offsets(data) == list(range(len(offsets(data))))


def test_large_answers_come_in_chunks_of_bounded_size() -> None:
    stored = b"".join(batch(first, 4, size=20_000) for first in range(0, 80, 4))
    chunks = list(DownConversion(stored, 1, 0).chunks())
    assert len(chunks) > 10
    assert max(map(len, chunks)) <= READ_SIZE_MAX + 1000
    assert offsets(b"".join(chunks)) == list(range(79))  # messages are a few bytes larger than records: the last is cut


def test_an_overflow_message_is_longer_than_what_is_left() -> None:
    assert overflow_message(4) == b"\xff" * 4
    assert overflow_message(12).hex() == "ffffffffffffffff0000003d"
    assert overflow_message(100).hex() == "ffffffffffffffff00000065" + "00" * 88
