"""What generated codecs call: the rare cases (long lengths, unknown tags, errors), kept out of the generated text.

Lengths of flexible messages are `uvarint`s that hold length + 1; nearly all are below 128 and so one byte, which generated code handles itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from typing import Final, NoReturn

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.varint import decode_uvarint, encode_uvarint
from pykafka_classic.protocol.schema import SchemaError, UnsupportedVersion

Buffer = bytes | memoryview

STRING_LENGTH_MAX: Final = 32767  # in flexible versions too
SHORT_UVARINTS: Final = tuple(encode_uvarint(value) for value in range(1024))
SHORT_UVARINTS_COUNT: Final = len(SHORT_UVARINTS)


def read_length(buffer: Buffer, position: int) -> tuple[int, int]:
    """A whole uvarint and the position behind it. Above 2^31 it is negative, as Kafka reads it."""
    value, position = decode_uvarint(buffer, position)
    return (value - (1 << 32) if value >> 31 else value), position


def read_string_length(buffer: Buffer, position: int) -> tuple[int, int]:
    """The uvarint before a string of 127 bytes or more: length + 1."""
    length, position = read_length(buffer, position)
    if length > STRING_LENGTH_MAX + 1:
        raise SchemaError(f"a string of {length - 1} bytes is too long")
    return length, position


def skip_tags(buffer: Buffer, position: int) -> int:
    """The position behind a tag section of which no tag is known, `position` being that of its count."""
    count, position = read_length(buffer, position)
    previous = -1
    for _ in range(count):
        tag, position = read_tag(buffer, position, previous)
        previous = tag
        size, position = decode_uvarint(buffer, position)
        position += size
    return position


def read_tag(buffer: Buffer, position: int, previous: int) -> tuple[int, int]:
    """The next tag, which must be above the previous one, and the position behind it."""
    tag, position = decode_uvarint(buffer, position)
    if tag <= previous:
        raise SchemaError(f"tag {tag} comes after tag {previous}")
    return tag, position


def refuse_null(field: str) -> NoReturn:
    """Null (or a negative length) was read where the schema has none."""
    raise SchemaError(f"{field} is null")


def refuse_count(field: str, count: int, remaining: int) -> NoReturn:
    """An array announces more elements than the remaining bytes can hold."""
    raise SchemaError(f"{field} announces {count} elements in {remaining} bytes")


def refuse_tag_size(field: str) -> NoReturn:
    """A tagged field does not fill its size."""
    raise SchemaError(f"{field} has not the size that its tag announces")


def refuse_value(field: str, version: int) -> NoReturn:
    """On writing: the version lacks the field, and the value is not one that a reader would suppose."""
    raise UnsupportedVersion(f"version {version} cannot carry a value of {field}")


def uvarint(value: int) -> bytes:
    """The bytes of a length."""
    return SHORT_UVARINTS[value] if value < SHORT_UVARINTS_COUNT else encode_uvarint(value)


def string_length(length_plus_one: int) -> bytes:
    """The bytes of a string's length in flexible versions."""
    if length_plus_one > STRING_LENGTH_MAX + 1:
        raise SchemaError(f"a string of {length_plus_one - 1} bytes is too long to be written")
    return uvarint(length_plus_one)


def checked_uuid(value: bytes) -> bytes:
    """`value`, if it is a uuid: `struct` would cut or fill any other without a word."""
    if len(value) != kafka_uuid.LENGTH:
        raise SchemaError(f"a uuid has {kafka_uuid.LENGTH} bytes, not {len(value)}")
    return value


@lru_cache(maxsize=1024)
def vector(item_format: str, count: int) -> Struct:
    """The struct of `count` equal numbers; the cache is bounded, for counts come from outside."""
    return Struct(f">{count}{item_format}")


def unpack_vector(buffer: Buffer, position: int, item_format: str, count: int) -> list[int]:
    """A list of equal numbers."""
    return list(vector(item_format, count).unpack_from(buffer, position))


def pack_vector(item_format: str, values: Sequence[int]) -> bytes:
    """The bytes of a list of equal numbers."""
    return vector(item_format, len(values)).pack(*values)
