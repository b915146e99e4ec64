"""The segments of one log, in order of their base offsets.

Source: Log.scala keeps them in a ConcurrentSkipListMap; here one thread looks and changes, so a sorted list of base offsets beside the list of segments will
do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from pykafka_classic.log.log_segment import LogSegment


class LogSegments:
    """Sorted segments. Invariant: the two lists are parallel, base offsets strictly increase; the last is the active one."""

    __slots__ = ("_base_offsets", "_segments")

    def __init__(self) -> None:
        self._base_offsets: list[int] = []
        self._segments: list[LogSegment] = []

    def __iter__(self) -> Iterator[LogSegment]:
        return iter(tuple(self._segments))

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def first(self) -> LogSegment:
        """The oldest."""
        return self._segments[0]

    @property
    def active(self) -> LogSegment:
        """The newest, which is appended to."""
        return self._segments[-1]

    @property
    def base_offsets(self) -> list[int]:
        """All base offsets, ascending."""
        return list(self._base_offsets)

    @property
    def size(self) -> int:
        """Bytes of all .log files."""
        return sum(segment.size for segment in self._segments)

    def add(self, segment: LogSegment) -> LogSegment:
        """Put a segment in its place; one with the same base offset is replaced."""
        index = bisect_left(self._base_offsets, segment.base_offset)
        if index < len(self._base_offsets) and self._base_offsets[index] == segment.base_offset:
            self._segments[index] = segment
        else:
            self._base_offsets.insert(index, segment.base_offset)
            self._segments.insert(index, segment)
        return segment

    def remove(self, segment: LogSegment) -> None:
        """Take a segment out; it must be this very one."""
        index = bisect_left(self._base_offsets, segment.base_offset)
        assert self._segments[index] is segment
        del self._base_offsets[index], self._segments[index]

    def get(self, base_offset: int) -> LogSegment | None:
        """The segment with exactly this base offset."""
        index = bisect_left(self._base_offsets, base_offset)
        if index < len(self._base_offsets) and self._base_offsets[index] == base_offset:
            return self._segments[index]
        return None

    def floor(self, offset: int) -> LogSegment | None:
        """The segment whose range holds `offset`: the last with a base offset not above it."""
        base_offsets = self._base_offsets
        if base_offsets and offset >= base_offsets[-1]:  # the usual case
            return self._segments[-1]
        index = bisect_right(base_offsets, offset)
        return self._segments[index - 1] if index else None

    def higher(self, offset: int) -> LogSegment | None:
        """The first segment with a base offset above `offset`."""
        index = bisect_right(self._base_offsets, offset)
        return self._segments[index] if index < len(self._segments) else None

    def lower(self, offset: int) -> LogSegment | None:
        """The last segment with a base offset below `offset`."""
        index = bisect_left(self._base_offsets, offset)
        return self._segments[index - 1] if index else None

    def from_offset(self, offset: int) -> list[LogSegment]:
        """The segment that holds `offset` and all after it; all of them where it lies before the first."""
        index = bisect_right(self._base_offsets, offset)
        return self._segments[max(index - 1, 0) :]

    def between(self, start: int, end: int) -> list[LogSegment]:
        """Segments that may hold offsets in [start, end)."""
        return [segment for segment in self.from_offset(start) if segment.base_offset < end]
