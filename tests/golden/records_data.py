"""Reading tests/golden/data/records: what Kafka's own classes wrote and decided."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.layout import LOG_OVERHEAD
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, iterate_batches

DATA: Final = Path(__file__).parent / "data" / "records"
TIMESTAMP_TYPES: Final = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}

Line = dict[str, Any]


@cache
def lines(name: str) -> list[Line]:
    """All lines of a file, without its ending."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(text) for text in file]


def of_kind(kind: str) -> list[Line]:
    """The lines of batches.jsonl of one kind."""
    return [line for line in lines("batches") if line["kind"] == kind]


def numbered(some: list[Line]) -> list[str]:
    """Test ids: the name, and what tells lines of one name apart."""
    return ["-".join(str(line[key]) for key in ("name", "to_magic", "fetch_offset", "ibp", "timestamp_difference_max_ms") if key in line) for line in some]


def field(data: bytes | None, line: Line, name: str) -> None:
    """Compare a key or value with what the line says: whole, or by length and SHA-256."""
    if f"{name}Length" in line:
        assert data is not None
        assert (len(data), hashlib.sha256(data).hexdigest()) == (line[f"{name}Length"], line[f"{name}Sha256"])
    else:
        assert data == (None if line[name] is None else base64.b64decode(line[name]))


def check_record(record: Record, line: Line) -> None:
    """One record against its line."""
    assert (record.offset, record.timestamp) == (line["offset"], line["timestamp"])
    field(record.key, line, "key")
    field(record.value, line, "value")
    headers = [[header.key, None if header.value is None else base64.b64encode(header.value).decode()] for header in record.headers]
    assert headers == line.get("headers", [])


def check_batch(batch: AnyBatch, line: Line) -> None:
    """One batch against its line, all that does not depend on the compression library."""
    assert batch.is_valid()
    assert batch.magic == line["magic"]
    assert CompressionType(batch.codec).label == line["codec"]
    assert (batch.base_offset, batch.last_offset) == (line["baseOffset"], line["lastOffset"])
    assert (batch.max_timestamp, TIMESTAMP_TYPES[batch.timestamp_type]) == (line["maxTimestamp"], line["timestampType"])
    if batch.codec == CompressionType.NONE:
        assert (batch.crc, batch.size_in_bytes) == (line["crc"], line["size"])
    if isinstance(batch, RecordBatch):
        _check_header(batch, line)
    for record, expected in zip(batch.records(), line["records"], strict=True):
        check_record(record, expected)
    if "inner" in line:
        assert not isinstance(batch, RecordBatch)
        inner = [(m.offset, m.size - LOG_OVERHEAD, m.crc, m.magic, m.attributes, m.crc_is_valid) for m in batch.inner_messages()]
        assert inner == [(*(message[key] for key in ("offset", "size", "crc", "magic", "attributes")), True) for message in line["inner"]]


def _check_header(batch: RecordBatch, line: Line) -> None:
    assert batch.base_timestamp == line["baseTimestamp"]
    assert batch.partition_leader_epoch == line["partitionLeaderEpoch"]
    assert (batch.producer_id, batch.producer_epoch) == (line["producerId"], line["producerEpoch"])
    assert (batch.base_sequence, batch.last_sequence) == (line["baseSequence"], line["lastSequence"])
    assert (batch.is_transactional, batch.is_control, batch.records_count) == (line["transactional"], line["control"], line["count"])


def check_batches(data: bytes, expected: list[Line]) -> None:
    """A buffer against the batches of a line."""
    for batch, line in zip(iterate_batches(data), expected, strict=True):
        check_batch(batch, line)
