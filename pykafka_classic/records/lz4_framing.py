"""LZ4 as Kafka frames it: one LZ4 frame of independent 64 KiB blocks.

```
04 22 4d 18 | FLG | BD | (content size, 8 bytes, if FLG says so) | HC | repeated: length u32 little-endian (high bit: stored as it was), block | 00000000
```

HC is the second byte of the 32 bit xxHash of what stands between the magic bytes and HC. In magic 0 the Java writers hashed the four magic bytes too; that
wrong byte is part of the format: written for magic 0, and not looked at when magic 0 is read. With FLG 60 and BD 40 it is 1a, the right one 82.

Readers accept what Kafka's accepts: sizes and checksums of content and blocks, all block sizes, bytes behind the end mark. Refused: dependent blocks, a missing
end mark.

Source: facts/storage.md 2, facts/observed.md; 2.8 KafkaLZ4BlockInputStream.java, KafkaLZ4BlockOutputStream.java; LZ4 frame format 1.6.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pykafka_classic.records.layout import InvalidRecord

_MAGIC: Final = b"\x04\x22\x4d\x18"
_FLG_POSITION: Final = 4
_HC_POSITION: Final = 6  # without a content size
_HEADER_SIZE_MIN: Final = 7
_CONTENT_SIZE_BYTES: Final = 8
_BROKEN_HC: Final = 0x1A  # of FLG 60, BD 40, with the magic bytes hashed too

FED_MIN_BYTES: Final = 64 * 1024  # at a time: the library copies what it does not need yet

_VERSION_MASK, _VERSION_1 = 0xC0, 0x40
_INDEPENDENT_BLOCKS: Final = 0x20
_HAS_CONTENT_SIZE: Final = 0x08


def compress(data: bytes, *, broken_header_checksum: bool) -> bytes:
    """A frame with `data`; the broken header checksum is for magic 0."""
    import lz4.frame

    frame = lz4.frame.compress(data, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False)
    return frame[:_HC_POSITION] + bytes((_BROKEN_HC,)) + frame[_HC_POSITION + 1 :] if broken_header_checksum else bytes(frame)


def decompress(data: bytes | memoryview, size: int, *, check_header: bool) -> tuple[bytes, bool]:
    """What the frame unpacks to, `size` bytes and a little more at most, and whether that is all. Raises InvalidRecord."""
    import lz4.frame

    decompressor = lz4.frame.LZ4FrameDecompressor()
    parts, step, frame = [], unpacking_step(data), memoryview(_with_right_checksum(data, check_header))
    taken, fed = 0, max(FED_MIN_BYTES, size)
    try:
        while size >= 0 and not decompressor.eof:
            piece = frame[taken : taken + fed] if decompressor.needs_input else b""
            part = decompressor.decompress(piece, max_length=min(size + 1, step))
            if not part and not piece:
                break
            parts.append(part)
            taken += len(piece)
            size -= len(part)
    except RuntimeError as error:
        raise InvalidRecord(f"malformed lz4 data: {error}") from error
    if size >= 0 and not decompressor.eof:
        raise InvalidRecord("lz4 data ends without an end mark")
    return b"".join(parts), size >= 0


def unpacking_step(data: bytes | memoryview) -> int:
    """How many bytes to ask a library for at a time: it sets them aside before it knows how many there are."""
    return 8 * len(data) + 64 * 1024


def _with_right_checksum(data: bytes | memoryview, check_header: bool) -> bytes | memoryview:
    """The frame with the header checksum that the library wants to see. Raises InvalidRecord for a header that Kafka refuses."""
    if len(data) < _HEADER_SIZE_MIN or data[: len(_MAGIC)] != _MAGIC:
        raise InvalidRecord("lz4 data does not begin with a frame header")
    flags = data[_FLG_POSITION]
    if flags & _VERSION_MASK != _VERSION_1 or not flags & _INDEPENDENT_BLOCKS:
        raise InvalidRecord(f"lz4 frame with flags {flags:02x}: only version 1 with independent blocks is supported")
    position = _HC_POSITION + (_CONTENT_SIZE_BYTES if flags & _HAS_CONTENT_SIZE else 0)
    if len(data) <= position:
        raise InvalidRecord("lz4 data is cut short in its frame header")
    right = header_checksum(bytes(data[_FLG_POSITION:position]))
    if data[position] == right:
        return data
    if check_header:
        raise InvalidRecord(f"lz4 frame header checksum {data[position]:02x}, should be {right:02x}")
    return bytes(data[:position]) + bytes((right,)) + bytes(data[position + 1 :])


_PRIMES: Final = (2654435761, 2246822519, 3266489917, 668265263, 374761393)


@lru_cache(maxsize=64)  # nearly all frames have the same few bytes there
def header_checksum(descriptor: bytes) -> int:
    """The HC byte: second byte of xxh32 with seed 0, for up to 15 bytes (longer inputs have another first part)."""
    assert len(descriptor) < 16
    _, prime2, prime3, prime4, prime5 = _PRIMES
    value, position = prime5 + len(descriptor), 0
    while position + 4 <= len(descriptor):
        value = _rotate(value + int.from_bytes(descriptor[position : position + 4], "little") * prime3, 17) * prime4
        position += 4
    for byte in descriptor[position:]:
        value = _rotate(value + byte * prime5, 11) * _PRIMES[0]
    value &= 0xFFFFFFFF
    value = (value ^ value >> 15) * prime2 & 0xFFFFFFFF
    value = (value ^ value >> 13) * prime3 & 0xFFFFFFFF
    return (value ^ value >> 16) >> 8 & 0xFF


def _rotate(value: int, bits: int) -> int:
    value &= 0xFFFFFFFF
    return (value << bits | value >> (32 - bits)) & 0xFFFFFFFF
