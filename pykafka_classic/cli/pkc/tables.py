"""What the commands print: rows as an aligned table, or as JSON lines. Pure, but for `Screen`, which knows whether somebody looks at it.

A row is a JSON object; a column shows one of its fields. So `--json` has all that the table has, and under the same names.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from pykafka_classic.cli.command import Console
from pykafka_classic.common.zookeeper import SessionEvent, ZooKeeper

Row = Mapping[str, Any]

NOTHING: Final = "-"
GAP: Final = "  "
CLUSTER_LOG: Final = "kafka.clients.Metadata"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: heading (the field's name, if it has none of its own), how a value is written, and when it is alarming."""

    field: str
    heading: str | None = None
    write: Callable[[Any], str] | None = None
    alarms: Callable[[Row], bool] | None = None

    @property
    def title(self) -> str:
        """What stands above."""
        return (self.heading or self.field.replace("_", " ")).upper()

    def text(self, row: Row) -> str:
        """One cell."""
        value = row.get(self.field)
        if value is None or value in ("", []):
            return NOTHING
        if self.write is not None:
            return self.write(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def table(columns: Sequence[Column], rows: Sequence[Row], paint: Callable[..., str] | None = None) -> list[str]:
    """Aligned lines, a heading above; numbers to the right. `paint(text, **style)` colours cells after they were measured."""
    cells = [[column.text(row) for column in columns] for row in rows]
    widths = [max(len(column.title), *(len(line[index]) for line in cells)) if cells else len(column.title) for index, column in enumerate(columns)]
    right = [bool(rows) and all(_is_number(row.get(column.field)) for row in rows) for column in columns]
    lines = [_joined([_padded(column.title, widths[index], right[index]) for index, column in enumerate(columns)], paint, bold=True)]
    for row, line in zip(rows, cells, strict=True):
        padded = [_padded(text, widths[index], right[index]) for index, text in enumerate(line)]
        if paint is not None:
            padded = [paint(text, fg="red") if column.alarms and column.alarms(row) else text for column, text in zip(columns, padded, strict=True)]
        lines.append(GAP.join(padded).rstrip())
    return lines


def _is_number(value: Any) -> bool:
    """Or nothing, which may stand among numbers."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _padded(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _joined(texts: Sequence[str], paint: Callable[..., str] | None, **style: Any) -> str:
    line = GAP.join(texts).rstrip()
    return line if paint is None else paint(line, **style)


def as_json(row: Any) -> str:
    """One line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def duration(ms: int) -> str:
    """`350 ms`, `12 s`, `3 min 5 s`, `2 h 5 min`, `3 d 4 h`: two units at most."""
    if ms < 1_000:
        return f"{ms} ms"
    seconds = ms // 1_000
    for unit, size, smaller, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"


class Screen:
    """Where a command prints, with colours if it is a terminal and $NO_COLOR is not set."""

    def __init__(self, console: Console, *, as_json: bool = False) -> None:
        self.console = console
        self.as_json = as_json
        self.is_terminal = console.output.isatty()
        self.coloured = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def paint(self, text: str, **style: Any) -> str:
        """The text, coloured where that is wanted."""
        return click.style(text, **style) if self.coloured else text

    def show(self, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        """All rows, as they are wanted."""
        self.say_all(map(as_json, rows) if self.as_json else table(columns, rows, self.paint if self.coloured else None))

    def say_all(self, lines: Iterable[str]) -> None:
        """Lines, at once in sight."""
        self.console.output.writelines(f"{line}\n" for line in lines)
        self.console.output.flush()

    def clear(self) -> None:
        """An empty screen, where there is one."""
        if self.is_terminal:
            self.console.output.write("\x1b[H\x1b[2J")

    def note(self, text: str) -> None:
        """Beside the result: on stderr."""
        self.console.complain(text)


class Connection:
    """Tells, once each time, that ZooKeeper is lost and that it is there again: also while an answer is waited for."""

    def __init__(self, screen: Screen, session: ZooKeeper) -> None:
        self._screen = screen
        self._stands = True
        session.add_session_listener(self._changed)

    def _changed(self, event: SessionEvent) -> None:
        stands = event in (SessionEvent.CONNECTED, SessionEvent.RENEWED)
        if stands != self._stands:
            self._stands = stands
            self._screen.note("The connection to ZooKeeper stands again." if stands else "The connection to ZooKeeper is lost; it is tried again and again.")


def tell_of_brokers(console: Console) -> None:
    """From now on the user hears of it when no broker can be reached, and when one answers again."""
    log = logging.getLogger(CLUSTER_LOG)
    handler = logging.StreamHandler(console.errors)
    handler.setFormatter(logging.Formatter("%(message)s."))
    log.handlers = [handler]  # of this run alone
