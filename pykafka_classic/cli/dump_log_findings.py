"""What does not agree among the files that kafka-dump-log was given: told on stderr after all of them have been printed.

Source: 2.8 DumpLogSegments.scala (main, TimeIndexDumpErrors).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from pykafka_classic.cli.scala_order import in_hash_order
from pykafka_classic.common.java import string_hash

Pairs = Mapping[str, "list[tuple[int, int]]"]  # by file


class Findings:
    """Pairs of numbers that should be equal or in order, by file."""

    def __init__(self) -> None:
        self._mismatches: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._wrong_times: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._times_out_of_order: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._times_of_no_batch: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._gaps: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def index_mismatch(self, path: str, index_offset: int, log_offset: int) -> None:
        """The batch at an index entry's position ends with another offset."""
        self._mismatches[_absolute(path)].append((index_offset, log_offset))

    def wrong_time(self, path: str, index_timestamp: int, log_timestamp: int) -> None:
        """The batch of a time index entry has another largest timestamp."""
        self._wrong_times[_absolute(path)].append((index_timestamp, log_timestamp))

    def time_out_of_order(self, path: str, timestamp: int, timestamp_before: int) -> None:
        """A time index entry is not later than the one before it."""
        self._times_out_of_order[_absolute(path)].append((timestamp, timestamp_before))

    def time_of_no_batch(self, path: str, index_offset: int, log_offset: int) -> None:
        """No batch ends with a time index entry's offset; the next one behind ends with `log_offset`, -1 for none."""
        self._times_of_no_batch[_absolute(path)].append((index_offset, log_offset))

    def not_consecutive(self, path: str, offset: int, offset_behind: int) -> None:
        """Between two records offsets are missing (compaction), or they go back."""
        self._gaps[_absolute(path)].append((offset, offset_behind))

    def report(self) -> Iterator[str]:
        """The lines."""
        for path, pairs in _in_order(self._mismatches):
            yield f"Mismatches in :{path}"
            yield from (f"  Index offset: {index}, log offset: {log}" for index, log in reversed(pairs))
        for path, pairs in _in_order(self._wrong_times):
            yield f"Found timestamp mismatch in :{path}"
            yield from (f"  Index timestamp: {index}, log timestamp: {log}" for index, log in pairs)
        for path, pairs in _in_order(self._times_out_of_order):
            yield f"Found out of order timestamp in :{path}"
            yield from (f"  Index timestamp: {index}, Previously indexed timestamp: {before}" for index, before in pairs)
        for _, pairs in _in_order(self._times_of_no_batch):
            yield "The following indexed offsets are not found in the log."
            yield from (f"Indexed offset: {index}, found log offset: {log}" for index, log in pairs)
        for path, pairs in _in_order(self._gaps):
            yield f"Non-consecutive offsets in {path}"
            yield from (f"  {first} is followed by {second}" for first, second in reversed(pairs))


def _absolute(path: str) -> str:
    return str(Path.cwd() / path)


def _in_order(found: Pairs) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    for path in in_hash_order(found, string_hash):
        yield path, found[path]
