"""What lies in a record, as people read it: text, JSON, or bytes in hex. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.client.fetched_records import ConsumerRecord

FORMATS: Final = ("auto", "text", "json", "hex")
SHOWN_MAX: Final = 20_000  # bytes of one value on a page
HEX_MAX: Final = 2_048
BYTES_A_LINE: Final = 16
JSON_LINE: Final = 90


@dataclass(frozen=True, slots=True)
class Shown:
    """`form`: text, json, hex, empty, none. `cut`: bytes that are not shown."""

    form: str
    text: str
    size: int
    cut: int = 0


@dataclass(frozen=True, slots=True)
class ShownRecord:
    """A record on a page."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: str
    key: Shown
    value: Shown
    headers: tuple[tuple[str, Shown], ...]
    leader_epoch: int


def shown_record(record: ConsumerRecord, form: str) -> ShownRecord:
    """A record with its value in this format; its key and headers as they are best read."""
    return ShownRecord(
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.timestamp_type.name.lower(),
        shown(record.key),
        shown(record.value, form),
        tuple((name, shown(value)) for name, value in record.headers),
        record.leader_epoch,
    )


def shown(data: bytes | None, form: str = "auto") -> Shown:
    """`auto`: JSON where it is an object or an array, else text where it is text, else hex."""
    if data is None:
        return Shown("none", "", 0)
    if not data:
        return Shown("empty", "", 0)
    if form in ("auto", "json"):
        pretty = _pretty(data, any_value=form == "json")
        if pretty is not None:
            return _cut("json", pretty, len(data))
    if form in ("auto", "text", "json"):
        text = data.decode("utf-8", "replace" if form == "text" else "strict") if form == "text" or _is_text(data) else None
        if text is not None:
            return _cut("text", text, len(data))
    return Shown("hex", hex_dump(data[:HEX_MAX]), len(data), max(0, len(data) - HEX_MAX))


def hex_dump(data: bytes) -> str:
    """Offset, bytes, and what of them is ASCII."""
    lines = []
    for start in range(0, len(data), BYTES_A_LINE):
        part = data[start : start + BYTES_A_LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{start:06x}  {part.hex(' '):<{BYTES_A_LINE * 3}} {letters}")
    return "\n".join(lines)


def fits(record: ConsumerRecord, wanted: str) -> bool:
    """True where the text stands in the key, the value, or a header; large and small letters are the same."""
    if not wanted:
        return True
    needle = wanted.lower()
    parts: Sequence[bytes | None] = (record.key, record.value, *(part for name, value in record.headers for part in (name.encode(), value)))
    return any(needle in part.decode("utf-8", "replace").lower() for part in parts if part is not None)


def _pretty(data: bytes, *, any_value: bool) -> str | None:
    if not any_value and data[:1] not in (b"{", b"["):
        return None
    try:
        return _laid_out(json.loads(data), 0)
    except (ValueError, RecursionError):
        return None


def _laid_out(value: Any, depth: int) -> str:
    """JSON on one line where it fits, else a line for each part of it."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + 2 * depth <= JSON_LINE or not value or not isinstance(value, (dict, list)):
        return line
    inside, outside = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        parts = [f"{inside}{json.dumps(name, ensure_ascii=False)}: {_laid_out(each, depth + 1)}" for name, each in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{outside}}}"
    return "[\n" + ",\n".join(f"{inside}{_laid_out(each, depth + 1)}" for each in value) + f"\n{outside}]"


def _is_text(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(each.isprintable() or each in "\n\r\t" for each in text[:SHOWN_MAX])


def _cut(form: str, text: str, size: int) -> Shown:
    return Shown(form, text[:SHOWN_MAX], size, max(0, len(text) - SHOWN_MAX))
