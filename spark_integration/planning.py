"""From offsets to ranges: what is lost, how much of it now, in how many tasks. No I/O; the cost does not grow with the number of records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.offsets import Offsets
from spark_integration.ranges import OffsetRange


class DataLoss(Exception):
    """Records that were to be read are not there any more, and `failOnDataLoss` is true."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A partition whose next offset is not there."""

    partition: TopicPartition
    wanted: int
    first: int
    end: int

    def __str__(self) -> str:
        gone = self.first - self.wanted
        if gone > 0:
            return f"{self.partition}: offset {self.wanted} is gone, the first one there is {self.first}: {gone} offsets were deleted before they were read"
        return f"{self.partition}: offset {self.wanted} is beyond the end, {self.end}: the topic was made anew, or its log truncated"

    @property
    def read_on_at(self) -> int:
        """Where there is something: at the first record, for what lies behind an end that went back was not read either."""
        return self.first


def find_losses(wanted: Mapping[TopicPartition, int], first: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> list[Loss]:
    """Partitions whose next offset lies outside of their logs."""
    return [
        Loss(partition, offset, first[partition], end[partition])
        for partition, offset in wanted.items()
        if partition in first and not first[partition] <= offset <= end[partition]
    ]


def fail_on(losses: Sequence[Loss]) -> None:
    """DataLoss, if there are any."""
    if losses:
        text = "; ".join(map(str, losses))
        raise DataLoss(f"records are lost: {text}. Set the option 'failOnDataLoss' to false to read on at the first records that there are.")


def share_out(begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], most: int) -> Offsets:
    """Ends so that `most` offsets are read: each partition gives in proportion to what it has, one at least if it has any (so it may be a few more)."""
    sizes = {partition: end - begins[partition] for partition, end in ends.items() if end > begins.get(partition, end)}
    total = sum(sizes.values())
    if total <= most:
        return dict(ends)
    shares = {partition: max(1, size * most // total) for partition, size in sizes.items()}
    over = most - sum(shares.values())  # what rounding down has left
    by_remainder = sorted((partition for partition in sizes if shares[partition] < sizes[partition]), key=lambda each: -(sizes[each] * most % total))
    for partition in by_remainder[: max(0, over)]:
        shares[partition] += 1
    return {partition: begins[partition] + shares[partition] if partition in shares else end for partition, end in ends.items()}


def count_offsets(begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> int:
    """How many offsets lie between."""
    return sum(max(0, end - begins.get(partition, end)) for partition, end in ends.items())


def make_ranges(
    begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], *, min_partitions: int | None = None, max_per_partition: int | None = None
) -> list[OffsetRange]:
    """One range for each partition that has anything; large ones in several pieces where there shall be more tasks, or smaller ones.

    Pieces are handed out in proportion to the sizes, as the official connector does: a partition with twice the offsets gets about twice the pieces, and
    small partitions stay whole.
    """
    whole = [
        OffsetRange(*partition, begins[partition], ends[partition]) for partition in sorted(ends) if begins.get(partition, ends[partition]) < ends[partition]
    ]
    pieces = whole
    if max_per_partition is not None:
        pieces = [piece for each in whole for piece in _split(each, math.ceil((each.end - each.start) / max_per_partition))]
    if min_partitions is None or len(pieces) >= min_partitions:
        return pieces
    counts = _counts([each.end - each.start for each in pieces], min_partitions)
    return [piece for each, count in zip(pieces, counts, strict=True) for piece in _split(each, count)]


def _counts(sizes: Sequence[int], wanted: int) -> list[int]:
    """In how many pieces to split each: `wanted` in all, never more pieces than offsets. The largest pieces are split first."""
    counts = [1] * len(sizes)
    total = sum(sizes)
    if not total:
        return counts
    counts = [max(1, min(size, size * wanted // total)) for size in sizes]
    while sum(counts) < wanted:
        largest = max(range(len(sizes)), key=lambda index: sizes[index] / counts[index])
        if counts[largest] >= sizes[largest]:
            break  # every piece is a single offset
        counts[largest] += 1
    return counts


def _split(whole: OffsetRange, count: int) -> Iterable[OffsetRange]:
    size = whole.end - whole.start
    bounds = [whole.start + size * index // count for index in range(count + 1)]
    return [OffsetRange(whole.topic, whole.partition, start, end) for start, end in pairwise(bounds) if start < end]
