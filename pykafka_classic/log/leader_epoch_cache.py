"""Which offsets were written under which leader epoch (KIP-101, KIP-279).

An ordered list of (epoch, start offset), epochs and offsets both strictly increasing: records from the start offset up to the next entry's carry that epoch.
A follower asks its leader for the end of its own latest epoch and truncates to it: a high watermark may lag behind what was committed, an epoch's end may
not.

The list is small and lives in memory; `on_change` lets the log write `leader-epoch-checkpoint` after every change. Losing the latest changes in a crash does
no harm: recovery reads the epochs of unflushed batches again, and an epoch without records matters to nobody.

Source: facts/coordination.md 4.4; server/epoch/LeaderEpochFileCache.scala.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Final

UNDEFINED_EPOCH: Final = -1
UNDEFINED_OFFSET: Final = -1


def _ignore_change() -> None:
    """For caches that nobody writes to disk."""


class LeaderEpochFileCache:
    """The epochs of one log. Invariant: both columns strictly increase."""

    __slots__ = ("_enabled", "_epochs", "_on_change", "_start_offsets")

    def __init__(self, entries: Iterable[tuple[int, int]] = (), on_change: Callable[[], None] = _ignore_change, *, enabled: bool = True) -> None:
        self._enabled = enabled  # False for message formats below 0.11, which have no epochs
        self._epochs: list[int] = []
        self._start_offsets: list[int] = []
        self._on_change: Callable[[], None] = _ignore_change
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)
        self._on_change = on_change

    @property
    def entries(self) -> list[tuple[int, int]]:
        """(epoch, start offset) in ascending order."""
        return list(zip(self._epochs, self._start_offsets, strict=True))

    def latest_epoch(self) -> int | None:
        """The largest epoch; None while the cache is empty."""
        return self._epochs[-1] if self._epochs else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Records from `start_offset` on belong to `epoch`. Entries at the end that contradict it go; an entry for the same epoch stays as it is."""
        if epoch < 0 or start_offset < 0 or not self._enabled:
            return
        if self._epochs and self._epochs[-1] == epoch and self._start_offsets[-1] <= start_offset:
            return
        while self._epochs and (self._epochs[-1] >= epoch or self._start_offsets[-1] >= start_offset):
            self._epochs.pop()
            self._start_offsets.pop()
        self._epochs.append(epoch)
        self._start_offsets.append(start_offset)
        self._on_change()

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(largest known epoch not above `epoch`, the offset where it ends); (-1, -1) where `epoch` is undefined or newer than all known."""
        if epoch == UNDEFINED_EPOCH or not self._epochs or epoch > self._epochs[-1]:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self._epochs[-1]:
            return epoch, log_end_offset
        following = bisect_right(self._epochs, epoch)
        if following == 0:
            return epoch, self._start_offsets[0]
        return self._epochs[following - 1], self._start_offsets[following]

    def epoch_for_offset(self, offset: int) -> int | None:
        """The epoch of the record at `offset`; None where it lies before the first entry."""
        index = bisect_right(self._start_offsets, offset)
        return self._epochs[index - 1] if index else None

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that start at or after `end_offset`: their records are gone."""
        if end_offset < 0 or not self._start_offsets or self._start_offsets[-1] < end_offset:
            return
        while self._start_offsets and self._start_offsets[-1] >= end_offset:
            self._epochs.pop()
            self._start_offsets.pop()
        self._on_change()

    def truncate_from_start(self, start_offset: int) -> None:
        """The log now begins at `start_offset`: the epoch in force there begins there, older ones go."""
        older = bisect_right(self._start_offsets, start_offset)
        if older == 0 or (older == 1 and self._start_offsets[0] == start_offset):
            return
        self._epochs[: older - 1] = []
        self._start_offsets[: older - 1] = []
        self._start_offsets[0] = start_offset
        self._on_change()

    def clear(self) -> None:
        """Forget everything."""
        if self._epochs:
            self._epochs.clear()
            self._start_offsets.clear()
            self._on_change()
