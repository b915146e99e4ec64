"""Where the fields of many records lie: from the bytes of whole batches to arrays, without a Python object per record.

A record of magic 2 begins with its own length, a varint, and all its fields are varints or lengths and bytes (`pykafka_classic/records/record.py` has the
layout). So there are two steps:

1. `record_starts`: where each record begins. Each follows from the one before: this is a loop, but over lengths only (about 0.1 us per record), and records
   of one length in a row are found with one comparison of arrays.
2. `read_fields`: everything else, field by field for all records at once (`varints.py`).

The payloads of many batches stand one behind the other in one buffer, for each step costs some microseconds however few the records are.

Chosen by measurement: CPU per record of 100 B with a key, batches of 20,000 records, from their bytes to an Arrow batch, on one busy core of two:

| | ns |
|---|---|
| this module and `arrow_batches.py`, seven columns | 310 |
| aiokafka's compiled reader of batches to lists, lists to four columns | 360 + 110 |
| the record parser in Python, seven columns | 2,830 |
| librdkafka through confluent-kafka, lists to four columns, fetching included | 1,480 |
| for comparison: this module, seven columns, fetching included | 460 |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pykafka_classic.common.varint import VarintError, decode_varint
from pykafka_classic.records.layout import RECORD_SIZE_MIN, InvalidRecord
from spark_integration.executor.varints import Bytes, Ints, read_varints, read_varlongs

Offsets = npt.NDArray[np.int32]

ALIKE_MIN: Final = 48  # so many records of one length in a row are found by comparing arrays; fewer, one by one
LOOK_GROWTH: Final = 8  # where all compared were alike, so many times as many are compared
WALK_MIN: Final = 512  # so many are looked at one by one before arrays are tried again; next time
WALK_GROWTH: Final = 8  # so many times as many


@dataclass(frozen=True, slots=True)
class Spans:
    """A field of bytes of each record: from `start` up to `end`, and whether it is null (then it is empty)."""

    start: Ints
    end: Ints
    is_null: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """The headers of all records in order; those of record i are `first[i]` up to `first[i + 1]`."""

    first: Offsets
    keys: Spans
    values: Spans


@dataclass(frozen=True, slots=True)
class RecordFields:
    """All records of a buffer. `headers` is None where no record has one."""

    timestamp_delta: Ints
    offset_delta: Ints
    key: Spans
    value: Spans
    headers: HeaderFields | None


def record_starts(data: bytes, array: Bytes, begin: int, end: int, count: int) -> Ints:
    """Where the `count` records begin that should fill `data` from `begin` to `end`; `array` is the same bytes.

    Raises InvalidRecord where there cannot be so many; whether each is where it should be, `read_fields` tells.
    """
    if not 0 <= count * RECORD_SIZE_MIN <= end - begin:
        raise InvalidRecord(f"{count} records in {end - begin} bytes")
    starts = np.empty(count, np.int64)
    filled, position, walk = 0, begin, WALK_MIN
    try:
        while filled < count:
            size = _size_at(data, position)
            alike = _how_many_alike(array, position, size, min(count - filled, (end - position) // size))
            if alike >= ALIKE_MIN:
                starts[filled : filled + alike] = np.arange(position, position + alike * size, size)
                filled, position = filled + alike, position + alike * size
            else:
                some = min(walk, count - filled)
                found = np.fromiter(_walk(data, position), np.int64, some + 1)
                starts[filled : filled + some] = found[:-1]
                filled, position, walk = filled + some, int(found[-1]), walk * WALK_GROWTH
    except (IndexError, VarintError):
        raise InvalidRecord(f"{count} records do not end within the {end - begin} bytes of their batch") from None
    return starts


def _walk(data: bytes, position: int) -> Iterator[int]:
    """From record to record, without end: where each begins."""
    while True:
        yield position
        byte = data[position]
        if byte < 0x80:
            position += 1 + (byte >> 1)
        elif (second := data[position + 1]) < 0x80:
            position += 2 + ((second << 7 | byte & 0x7F) >> 1)
        else:
            position += _size_at(data, position)


def _size_at(data: bytes, position: int) -> int:
    """Bytes of the record at `position`, its length included. IndexError where it cannot be a record."""
    length, behind = decode_varint(data, position)
    size = length + behind - position
    if size < RECORD_SIZE_MIN:
        raise IndexError("too short")
    return size


def _how_many_alike(array: Bytes, position: int, size: int, limit: int) -> int:
    """How many records from `position` on, up to `limit`, begin with the same length as the first, which takes `size` bytes."""
    looked_at = min(ALIKE_MIN, limit)
    while True:  # a few first, then more and more, for most runs are short
        alike = np.ones(max(looked_at, 0), np.bool_)
        at, going_on = position, looked_at > 0
        while going_on:
            byte = array[at]
            alike &= array[at : at + (looked_at - 1) * size + 1 : size] == byte
            at, going_on = at + 1, bool(byte & 0x80)
        if not alike.all():
            return int(alike.argmin())
        if looked_at >= limit:
            return looked_at
        looked_at = min(looked_at * LOOK_GROWTH, limit)


def read_fields(array: Bytes, starts: Ints, ends: Ints) -> RecordFields:
    """The fields of the records that begin at `starts` and end at `ends`. Raises InvalidRecord."""
    try:
        length, at = read_varints(array, starts)
        if not np.array_equal(at + length, ends) or (length < 0).any():
            raise InvalidRecord("records do not begin where the ones before them end")
        timestamp_delta, at = read_varlongs(array, at + 1)
        offset_delta, at = read_varints(array, at)
        key, at = _span(array, at)
        value, at = _span(array, at)
        count, at = read_varints(array, at)
        headers = None
        if count.any():
            headers, at = _read_headers(array, at, count, ends)
    except (IndexError, VarintError) as error:
        raise InvalidRecord(f"a record goes beyond the end of its batch, or holds no number where one should be: {error}") from None
    if not np.array_equal(at, ends):
        raise InvalidRecord("the fields of a record take more or fewer bytes than it says")
    return RecordFields(timestamp_delta, offset_delta, key, value, headers)


def _span(array: Bytes, at: Ints) -> tuple[Spans, Ints]:
    """A length and so many bytes; any negative length is null, as for Kafka."""
    length, at = read_varints(array, at)
    is_null = length < 0
    behind = at + np.maximum(length, 0)
    if (behind > len(array)).any():
        raise IndexError("a field")
    return Spans(at, behind, is_null), behind


def _read_headers(array: Bytes, at: Ints, count: Ints, ends: Ints) -> tuple[HeaderFields, Ints]:
    """All headers, those of one record after those of the one before it. Round n reads the n-th header of every record that has so many."""
    if ((count < 0) | (count > ends - at)).any():
        raise InvalidRecord("a record has a number of headers that cannot be")
    first = np.zeros(len(count) + 1, np.int64)
    np.cumsum(count, out=first[1:])
    total = int(first[-1])
    keys = Spans(np.empty(total, np.int64), np.empty(total, np.int64), np.zeros(total, np.bool_))
    values = Spans(np.empty(total, np.int64), np.empty(total, np.int64), np.zeros(total, np.bool_))
    at = at.copy()
    for number in range(int(count.max())):
        having = np.flatnonzero(count > number)
        slots = first[having] + number
        behind = at[having]
        for spans in (keys, values):
            found, behind = _span(array, behind)
            spans.start[slots], spans.end[slots], spans.is_null[slots] = found.start, found.end, found.is_null
        at[having] = behind
    if keys.is_null.any():
        raise InvalidRecord("a header without a key")
    return HeaderFields(first.astype(np.int32), keys, values), at
