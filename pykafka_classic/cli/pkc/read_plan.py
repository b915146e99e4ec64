"""From where to where partitions are read, and when all is read. Pure.

Positions, not records, tell that an end was reached: where a transaction or compaction left a hole, the last offset before the end has no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pykafka_classic.common.topic_partition import TopicPartition


def parse_partitions(text: str) -> list[int]:
    """`0,2,5-7`. ValueError with a sentence."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (
            first.isdecimal() and first.isascii() and (not dash or (last.isdecimal() and last.isascii() and int(first) <= int(last) < int(first) + 100_000))
        ):
            raise ValueError(f"{text!r} does not name partitions: 0,2,5-7 is wanted")
        found += range(int(first), int(last if dash else first) + 1)
    return list(dict.fromkeys(found))


@dataclass(slots=True)
class ReadPlan:
    """What is still to be read.

    Attributes:
        first: where each partition begins.
        ends: where each ends, not included; partitions without an end are read for ever.
        limit: so many records at most; None: all.
    """

    first: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    limit: int | None = None
    open: set[TopicPartition] = field(init=False)
    printed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Partitions in which there is nothing are read already."""
        self.open = {partition for partition, offset in self.first.items() if offset < self.ends.get(partition, offset + 1)}

    @property
    def finished(self) -> bool:
        """Nothing is left to be printed."""
        return not self.open or self.is_enough

    @property
    def is_enough(self) -> bool:
        """The limit is reached."""
        return self.limit is not None and self.printed >= self.limit

    @property
    def total(self) -> int | None:
        """How many offsets there are to read; None where there is no end."""
        if not self.first or any(partition not in self.ends for partition in self.first):
            return self.limit
        offsets = sum(max(0, self.ends[partition] - offset) for partition, offset in self.first.items())
        return offsets if self.limit is None else min(offsets, self.limit)

    def takes(self, partition: TopicPartition, offset: int) -> bool:
        """Count a record, if it is one of those to print."""
        if self.is_enough or partition not in self.open:
            return False
        end = self.ends.get(partition)
        if end is not None and offset >= end:
            self.open.discard(partition)
            return False
        if end is not None and offset == end - 1:
            self.open.discard(partition)
        self.printed += 1
        return True

    def arrived_at(self, partition: TopicPartition, position: int) -> None:
        """The next record of a partition would have this offset."""
        if position >= self.ends.get(partition, position + 1):
            self.open.discard(partition)


def first_offsets(
    wanted: Mapping[TopicPartition, int], beginnings: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Where reading begins, within what is there: an offset before the log begins at its first record, one behind it waits at the end."""
    return {partition: min(max(offset, beginnings[partition]), max(ends[partition], beginnings[partition])) for partition, offset in wanted.items()}


def earliest_ends(*some: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """The smallest end of each partition."""
    found: dict[TopicPartition, int] = {}
    for ends in some:
        for partition, end in ends.items():
            found[partition] = min(end, found.get(partition, end))
    return found


def chosen(partitions: Iterable[TopicPartition], numbers: Sequence[int] | None) -> tuple[list[TopicPartition], list[int]]:
    """The partitions with these numbers (None: all), and the numbers that no topic has."""
    every = list(partitions)
    if numbers is None:
        return every, []
    return [each for each in every if each.partition in numbers], [number for number in numbers if number not in {each.partition for each in every}]
