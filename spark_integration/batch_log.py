"""What Spark has written down about a micro-batch before it runs: which records it holds, and which days were closed when it began.

Spark keeps `offsets/N` in the checkpoint, one file for each batch: a line with the version, a line of JSON with the watermark, a line of JSON for each source.
A batch that is run again after a crash is run with the same file: what is worked out from it is the same again, which is what makes a sink exactly-once.

    v1
    {"batchWatermarkMs":1357862100000,"batchTimestampMs":1795279413800,"conf":{...}}
    {"flights":{"0":12000,"1":11800}}

The watermark by which a batch leaves out what is late is that of the batch *before* it; by its own it then forgets what is closed.
Source: apache/spark, OffsetSeqLog and WatermarkPropagator (PropagateWatermarkSimulator).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import SparkSession

from spark_integration.offsets import BatchEnd, Offsets, by_topic

VERSION: Final = "v1"


class UnknownCheckpoint(Exception):
    """The checkpoint is not of a query with one source, this one; the text says what is there."""


@dataclass(frozen=True, slots=True)
class LoggedBatch:
    """One file of the log."""

    end: BatchEnd
    watermark_ms: int  # 0: there is none yet


@dataclass(frozen=True, slots=True)
class BatchRange:
    """The records of a batch, and the moment up to which days were closed when it began (None: none was)."""

    begins: Offsets
    ends: Offsets
    closed_until: datetime | None

    def options(self, group: str) -> dict[str, str]:
        """Of the data source, to read these records once more, as often as one likes: by the group's commits, but not as its member."""
        assigned: dict[str, list[int]] = {}
        for each in sorted(self.ends):
            assigned.setdefault(each.topic, []).append(each.partition)
        start, end = json.dumps(by_topic(self.begins)), json.dumps(by_topic(self.ends))
        return {"assign": json.dumps(assigned), "start": start, "end": end, "group.id": group, "membership": "none"}


def decode(text: str) -> LoggedBatch:
    """Read one file. UnknownCheckpoint."""
    version, *lines = text.splitlines() or [""]
    if version != VERSION or len(lines) != 2:
        raise UnknownCheckpoint(f"version {version!r} with {max(0, len(lines) - 1)} sources: a checkpoint of version {VERSION} with one source is wanted")
    metadata: dict[str, Any] = json.loads(lines[0])
    return LoggedBatch(BatchEnd.of_json(json.loads(lines[1])), int(metadata["batchWatermarkMs"]))


def range_of(batch: LoggedBatch, before: LoggedBatch | None) -> BatchRange:
    """Of a batch and the one before it; None before the first, which says itself where it begins. UnknownCheckpoint where it does not."""
    if before is None and batch.end.ends.keys() != batch.end.begins.keys():
        raise UnknownCheckpoint("its first batch does not say where it begins: it is not of this source")
    begins = batch.end.begins_after(before.end if before is not None else BatchEnd({}))
    watermark_ms = before.watermark_ms if before is not None else 0
    return BatchRange(begins, batch.end.ends, datetime.fromtimestamp(watermark_ms / 1000, UTC) if watermark_ms else None)


def read_range_of(spark: SparkSession, checkpoint: str, batch_id: int) -> BatchRange:
    """Of a batch that is under way, from the checkpoint, wherever that lies. UnknownCheckpoint."""

    def read(number: int) -> LoggedBatch:
        [row] = spark.read.text(f"{checkpoint}/offsets/{number}", wholetext=True).collect()
        return decode(row.value)

    return range_of(read(batch_id), read(batch_id - 1) if batch_id else None)
