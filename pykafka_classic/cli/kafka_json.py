"""JSON files of the command line, read as Kafka's tools read them: what is wrong with one is told in Kafka's words.

An object, then whatever stands behind it; numbers are what they are written as (1.0 and "1" are no Int). A text that cannot be parsed is told of by
the parser, in its own words. No I/O.

Source: 2.8 kafka/utils/json (JsonValue, JsonObject, DecodeJson), kafka/utils/Json.scala.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

_NUMBERS: Final = {"Int": range(-(2**31), 2**31), "Long": range(-(2**63), 2**63)}


class WrongJson(Exception):
    """Not what was expected; the text is Kafka's."""


def parse_object(text: str) -> Mapping[str, Any]:
    """The object that a text begins with. Raises ValueError where the text is no JSON, WrongJson where it is something else."""
    if not text:
        raise ValueError("there is nothing in it")
    if text.isspace():
        raise WrongJson("Expected JSON object, received ")
    stored, _ = json.JSONDecoder(parse_constant=_refuse).raw_decode(text.lstrip(" \t\r\n"))
    return as_object(stored)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def field(row: Mapping[str, Any], name: str) -> Any:
    """A field that must be there."""
    if name not in row:
        raise WrongJson(f"No such field exists: `{name}`")
    return row[name]


def as_object(value: object) -> Mapping[str, Any]:
    """An object."""
    if isinstance(value, dict):
        return value
    raise _unexpected("JSON object", value)


def as_array(value: object) -> Sequence[Any]:
    """An array."""
    if isinstance(value, list):
        return value
    raise _unexpected("JSON array", value)


def as_text(value: object) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise _unexpected("`String` value", value)


def as_number(value: object, kind: str = "Int") -> int:
    """A number; `kind` Int or Long says how big."""
    if isinstance(value, int) and not isinstance(value, bool) and value in _NUMBERS[kind]:
        return value
    raise _unexpected(f"`{kind}` value", value)


def _unexpected(kind: str, value: object) -> WrongJson:
    return WrongJson(f"Expected {kind}, received {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}")
