"""The five codecs, with the framing that Kafka's clients and brokers put around each.

| id | codec | what Kafka writes | what is read |
|---|---|---|---|
| 0 | none | | |
| 1 | gzip | one RFC 1952 member | several members |
| 2 | snappy | the framing of xerial's snappy-java (`snappy_framing.py`) | several such streams; one raw block (librdkafka) |
| 3 | lz4 | an LZ4 frame: independent blocks of 64 KiB, no sizes or checksums (`lz4_framing.py`) | any single frame of independent blocks |
| 4 | zstd | one frame | several frames |

The libraries are imported when first used: a broker that never looks inside a batch does not pay for them. Nothing grows beyond `max_size`: a small request
cannot unpack to gigabytes.

Source: facts/storage.md 2, facts/observed.md "Readers of compressed data"; 2.8 CompressionType.java.
"""

from __future__ import annotations

import zlib
from enum import IntEnum
from typing import Any, Final

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.records import lz4_framing, snappy_framing
from pykafka_classic.records.layout import InvalidRecord
from pykafka_classic.records.lz4_framing import FED_MIN_BYTES, unpacking_step

NONE: Final = 0
GZIP: Final = 1
SNAPPY: Final = 2
LZ4: Final = 3
ZSTD: Final = 4

DECOMPRESSED_SIZE_MAX: Final = 128 * 1024 * 1024  # bytes that one batch may unpack to, unless the caller says otherwise


class CompressionType(IntEnum):
    """The codec ids in a batch's attributes; `label` is the word that configs and tools use."""

    NONE = NONE
    GZIP = GZIP
    SNAPPY = SNAPPY
    LZ4 = LZ4
    ZSTD = ZSTD

    @property
    def label(self) -> str:
        """The word: none, gzip, snappy, lz4 or zstd."""
        return self.name.lower()

    @staticmethod
    def of(label: str) -> CompressionType:
        """The codec of a config value; "uncompressed" is Kafka's other word for none. Raises ValueError."""
        try:
            return CompressionType["NONE" if label == "uncompressed" else label.upper()]
        except KeyError:
            raise ValueError(f"Unknown compression name: {label}") from None


def compress(codec: int, data: bytes, *, magic: int = 2) -> bytes:
    """`data` as Kafka would compress it for a batch or wrapper of this magic. Raises KafkaError (UNSUPPORTED_COMPRESSION_TYPE) for an unknown codec."""
    match codec:
        case 0:
            return data
        case 1:
            compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
            return compressor.compress(data) + compressor.flush()
        case 2:
            return snappy_framing.compress(data)
        case 3:
            return lz4_framing.compress(data, broken_header_checksum=magic == 0)
        case 4:
            return _compress_zstd(data)
    raise _unknown(codec)


def decompress(codec: int, data: bytes | memoryview, *, max_size: int = DECOMPRESSED_SIZE_MAX, magic: int = 2) -> bytes:
    """What `data` unpacks to. Raises InvalidRecord where it is not well formed, KafkaError (MESSAGE_TOO_LARGE) where it would be more than `max_size` bytes."""
    result, ended = _decompress(codec, data, max_size, magic)
    if not ended:
        raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, f"A batch of {len(data)} {_label(codec)} bytes unpacks to more than {max_size} bytes")
    return result


def decompress_start(codec: int, data: bytes | memoryview, *, size: int, magic: int = 2) -> tuple[bytes, bool]:
    """At least the first `size` bytes (a block more, where the format comes in blocks), or all there are; and whether these are all. Raises InvalidRecord."""
    return _decompress(codec, data, size, magic)


def _decompress(codec: int, data: bytes | memoryview, size: int, magic: int) -> tuple[bytes, bool]:
    match codec:
        case 0:
            return bytes(data), True
        case 1:
            return _decompress_gzip(data, size)
        case 2:
            return snappy_framing.decompress(data, size)
        case 3:
            return lz4_framing.decompress(data, size, check_header=magic > 0)
        case 4:
            return _decompress_zstd(data, size)
    raise _unknown(codec)


def _decompress_gzip(data: bytes | memoryview, size: int) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    whole, taken, fed = memoryview(data), 0, max(FED_MIN_BYTES, size)
    while taken < len(whole):
        member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        while not member.eof:
            if taken == len(whole):
                raise InvalidRecord("gzip data is cut short")
            piece = whole[taken : taken + fed]
            try:
                part = member.decompress(piece, size + 1)
            except zlib.error as error:
                raise InvalidRecord(f"malformed gzip data: {error}") from error
            taken += len(piece) - len(member.unconsumed_tail) - len(member.unused_data)
            parts.append(part)
            size -= len(part)
            if size < 0:
                return b"".join(parts), False
    return parts[0] if len(parts) == 1 else b"".join(parts), True


def _compress_zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_content_size=False).compress(data) if data else b""


_idle_decompressors: Final[list[Any]] = []  # making one takes longer than unpacking a batch; each is used by one thread at a time


def _decompress_zstd(data: bytes | memoryview, size: int) -> tuple[bytes, bool]:
    import zstandard

    try:
        decompressor = _idle_decompressors.pop()
    except IndexError:
        decompressor = zstandard.ZstdDecompressor()
    parts, step = [], unpacking_step(data)
    try:
        with decompressor.stream_reader(data, read_across_frames=True) as reader:
            while size >= 0 and (part := reader.read(min(size + 1, step))):
                parts.append(part)
                size -= len(part)
    except zstandard.ZstdError as error:
        raise InvalidRecord(f"malformed zstd data: {error}") from error
    finally:
        _idle_decompressors.append(decompressor)
    return b"".join(parts), size >= 0


def _label(codec: int) -> str:
    return CompressionType(codec).label


def _unknown(codec: int) -> KafkaError:
    return KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"Unknown compression type id: {codec}")
