"""From which offset on records are younger than a time: a sparse map from timestamp to offset.

```
entry, 12 bytes:  timestamp i64 (ms),  relative_offset i32 (offset - base offset of the segment)
```
An entry (T, offset) says: up to and including `offset`, T is the largest timestamp in this segment. Timestamps strictly increase, offsets increase. Written
together with an entry of the offset index, and once more when the segment is rolled or closed, so that after a restart the last entry is the segment's
largest timestamp: the index counts as full one entry early to keep that slot.

Source: facts/storage.md 4; TimeIndex.scala.
"""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Final, NamedTuple

from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.index_file import IndexFile
from pykafka_classic.log.offset_index import PENDING_ENTRIES_MAX, strictly_increasing_length

ENTRY: Final = Struct(">qi")
assert ENTRY.size == 12

NO_TIMESTAMP: Final = -1

log = logging.getLogger("kafka.log.TimeIndex")


class TimestampOffset(NamedTuple):
    """A timestamp (ms, -1 for none) and the absolute offset of a record that has it."""

    timestamp: int
    offset: int


class TimeIndex:
    """The .timeindex of one segment. Loaded from disk when first asked; the two columns are parallel."""

    __slots__ = ("_offsets", "_timestamps", "base_offset", "entries_max", "file", "is_damaged")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries_max = bytes_max // ENTRY.size
        self.file = IndexFile(file_system, path)
        self.is_damaged = False  # entries on disk were out of order, and are not used
        self._timestamps: array[int] | None = None
        self._offsets: array[int] = array("i")

    def __len__(self) -> int:
        return len(self._column())

    @property
    def is_full(self) -> bool:
        """True when only the slot for the entry at roll time is left."""
        timestamps = self._timestamps
        return len(self._column() if timestamps is None else timestamps) >= self.entries_max - 1

    @property
    def entries(self) -> list[TimestampOffset]:
        """All entries, for tools and tests."""
        return [TimestampOffset(t, self.base_offset + offset) for t, offset in zip(self._column(), self._offsets, strict=True)]

    @property
    def last_entry(self) -> TimestampOffset:
        """The largest indexed timestamp; (-1, base offset) while there is none."""
        timestamps = self._column()
        if not timestamps:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return TimestampOffset(timestamps[-1], self.base_offset + self._offsets[-1])

    def lookup(self, timestamp: int) -> TimestampOffset:
        """The entry with the greatest timestamp not above `timestamp`; (-1, base offset) where there is none."""
        timestamps = self._column()
        index = bisect_right(timestamps, timestamp)
        if index == 0:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return TimestampOffset(timestamps[index - 1], self.base_offset + self._offsets[index - 1])

    def maybe_append(self, timestamp: int, offset: int, *, at_roll: bool = False) -> None:
        """Add an entry if `timestamp` is larger than the last one's; only `at_roll` may the reserved last slot be used."""
        timestamps = self._column()
        relative = offset - self.base_offset
        if timestamps and (timestamp <= timestamps[-1] or relative < self._offsets[-1]):
            return
        if timestamp == NO_TIMESTAMP or (self.is_full and not at_roll):
            return
        timestamps.append(timestamp)
        self._offsets.append(relative)
        if len(timestamps) - self.file.size_written // ENTRY.size >= PENDING_ENTRIES_MAX:
            self.write_pending()

    def truncate_to(self, offset: int) -> None:
        """Drop the entries at or above `offset`, on disk too."""
        timestamps = self._column()
        keep = bisect_left(self._offsets, offset - self.base_offset)
        del timestamps[keep:], self._offsets[keep:]
        self.file.truncate(keep * ENTRY.size)

    def reset(self) -> None:
        """An empty index, in memory and on disk."""
        self._timestamps, self._offsets = array("q"), array("i")
        self.file.create()

    def write_pending(self) -> None:
        """Write what is only in memory. No fsync."""
        if self._timestamps is None:
            return
        written = self.file.size_written // ENTRY.size
        if len(self._timestamps) > written:
            pending = zip(self._timestamps[written:], self._offsets[written:], strict=True)
            self.file.append(b"".join([ENTRY.pack(timestamp, relative) for timestamp, relative in pending]))

    def unload(self) -> None:
        """Give the memory back; the next lookup reads the file again. Only after `write_pending`."""
        self._timestamps, self._offsets = None, array("i")

    def _column(self) -> array[int]:
        if self._timestamps is None:
            self._timestamps = self._load()
        return self._timestamps

    def _load(self) -> array[int]:
        timestamps, self._offsets = array("q"), array("i")
        for timestamp, relative in ENTRY.iter_unpack(self.file.read(ENTRY.size)):
            timestamps.append(timestamp)
            self._offsets.append(relative)
        healthy = strictly_increasing_length(timestamps)
        if healthy and (timestamps[0] <= 0 or self._offsets[0] < 0):
            healthy = 0  # zeros or rubbish from the start
        while healthy > 1 and self._offsets[healthy - 1] < self._offsets[healthy - 2]:
            healthy -= 1
        if healthy < len(timestamps):
            log.warning("%s: %d of %d entries are out of order and are not used", self.file.path, len(timestamps) - healthy, len(timestamps))
            del timestamps[healthy:], self._offsets[healthy:]
            self.is_damaged = True
            self.file.size_written = healthy * ENTRY.size
        return timestamps
