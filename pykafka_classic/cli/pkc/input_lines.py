"""From lines to records: plain, with a key before a separator, hexadecimal, or JSON as `pkc consume --json` prints it. Pure.

A plain line is a value; the newline does not belong to it. JSON: `key`, `value` (text, null, or `{"hex": "00ff"}`; a number, list or other object is sent as
JSON text), `headers` (pairs, or an object), `timestamp` (ms), all optional but the value; `topic` and `offset` are passed over, for where a record goes is
decided here; `partition` counts where `same_partition` is set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.cli.pkc.record_format import HEX
from pykafka_classic.cli.pkc.tables import as_json

SHOWN: Final = 60  # characters of a line that is refused


class BadLine(ValueError):
    """A line is no record; the text says why."""


@dataclass(frozen=True, slots=True)
class NewRecord:
    """What is to be written. `timestamp_ms`, `partition`: None where the producer decides."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class LineFormat:
    """How lines are read.

    Attributes:
        json: each line is an object.
        hexadecimal: keys and values are hexadecimal digits.
        separator: what stands between key and value; None: a line is a value.
        key: of all records that have none of their own.
        null: the value that means that there is none (a tombstone); None: there is no such.
        headers: added to all records.
        same_partition: an object's `partition` counts.
    """

    json: bool = False
    hexadecimal: bool = False
    separator: str | None = None
    key: str | None = None
    null: str | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    same_partition: bool = False

    def reader(self) -> Callable[[str], NewRecord]:
        """What makes a record of a line. It raises BadLine."""
        return self._from_json if self.json else self._from_text

    def _from_text(self, line: str) -> NewRecord:
        key, text = self.key, line
        if self.separator is not None:
            before, found, text = line.partition(self.separator)
            if not found:
                raise BadLine(f"no {self.separator!r} after the key in {shown(line)}")
            key = before
        return NewRecord(self._bytes(text), None if key is None else self._bytes(key, may_be_null=False), self.headers)

    def _bytes(self, text: str, *, may_be_null: bool = True) -> bytes | None:
        if may_be_null and self.null is not None and text == self.null:
            return None
        return from_hex(text) if self.hexadecimal else text.encode("utf-8", "surrogateescape")

    def _from_json(self, line: str) -> NewRecord:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise BadLine(f"no JSON: {shown(line)}") from None
        if not isinstance(found, dict) or "value" not in found:
            raise BadLine(f"no JSON object with a value: {shown(line)}")
        key = found.get("key")
        default_key = None if self.key is None else self._bytes(self.key, may_be_null=False)
        return NewRecord(
            bytes_of(found["value"]),
            default_key if key is None else bytes_of(key),
            (*_headers(found.get("headers")), *self.headers),
            _number(found, "timestamp"),
            _number(found, "partition") if self.same_partition else None,
        )


def bytes_of(value: Any) -> bytes | None:
    """What stands in JSON for bytes. BadLine."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict) and set(value) == {HEX} and isinstance(value[HEX], str):
        return from_hex(value[HEX])
    return as_json(value).encode()


def from_hex(text: str) -> bytes:
    """Bytes of hexadecimal digits; blanks between them do not count. BadLine."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadLine(f"no hexadecimal digits: {shown(text)}") from None


def parse_header(text: str) -> tuple[str, bytes | None]:
    """`name=value`; a name alone has no value. BadLine where there is no name."""
    name, equals, value = text.partition("=")
    if not name:
        raise BadLine(f"{text!r} is no header: NAME=VALUE is wanted")
    return name, value.encode("utf-8", "surrogateescape") if equals else None


def shown(line: str) -> str:
    """A line as an error shows it."""
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]}...")


def _headers(given: Any) -> Sequence[tuple[str, bytes | None]]:
    pairs = list(given.items()) if isinstance(given, dict) else given or []
    if not isinstance(pairs, list) or not all(isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs):
        raise BadLine(f"headers are pairs of name and value, not {shown(str(given))}")
    return [(name, bytes_of(value)) for name, value in pairs]


def _number(found: dict[str, Any], name: str) -> int | None:
    value = found.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadLine(f"{name} is {shown(str(value))}, not a whole number")
    return value
