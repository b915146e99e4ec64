"""Where in its segment an offset is found: a sparse map from offset to byte position.

```
entry, 8 bytes:  relative_offset i32 (offset - base offset of the segment),  position i32 (byte position in the .log)
```
Offsets strictly increase. An entry says: the batch or batches appended at `position` end with this offset. Sparse: one entry per `index.interval.bytes` of
log, and none for the first append, so a lookup finds the greatest entry not above the wanted offset and whoever asked walks the batch headers from there.

Source: facts/storage.md 4; OffsetIndex.scala.
"""

from __future__ import annotations

import logging
import sys
from array import array
from bisect import bisect_left, bisect_right
from itertools import islice
from operator import lt
from struct import Struct
from typing import Final

from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.index_file import IndexFile

ENTRY: Final = Struct(">ii")
assert ENTRY.size == 8

PENDING_ENTRIES_MAX: Final = 512  # entries that wait in memory before they are written together

log = logging.getLogger("kafka.log.OffsetIndex")


def strictly_increasing_length(column: array[int]) -> int:
    """How many entries from the start are strictly increasing: all of them in a healthy index."""
    if all(map(lt, column, islice(column, 1, None))):
        return len(column)
    return next(index for index in range(1, len(column)) if column[index] <= column[index - 1])


class OffsetIndex:
    """The .index of one segment. Loaded from disk when first asked; `_offsets` and `_positions` are parallel columns."""

    __slots__ = ("_offsets", "_positions", "base_offset", "entries_max", "file")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries_max = bytes_max // ENTRY.size  # the index is full with so many; the segment is then rolled
        self.file = IndexFile(file_system, path)
        self._offsets: array[int] | None = None
        self._positions: array[int] = array("i")

    def __len__(self) -> int:
        return len(self._column())

    @property
    def is_full(self) -> bool:
        """True once no entry fits any more."""
        offsets = self._offsets
        return len(self._column() if offsets is None else offsets) >= self.entries_max

    @property
    def entries(self) -> list[tuple[int, int]]:
        """(absolute offset, position) of each entry, for tools and tests."""
        return [(self.base_offset + offset, position) for offset, position in zip(self._column(), self._positions, strict=True)]

    @property
    def last_offset(self) -> int:
        """The largest indexed offset; the base offset while there is none."""
        offsets = self._column()
        return self.base_offset + offsets[-1] if offsets else self.base_offset

    def lookup(self, offset: int) -> tuple[int, int]:
        """(offset, position) of the greatest entry not above `offset`; (base offset, 0) where there is none."""
        offsets = self._column()
        index = bisect_right(offsets, offset - self.base_offset)
        if index == 0:
            return self.base_offset, 0
        return self.base_offset + offsets[index - 1], self._positions[index - 1]

    def offset_at_or_after(self, position: int) -> int | None:
        """The offset of the first entry at or behind a position; None where there is none."""
        offsets = self._column()
        index = bisect_left(self._positions, position)
        return self.base_offset + offsets[index] if index < len(offsets) else None

    def append(self, offset: int, position: int) -> None:
        """Add an entry behind the last one. Written to disk some time before the next `write_pending` ends."""
        offsets = self._column()
        relative = offset - self.base_offset
        assert not offsets or relative > offsets[-1], "offsets in an index increase"
        offsets.append(relative)
        self._positions.append(position)
        if len(offsets) - self.file.size_written // ENTRY.size >= PENDING_ENTRIES_MAX:
            self.write_pending()

    def truncate_to(self, offset: int) -> None:
        """Drop the entries at or above `offset`, on disk too."""
        keep = bisect_left(self._column(), offset - self.base_offset)
        self._truncate_to_entries(keep)

    def reset(self) -> None:
        """An empty index, in memory and on disk."""
        self._offsets, self._positions = array("i"), array("i")
        self.file.create()

    def write_pending(self) -> None:
        """Write what is only in memory. No fsync."""
        if self._offsets is None:
            return
        written = self.file.size_written // ENTRY.size
        if len(self._offsets) > written:
            pending = zip(self._offsets[written:], self._positions[written:], strict=True)
            self.file.append(b"".join([ENTRY.pack(relative, position) for relative, position in pending]))

    def unload(self) -> None:
        """Give the memory back; the next lookup reads the file again. Only after `write_pending`."""
        self._offsets, self._positions = None, array("i")

    def _column(self) -> array[int]:
        if self._offsets is None:
            self._offsets = self._load()
        return self._offsets

    def _load(self) -> array[int]:
        columns = array("i")
        columns.frombytes(self.file.read(ENTRY.size))
        if sys.byteorder == "little":
            columns.byteswap()
        offsets, self._positions = columns[0::2], columns[1::2]
        healthy = min(strictly_increasing_length(offsets), strictly_increasing_length(self._positions))
        if healthy and (offsets[0] < 0 or self._positions[0] <= 0):
            healthy = 0  # zeros or rubbish from the start; Kafka writes no entry for position 0
        if healthy < len(offsets):
            log.warning("%s: %d of %d entries are out of order and are not used", self.file.path, len(offsets) - healthy, len(offsets))
            del offsets[healthy:], self._positions[healthy:]
            self.file.size_written = healthy * ENTRY.size
        return offsets

    def _truncate_to_entries(self, keep: int) -> None:
        offsets = self._column()
        if keep < len(offsets):
            del offsets[keep:], self._positions[keep:]
        self.file.truncate(keep * ENTRY.size)
