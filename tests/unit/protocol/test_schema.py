"""The schema side of message classes."""

from __future__ import annotations

import pkgutil
import struct
import types
import typing
from importlib import import_module
from typing import Any

import pytest

from pykafka_classic.protocol import messages
from pykafka_classic.protocol.messages.fetch import EpochEndOffset, FetchablePartitionResponse, FetchRequest
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest
from pykafka_classic.protocol.schema import FIXED_SIZES, LATEST, NO_VERSIONS, FieldSchema, Message, Records, Struct, Versions, WireType, fields_of

MODULES = [module.name for module in pkgutil.iter_modules(messages.__path__)]
PYTHON_TYPES: dict[WireType, Any] = {
    WireType.BOOLEAN: bool,
    WireType.FLOAT64: float,
    WireType.UUID: bytes,
    WireType.STRING: str,
    WireType.BYTES: bytes,
    WireType.RECORDS: Records,
}


def classes_of(module: str) -> list[type[Struct]]:
    members = vars(import_module(f"{messages.__name__}.{module}")).values()
    return [member for member in members if isinstance(member, type) and issubclass(member, Struct) and member not in (Struct, Message)]


def python_type(field: FieldSchema) -> Any:
    if field.wire_type is WireType.ARRAY:
        assert field.element is not None
        element = PYTHON_TYPES.get(field.element, int) if isinstance(field.element, WireType) else field.element
        result: Any = types.GenericAlias(list, (element,))
    else:
        result = field.element if field.wire_type is WireType.STRUCT else PYTHON_TYPES.get(field.wire_type, int)
    is_optional = field.nullable != NO_VERSIONS or field.wire_type is WireType.RECORDS
    return result | None if is_optional else result


@pytest.mark.parametrize("module", MODULES)
def test_annotations_agree_with_wire_types(module: str) -> None:
    for kind in classes_of(module):
        hints = typing.get_type_hints(kind)
        for field in fields_of(kind):
            assert hints[field.name] == python_type(field), f"{kind.__name__}.{field.name}"


@pytest.mark.parametrize("module", MODULES)
def test_defaults_agree_with_the_schema(module: str) -> None:
    for kind in classes_of(module):
        message = kind()
        for field in fields_of(kind):
            if field.wire_type is not WireType.STRUCT:
                expected = [] if field.default == () else field.default
                assert getattr(message, field.name) == expected, f"{kind.__name__}.{field.name}"


@pytest.mark.parametrize("module", MODULES)
def test_tags_are_flexible_and_differ(module: str) -> None:
    for kind in classes_of(module):
        tags = [field.tag for field in fields_of(kind) if field.tag is not None]
        assert tags == sorted(set(tags)), kind.__name__


def test_versions_are_parsed_in_kafkas_notation() -> None:
    assert Versions.parse("3+") == Versions(3, LATEST)
    assert Versions.parse("0-2") == Versions(0, 2)
    assert Versions.parse("7") == Versions(7, 7)
    assert Versions.parse("none") == NO_VERSIONS


def test_versions_print_as_kafka_writes_them() -> None:
    assert [str(Versions.parse(text)) for text in ("3+", "0-2", "none")] == ["3+", "0-2", "none"]


def test_no_version_is_in_an_empty_range() -> None:
    assert all(version not in NO_VERSIONS for version in (-1, 0, 1, LATEST))


def test_lists_are_not_shared_between_messages() -> None:
    FetchRequest().topics.append(FetchRequest().topics)  # type: ignore[arg-type]
    assert FetchRequest().topics == []


def test_struct_fields_are_not_shared_between_messages() -> None:
    FetchablePartitionResponse().diverging_epoch.epoch = 7
    assert FetchablePartitionResponse().diverging_epoch == EpochEndOffset(-1, -1)


def test_messages_take_no_attributes_outside_the_schema() -> None:
    with pytest.raises(AttributeError):
        ProduceRequest().required_acks = 1  # type: ignore[attr-defined]


def test_message_class_knows_its_api_and_versions() -> None:
    assert (ProduceRequest.API_KEY, ProduceRequest.VALID_VERSIONS, ProduceRequest.FLEXIBLE_VERSIONS) == (0, (0, 9), (9, LATEST))


def test_field_schema_tells_versions_and_nullability() -> None:
    transactional_id = fields_of(ProduceRequest)[0]
    assert (transactional_id.name, transactional_id.versions, transactional_id.nullable) == ("transactional_id", (3, LATEST), (3, LATEST))
    assert [field.wire_type for field in fields_of(PartitionProduceData)] == [WireType.INT32, WireType.RECORDS]


def test_fixed_sizes_are_those_of_the_struct_formats() -> None:
    assert {kind: struct.calcsize(f">{kind.value}") for kind in FIXED_SIZES} == FIXED_SIZES
