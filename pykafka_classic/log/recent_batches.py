"""Positions of the batches last appended to a segment, so that those who read at its end need no index and no disk.

Source: none in Kafka, which relies on its memory-mapped index and the page cache; a read there still costs system calls.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Final

BATCHES_MAX: Final = 512  # remembered at least, once there were so many; twice as many at most
_NOTHING: Final = 1 << 63  # above every offset


class RecentBatches:
    """Last offset and position of batches, in order, up to the segment's end. Offsets from `from_offset` on are found here or nowhere in the segment."""

    __slots__ = ("_last_offsets", "_positions", "from_offset")

    def __init__(self, from_offset: int) -> None:
        self.from_offset = from_offset
        self._last_offsets = array("q")
        self._positions = array("q")

    @property
    def end_offset(self) -> int | None:
        """The offset after the last batch; None while none is remembered."""
        return self._last_offsets[-1] + 1 if self._last_offsets else None

    def append(self, last_offset: int, position: int) -> None:
        """A batch was appended to the segment."""
        self._last_offsets.append(last_offset)
        self._positions.append(position)
        if len(self._last_offsets) > 2 * BATCHES_MAX:
            self.from_offset = self._last_offsets[BATCHES_MAX - 1] + 1
            del self._last_offsets[:BATCHES_MAX], self._positions[:BATCHES_MAX]

    def find(self, offset: int, segment_size: int) -> tuple[int, int, int] | None:
        """(last offset, position, size) of the first batch that ends at or after `offset`, which is not below `from_offset`."""
        index = bisect_left(self._last_offsets, offset)
        if index == len(self._last_offsets):
            return None
        position = self._positions[index]
        following = self._positions[index + 1] if index + 1 < len(self._positions) else segment_size
        return self._last_offsets[index], position, following - position

    def truncate(self, position: int, offset: int) -> None:
        """The segment was cut at `position`, where `offset` would begin: what is appended now is remembered from there on."""
        keep = bisect_left(self._positions, position)
        del self._last_offsets[keep:], self._positions[keep:]
        self.begin(offset)

    def begin(self, offset: int) -> None:
        """The segment ends at `offset`: all that is appended from now on is remembered."""
        self.from_offset = min(self.from_offset, offset)

    def forget(self) -> None:
        """Remember nothing."""
        self.from_offset = _NOTHING
        self._last_offsets, self._positions = array("q"), array("q")
