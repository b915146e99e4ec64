"""Values as JSON, and their types as JSON schema, so that the API's description cannot say something else than the API does. Pure.

A frozen dataclass (or named tuple) is an object, a tuple an array, an enum its name in lower case, bytes their text where they are UTF-8, else
`base64:` and their base64.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final

_PLAIN: Final[Mapping[type, Mapping[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    type(None): {"type": "null"},
}


def encoded(value: Any) -> bytes:
    """Its JSON."""
    return json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False).encode()


def jsonable(value: Any) -> Any:
    """What json.dumps takes."""
    if isinstance(value, Enum):
        return value.name.lower()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, bytes):
        return text_of(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: jsonable(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: jsonable(each) for name, each in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): jsonable(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [jsonable(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def text_of(data: bytes) -> str:
    """Bytes as a string."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()


def schema_of(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; those of dataclasses go to `found` by their names, and are referred to."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if kind is Any:
        return {}
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [schema_of(each, found) for each in arguments]}
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": schema_of(arguments[0], found)}
    if origin is tuple:
        kinds = [schema_of(each, found) for each in dict.fromkeys(arguments)]  # not prefixItems, which many tools cannot read yet
        return {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}, "minItems": len(arguments), "maxItems": len(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], found)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [each.name.lower() for each in kind]}
    return _object(kind, found)


def _object(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in found:
        found[name] = {}
        hints = typing.get_type_hints(kind)
        names = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else list(kind._fields)
        found[name] = {
            "type": "object",
            "description": " ".join((kind.__doc__ or "").split()),
            "properties": {each: schema_of(hints[each], found) for each in names},
            "required": names,
            "additionalProperties": False,
        }
    return {"$ref": f"#/components/schemas/{name}"}
