"""Rows of Arrow batches as the records that they were, to compare with what others read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from pykafka_classic.protocol.messages.fetch import AbortedTransaction
from pykafka_classic.records.record import Header, Record
from pykafka_classic.records.record_batch import iterate_batches
from spark_integration.executor.arrow_batches import arrow_batches
from spark_integration.executor.fetching import Stretch
from spark_integration.executor.schema import TYPES
from spark_integration.ranges import OffsetRange

EVERYTHING = 2**63 - 1


def stretch_of(data: bytes, *, first: int = 0, aborted: Sequence[AbortedTransaction] = ()) -> Stretch:
    """A fetch answer's batches."""
    return Stretch(list(iterate_batches(data)), list(aborted), first)


def tables(stretch: Stretch, *, end: int = EVERYTHING) -> list[pa.RecordBatch]:
    """With all columns, of partition 3 of topic `t`."""
    made = list(arrow_batches(stretch, OffsetRange("t", 3, stretch.first, end), tuple(TYPES)))
    for each in made:
        each.validate(full=True)
        assert each.schema == pa.schema(list(TYPES.items()))
        assert set(each.column("topic").to_pylist()) == {"t"}
        assert set(each.column("partition").to_pylist()) == {3}
    return made


def records_in(batches: Iterable[pa.RecordBatch]) -> list[Record]:
    """The rows as records; the timestamp in ms."""
    return [record for batch in batches for record in _records(batch)]


def _records(batch: pa.RecordBatch) -> list[Record]:
    times = [us // 1000 for us in batch.column("timestamp").view(pa.int64()).to_pylist()]
    columns = [batch.column(name).to_pylist() for name in ("offset", "key", "value", "headers")]
    return [
        Record(offset, time, key, value, tuple(Header(each["key"], each["value"]) for each in headers or ()))
        for time, (offset, key, value, headers) in zip(times, zip(*columns, strict=True), strict=True)
    ]
