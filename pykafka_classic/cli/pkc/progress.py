"""A progress bar on stderr, where somebody looks at it; else nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

import click

from pykafka_classic.cli.command import Console


class Progress:
    """How far something has come. `total`: None or 0 where nobody knows. `quiet`: no bar, whoever looks: it would stand among what is printed."""

    def __init__(self, console: Console, total: int | None, what: str, *, quiet: bool) -> None:
        wanted = bool(total) and console.errors.isatty() and not quiet
        self._bar: AbstractContextManager[Any] | None = (
            click.progressbar(length=total or 0, label=what, file=console.errors, update_min_steps=max(1, (total or 0) // 200)) if wanted else None
        )
        self._entered: Any = None

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
