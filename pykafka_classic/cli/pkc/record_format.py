r"""How a record is printed: a format of letters, JSON, or the value alone. Pure.

| | |
|---|---|
| `%t` `%p` `%o` | topic, partition, offset |
| `%k` `%v` | key, value (`%s` is `%v`, as in kcat) |
| `%K` `%S` | their lengths in bytes, -1: there is none |
| `%h` | headers, `name=value,name=value` |
| `%T` `%D` | timestamp in ms since the epoch (-1: none); the same as `2023-11-14T22:13:20.000Z` |
| `%%` | a percent sign |
| `\n` `\t` `\r` `\0` `\\` `\x1f` | characters |
| `\c` at the end | nothing: no newline |

A newline ends every record, unless the format ends in an escape of its own. Bytes that are no UTF-8 go through as they are (surrogateescape); with `hex` keys,
values and header values are hexadecimal. In JSON, bytes that are no UTF-8, or all with `hex`, are `{"hex": "00ff"}`: so `consume --json | produce --json`
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pykafka_classic.cli.pkc.tables import as_json
from pykafka_classic.client.fetched_records import ConsumerRecord

Renderer = Callable[[ConsumerRecord], str]

VALUE_ONLY: Final = "%v"
HEX: Final = "hex"
_PIECE: Final = re.compile(r"%(.?)|\\(x[0-9A-Fa-f]{2}|.?)", re.DOTALL)
_CHARACTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
_NO_TIME: Final = -1
_LAST_MS: Final = 253_402_300_799_999  # of the year 9999


class BadFormat(ValueError):
    """The format means nothing; the text says why."""


@dataclass(frozen=True, slots=True)
class Texts:
    """How bytes become text: as hexadecimal digits or as they are; `null`: what stands for a key or value that is not there."""

    hexadecimal: bool = False
    null: str = ""

    def of(self, data: bytes | None) -> str:
        """A key, a value, or a header's value."""
        if data is None:
            return self.null
        return data.hex() if self.hexadecimal else data.decode("utf-8", "surrogateescape")


def renderer(text: str, texts: Texts) -> Renderer:
    """What prints a record in this format. BadFormat."""
    pieces, ends_itself = _pieces(text, texts)
    if not ends_itself:
        pieces.append("\n")

    def render(record: ConsumerRecord) -> str:
        return "".join([piece if isinstance(piece, str) else piece(record) for piece in pieces])

    return render


def _pieces(text: str, texts: Texts) -> tuple[list[str | Renderer], bool]:
    """Texts and what is to be filled in; and whether an escape stands at the end."""
    fields = _fields(texts)
    pieces: list[str | Renderer] = []
    position, escape_end = 0, -1
    for found in _PIECE.finditer(text):
        pieces.append(text[position : found.start()])
        position = found.end()
        letter, escape = found.groups()
        if letter is None:
            pieces.append(_character(escape, at_end=position == len(text)))
            escape_end = position
        elif letter == "%":
            pieces.append("%")
        elif letter in fields:
            pieces.append(fields[letter])
        else:
            raise BadFormat(f"%{letter} means nothing in a format; there are {' '.join(f'%{each}' for each in fields)} and %%")
    pieces.append(text[position:])
    return [piece for piece in pieces if piece], bool(text) and escape_end == len(text)


def _character(escape: str, *, at_end: bool) -> str:
    if escape in _CHARACTERS:
        return _CHARACTERS[escape]
    if escape == "c" and at_end:
        return ""
    if len(escape) == 3:
        return bytes.fromhex(escape[1:]).decode("utf-8", "surrogateescape")
    raise BadFormat(f"\\{escape} means nothing in a format; there are \\n \\t \\r \\0 \\\\ \\xHH, and \\c at the end")


def _fields(texts: Texts) -> dict[str, Renderer]:
    return {
        "t": lambda record: record.topic,
        "p": lambda record: str(record.partition),
        "o": lambda record: str(record.offset),
        "k": lambda record: texts.of(record.key),
        "v": lambda record: texts.of(record.value),
        "s": lambda record: texts.of(record.value),
        "K": lambda record: _length(record.key),
        "S": lambda record: _length(record.value),
        "h": lambda record: ",".join(f"{name}={texts.of(value)}" for name, value in record.headers),
        "T": lambda record: str(record.timestamp),
        "D": lambda record: iso_time(record.timestamp),
    }


def _length(data: bytes | None) -> str:
    return "-1" if data is None else str(len(data))


def iso_time(timestamp_ms: int) -> str:
    """`2023-11-14T22:13:20.000Z`; the number itself where it is no time, or one beyond the year 9999."""
    if not 0 <= timestamp_ms <= _LAST_MS:
        return str(timestamp_ms)
    moment = datetime.fromtimestamp(timestamp_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp_ms % 1000:03d}Z"


def json_renderer(texts: Texts) -> Renderer:
    """A record as a JSON object and a newline."""

    def render(record: ConsumerRecord) -> str:
        return as_json(record_as_json(record, hexadecimal=texts.hexadecimal)) + "\n"

    return render


def record_as_json(record: ConsumerRecord, *, hexadecimal: bool = False) -> dict[str, Any]:
    """A record as an object; `timestamp` in ms since the epoch, null: none."""
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": None if record.timestamp == _NO_TIME else record.timestamp,
        "key": _bytes_as_json(record.key, hexadecimal),
        "value": _bytes_as_json(record.value, hexadecimal),
        "headers": [[name, _bytes_as_json(value, hexadecimal)] for name, value in record.headers],
    }


def _bytes_as_json(data: bytes | None, hexadecimal: bool) -> Any:
    if data is None:
        return None
    if hexadecimal:
        return {HEX: data.hex()}
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {HEX: data.hex()}
