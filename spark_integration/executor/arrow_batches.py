"""Arrow batches of the records of a stretch: those that a consumer would see, within the range.

Batches of magic 2 go the fast way (`record_fields.py`), many at once; messages of the old formats, which no broker writes unless it is told to, go record by
record.

Keys and values are copied once, by Arrow: the payloads are seen as an array of pieces, of which every other one is a key (or a value) and the rest what lies
between, and a filter takes the wanted ones.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/Fetcher.java (CompletedFetch); for the columns see `schema.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykafka_classic.client.fetched_records import HiddenBatches
from pykafka_classic.common.java import decode_utf8
from pykafka_classic.records.compression import NONE
from pykafka_classic.records.layout import RECORDS_POSITION
from pykafka_classic.records.message_set import LegacyBatch
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import AnyBatch, RecordBatch, TimestampType
from spark_integration.executor.fetching import Stretch
from spark_integration.executor.record_fields import RecordFields, Spans, read_fields, record_starts
from spark_integration.executor.schema import HEADER, HEADERS, TYPES, arrow_schema
from spark_integration.executor.varints import Ints
from spark_integration.ranges import OffsetRange

# How many bytes of decompressed records make one Arrow batch. Arrow's binary arrays hold up to 2 GiB.
CHUNK_BYTES: Final = 16 << 20
_CHUNK_BYTES_LIMIT: Final = 2**31 - 1

# Producers may write any number; this is as much as Spark's timestamps hold.
_TIMESTAMP_MS_MAX: Final = (2**63 - 1) // 1000
_EVERY_OTHER: Final = b"\x55"


def arrow_batches(stretch: Stretch, wanted: OffsetRange, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The records of a stretch from `stretch.first` up to `wanted.end`. Raises as the records package does for a batch that is damaged."""
    schema = arrow_schema(columns)
    for rows in _rows(stretch, wanted.end):
        made = pa.RecordBatch.from_arrays([_COLUMNS[name](rows, wanted) for name in columns], schema=schema)
        inside = (rows.offset >= stretch.first) & (rows.offset < wanted.end)
        if not inside.all():
            made = made.filter(pa.array(inside))
        if made.num_rows:
            yield made


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some records: where they stand, and how to get at their keys, values and headers."""

    offset: Ints
    timestamp_ms: Ints
    timestamp_type: npt.NDArray[np.int32]
    keys: Callable[[], pa.Array]
    values: Callable[[], pa.Array]
    headers: Callable[[], pa.Array]


def _rows(stretch: Stretch, end: int) -> Iterator[_Rows]:
    for is_new, batches in groupby(_visible(stretch, end), key=lambda batch: isinstance(batch, RecordBatch)):
        if is_new:
            for some, payloads in _chunks(batches):
                yield _rows_of_batches(some, payloads)
        else:
            yield _rows_of_messages(batches)


def _visible(stretch: Stretch, end: int) -> Iterator[AnyBatch]:
    hidden = HiddenBatches(stretch.aborted)
    for batch in stretch.batches:
        batch.ensure_valid()
        if not hidden.hides(batch) and batch.last_offset >= stretch.first and (isinstance(batch, LegacyBatch) or batch.base_offset < end):
            yield batch


# Batches of magic 2


def _chunks(batches: Iterable[AnyBatch]) -> Iterator[tuple[list[RecordBatch], list[bytes | memoryview]]]:
    """So many batches at a time, with their decompressed payloads, as make a chunk. Empty batches, which compaction leaves, are none."""
    some: list[RecordBatch] = []
    payloads: list[bytes | memoryview] = []
    size = 0
    for batch in batches:
        assert isinstance(batch, RecordBatch)
        if not batch.records_count:
            continue
        payload = batch.buffer[RECORDS_POSITION:] if batch.codec == NONE else batch.payload(_CHUNK_BYTES_LIMIT)
        if some and size + len(payload) > CHUNK_BYTES:
            yield some, payloads
            some, payloads, size = [], [], 0
        some.append(batch)
        payloads.append(payload)
        size += len(payload)
    if some:
        yield some, payloads


def _rows_of_batches(batches: Sequence[RecordBatch], payloads: Sequence[bytes | memoryview]) -> _Rows:
    data = b"".join(payloads)
    array = np.frombuffer(data, np.uint8)
    counts = np.array([batch.records_count for batch in batches])
    bounds = [0, *np.cumsum([len(payload) for payload in payloads]).tolist()]
    parts = [record_starts(data, array, *bound, batch.records_count) for bound, batch in zip(pairwise(bounds), batches, strict=True)]
    starts = np.concatenate([*parts, [len(data)]])
    fields = read_fields(array, starts[:-1], starts[1:])
    of_leader = [batch.timestamp_type is TimestampType.LOG_APPEND_TIME for batch in batches]
    base_times = [batch.max_timestamp if own else batch.base_timestamp for own, batch in zip(of_leader, batches, strict=True)]
    appended = np.repeat(of_leader, counts)
    return _Rows(
        np.repeat([batch.base_offset for batch in batches], counts) + fields.offset_delta,
        np.repeat(base_times, counts) + np.where(appended, 0, fields.timestamp_delta),
        appended.astype(np.int32),
        lambda: _pieces(data, fields.key, pa.binary()),
        lambda: _pieces(data, fields.value, pa.binary()),
        lambda: _headers(data, fields),
    )


def _pieces(data: bytes, spans: Spans, kind: pa.DataType) -> pa.Array:
    """The spans of `data` as an array of their own."""
    count = len(spans.start)
    bounds = np.empty(2 * count + 1, np.int32)
    bounds[0:-1:2] = spans.start
    bounds[1::2] = spans.end
    bounds[-1] = bounds[-2]
    valid = None
    if spans.is_null.any():
        bits = np.ones(2 * count, np.bool_)
        bits[::2] = ~spans.is_null
        valid = pa.py_buffer(np.packbits(bits, bitorder="little"))
    pieces = pa.Array.from_buffers(kind, 2 * count, [valid, pa.py_buffer(bounds), pa.py_buffer(data)])
    wanted = pa.Array.from_buffers(pa.bool_(), 2 * count, [None, pa.py_buffer(_EVERY_OTHER * (count // 4 + 1))])
    return pieces.filter(wanted)


def _headers(data: bytes, fields: RecordFields) -> pa.Array:
    """Null where a record has none, as in Spark's own connector."""
    found = fields.headers
    if found is None:
        return pa.nulls(len(fields.offset_delta), HEADERS)
    pairs = pa.StructArray.from_arrays([_text(_pieces(data, found.keys, pa.binary())), _pieces(data, found.values, pa.binary())], fields=list(HEADER))
    return pa.ListArray.from_arrays(pa.array(found.first), pairs, type=HEADERS, mask=pa.array(np.diff(found.first) == 0))


def _text(keys: pa.Array) -> pa.Array:
    """UTF-8, with U+FFFD where it is none, as Java reads it; Arrow alone would let it pass."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([decode_utf8(key) for key in keys.to_pylist()], pa.string())


# Messages of magic 0 and 1


def _rows_of_messages(batches: Iterable[AnyBatch]) -> _Rows:
    records: list[Record] = []
    kinds: list[int] = []
    for batch in batches:
        some = batch.records()
        records += some
        kinds += [int(batch.timestamp_type)] * len(some)
    return _Rows(
        np.array([record.offset for record in records], np.int64),
        np.array([record.timestamp for record in records], np.int64),
        np.array(kinds, np.int32),
        lambda: pa.array([record.key for record in records], pa.binary()),
        lambda: pa.array([record.value for record in records], pa.binary()),
        lambda: pa.nulls(len(records), HEADERS),
    )


def _timestamps(rows: _Rows) -> pa.Array:
    return pa.array(np.clip(rows.timestamp_ms, -_TIMESTAMP_MS_MAX, _TIMESTAMP_MS_MAX) * 1000).view(TYPES["timestamp"])


_COLUMNS: Final[dict[str, Callable[[_Rows, OffsetRange], Any]]] = {
    "key": lambda rows, _: rows.keys(),
    "value": lambda rows, _: rows.values(),
    "topic": lambda rows, wanted: pa.repeat(pa.scalar(wanted.topic, pa.string()), len(rows.offset)),
    "partition": lambda rows, wanted: pa.repeat(pa.scalar(wanted.partition, pa.int32()), len(rows.offset)),
    "offset": lambda rows, _: pa.array(rows.offset),
    "timestamp": lambda rows, _: _timestamps(rows),
    "timestampType": lambda rows, _: pa.array(rows.timestamp_type),
    "headers": lambda rows, _: rows.headers(),
}
