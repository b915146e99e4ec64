"""Since when a group is behind: the time at which the offset that it has committed was the end of the log. Pure.

Of each partition the ends of its log are remembered with the times at which they were first and last seen. A committed offset lies between two of them: the
record at that offset was written between the last sight of the one and the first sight of the other, which is told by a straight line between the two.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

POINTS_MAX: Final = 160  # of a partition; then every second of the older half is forgotten


@dataclass(frozen=True, slots=True)
class BehindSince:
    """A time; `exact` False: it was then, or before."""

    t_ms: int
    exact: bool


class EndOffsets:
    """The ends of one partition's log over time.

    Invariant: ends grow strictly; first_ms <= last_ms of a point; last_ms of a point < first_ms of the next.
    """

    __slots__ = ("_ends", "_first_ms", "_last_ms")

    def __init__(self) -> None:
        self._ends = array("q")
        self._first_ms = array("q")
        self._last_ms = array("q")

    @property
    def end(self) -> int | None:
        """The latest; None: none is known."""
        return self._ends[-1] if self._ends else None

    def add(self, t_ms: int, end: int) -> None:
        """The end as seen now. One that is smaller than before: the log was cut, or the topic is another one; what was is forgotten."""
        ends = self._ends
        if ends and end < ends[-1]:
            for each in (self._ends, self._first_ms, self._last_ms):
                del each[:]
        if ends and end == ends[-1]:
            self._last_ms[-1] = max(self._last_ms[-1], t_ms)
            return
        if self._last_ms and t_ms <= self._last_ms[-1]:
            t_ms = self._last_ms[-1] + 1  # the clock was set back
        ends.append(end)
        self._first_ms.append(t_ms)
        self._last_ms.append(t_ms)
        if len(ends) > POINTS_MAX:
            self._thin()

    def behind_since(self, committed: int) -> BehindSince | None:
        """When the offset was the end; None where it still is, or nothing is known."""
        ends = self._ends
        if not ends or committed >= ends[-1]:
            return None
        before = bisect_right(ends, committed) - 1
        if before < 0:
            return BehindSince(self._first_ms[0], exact=False)
        from_ms, to_ms = self._last_ms[before], self._first_ms[before + 1]
        share = (committed - ends[before]) / (ends[before + 1] - ends[before])
        return BehindSince(from_ms + round((to_ms - from_ms) * share), exact=True)

    def _thin(self) -> None:
        half = len(self._ends) // 2
        for each in (self._ends, self._first_ms, self._last_ms):
            del each[1:half:2]
