"""Progress as a table: a line for each micro-batch as it ends, with what it read, what it made of that, and what is left to read."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

HEAD: Final = ("batch", "rows", "letters", "late", "results", "lag", "rows/s", "ms", "days closed until")
WIDTHS: Final = (5, 11, 11, 11, 11, 11, 11, 9, 19)


@dataclass(frozen=True, slots=True)
class Written:
    """What the sink made of a batch."""

    rows: int = 0
    letters: int = 0  # dead ones, those of late flights too
    late: int = 0
    results: int = 0
    closed_until: datetime | None = None


def heading() -> str:
    """The table's first line."""
    return _line(HEAD)


def row(batch: int, written: Written, *, lag: int | None, duration_ms: int) -> str:
    """A batch's line."""
    rate = written.rows * 1000 / duration_ms if duration_ms else 0
    closed = written.closed_until.strftime("%Y-%m-%d %H:%M") if written.closed_until else "-"
    counts = (written.rows, written.letters, written.late, written.results, lag, round(rate), duration_ms)
    return _line((str(batch), *("-" if count is None else f"{count:,}" for count in counts), closed))


class Table:
    """Prints the lines of batches that are done. The sink puts into `batches` what it has written; what was printed is taken out."""

    def __init__(self, batches: MutableMapping[int, Written], told: Callable[[str], None]) -> None:
        self._batches = batches
        self._told = told
        self._has_heading = False

    def show(self, batch: int, *, lag: int | None, duration_ms: int) -> None:
        """A batch of which Spark reports the end, perhaps again; the first one brings the heading."""
        written = self._batches.pop(batch, None)
        if written is None:
            return
        if not self._has_heading:
            self._told(heading())
            self._has_heading = True
        self._told(row(batch, written, lag=lag, duration_ms=duration_ms))


def _line(cells: tuple[str, ...]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))
