"""What is built is read back; what is damaged is noticed or does no harm."""

from __future__ import annotations

import zlib
from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from pykafka_classic.common.crc32c import crc32c
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.records.compression import NONE, ZSTD, CompressionType, compress, decompress
from pykafka_classic.records.layout import ATTRIBUTES_POSITION, CRC_POSITION, MAGIC_POSITION, InvalidRecord
from pykafka_classic.records.message_set import build_message_set
from pykafka_classic.records.record import Header, Record, read_records
from pykafka_classic.records.record_batch import AnyBatch, build_batch, iterate_batches
from pykafka_classic.records.record_scan import scan_records

UNHURRIED = settings(deadline=None)  # a busy machine is no failure
CODECS = st.sampled_from(CompressionType)
TIMESTAMPS = st.integers(-(1 << 61), (1 << 61) - 1) | st.just(-1)
BYTES = st.none() | st.binary(max_size=150)
HEADERS = st.lists(st.builds(Header, st.text(st.characters(codec="utf-8"), max_size=10), BYTES), max_size=3).map(tuple)


@st.composite
def records(draw: st.DrawFn, *, old: bool = False, consecutive: bool = False) -> list[Record]:
    """Some records with rising offsets."""
    count = draw(st.integers(1, 12))
    steps = [1] * (count - 1) if consecutive else draw(st.lists(st.integers(1, 1 << 20), min_size=count - 1, max_size=count - 1))
    offsets = accumulate(steps, initial=0 if consecutive else draw(st.integers(0, 1 << 60)))
    headers = st.just(()) if old else HEADERS
    return [Record(offset, draw(TIMESTAMPS), draw(BYTES), draw(BYTES), draw(headers)) for offset in offsets]


def only(data: bytes) -> AnyBatch:
    [batch] = iterate_batches(data)
    return batch


@UNHURRIED
@given(records(), CODECS)
def test_a_batch_holds_the_records_it_was_built_of(some: list[Record], codec: CompressionType) -> None:
    batch = only(build_batch(some, codec=codec))
    assert batch.is_valid()
    assert batch.records() == some
    assert (batch.base_offset, batch.last_offset, batch.records_count, batch.codec) == (some[0].offset, some[-1].offset, len(some), codec)
    assert batch.max_timestamp == max(-1, *(record.timestamp for record in some))


@UNHURRIED
@given(records(old=True), st.sampled_from([0, 1]), CODECS.filter(lambda codec: codec != ZSTD))
def test_a_message_set_holds_the_records_it_was_built_of(some: list[Record], magic: int, codec: CompressionType) -> None:
    expected = some if magic else [record._replace(timestamp=-1) for record in some]
    data = build_message_set(magic, some, codec=codec)
    batches = list(iterate_batches(data))
    assert all(batch.is_valid() for batch in batches)
    assert len(batches) == (len(some) if codec == NONE else 1)
    assert [record for batch in batches for record in batch.records()] == expected


@UNHURRIED
@given(records(old=True), st.sampled_from([0, 1, 2]), CODECS.filter(lambda codec: codec != ZSTD), st.data())
def test_a_flipped_byte_is_noticed_or_lies_outside_the_checksum(some: list[Record], magic: int, codec: CompressionType, data: st.DataObject) -> None:
    good = build_batch(some, codec=codec) if magic == 2 else build_message_set(magic, some[:1], codec=codec)
    position = data.draw(st.integers(0, len(good) - 1))
    bad = bytearray(good)
    bad[position] ^= data.draw(st.integers(1, 255))
    outside = range(CRC_POSITION) if magic == 2 else range(12)
    try:
        batches = list(iterate_batches(bad))
    except KafkaError:
        return
    if position in outside and position != MAGIC_POSITION:
        return  # an offset, the leader epoch, or a length that cuts the batch: a log compares these with their neighbours
    assert not batches or not batches[0].is_valid()


@UNHURRIED
@given(records(), st.data())
def test_a_cut_set_ends_after_its_last_whole_batch(some: list[Record], data: st.DataObject) -> None:
    batch = build_batch(some)
    length = data.draw(st.integers(0, 3 * len(batch)))
    assert len(list(iterate_batches((batch * 3)[:length]))) == length // len(batch)


@UNHURRIED
@given(st.binary(max_size=200))
def test_any_bytes_are_batches_or_a_kafka_error(data: bytes) -> None:
    try:
        for batch in iterate_batches(data):
            batch.is_valid()
            batch.records()
    except KafkaError:
        return


@UNHURRIED
@given(st.binary(max_size=120), st.integers(0, 5), st.sampled_from([0, 8]))
def test_any_bytes_behind_a_right_checksum_are_records_or_a_kafka_error(payload: bytes, count: int, attributes: int) -> None:
    head = bytearray(build_batch([], base_offset=7))
    head[8:12] = (49 + len(payload)).to_bytes(4, "big")
    head[22] = attributes
    head[57:61] = count.to_bytes(4, "big")
    head[17:21] = crc32c(bytes(head[ATTRIBUTES_POSITION:]) + payload).to_bytes(4, "big")
    batch = only(bytes(head) + payload)
    assert batch.is_valid()
    try:
        assert len(batch.records()) == count
    except InvalidRecord:
        return


@UNHURRIED
@given(st.binary(max_size=120), st.sampled_from([0, 1]), st.integers(0, 4))
def test_any_bytes_in_a_message_are_records_or_a_kafka_error(body: bytes, magic: int, codec: int) -> None:
    covered = bytes((magic, codec)) + bytes(8 if magic else 0) + body
    data = bytes(8) + (4 + len(covered)).to_bytes(4, "big") + zlib.crc32(covered).to_bytes(4, "big") + covered
    try:
        for batch in iterate_batches(data):
            assert batch.is_valid()
            batch.records()
    except KafkaError:
        return


@UNHURRIED
@given(st.sampled_from([1, 2, 3, 4]), st.binary(max_size=300), st.integers(0, 2))
def test_any_bytes_are_unpacked_or_refused(codec: int, data: bytes, magic: int) -> None:
    try:
        decompress(codec, data, max_size=1 << 20, magic=magic)
    except KafkaError:
        return


@UNHURRIED
@given(st.sampled_from([1, 2, 3, 4]), st.binary(max_size=1000), st.integers(1, 200), st.integers(0, 2))
def test_what_is_compressed_is_unpacked_again(codec: int, unit: bytes, repeat: int, magic: int) -> None:
    assert decompress(codec, compress(codec, unit * repeat, magic=magic), magic=magic) == unit * repeat


@UNHURRIED
@given(records(consecutive=True))
def test_looking_sees_what_reading_sees(some: list[Record]) -> None:
    batch = only(build_batch(some))
    payload = bytes(batch.buffer[61:])
    deltas = [record.timestamp - some[0].timestamp for record in some]
    scan = scan_records(payload, len(some), first=len(some), complete=True)
    assert scan == (len(some), min(deltas), max(deltas), deltas.index(max(deltas)), sum(record.key is None for record in some))


@UNHURRIED
@given(records(consecutive=True), st.data())
def test_looking_refuses_what_reading_refuses(some: list[Record], data: st.DataObject) -> None:
    payload = bytearray(only(build_batch(some)).buffer[61:])
    for _ in range(data.draw(st.integers(1, 2))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = read_records(bytes(payload), len(some), 0, 0)
    except InvalidRecord:
        read = []
    try:
        scan = scan_records(bytes(payload), len(some), first=len(some), complete=True)
    except InvalidRecord:
        assert [record.offset for record in read] != list(range(len(some)))
        return
    assert [record.offset for record in read] == list(range(len(some)))
    timestamps = [record.timestamp for record in read]
    assert (scan.least_timestamp_delta, scan.largest_timestamp_delta) == (min(timestamps), max(timestamps))
    assert scan.null_keys == sum(record.key is None for record in read)
