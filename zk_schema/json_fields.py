"""JSON as Kafka writes it into znodes, and typed access to what it reads there.

Kafka writes compact UTF-8 JSON with Jackson (core kafka/utils/Json.scala). The order of the keys comes from Scala's maps and means nothing to any reader; our
encoders use the order that Apache Kafka 2.8.2 was seen to write, so that equal values give equal bytes. Numbers are checked as Kafka checks them: an `int`
has 32 bits, a `long` 64; 1.0 and true are no integers. Keys that nobody asks for are ignored.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from zk_schema.errors import MalformedZNode

INT_MAX: Final = 2**31 - 1
LONG_MAX: Final = 2**63 - 1
DIGITS_MAX: Final = 20  # of a long in text, with its sign


def to_json(value: object) -> bytes:
    """Compact JSON in UTF-8. Half a surrogate pair, which UTF-8 cannot hold, becomes "?", as in Java."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def from_json(data: bytes | None, family: str) -> object:
    """Any JSON value; MalformedZNode where there is none."""
    if not data:
        raise MalformedZNode(family, "no data")
    try:
        value: object = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedZNode(family, f"not JSON ({error})") from error
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def decimal(data: bytes | None, family: str) -> int:
    """A long in decimal digits, with nothing around it: what some nodes hold instead of JSON."""
    if data is None:
        raise MalformedZNode(family, "no data")
    return _decimal(data.decode("utf-8", "replace"), family)


def text(data: bytes | None, family: str) -> str:
    """UTF-8 text that is not empty."""
    if not data:
        raise MalformedZNode(family, "no data")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedZNode(family, f"not UTF-8 ({error})") from error


def _decimal(digits: str, family: str) -> int:
    unsigned = digits[1:] if digits[:1] in ("-", "+") else digits
    if not (unsigned.isascii() and unsigned.isdigit() and len(digits) <= DIGITS_MAX and -LONG_MAX - 1 <= int(digits) <= LONG_MAX):
        raise MalformedZNode(family, f"{digits[:40]!r} is not a decimal number of 64 bits")
    return int(digits)


class JsonFields:
    """One JSON object, read key by key; every wrong or missing field raises MalformedZNode."""

    def __init__(self, value: object, family: str) -> None:
        self._family = family
        if not isinstance(value, dict):
            raise MalformedZNode(family, f"expected a JSON object, not {value!r:.80}")
        self._fields: dict[str, Any] = value

    @staticmethod
    def of(data: bytes | None, family: str) -> JsonFields:
        """The object that a znode's data is."""
        return JsonFields(from_json(data, family), family)

    def fail(self, why: str) -> NoReturn:
        """Refuse the whole node."""
        raise MalformedZNode(self._family, why)

    def has(self, key: str) -> bool:
        """True where the key is present and not null."""
        return self._fields.get(key) is not None

    def items(self) -> list[tuple[str, object]]:
        """All keys with their values, in the order stored."""
        return list(self._fields.items())

    def integer(self, key: str, default: int | None = None) -> int:
        """A 32-bit number."""
        return self._integer(key, INT_MAX, default)

    def long(self, key: str) -> int:
        """A 64-bit number."""
        return self._integer(key, LONG_MAX, None)

    def decimal(self, key: str, default: int | None = None) -> int:
        """A 64-bit number written as a string of digits."""
        if default is not None and not self.has(key):
            return default
        return _decimal(self.text(key), self._family)

    def text(self, key: str) -> str:
        """A string."""
        value = self._get(key)
        if not isinstance(value, str):
            self.fail(f"{key} should be a string, not {value!r:.80}")
        return value

    def optional_text(self, key: str) -> str | None:
        """A string, or None for null or no such key."""
        return self.text(key) if self.has(key) else None

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of 32-bit numbers."""
        values = self._list(key)
        for value in values:
            self._check_integer(key, value, INT_MAX)
        return tuple(values)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self._list(key)
        if not all(isinstance(value, str) for value in values):
            self.fail(f"{key} should be a list of strings")
        return tuple(values)

    def fields(self, key: str) -> JsonFields:
        """An object inside this one."""
        return JsonFields(self._get(key), self._family)

    def optional_fields(self, key: str) -> JsonFields:
        """An object inside this one; null or no such key is the empty object."""
        return self.fields(key) if self.has(key) else JsonFields({}, self._family)

    def objects(self, key: str) -> list[JsonFields]:
        """A list of objects."""
        return [JsonFields(value, self._family) for value in self._list(key)]

    def text_map(self) -> dict[str, str]:
        """This whole object as a map from string to string."""
        return {key: self.text(key) for key in self._fields}

    def integer_map(self) -> dict[str, int]:
        """This whole object as a map from string to 32-bit number."""
        return {key: self.integer(key) for key in self._fields}

    def _get(self, key: str) -> Any:
        if key not in self._fields:
            self.fail(f"no {key}")
        return self._fields[key]

    def _list(self, key: str) -> list[Any]:
        value = self._get(key)
        if not isinstance(value, list):
            self.fail(f"{key} should be a list, not {value!r:.80}")
        return value

    def _integer(self, key: str, limit: int, default: int | None) -> int:
        if default is not None and not self.has(key):
            return default
        return self._check_integer(key, self._get(key), limit)

    def _check_integer(self, key: str, value: object, limit: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not -limit - 1 <= value <= limit:
            self.fail(f"{key} should be an integer of {limit.bit_length() + 1} bits, not {value!r:.80}")
        return value
