"""Messages to bytes and back: `decode`, `encode`, `encode_parts`.

For each class and version a decoder and an encoder are generated from the schema at their first use (`codec_decoder`, `codec_encoder`) and kept.
Reading order: `schema`, this module, `codec_decoder`, `codec_encoder`, `codec_runtime`.

Whatever the bytes, decoding raises nothing but `SchemaError`, takes time and memory in proportion to the bytes, and leaves surplus bytes to the caller.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeVar

from pykafka_classic.common.varint import VarintError
from pykafka_classic.protocol.codec_decoder import Decoder, compile_decoder, has_records
from pykafka_classic.protocol.codec_encoder import Encoder, compile_encoder
from pykafka_classic.protocol.schema import Message, Records, SchemaError, UnsupportedVersion, join_records

M = TypeVar("M", bound=Message)

_MALFORMED: Final = (struct.error, IndexError, VarintError)
_UNWRITABLE: Final = (struct.error, AttributeError, TypeError, VarintError)

_decoders: Final[dict[tuple[type[Message], int], tuple[Decoder, bool]]] = {}
_encoders: Final[dict[tuple[type[Message], int], Encoder]] = {}


def decode(kind: type[M], version: int, buffer: bytes | bytearray | memoryview, position: int = 0) -> tuple[M, int]:
    """The message at `position` and the position behind it.

    `records` fields are slices of `buffer`, which must not change while they are used; all else is copied. Raises SchemaError, UnsupportedVersion.
    """
    found = _decoders.get((kind, version))
    decoder, is_view = found if found is not None else _new_decoder(kind, version)
    if is_view:
        if type(buffer) is not memoryview:
            buffer = memoryview(buffer)
    elif type(buffer) is not bytes:
        buffer = bytes(buffer)
    try:
        return decoder(buffer, position)
    except SchemaError as error:
        raise SchemaError(f"{kind.__name__} v{version}: {error}") from None
    except _MALFORMED as error:
        raise SchemaError(f"{kind.__name__} v{version} is cut short or malformed: {error}") from None


def encode(message: Message, version: int) -> bytes:
    """The bytes of `message`, records in files included.

    Raises UnsupportedVersion where the version cannot carry a value, SchemaError for values outside the schema.
    """
    pieces, large = _encode_pieces(message, version)
    return join_records(pieces) if large else b"".join(pieces)  # type: ignore[arg-type]


def encode_parts(message: Message, version: int) -> list[Records]:
    """As `encode`, but large records and all records in files are parts of their own, not copied and not read. The lengths add up to the message's."""
    pieces, large = _encode_pieces(message, version)
    parts: list[Records] = []
    start = 0
    for index in large:
        parts.append(b"".join(pieces[start:index]))  # type: ignore[arg-type]
        parts.append(pieces[index])
        start = index + 1
    if start < len(pieces) or not parts:
        parts.append(b"".join(pieces[start:]))  # type: ignore[arg-type]
    return parts


def _encode_pieces(message: Message, version: int) -> tuple[list[Records], list[int]]:
    kind = message.__class__
    encoder = _encoders.get((kind, version)) or _new_encoder(kind, version)
    pieces: list[Records] = []
    large: list[int] = []
    try:
        encoder(message, pieces, large)
    except SchemaError as error:
        raise type(error)(f"{kind.__name__} v{version}: {error}") from None
    except _UNWRITABLE as error:
        raise SchemaError(f"{kind.__name__} v{version} cannot be written: {error}") from error
    return pieces, large


def _new_decoder(kind: type[Message], version: int) -> tuple[Decoder, bool]:
    _require_version(kind, version)
    found = compile_decoder(kind, version), has_records(kind)
    _decoders[kind, version] = found
    return found


def _new_encoder(kind: type[Message], version: int) -> Encoder:
    _require_version(kind, version)
    own: Callable[[int], Encoder] | None = getattr(kind, "own_encoder", None)  # of a class that knows better than its schema: shared_encoding.py
    encoder = _encoders[kind, version] = compile_encoder(kind, version) if own is None else own(version)
    return encoder


def _require_version(kind: type[Message], version: int) -> None:
    if version not in kind.VALID_VERSIONS:
        raise UnsupportedVersion(f"{kind.__name__} has no version {version}, only {kind.VALID_VERSIONS}")
