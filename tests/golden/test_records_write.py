"""Writing as Kafka writes: batches, message sets, and the framing of the codecs."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any

import pytest

from pykafka_classic.records import compression
from pykafka_classic.records.batch_builder import BatchBuilder, BatchFields
from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.layout import ATTRIBUTES_POSITION, RECORDS_POSITION, TimestampType
from pykafka_classic.records.message_set import LegacyBatch, build_message_set
from pykafka_classic.records.record import Header, Record, read_records
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, iterate_batches
from tests.golden.records_data import Line, numbered, of_kind

NOT_BUILT = {"compacted_to_nothing"}  # by compaction alone
WRITTEN = [line for line in of_kind("batch") if "error" not in line and line["name"] not in NOT_BUILT]
# Builders of the old formats have no argument for a producer id or a transaction: those refusals of Kafka's cannot be asked for.
REFUSED = [line for line in of_kind("batch") if "error" in line and not line["name"].startswith(("idempotent", "transactional"))]
FRAMINGS = of_kind("framing")


def rebuild(batch: AnyBatch) -> bytes:
    """Write again, from its records, what one batch of a line says."""
    append_time = batch.max_timestamp if batch.timestamp_type == TimestampType.LOG_APPEND_TIME else None
    if isinstance(batch, LegacyBatch):
        first = batch.inner_messages()[0].offset
        base = batch.records()[0].offset - first if batch.magic == 1 and batch.codec else None
        return build_message_set(batch.magic, batch.records(), codec=batch.codec, log_append_time=append_time, base_offset=base)
    fields = BatchFields(
        base_offset=batch.base_offset,
        codec=batch.codec,
        log_append_time=append_time,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
        partition_leader_epoch=batch.partition_leader_epoch,
    )
    builder = BatchBuilder(fields)
    for record in read_records(batch.payload(), batch.records_count, batch.base_offset, batch.base_timestamp):
        builder.append(record)
    assert builder.uncompressed_size == RECORDS_POSITION + len(batch.payload())
    return builder.build()


def without_compression(batch: AnyBatch) -> Any:
    """All that a compression library does not decide, for comparing."""
    if isinstance(batch, RecordBatch):
        return batch.buffer[12:17].tobytes(), batch.buffer[ATTRIBUTES_POSITION:RECORDS_POSITION].tobytes(), batch.base_offset, batch.payload()
    inner = [(m.offset, m.size, m.crc, m.attributes) for m in batch.inner_messages()]
    return batch.last_offset, batch.attributes, batch.max_timestamp, batch.message.key, inner


@pytest.mark.parametrize("line", WRITTEN, ids=numbered(WRITTEN))
def test_a_batch_built_from_the_same_records_has_the_same_bytes(line: Line) -> None:
    for batch in iterate_batches(bytes.fromhex(line["hex"])):
        [again] = iterate_batches(rebuild(batch))
        assert again.is_valid()
        if batch.codec == compression.NONE:
            assert again.buffer.hex() == batch.buffer.hex()
        else:
            assert without_compression(again) == without_compression(batch)


@pytest.mark.parametrize("line", REFUSED, ids=numbered(REFUSED))
def test_what_an_old_format_cannot_hold_is_refused(line: Line) -> None:
    headers = (Header("h", b"1"),) if line["name"].startswith("headers") else ()
    with pytest.raises(ValueError, match=line["error"].removeprefix("IllegalArgumentException: ")):
        build_message_set(line["magic"], [Record(0, 0, b"k", b"v", headers)], codec=CompressionType.of(line["codec"]))


def framed_input(line: Line) -> bytes:
    data = compression.decompress(CompressionType.of(line["codec"]), bytes.fromhex(line["hex"]), magic=line["magic"])
    if "input" in line:
        assert data == base64.b64decode(line["input"])
    else:
        assert (len(data), hashlib.sha256(data).hexdigest()) == (line["inputLength"], line["inputSha256"])
    return data


@pytest.mark.parametrize("line", FRAMINGS, ids=numbered(FRAMINGS))
def test_a_codec_frames_as_kafka_does(line: Line) -> None:
    codec = CompressionType.of(line["codec"])
    data = framed_input(line)
    ours = compression.compress(codec, data, magic=line["magic"])
    assert compression.decompress(codec, ours, magic=line["magic"]) == data
    match line["codec"]:
        case "gzip":
            assert ours[:9].hex() == line["header"][:18]  # the tenth byte names an operating system
        case "snappy":
            assert ours[:16].hex() == line["header"]
            assert [size for _, size in snappy_blocks(ours)] == [block["input_size"] for block in line["blocks"]]
        case "lz4":
            assert ours[:7].hex() == line["header"]
            assert lz4_blocks(ours) == lz4_blocks(bytes.fromhex(line["hex"]))
        case "zstd":
            assert ours[:4].hex() == line["header"][:8]


def snappy_blocks(stream: bytes) -> list[tuple[int, int]]:
    """(bytes, bytes unpacked) of each block; the first bytes of a block are a varint with its unpacked length."""
    position, blocks = 16, []
    while position < len(stream):
        (size,) = struct.unpack_from(">i", stream, position)
        unpacked, shift = 0, 0
        for byte in stream[position + 4 : position + 9]:
            unpacked |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        blocks.append((size, unpacked))
        position += 4 + size
    return blocks


def lz4_blocks(frame: bytes) -> list[bool]:
    """For each block, the end mark too: was it stored as it is?"""
    position, stored = 7, []
    while position < len(frame):
        (word,) = struct.unpack_from("<I", frame, position)
        stored.append(word >> 31 == 1)
        position += 4 + (word & 0x7FFFFFFF)
    return stored
