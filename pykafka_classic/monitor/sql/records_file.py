"""Records on their way into DuckDB: files, which it reads much faster than rows one by one, and which need no memory.

`records-N.json` has a line of JSON for each record. `values-N.csv` has the values of a topic whose values are themselves lines of CSV: number, then the value
as it is.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Final, TextIO

from pykafka_classic.client.fetched_records import ConsumerRecord

LOOKED_AT: Final = 200  # values by which the format is found out


class ValueFormat(Enum):
    """What values are."""

    JSON = "json"
    CSV = "csv"
    TEXT = "text"


def format_of(values: Iterable[bytes | None]) -> ValueFormat:
    """By some values: JSON objects; lines with the same number of commas, one at least; else text."""
    commas: set[int] = set()
    are_objects, seen = True, False
    for value in values:
        if value is None:
            continue
        seen = True
        are_objects = are_objects and _is_object(value)
        commas.add(len(next(csv.reader([value.decode("utf-8", "replace")]), [])) - 1 if b"\n" not in value else 0)
    if seen and are_objects:
        return ValueFormat.JSON
    return ValueFormat.CSV if len(commas) == 1 and commas != {0} else ValueFormat.TEXT


def _is_object(value: bytes) -> bool:
    try:
        return isinstance(json.loads(value), dict)
    except ValueError:
        return False


class RecordsFile:
    """The files of one topic in a folder; `close` when all is in them.

    Attributes: count, size: how many records, and bytes of keys and values; format: of the values, from the first records on; longest: line of the
    file, in characters, which are ASCII.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.path = folder / f"records-{number}.json"
        self.values_path = folder / f"values-{number}.csv"
        self.count = 0
        self.size = 0
        self.longest = 0
        self._first: list[ConsumerRecord] = []
        self.format: ValueFormat | None = None
        self._records = self.path.open("w", encoding="utf-8", newline="")
        self._values: TextIO = self.values_path.open("w", encoding="utf-8", newline="")

    def add(self, records: Iterable[ConsumerRecord]) -> None:
        """Write these behind the others."""
        if self.format is None:
            self._first += records
            if len(self._first) < LOOKED_AT:
                return
            self._decide()
            return
        self._write(records)

    def close(self) -> None:
        """All is there."""
        if self.format is None:
            self._decide()
        self._records.close()
        self._values.close()

    def _decide(self) -> None:
        self.format = format_of(record.value for record in self._first[:LOOKED_AT])
        first, self._first = self._first, []
        self._write(first)

    def _write(self, records: Iterable[ConsumerRecord]) -> None:
        lines = []
        for record in records:
            key, value = _text(record.key), _text(record.value)
            row = {"n": self.count, "_partition": record.partition, "_offset": record.offset, "ms": record.timestamp, "_key": key, "_value": value}
            lines.append(json.dumps(row) + "\n")
            self.size += len(record.key or b"") + len(record.value or b"")
            if self.format is ValueFormat.CSV:
                self._write_value(self.count, value)
            self.count += 1
        self.longest = max(self.longest, *map(len, lines)) if lines else self.longest
        self._records.writelines(lines)

    def _write_value(self, number: int, value: str | None) -> None:
        if value is None or "\n" in value or "\r" in value:
            return
        self._values.write(f"{number},{value}\n")


def _text(data: bytes | None) -> str | None:
    """As text; NUL, which DuckDB's CSV does not take, is escaped as other bytes are that are none."""
    return None if data is None else data.decode("utf-8", "backslashreplace").replace("\0", "\\x00")
