"""Whether the replicas of a partition hold the same batches. No I/O.

Batches are compared in their order, below each replica's high watermark, as far as every replica has sent some: by last offset, then by checksum.

Source: 2.8 ReplicaVerificationTool.scala (ReplicaBuffer.verifyCheckSum).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pykafka_classic.common.topic_partition import TopicPartition


class Batch(NamedTuple):
    """What is compared of a batch."""

    last_offset: int
    checksum: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one replica has sent."""

    high_watermark: int
    batches: Sequence[Batch]

    def below_high_watermark(self) -> Iterator[Batch]:
        """Batches that all replicas in sync must have."""
        for batch in self.batches:
            if batch.last_offset >= self.high_watermark:
                return
            yield batch


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where to go on, how far that is from the high watermark, and what differs."""

    next_offset: int
    lag: int
    complaints: Sequence[str]
    diverged: bool  # offsets differ: nothing behind can be compared


def compare(partition: TopicPartition, fetch_offset: int, replicas: Mapping[int, Fetched]) -> Comparison:
    """Compare what the replicas sent from an offset on."""
    next_offset, complaints, diverged = fetch_offset, [], False
    for row in zip(*(_of(replica, fetched) for replica, fetched in replicas.items()), strict=False):
        (first, expected), *others = row
        for replica, batch in others:
            if batch.last_offset != expected.last_offset:
                where = f"replica {first}'s offset {expected.last_offset} doesn't match replica {replica}'s offset {batch.last_offset}"
                complaints.append(f"partition {partition}: {where}")
                diverged = True
            elif batch.checksum != expected.checksum:
                sums = f"replica {first}'s checksum {expected.checksum}; replica {replica}'s checksum {batch.checksum}"
                complaints.append(f"partition {partition} has unmatched checksum at offset {batch.last_offset}; {sums}")
        if diverged:
            break
        next_offset = expected.last_offset + 1
    highest = max(fetched.high_watermark for fetched in replicas.values())
    return Comparison(next_offset, highest - next_offset, complaints, diverged)


def _of(replica: int, fetched: Fetched) -> Iterator[tuple[int, Batch]]:
    return ((replica, batch) for batch in fetched.below_high_watermark())
