"""Snappy as Kafka frames it: the stream format of xerial's snappy-java.

```
82 53 4e 41 50 50 59 00 | version i32 1 | compatible version i32 1 | repeated: length i32, a raw snappy block of up to 32 KiB input
```

Readers ignore the two versions, take several streams one after the other (a new header where a block length would stand: its first four bytes make a negative
length), and a single raw block without any framing, which is what librdkafka writes.

Source: facts/storage.md 2, facts/observed.md; xerial snappy-java SnappyInputStream.java.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from pykafka_classic.records.layout import InvalidRecord

MAGIC: Final = b"\x82SNAPPY\x00"
_HEADER: Final = MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_LENGTH: Final = Struct(">i")
BLOCK_SIZE: Final = 32 * 1024  # input bytes per block


def compress(data: bytes) -> bytes:
    """A stream with `data` in blocks of 32 KiB."""
    import cramjam

    parts = [_HEADER]
    for start in range(0, len(data), BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + BLOCK_SIZE]))
        parts += (_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def decompress(data: bytes | memoryview, size: int) -> tuple[bytes, bool]:
    """What the stream or raw block unpacks to, and whether that is all; stops after the block that exceeds `size` bytes. Raises InvalidRecord."""
    view = memoryview(data)
    if len(view) < len(_HEADER) or bytes(view[: len(MAGIC)]) != MAGIC:
        return _raw_block(view, size) if view else (b"", True)
    parts: list[bytes] = []
    position, end = len(_HEADER), len(view)
    while position < end:
        if end - position < _LENGTH.size:
            raise InvalidRecord("snappy data is cut short in a block length")
        (length,) = _LENGTH.unpack_from(view, position)
        if length < 0 and bytes(view[position : position + len(MAGIC)]) == MAGIC:
            position += len(_HEADER)
            continue
        position += _LENGTH.size
        if not 0 <= length <= end - position:
            raise InvalidRecord(f"a snappy block of {length} bytes where {end - position} are left")
        part, ended = _raw_block(view[position : position + length], size)
        parts.append(part)
        size -= len(part)
        if not ended:
            return b"".join(parts), False
        position += length
    return b"".join(parts), True


def _raw_block(block: memoryview, size: int) -> tuple[bytes, bool]:
    """One block unpacked, if its own first bytes, which say how long it is, promise no more than `size`; else nothing and False."""
    import cramjam

    try:
        if cramjam.snappy.decompress_raw_len(block) > size:
            return b"", False
        return bytes(cramjam.snappy.decompress_raw(block)), True
    except cramjam.DecompressionError as error:
        raise InvalidRecord(f"malformed snappy block: {error}") from error
