"""The golden data of the protocol, and messages in the JSON form of Kafka's own converters (camelCase names, bytes in base64, record sets as their size)."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pykafka_classic.common import kafka_uuid
from pykafka_classic.protocol import headers
from pykafka_classic.protocol.schema import FieldSchema, Message, Struct, WireType, fields_of

DATA = Path(__file__).parent / "data" / "protocol"
MODULES = "pykafka_classic.protocol.messages"


@cache
def lines(name: str) -> list[dict[str, Any]]:
    """The lines of one file."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def message_class(api: str, kind: str) -> type[Message]:
    """The class that a line names; `kind` is request, response, header or data."""
    module = headers if kind == "header" else import_module(f"{MODULES}.{snake(api)}")
    suffix = kind.title() if kind in ("request", "response") else ""
    found: type[Message] = getattr(module, api + suffix)
    return found


def snake(camel: str) -> str:
    """LeaderAndIsr to leader_and_isr."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", camel).lower()


def camel(name: str) -> str:
    """is_new to isNew."""
    first, *others = name.split("_")
    return first + "".join(part.title() for part in others)


def to_json(value: Struct, version: int) -> dict[str, Any]:
    """A struct as Kafka's converter writes it: fields of the version; tagged ones only if they are not the default."""
    result: dict[str, Any] = {}
    for field in fields_of(type(value)):
        content = getattr(value, field.name)
        if not field.is_wanted(version) or (field.tag is not None and is_default(field, content)):
            continue
        if field.wire_type is WireType.RECORDS and content is not None:
            result[f"{camel(field.name)}SizeInBytes"] = len(content)
        else:
            result[camel(field.name)] = value_to_json(field.wire_type, field.element, content, version)
    return result


def without_sizes(tree: Any) -> Any:
    """The other form of record sets in Kafka's JSON: an empty text, whatever they hold."""
    if isinstance(tree, list):
        return [without_sizes(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    return {name.removesuffix("SizeInBytes"): "" if name.endswith("SizeInBytes") else without_sizes(item) for name, item in tree.items()}


def is_default(field: FieldSchema, content: object) -> bool:
    """True where the value is the one that a reader supposes."""
    if field.wire_type is WireType.STRUCT:
        assert isinstance(field.element, type)
        return content == field.element()
    return content == ([] if field.default == () else field.default)


def value_to_json(wire_type: WireType, element: WireType | type[Struct] | None, content: Any, version: int) -> Any:
    """One value."""
    if content is None:
        return None
    if wire_type is WireType.ARRAY:
        assert element is not None
        if isinstance(element, WireType):
            return [value_to_json(element, None, item, version) for item in content]
        return [to_json(item, version) for item in content]
    if wire_type is WireType.STRUCT:
        return to_json(content, version)
    if wire_type is WireType.BYTES:
        return base64.b64encode(content).decode()
    return kafka_uuid.to_text(content) if wire_type is WireType.UUID else content


def from_json(kind: type[Struct], tree: dict[str, Any], version: int, records: Iterator[bytes]) -> Any:
    """The message that a JSON tree stands for; `records` gives the record sets in order."""
    arguments: dict[str, Any] = {}
    for field in fields_of(kind):
        name = camel(field.name)
        if f"{name}SizeInBytes" in tree:
            arguments[field.name] = next(records)
            assert len(arguments[field.name]) == tree[f"{name}SizeInBytes"]
        elif field.wire_type is WireType.RECORDS and name in tree:
            arguments[field.name] = None if tree[name] is None else next(records)
        elif name in tree:
            arguments[field.name] = value_from_json(field.wire_type, field.element, tree[name], version, records)
    return kind(**arguments)


def value_from_json(wire_type: WireType, element: WireType | type[Struct] | None, content: Any, version: int, records: Iterator[bytes]) -> Any:
    """One value."""
    if content is None:
        return None
    if wire_type is WireType.ARRAY:
        assert element is not None
        if isinstance(element, WireType):
            return [value_from_json(element, None, item, version, records) for item in content]
        return [from_json(element, item, version, records) for item in content]
    if wire_type is WireType.STRUCT:
        assert isinstance(element, type)
        return from_json(element, content, version, records)
    if wire_type is WireType.BYTES:
        return base64.b64decode(content)
    return kafka_uuid.from_text(content) if wire_type is WireType.UUID else content


def records_in(value: object) -> Iterator[bytes]:
    """The record sets inside a decoded message, in order."""
    if isinstance(value, list):
        for item in value:
            yield from records_in(item)
    elif isinstance(value, Struct):
        for field in fields_of(type(value)):
            yield from records_in(getattr(value, field.name))
    elif isinstance(value, memoryview):
        yield bytes(value)
