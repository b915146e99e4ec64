"""A progress bar on stderr, where somebody looks at it; else nothing. At the end it is gone: what stays on the screen is what was asked for."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Self

import click

from pykafka_classic.cli.command import Console

BAR_COLUMNS: Final = 36
BESIDE_COLUMNS: Final = 26  # what stands beside a bar: brackets, per cent, and how long it takes yet
DEFAULT_COLUMNS: Final = 80  # where a terminal does not say how many it has
STEPS: Final = 200
GONE: Final = "\x1b[1A\r\x1b[2K"  # the bar ends with a line feed: up again, and clear that line


class Progress:
    """How far something has come. `total`: None or 0 where nobody knows. `quiet`: no bar, whoever looks: it would stand among what is printed."""

    def __init__(self, console: Console, total: int | None, what: str, *, quiet: bool) -> None:
        self._console = console
        self._bar: AbstractContextManager[Any] | None = None
        self._entered: Any = None
        if total and console.errors.isatty() and not quiet:
            columns = os.get_terminal_size(console.errors.fileno()).columns or DEFAULT_COLUMNS
            width = max(1, min(BAR_COLUMNS, columns - len(what) - BESIDE_COLUMNS))  # a bar that is longer than a line could not be drawn over
            self._bar = click.progressbar(length=total, label=what, width=width, file=console.errors, update_min_steps=max(1, total // STEPS))

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._entered = self._bar.__enter__()
        return self

    def advance(self, count: int) -> None:
        """So many more."""
        if self._entered is not None:
            self._entered.update(count)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)
            self._console.errors.write(GONE)
            self._console.errors.flush()
