"""What of a topic is fetched, and whether that is too much. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.sql.question import NoQuestion

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a question may cost.

    Attributes: records, fetched_bytes: of all its topics together. memory_bytes: of DuckDB. rows: of the answer; more are cut off, and it says so. seconds:
    that DuckDB may think. last: only the last so many records of each partition are looked at; None: all.
    """

    records: int = 1_000_000
    fetched_bytes: int = 512 * MIB
    memory_bytes: int = 512 * MIB
    rows: int = 10_000
    seconds: float = 120.0
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Offsets of a partition, `end` not included."""

    begin: int
    end: int


def stretches(begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int], bounds: Bounds) -> dict[TopicPartition, Stretch]:
    """What is fetched of each partition. Raises NoQuestion where that is more than is allowed."""
    found = {}
    for partition, end in ends.items():
        begin = begins[partition] if bounds.last is None else max(begins[partition], end - bounds.last)
        if begin < end:
            found[partition] = Stretch(begin, end)
    total = sum(each.end - each.begin for each in found.values())
    if total > bounds.records:
        topics = ", ".join(dict.fromkeys(partition.topic for partition in ends))
        raise NoQuestion(
            f"There are {total} records in {topics}, and {bounds.records} are the most that are fetched: look at the last of each partition (--last N), allow "
            "more (--max-records), or ask Spark, which is made for that (spark_integration/)."
        )
    return found
