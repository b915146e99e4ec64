"""Offsets as Spark keeps them in a checkpoint: the official connector's JSON, with two additions.

    {"flights": {"0": 170, "1": 95}}                                          up to which offset (not included) each partition was read
    {"flights": {"0": 170}, "@begin": {"flights": {"0": 120}}, "@reader": "f3a9..."}

`@begin` says of partitions where their part of the batch begins, if that is not where the batch before ended: a new partition, one that the group has given to
this job just now, one whose records are gone. It stands beside the end, for Spark writes that down before the batch runs: a batch that is run again
reads the same records again. `@reader` is the mark of the process that planned it: no two batches that are under way look alike. Neither can be a topic's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pykafka_classic.common.topic_partition import TopicPartition

Offsets: TypeAlias = dict[TopicPartition, int]

BEGIN: Final = "@begin"
READER: Final = "@reader"


class MalformedOffsets(ValueError):
    """What a checkpoint holds is not ours, nor the official connector's."""


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """Where a micro-batch ends, and what its begin is where the batch before does not tell it."""

    ends: Offsets
    begins: Offsets = field(default_factory=dict)
    reader: str = ""

    def to_json(self) -> dict[str, Any]:
        """As Spark keeps it."""
        told: dict[str, Any] = by_topic(self.ends)
        if self.begins:
            told[BEGIN] = by_topic(self.begins)
        if self.reader:
            told[READER] = self.reader
        return told

    @classmethod
    def of_json(cls, told: Mapping[str, Any]) -> BatchEnd:
        """MalformedOffsets where it is something else."""
        topics = {name: partitions for name, partitions in told.items() if name not in {BEGIN, READER}}
        return cls(_offsets(topics), _offsets(told.get(BEGIN, {})), str(told.get(READER, "")))

    def begins_after(self, start: BatchEnd) -> Offsets:
        """Where each partition of this batch begins, if `start` is the end of the batch before."""
        return {partition: self.begins.get(partition, start.ends.get(partition, end)) for partition, end in self.ends.items()}


def by_topic(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """As JSON has it: topics and partitions in order."""
    topics: dict[str, dict[str, int]] = {}
    for partition in sorted(offsets):
        topics.setdefault(partition.topic, {})[str(partition.partition)] = offsets[partition]
    return topics


def differing(wanted: Mapping[TopicPartition, int], known: Mapping[TopicPartition, int], partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    """Of these partitions those where the two do not say the same."""
    return [each for each in partitions if each in wanted and wanted[each] != known.get(each)]


def _offsets(topics: Any) -> Offsets:
    try:
        found = {TopicPartition(topic, int(number)): offset for topic, partitions in topics.items() for number, offset in partitions.items()}
    except (AttributeError, ValueError, TypeError):
        raise MalformedOffsets(f"{topics!r:.200} are not offsets of partitions") from None
    if not all(isinstance(offset, int) for offset in found.values()):
        raise MalformedOffsets(f"{topics!r:.200} are not offsets of partitions")
    return found
