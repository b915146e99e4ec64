"""Aborted transactions whose marker lies in this segment.

```
entry, 34 bytes:  version i16 (0),  producer_id i64,  first_offset i64,  last_offset i64 (of the marker),  last_stable_offset i64
```
In order of `last_offset`. A read_committed consumer gets the entries that overlap what it fetched and leaves out those producers' records from the first
offset to the abort marker. `last_stable_offset` (as it was when the marker was written) tells a search when to stop: no transaction below it can be aborted
further on. The file exists only once something was aborted.

Source: facts/storage.md 4, 14; TransactionIndex.scala.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.index_file import IndexFile

ENTRY: Final = Struct(">hqqqq")
assert ENTRY.size == 34

VERSION: Final = 0


class CorruptIndex(Exception):
    """Entries that cannot be right: the segment has to be recovered."""


class AbortedTransaction(NamedTuple):
    """One aborted transaction: producer, its first record, its marker, and the last stable offset just before the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """The .txnindex of one segment. Loaded from disk when first asked."""

    __slots__ = ("_entries", "base_offset", "file")

    def __init__(self, file_system: FileSystem, path: str, base_offset: int) -> None:
        self.base_offset = base_offset
        self.file = IndexFile(file_system, path)
        self._entries: list[AbortedTransaction] | None = None

    @property
    def entries(self) -> list[AbortedTransaction]:
        """All entries. Raises CorruptIndex."""
        if self._entries is None:
            self._entries = self._load()
        return self._entries

    def append(self, entry: AbortedTransaction) -> None:
        """Add an entry and write it: aborts are rare."""
        entries = self.entries
        assert not entries or entry.last_offset > entries[-1].last_offset, "markers come in order"
        entries.append(entry)
        self.file.append(ENTRY.pack(VERSION, *entry))

    def collect(self, fetch_offset: int, upper_bound_offset: int) -> tuple[list[AbortedTransaction], bool]:
        """Those that overlap [fetch_offset, upper_bound_offset), and whether later segments need not be asked."""
        found = []
        for entry in self.entries:
            if entry.last_offset >= fetch_offset and entry.first_offset < upper_bound_offset:
                found.append(entry)
            if entry.last_stable_offset >= upper_bound_offset:
                return found, True
        return found, False

    def truncate_to(self, offset: int) -> None:
        """Drop entries whose marker lies at or above `offset`, on disk too."""
        entries = self.entries
        keep = len(entries)
        while keep and entries[keep - 1].last_offset >= offset:
            keep -= 1
        del entries[keep:]
        self.file.truncate(keep * ENTRY.size)

    def reset(self) -> None:
        """No entries; an existing file is emptied, none is made."""
        self._entries = []
        if self.file.exists():
            self.file.create()

    def start_empty(self) -> None:
        """For a segment just created: there is no file to look at."""
        self._entries = []

    def unload(self) -> None:
        """Give the memory back."""
        self._entries = None

    def _load(self) -> list[AbortedTransaction]:
        entries = []
        for version, *fields in ENTRY.iter_unpack(self.file.read(ENTRY.size)):
            entry = AbortedTransaction(*fields)
            if version > VERSION or entry.last_offset < self.base_offset:
                raise CorruptIndex(f"{self.file.path}: {entry} with version {version} cannot belong to a segment that starts at {self.base_offset}")
            entries.append(entry)
        return entries
