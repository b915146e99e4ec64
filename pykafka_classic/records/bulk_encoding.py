"""Records to bytes, a whole batch at a time: what a producer does a million times.

Offsets are 0, 1, 2, ...; the common form (a delta and lengths that fit a table of varints, no headers) is written in place; all else by `record.encode_record`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from pykafka_classic.common.varint import encode_varlong
from pykafka_classic.records.record import Header, Record, encode_record

_TABLE: Final = 16_384
_VARINTS: Final = tuple(encode_varlong(number) for number in range(_TABLE))  # of numbers that are not negative


SIZE_MIN: Final = 30  # bytes that a record takes at most without key, value and headers


class Encodable(Protocol):
    """A record before it has an offset."""

    @property
    def key(self) -> bytes | None:
        """The key."""
        ...

    @property
    def value(self) -> bytes | None:
        """The value."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """The headers."""
        ...

    @property
    def timestamp(self) -> int:
        """Milliseconds since the epoch."""
        ...


def encode_records(records: Sequence[Encodable], base_timestamp: int) -> bytes:
    """The records of one batch of magic 2, uncompressed."""
    parts: list[bytes] = []
    varints, table = _VARINTS, _TABLE
    for index, record in enumerate(records):
        key, value, delta = record.key, record.value, record.timestamp - base_timestamp
        key_size, value_size = -1 if key is None else len(key), -1 if value is None else len(value)
        if record.headers or not 0 <= delta < table or index >= table or key_size + value_size >= table - 32:
            headers = tuple(Header(name, content) for name, content in record.headers)
            parts += encode_record(index, delta, Record(index, record.timestamp, key, value, headers))
            continue
        body = b"%b%b%b%b%b%b" % (
            varints[delta],
            varints[index],
            b"\x01" if key_size < 0 else varints[key_size],
            key or b"",
            b"\x01" if value_size < 0 else varints[value_size],
            value or b"",
        )
        parts += (varints[len(body) + 2], b"\0", body, b"\0")
    return b"".join(parts)


def size_bound(key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]) -> int:
    """Bytes that a record takes at most in a batch of magic 2."""
    size = SIZE_MIN + (len(key) if key else 0) + (len(value) if value else 0)
    for name, content in headers:
        size += 10 + 4 * len(name) + (len(content) if content else 0)
    return size
