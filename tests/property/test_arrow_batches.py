"""The executor's array parser against the record parser: the same records, and the same refusals."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pykafka_classic.common.varint import VarintError, decode_varint, decode_varlong, encode_varint, encode_varlong
from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.record import Header, Record, encode_record, read_records
from pykafka_classic.records.record_batch import build_batch
from spark_integration.executor.record_fields import read_fields, record_starts
from spark_integration.executor.varints import read_varints, read_varlongs
from tests.golden.arrow_rows import records_in, stretch_of, tables
from tests.property.test_records_roundtrip import BYTES, CODECS, HEADERS

# What Spark's timestamps can hold.
TIMES = st.integers(-(2**53), 2**53)
SIZES = st.integers(0, 20_000)


@st.composite
def batches(draw: st.DrawFn) -> list[list[Record]]:
    """Records of several batches: short and long ones, runs of one size, gaps between offsets."""
    offset, found = draw(st.integers(0, 2**40)), []
    for _ in range(draw(st.integers(1, 4))):
        some = []
        repeated = st.just(draw(st.binary(max_size=80)))
        values = draw(st.sampled_from([BYTES, repeated, SIZES.map(bytes)]))
        headers = draw(st.sampled_from([HEADERS, st.just(())]))
        for _ in range(draw(st.integers(1, 90))):
            some.append(Record(offset, draw(TIMES), draw(st.none() | repeated), draw(values), draw(headers)))
            offset += draw(st.sampled_from([1, 1, 1, 100]))
        found.append(some)
    return found


@settings(max_examples=30)
@given(batches(), CODECS)
def test_rows_are_the_records_that_the_batches_were_built_of(some: list[list[Record]], codec: int) -> None:
    data = b"".join(build_batch(records, codec=codec) for records in some)
    assert records_in(tables(stretch_of(data))) == [record for records in some for record in records]


PAYLOAD = b"".join(
    b"".join(encode_record(number, number * 7, Record(number, 0, key, value, headers)))
    for number, (key, value, headers) in enumerate(
        [
            (None, b"", ()),
            (b"k", None, (Header("h", b"v"), Header("", None))),
            (b"key", b"v" * 200, ()),
            *[(b"same", b"size", ())] * 20,
            (b"x" * 9000, b"y", (Header("h", b"v" * 70),)),
        ]
    )
)
COUNT = 24


def by_arrays(data: bytes) -> list[Record] | None:
    """None where they are refused."""
    array = np.frombuffer(data, np.uint8)
    try:
        starts = record_starts(data, array, 0, len(data), COUNT)
        fields = read_fields(array, starts, np.append(starts[1:], len(data)))
    except InvalidRecord:
        return None
    records = []
    for number in range(COUNT):
        key, value = [None if span.is_null[number] else data[span.start[number] : span.end[number]] for span in (fields.key, fields.value)]
        headers = []
        if fields.headers is not None:
            for at in range(fields.headers.first[number], fields.headers.first[number + 1]):
                name = data[fields.headers.keys.start[at] : fields.headers.keys.end[at]].decode("utf-8", "replace")
                content = fields.headers.values
                headers.append(Header(name, None if content.is_null[at] else data[content.start[at] : content.end[at]]))
        records.append(Record(int(fields.offset_delta[number]), int(fields.timestamp_delta[number]), key, value, tuple(headers)))
    return records


def by_records(data: bytes) -> list[Record] | None:
    """None where they are refused."""
    try:
        return read_records(data, COUNT, 0, 0)
    except InvalidRecord:
        return None


def test_the_undamaged_payload_is_read() -> None:
    assert by_arrays(PAYLOAD) == by_records(PAYLOAD) is not None


@given(st.lists(st.tuples(st.integers(0, len(PAYLOAD) - 1) | st.integers(0, 700), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_records_are_refused_or_read_as_the_record_parser_does(damage: list[tuple[int, int]]) -> None:
    data = bytearray(PAYLOAD)
    for position, byte in damage:
        data[position] = byte
    assert by_arrays(bytes(data)) == by_records(bytes(data))


@given(st.integers(0, len(PAYLOAD)))
def test_a_payload_that_is_cut_is_refused(size: int) -> None:
    assert (by_arrays(PAYLOAD[:size]) is None) == (size < len(PAYLOAD))


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_varints_are_read_where_they_stand(numbers: list[int]) -> None:
    encoded = [encode_varint(number) for number in numbers]
    ends = np.cumsum([len(each) for each in encoded])
    read, behind = read_varints(np.frombuffer(b"".join(encoded), np.uint8), np.append(0, ends[:-1]))
    assert (read.tolist(), behind.tolist()) == (numbers, ends.tolist())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_varlongs_are_read_where_they_stand(numbers: list[int]) -> None:
    encoded = [encode_varlong(number) for number in numbers]
    ends = np.cumsum([len(each) for each in encoded])
    read, behind = read_varlongs(np.frombuffer(b"".join(encoded), np.uint8), np.append(0, ends[:-1]))
    assert (read.tolist(), behind.tolist()) == (numbers, ends.tolist())


@given(st.binary(min_size=11, max_size=11))
def test_any_bytes_are_the_number_that_the_decoder_of_one_reads(data: bytes) -> None:
    at = np.zeros(1, np.int64)
    for read_many, read_one in ((read_varints, decode_varint), (read_varlongs, decode_varlong)):
        try:
            expected = read_one(data, 0)
        except VarintError:
            expected = None
        try:
            [number], [behind] = read_many(np.frombuffer(data, np.uint8), at)
        except VarintError:
            assert expected is None
        else:
            assert (number, behind) == expected
