"""A range of offsets as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.clients import Consumer
from spark_integration.columns import schema_of
from spark_integration.ranges import OffsetRange, ReadSettings

BATCH_RECORDS = 10_000
GETTERS: dict[str, Any] = {
    "key": lambda record: record.key,
    "value": lambda record: record.value,
    "topic": lambda record: record.topic,
    "partition": lambda record: record.partition,
    "offset": lambda record: record.offset,
    "timestamp": lambda record: record.timestamp * 1000,
    "timestampType": lambda record: int(record.timestamp_type),
    "headers": lambda record: [{"key": key, "value": value} for key, value in record.headers] or None,
}


def read_range(range: OffsetRange, settings: ReadSettings) -> Iterator[pa.RecordBatch]:  # noqa: A002  # the seam's name
    """All records of the range that are still there and visible."""
    where = (range.topic, range.partition)
    with Consumer(settings.bootstrap_servers, isolation_level=settings.isolation, auto_offset_reset="earliest", max_poll_records=BATCH_RECORDS) as consumer:
        consumer.assign([where])
        consumer.seek(where, range.start)
        while consumer.position(where) < range.end:
            records = [each for each in consumer.poll(timeout_ms=1000) if each.offset < range.end]
            if records:
                yield _batch(records, settings.columns)


def _batch(records: Sequence[ConsumerRecord], columns: Sequence[str]) -> pa.RecordBatch:
    schema = to_arrow_schema(schema_of(columns), timezone="UTC")
    arrays = [pa.array([GETTERS[name](record) for record in records], type=schema.field(name).type) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
