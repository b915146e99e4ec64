"""A record as a value, and its bytes inside a magic 2 batch.

```
length varint (of what follows) | attributes i8, 0 | timestamp_delta varlong | offset_delta varint | key_length varint (-1 null), key |
value_length varint (-1 null), value | header_count varint | per header: key_length varint, key (UTF-8), value_length varint (-1 null), value
```

Varints are zig-zag (`common/varint.py`). Reading accepts what Kafka accepts: any negative length is null.

This is the one place that walks records byte by byte in Python. Consumers, coordinators, format conversion and the cleaner need it; the path from a producer to
the disk does not (see `log/log_validator.py`).

Source: facts/storage.md 1.2; 2.8 DefaultRecord.java, ByteUtils.java.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from pykafka_classic.common.varint import VarintError, decode_varint, decode_varlong, encode_varlong, size_of_varlong
from pykafka_classic.records.layout import RECORD_SIZE_MIN, InvalidRecord

_NULL: Final = b"\x01"  # length -1
_NO_HEADERS: Final = b"\x00"


class Header(NamedTuple):
    """A header of a record: key and value; keys may repeat."""

    key: str
    value: bytes | None


class Record(NamedTuple):
    """One record. `offset` is absolute; `timestamp` in ms, -1 for none."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


_SHORT_VARINTS: Final = tuple(encode_varlong((bits >> 1) ^ -(bits & 1)) for bits in range(4096))  # by zig-zag value: most lengths and deltas


def varint(value: int) -> bytes:
    """A signed number as zig-zag varint; 32 and 64 bit numbers look the same."""
    bits = (value << 1) ^ (value >> 63)
    return _SHORT_VARINTS[bits] if bits < 4096 else encode_varlong(value)


def encode_record(offset_delta: int, timestamp_delta: int, record: Record) -> tuple[bytes, ...]:
    """The record's bytes in pieces, to be joined with those of others; offset and timestamp come from the deltas."""
    _, _, key, value, headers = record
    deltas = varint(timestamp_delta) + varint(offset_delta)
    key_length = _NULL if key is None else varint(len(key))
    value_length = _NULL if value is None else varint(len(value))
    last = _NO_HEADERS if not headers else _encode_headers(headers)
    key, value = key or b"", value or b""
    size = 1 + len(deltas) + len(key_length) + len(key) + len(value_length) + len(value) + len(last)
    return varint(size), b"\0", deltas, key_length, key, value_length, value, last


def _encode_headers(headers: tuple[Header, ...]) -> bytes:
    parts = [varint(len(headers))]
    for name, content in headers:
        encoded = name.encode()
        parts += (varint(len(encoded)), encoded)
        parts += (_NULL,) if content is None else (varint(len(content)), content)
    return b"".join(parts)


def record_size(offset_delta: int, timestamp_delta: int, record: Record) -> int:
    """Bytes of a record, without making them."""
    size = 1 + size_of_varlong(timestamp_delta) + size_of_varlong(offset_delta) + size_of_varlong(len(record.headers))
    size += _field_size(record.key) + _field_size(record.value)
    for name, content in record.headers:
        size += _field_size(name.encode()) + _field_size(content)
    return size + size_of_varlong(size)


def _field_size(data: bytes | None) -> int:
    return 1 if data is None else size_of_varlong(len(data)) + len(data)


_Fields: TypeAlias = "tuple[int, int, bytes | None, bytes | None, tuple[Header, ...], int]"


def read_records(data: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None = None) -> list[Record]:
    """The `count` records that fill `data`; `append_time` (ms), when given, is every record's timestamp. Raises InvalidRecord.

    The common form, short numbers and no headers, is read in place, for speed; what does not fit it in every point is read by `_read_record`.
    """
    if not 0 <= count * RECORD_SIZE_MIN <= len(data):
        raise InvalidRecord(f"{count} records in {len(data)} bytes")
    records, position, new = [], 0, tuple.__new__
    try:
        for _ in range(count):
            byte = data[position]
            at, stop = (position + 1, byte >> 1) if byte < 0x80 else (position + 2, (data[position + 1] << 7 | byte & 0x7F) >> 1)
            stop, timestamp, offset = stop + at, data[at + 1], data[at + 2]
            if offset >= 0x80:
                at += 1
                offset = data[at + 2] << 7 | offset & 0x7F
            key_length = data[at + 3]
            fields: _Fields | None = None
            if timestamp < 0x80 and key_length < 0x80 and offset < 0x4000 and (byte | offset) & 1 == 0:
                start = at + 4 if key_length & 1 else at + 4 + (key_length >> 1)
                size = data[start]
                value_at, size = (start + 1, size) if size < 0x80 else (start + 2, data[start + 1] << 7 | size & 0x7F)
                end = value_at + (size >> 1)
                if end + 1 == stop and size & 1 == 0 and stop - at < 8192 and data[end] == 0:
                    key = None if key_length & 1 else data[at + 4 : start]
                    fields = (timestamp >> 1) ^ -(timestamp & 1), offset >> 1, key, data[value_at:end], (), stop
            if fields is None:
                fields = _read_record(data, position)
            timestamp, offset, key, value, headers, position = fields
            records.append(new(Record, (base_offset + offset, base_timestamp + timestamp if append_time is None else append_time, key, value, headers)))
    except (IndexError, VarintError):
        raise InvalidRecord(f"record {len(records)} of {count} goes beyond the end of the batch, or holds no number where one should be") from None
    if position != len(data):
        raise InvalidRecord(f"{len(data) - position} bytes behind the last of {count} records")
    return records


def iterate_records(data: bytes, count: int, base_offset: int, base_timestamp: int, append_time: int | None = None) -> Iterator[Record]:
    """As `read_records`, but one after the other: who wants to see what lies before the damage gets it before InvalidRecord is raised."""
    if count < 0:
        raise InvalidRecord(f"{count} records in {len(data)} bytes")
    position = 0
    for index in range(count):
        try:
            timestamp, offset, key, value, headers, position = _read_record(data, position)
        except (IndexError, VarintError):
            raise InvalidRecord(f"record {index} of {count} goes beyond the end of the batch, or holds no number where one should be") from None
        yield Record(base_offset + offset, base_timestamp + timestamp if append_time is None else append_time, key, value, headers)
    if position != len(data):
        raise InvalidRecord(f"{len(data) - position} bytes behind the last of {count} records")


def _read_record(data: bytes, position: int) -> _Fields:
    """(timestamp delta, offset delta, key, value, headers, position behind). Numbers of one byte are read in place, for speed."""
    start = position
    length, position = decode_varint(data, position)
    end = position + length
    if length < 0 or end > len(data):
        raise InvalidRecord(f"a record of {length} bytes at position {start}, where {len(data) - position} are left")
    key = value = None
    headers: tuple[Header, ...] = ()
    byte = data[position + 1]
    timestamp, position = ((byte >> 1) ^ -(byte & 1), position + 2) if byte < 0x80 else decode_varlong(data, position + 1)
    byte = data[position]
    offset, position = ((byte >> 1) ^ -(byte & 1), position + 1) if byte < 0x80 else decode_varint(data, position)
    byte = data[position]
    size, position = ((byte >> 1) ^ -(byte & 1), position + 1) if byte < 0x80 else decode_varint(data, position)
    if size >= 0:
        key = data[position : position + size]
        position += size
    byte = data[position]
    size, position = ((byte >> 1) ^ -(byte & 1), position + 1) if byte < 0x80 else decode_varint(data, position)
    if size >= 0:
        value = data[position : position + size]
        position += size
    if data[position]:
        headers, position = _read_headers(data, position, end)
    else:
        position += 1
    if position != end:
        raise InvalidRecord(f"the record at position {start} says {length} bytes, its fields take {position - end + length}")
    return timestamp, offset, key, value, headers, position


def _read_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, position = decode_varint(data, position)
    if not 0 <= count <= end - position:
        raise InvalidRecord(f"{count} headers in {end - position} bytes")
    headers = []
    for _ in range(count):
        size, position = decode_varint(data, position)
        if size < 0 or position + size > end:
            raise InvalidRecord(f"a header key of {size} bytes")
        key = data[position : position + size].decode("utf-8", "replace")
        size, position = decode_varint(data, position + size)
        value = None
        if size >= 0:
            value = data[position : position + size]
            position += size
        headers.append(Header(key, value))
    return tuple(headers), position
