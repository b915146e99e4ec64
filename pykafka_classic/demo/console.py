"""How the demo speaks: headings, lines with a time, a progress bar that redraws itself on a terminal and is told in steps elsewhere."""

from __future__ import annotations

import sys
import textwrap
import time
from typing import Final

WIDTH: Final = 100
BAR: Final = 40
STEPS_WITHOUT_TERMINAL: Final = 4


def heading(text: str) -> None:
    """The title of a chapter."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def say(text: str) -> None:
    """A paragraph, wrapped."""
    print(textwrap.fill(text, WIDTH), flush=True)


def line(text: str) -> None:
    """One line as it is."""
    print(text, flush=True)


def clock_time(time_ms: float) -> str:
    """Local time of day with milliseconds, as in the brokers' logs."""
    return time.strftime("%H:%M:%S", time.localtime(time_ms / 1000)) + f".{int(time_ms) % 1000:03d}"


class ProgressBar:
    """`[#####.....] 168,388 of 336,776 acknowledged, 98,000/s`. The rate is that of the last half second."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._drawn = time.monotonic()  # when it was drawn last
        self._since = (time.monotonic(), 0)  # where the rate is measured from
        self._rate = 0.0
        self._step = 0
        self._on_terminal = sys.stdout.isatty()

    def show(self, count: int, *, last: bool = False) -> None:
        """Draw, at most ten times a second."""
        now = time.monotonic()
        if now - self._drawn < 0.1 and not last:
            return
        self._drawn = now
        self._measure(now, count)
        if self._on_terminal:
            print(f"\r\x1b[K{self._text(count)}", end="\n" if last else "", flush=True)
        elif count * STEPS_WITHOUT_TERMINAL // self._total > self._step:
            self._step = count * STEPS_WITHOUT_TERMINAL // self._total
            print(self._text(count), flush=True)

    def interrupt(self, text: str) -> None:
        """Say something while the bar is being drawn; the bar goes on below it."""
        print(f"\r\x1b[K{text}" if self._on_terminal else text, flush=True)

    def _measure(self, now: float, count: int) -> None:
        since, counted = self._since
        if now - since >= 0.5 or not self._rate:
            self._rate = (count - counted) / (now - since)
            self._since = (now, count)

    def _text(self, count: int) -> str:
        filled = BAR * count // self._total
        return f"  [{'#' * filled}{'.' * (BAR - filled)}] {count:,} of {self._total:,} {self._what}, {self._rate:,.0f}/s"
