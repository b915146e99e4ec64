"""Messages as dataclasses that carry their own wire schema.

A message is a mutable `@dataclass(slots=True)` below `Message`. The annotation of an attribute is its Python type; the call on its right says how it
goes over the wire and in which versions, and gives it Kafka's default:

    @dataclass(slots=True)
    class HeartbeatRequest(Message):
        API_KEY = 12
        VALID_VERSIONS = Versions(0, 4)
        FLEXIBLE_VERSIONS = Versions(4, LATEST)

        group_id: str = wire.string()
        generation_id: int = wire.int32()
        member_id: str = wire.string()
        group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)

Fields lie on the wire in the order of the class, tagged ones behind the others. From the first flexible version on, lengths are `uvarint`s and every
struct ends with a tag section (KIP-482). Message modules import this one as `wire`; `codec.py` turns such a class into code. The words are those of
Kafka's own specs: 2.8:clients/src/main/resources/common/message/README.md.

| wire type | Python value | | wire type | Python value |
|---|---|---|---|---|
| boolean | bool | | string | str |
| int8 int16 uint16 int32 int64 | int | | data (Kafka: bytes) | bytes |
| float64 | float | | records | memoryview when decoded; bytes, memoryview or FileRecords to encode |
| uuid | 16 bytes | | array(T), struct(S) | list, S |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.file_records import FileRecords

LATEST: Final = 32767  # "and all later versions"
Records = bytes | memoryview | FileRecords  # what a `records` field holds


class SchemaError(Exception):
    """Bytes that are no message, or a message that cannot be written."""


class UnsupportedVersion(SchemaError):
    """A version that the message does not have, or a value that the version cannot carry."""


class Versions(NamedTuple):
    """A range of versions, both ends included; empty where `first > last`."""

    first: int
    last: int

    @staticmethod
    def parse(text: str) -> Versions:
        """Kafka's notation: "3+", "0-2", "7", "none"."""
        if text == "none":
            return NO_VERSIONS
        if text.endswith("+"):
            return Versions(int(text[:-1]), LATEST)
        first, _, last = text.partition("-")
        return Versions(int(first), int(last or first))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last

    def __str__(self) -> str:
        if self.first > self.last:
            return "none"
        return f"{self.first}+" if self.last == LATEST else f"{self.first}-{self.last}"


NO_VERSIONS: Final = Versions(0, -1)
ALL: Final = "0+"


class WireType(Enum):
    """How a value is written; the value of a fixed-size type is its `struct` format (big-endian)."""

    BOOLEAN = "?"
    INT8 = "b"
    INT16 = "h"
    UINT16 = "H"
    INT32 = "i"
    INT64 = "q"
    FLOAT64 = "d"
    UUID = "16s"
    STRING = "string"
    BYTES = "bytes"
    RECORDS = "records"
    ARRAY = "array"
    STRUCT = "struct"


INT32: Final = WireType.INT32
INT64: Final = WireType.INT64
STRING: Final = WireType.STRING

FIXED_SIZES: Final = {
    WireType.BOOLEAN: 1,
    WireType.INT8: 1,
    WireType.INT16: 2,
    WireType.UINT16: 2,
    WireType.INT32: 4,
    WireType.INT64: 8,
    WireType.FLOAT64: 8,
    WireType.UUID: 16,
}


class Struct:
    """A group of fields inside a message: the elements of an array, mostly."""

    __slots__ = ()


class Message(Struct):
    """A whole message: the body of a request or response, a header, or the content of a record."""

    __slots__ = ()

    API_KEY: ClassVar[int] = -1  # -1: neither request nor response
    VALID_VERSIONS: ClassVar[Versions]
    FLEXIBLE_VERSIONS: ClassVar[Versions] = NO_VERSIONS


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """The wire side of one attribute."""

    wire_type: WireType
    versions: Versions  # in others the field is absent; what it holds then depends on `ignorable`
    nullable: Versions = NO_VERSIONS  # where None may be written
    default: object = None  # what a reader gets where the version lacks the field; an empty array is ()
    ignorable: bool = False  # a value that the version cannot carry is dropped without complaint
    element: WireType | type[Struct] | None = None  # of an array; of a struct field its class
    tag: int | None = None  # written in the tag section, and only if it differs from the default
    flexible: bool = True  # False: written in the old way in flexible versions too
    name: str = ""

    def is_wanted(self, version: int) -> bool:
        """True where messages of this version have the field."""
        return version in self.versions


def fields_of(kind: type[Struct]) -> tuple[FieldSchema, ...]:
    """The schema of a message or struct class, in the order of the class."""
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]  # every struct is a dataclass; the base class is not, and is never asked
    return tuple(dataclasses.replace(item.metadata[_SCHEMA], name=item.name) for item in fields)


# What stands on the right of an attribute. The result is a dataclass field; its type is Any, for the annotation is what type checkers shall believe.


def boolean(versions: str = ALL, *, default: bool = False, ignorable: bool = False) -> Any:
    """One byte."""
    return _field(_plain(WireType.BOOLEAN, versions, default, ignorable))


def int8(versions: str = ALL, *, default: int = 0, ignorable: bool = False) -> Any:
    """A signed byte."""
    return _field(_plain(WireType.INT8, versions, default, ignorable))


def int16(versions: str = ALL, *, default: int = 0, ignorable: bool = False) -> Any:
    """Two bytes, signed."""
    return _field(_plain(WireType.INT16, versions, default, ignorable))


def uint16(versions: str = ALL, *, default: int = 0, ignorable: bool = False) -> Any:
    """Two bytes, unsigned."""
    return _field(_plain(WireType.UINT16, versions, default, ignorable))


def int32(versions: str = ALL, *, default: int = 0, ignorable: bool = False) -> Any:
    """Four bytes, signed."""
    return _field(_plain(WireType.INT32, versions, default, ignorable))


def int64(versions: str = ALL, *, default: int = 0, ignorable: bool = False) -> Any:
    """Eight bytes, signed."""
    return _field(_plain(WireType.INT64, versions, default, ignorable))


def float64(versions: str = ALL, *, default: float = 0.0, ignorable: bool = False) -> Any:
    """IEEE 754, eight bytes."""
    return _field(_plain(WireType.FLOAT64, versions, default, ignorable))


def uuid(versions: str = ALL, *, ignorable: bool = False) -> Any:
    """Sixteen bytes; all zero by default."""
    return _field(_plain(WireType.UUID, versions, kafka_uuid.ZERO, ignorable))


def string(versions: str = ALL, *, nullable: str = "none", default: str | None = "", ignorable: bool = False) -> Any:
    """Text of at most 32,767 bytes of UTF-8."""
    return _field(FieldSchema(WireType.STRING, Versions.parse(versions), Versions.parse(nullable), default, ignorable))


def classic_string(versions: str = ALL, *, nullable: str = "none", default: str | None = "") -> Any:
    """A string that keeps its 16-bit length in flexible versions: the client id of request headers alone."""
    return _field(FieldSchema(WireType.STRING, Versions.parse(versions), Versions.parse(nullable), default, flexible=False))


def data(versions: str = ALL, *, nullable: str = "none", default: bytes | None = b"", ignorable: bool = False) -> Any:
    """Bytes that the protocol does not look into (Kafka's type `bytes`)."""
    return _field(FieldSchema(WireType.BYTES, Versions.parse(versions), Versions.parse(nullable), default, ignorable))


def records(versions: str = ALL, *, nullable: str = "none") -> Any:
    """Record batches, or message sets of older magics; None by default."""
    return _field(FieldSchema(WireType.RECORDS, Versions.parse(versions), Versions.parse(nullable)))


def array(element: WireType | type[Struct], versions: str = ALL, *, nullable: str = "none", default: tuple[()] | None = (), ignorable: bool = False) -> Any:
    """A list of fixed-size values, of strings or of structs; empty by default, or None."""
    return _field(FieldSchema(WireType.ARRAY, Versions.parse(versions), Versions.parse(nullable), default, ignorable, element), list)


def struct(element: type[Struct], versions: str = ALL, *, ignorable: bool = False) -> Any:
    """A struct in place; by default one with default values."""
    return _field(FieldSchema(WireType.STRUCT, Versions.parse(versions), ignorable=ignorable, element=element), element)


def tagged(tag: int, field: Any) -> Any:
    """Moves a field to the tag section: `tagged(0, string("12+", ...))`."""
    schema: FieldSchema = field.metadata[_SCHEMA]
    field.metadata = MappingProxyType({_SCHEMA: dataclasses.replace(schema, tag=tag)})
    return field


_SCHEMA: Final = "wire"


def _plain(wire_type: WireType, versions: str, default: object, ignorable: bool) -> FieldSchema:
    return FieldSchema(wire_type, Versions.parse(versions), default=default, ignorable=ignorable)


def _field(schema: FieldSchema, factory: Callable[[], object] | None = None) -> Any:
    metadata = {_SCHEMA: schema}
    if factory is not None and not (schema.wire_type is WireType.ARRAY and schema.default is None):
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=schema.default, metadata=metadata)


def join_records(parts: Sequence[Records]) -> bytes:
    """The bytes of all parts, read where they lie in files."""
    return b"".join(part.read() if isinstance(part, FileRecords) else part for part in parts)
