"""The seam between the driver, which plans ranges of offsets, and the executors, which read them.

Everything here is pickled on its way to the executors: plain values, and no client.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql.datasource import InputPartition


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Records of one partition, from offset `start` up to `end`, which is not included."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True)
class ReadSettings:
    """All that an executor needs to read its ranges."""

    bootstrap_servers: str
    isolation: str  # read_uncommitted or read_committed
    include_headers: bool
    fail_on_data_loss: bool
    fetch_max_bytes: int
    request_timeout_ms: int
    columns: tuple[str, ...]  # In this order; names of the source's schema


class RangePartition(InputPartition):
    """What one Spark task reads: the range."""

    value: OffsetRange

    def __init__(self, value: OffsetRange) -> None:
        super().__init__(value)
