"""Primitive types, each inside a small message of its own, as Kafka reads and writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.varint import (
    VarintError,
    decode_uvarint,
    decode_varint,
    decode_varlong,
    encode_uvarint,
    encode_varint,
    encode_varlong,
    size_of_uvarint,
    size_of_varint,
    size_of_varlong,
)
from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.schema import LATEST, Message, SchemaError, Versions
from tests.golden.protocol_data import lines

CLASSIC, COMPACT = 0, 1  # the versions of the messages below
PRIMITIVES = lines("primitives")


@dataclass(slots=True)
class Base(Message):
    """Version 1 is flexible; its single tag section is one zero byte."""

    VALID_VERSIONS = Versions(CLASSIC, COMPACT)
    FLEXIBLE_VERSIONS = Versions(COMPACT, LATEST)


@dataclass(slots=True)
class Boolean(Base):
    value: bool = wire.boolean()


@dataclass(slots=True)
class Int8(Base):
    value: int = wire.int8()


@dataclass(slots=True)
class Int16(Base):
    value: int = wire.int16()


@dataclass(slots=True)
class UInt16(Base):
    value: int = wire.uint16()


@dataclass(slots=True)
class Int32(Base):
    value: int = wire.int32()


@dataclass(slots=True)
class Int64(Base):
    value: int = wire.int64()


@dataclass(slots=True)
class Float64(Base):
    value: float = wire.float64()


@dataclass(slots=True)
class Uuid(Base):
    value: bytes = wire.uuid()


@dataclass(slots=True)
class Text(Base):
    value: str = wire.string()


@dataclass(slots=True)
class NullableText(Base):
    value: str | None = wire.string(nullable="0+")


@dataclass(slots=True)
class Data(Base):
    value: bytes = wire.data()


@dataclass(slots=True)
class NullableData(Base):
    value: bytes | None = wire.data(nullable="0+")


@dataclass(slots=True)
class Numbers(Base):
    value: list[int] = wire.array(wire.INT32)


@dataclass(slots=True)
class NullableNumbers(Base):
    value: list[int] | None = wire.array(wire.INT32, nullable="0+")


@dataclass(slots=True)
class Tags(Base):
    first: str | None = wire.tagged(0, wire.string("1+", nullable="1+", default=None))
    second: int = wire.tagged(1, wire.int32("1+"))
    third: str | None = wire.tagged(300, wire.string("1+", nullable="1+", default=None))


TYPES: dict[str, Any] = {
    "boolean": Boolean,
    "int8": Int8,
    "int16": Int16,
    "uint16": UInt16,
    "int32": Int32,
    "int64": Int64,
    "float64": Float64,
    "uuid": Uuid,
    "string": Text,
    "nullable_string": NullableText,
    "bytes": Data,
    "nullable_bytes": NullableData,
    "array_of_int32": Numbers,
}
NUMBERS: dict[str, tuple[Any, Any, Any]] = {
    "uvarint": (decode_uvarint, encode_uvarint, size_of_uvarint),
    "varint": (decode_varint, encode_varint, size_of_varint),
    "varlong": (decode_varlong, encode_varlong, size_of_varlong),
}


def type_and_version(line: dict[str, Any]) -> tuple[Any, int]:
    name: str = line["type"]
    is_compact = name.startswith("compact_")
    kind = TYPES[name.removeprefix("compact_")]
    if kind is Numbers and line.get("value", "") is None:
        kind = NullableNumbers
    return kind, COMPACT if is_compact else CLASSIC


def value_of(line: dict[str, Any]) -> Any:
    value, name = line["value"], line["type"]
    if value is None:
        return None
    if "bytes" in name:
        return bytes.fromhex(value)
    if "array" in name:
        return [int(item) for item in value.strip("[]").split(",") if item]
    if name == "uuid":
        return kafka_uuid.from_text(value)
    if name == "boolean":
        return value == "true"
    if name == "float64":
        return float(value)
    return int(value) if "int" in name else value


def parameters(wanted: Any) -> list[Any]:
    return [pytest.param(line, id=f"{line['type']}-{line['hex'][:16]}") for line in PRIMITIVES if wanted(line)]


def is_message(line: dict[str, Any]) -> bool:
    return line["type"].removeprefix("compact_") in TYPES


@pytest.mark.parametrize("line", parameters(lambda line: is_message(line) and "value" in line))
def test_values_are_written_and_read_as_kafka_does(line: dict[str, Any]) -> None:
    kind, version = type_and_version(line)
    data = bytes.fromhex(line["hex"]) + bytes(version)
    message: Any = kind(value_of(line))
    assert encode(message, version) == data
    decoded, end = decode(kind, version, data)
    assert (repr(decoded), end) == (repr(message), len(data))  # repr, for NaN is not equal to itself


@pytest.mark.parametrize("line", parameters(lambda line: is_message(line) and "error" in line))
def test_what_kafka_refuses_is_a_schema_error(line: dict[str, Any]) -> None:
    kind, version = type_and_version(line)
    with pytest.raises(SchemaError):
        decode(kind, version, bytes.fromhex(line["hex"]) + bytes(version))


@pytest.mark.parametrize("line", parameters(lambda line: is_message(line) and "reads" in line))
def test_odd_values_are_read_as_kafka_reads_them(line: dict[str, Any]) -> None:
    kind, version = type_and_version(line)
    decoded: Any = decode(kind, version, bytes.fromhex(line["hex"]) + bytes(version))[0]
    expected = {"null": None, "true": True}.get(line["reads"], line["reads"])
    assert decoded.value == expected


@pytest.mark.parametrize("line", parameters(lambda line: line["type"] in NUMBERS and "value" in line))
def test_variable_length_numbers_are_those_of_kafka(line: dict[str, Any]) -> None:
    read, write, size = NUMBERS[line["type"]]
    data, value = bytes.fromhex(line["hex"]), int(line["value"])
    if line["type"] == "uvarint":
        value &= 0xFFFFFFFF
    assert write(value) == data
    assert read(data, 0) == (value, len(data))
    assert size(value) == len(data)


@pytest.mark.parametrize("line", parameters(lambda line: line["type"] in NUMBERS and "value" not in line))
def test_odd_variable_length_numbers_are_read_or_refused_as_kafka_does(line: dict[str, Any]) -> None:
    read, _, _ = NUMBERS[line["type"]]
    if "error" in line:
        with pytest.raises(VarintError):
            read(bytes.fromhex(line["hex"]), 0)
    else:
        assert (read(bytes.fromhex(line["hex"]), 0)[0] - int(line["reads"])) % (1 << 32) == 0


@pytest.mark.parametrize("line", parameters(lambda line: line["type"] == "tags" and "value" in line))
def test_tag_sections_are_those_of_kafka(line: dict[str, Any]) -> None:
    message = Tags()
    for part in line["value"].strip("{}").split(", "):
        tag, _, content = part.partition(": ")
        match tag:
            case "0":
                message.first = content.removeprefix("compact_string ")
            case "1":
                message.second = int(content.removeprefix("int32 "))
            case "300":
                message.third = content.removeprefix("compact_string ")
    assert encode(message, COMPACT).hex() == line["hex"]
    assert decode(Tags, COMPACT, bytes.fromhex(line["hex"]))[0] == message


@pytest.mark.parametrize("line", parameters(lambda line: line["type"] == "tags" and "error" in line))
def test_duplicate_and_unordered_tags_are_refused(line: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="comes after tag"):
        decode(Tags, COMPACT, bytes.fromhex(line["hex"]))


@pytest.mark.parametrize("line", [line for line in PRIMITIVES if line["type"] == "uuid_text"], ids=lambda line: line["value"])
def test_texts_of_uuids_are_those_of_kafka(line: dict[str, Any]) -> None:
    if "error" in line:
        with pytest.raises(ValueError, match="uuid"):
            kafka_uuid.from_text(line["value"])
    else:
        assert kafka_uuid.from_text(line["value"]).hex() == line["hex"]
        assert kafka_uuid.to_text(bytes.fromhex(line["hex"])) == line["again"]
