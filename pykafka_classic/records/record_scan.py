"""Looking over the records of a magic 2 batch without decoding them: is the structure sound, are the offsets 0, 1, 2, ..., which timestamps and keys are there?

This is what a leader wants to know of a producer's batch. It takes well under a microsecond per record: the common form (numbers of one byte, lengths of one or
two, no headers) is read in place, and only what fits it in every point is believed; anything else goes the long way. `log/log_validator.py` says when it looks
at all records, and when only at the first.

Source: facts/storage.md 1.2, 8; 2.8 DefaultRecord.java, LogValidator.scala.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pykafka_classic.common.varint import VarintError, decode_varint, decode_varlong
from pykafka_classic.records.layout import InvalidRecord

_VARINT_SIZE_MAX: Final = 5
_UNUSUAL: Final = -9  # a position that no comparison below takes for the right one


class RecordScan(NamedTuple):
    """What was seen in the first `looked_at` records. Timestamps are deltas to the base timestamp, in ms."""

    looked_at: int  # records
    least_timestamp_delta: int
    largest_timestamp_delta: int
    index_of_largest: int  # the first record that has it
    null_keys: int  # records without one


def scan_records(data: bytes | memoryview, count: int, *, first: int, complete: bool) -> RecordScan:
    """Look over the `first` records of `count`; over all when `first` is not smaller. `complete`: `data` is all there is, not only its start.

    Raises InvalidRecord for broken structure, offsets other than 0, 1, 2, ..., or bytes left over.
    """
    timestamps: list[int] = []
    without_key: list[int] = []
    try:
        position = _walk(data, min(first, count), timestamps, without_key)
        if complete and first >= count and position != len(data):
            raise InvalidRecord(f"{len(data) - position} bytes behind the last of {count} records")
    except VarintError as error:
        raise InvalidRecord(f"record {len(timestamps)} of {count}: {error}") from None
    except IndexError:
        if complete:
            raise InvalidRecord(f"record {len(timestamps)} of {count} goes beyond the end of the batch") from None
    largest = max(timestamps, default=0)
    return RecordScan(len(timestamps), min(timestamps, default=0), largest, timestamps.index(largest) if timestamps else 0, len(without_key))


def _walk(data: bytes | memoryview, last: int, timestamps: list[int], without_key: list[int]) -> int:
    """Go over `last` records, note their timestamp deltas and which have no key; the position behind. Raises like `_scan_record`."""
    index = position = 0
    while index < last:
        byte = data[position]
        if byte < 0x80:
            at, length = position + 1, byte >> 1
        else:
            at, length = position + 2, (data[position + 1] << 7 | byte & 0x7F) >> 1
        stop, timestamp = at + length, data[at + 1]
        if index >= 64:
            at = at + 1 if data[at + 2] == (index << 1 & 0x7F | 0x80) and data[at + 3] == index >> 6 < 0x80 else _UNUSUAL
        elif data[at + 2] != index << 1:
            at = _UNUSUAL
        key = data[at + 3]
        if timestamp < 0x80 and key < 0x80 and at >= 0 and not byte & 1:
            at += 4 if key & 1 else 4 + (key >> 1)
            byte = data[at]
            if byte >= 0x80:  # an odd one is negative: not the common form
                at = _UNUSUAL if byte & 1 else at + 2 + ((data[at + 1] << 7 | byte & 0x7F) >> 1)
            else:
                at += 1 if byte & 1 else 1 + (byte >> 1)
            if length < 8192 and at + 1 == stop and data[at] == 0:
                timestamps.append((timestamp >> 1) ^ -(timestamp & 1))
                if key & 1:
                    without_key.append(index)
                index, position = index + 1, stop
                continue
        timestamp, has_key, position = _scan_record(data, position, index)
        timestamps.append(timestamp)
        if not has_key:
            without_key.append(index)
        index += 1
    return position


def _scan_record(data: bytes | memoryview, position: int, index: int) -> tuple[int, bool, int]:
    """(timestamp delta, has a key, position behind) of the record with this index.

    Raises InvalidRecord, VarintError; IndexError where the data ends before it.
    """
    start = position
    try:
        length, position = decode_varint(data, position)
    except VarintError:
        if len(data) - start >= _VARINT_SIZE_MAX:
            raise
        raise IndexError from None
    stop = position + length
    if length < 0 or stop > len(data):
        raise IndexError
    timestamp, position = decode_varlong(data, position + 1)
    delta, position = decode_varint(data, position)
    if delta != index:
        raise InvalidRecord(f"record {index} has offset delta {delta}")
    key_size, position = decode_varint(data, position)
    value_size, position = decode_varint(data, position + max(key_size, 0))
    headers, position = decode_varint(data, position + max(value_size, 0))
    if not 0 <= headers <= length:
        raise InvalidRecord(f"{headers} headers in a record of {length} bytes")
    for _ in range(headers):
        size, position = decode_varint(data, position)
        if size < 0:
            raise InvalidRecord(f"a header key of {size} bytes")
        size, position = decode_varint(data, position + size)
        position += max(size, 0)
    if position != stop:
        raise InvalidRecord(f"the record at position {start} says {length} bytes, its fields take {position - stop + length}")
    return timestamp, key_size >= 0, position
