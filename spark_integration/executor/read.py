"""What runs in a Spark task that reads: one range of offsets in, Arrow batches out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pykafka_classic.client.fetched_records import BatchReader, ConsumerRecord
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.executor.fetching import Patience, RangeFetching, Stretch
from spark_integration.executor.leader import PartitionLeader
from spark_integration.executor.schema import arrow_schema
from spark_integration.ranges import OffsetRange, ReadSettings


def read_range(wanted: OffsetRange, settings: ReadSettings) -> Iterator[pa.RecordBatch]:
    """The records of a range that a consumer would see, with the columns of `settings.columns`.

    Raises:
        DataLoss: records of the range are gone, and `fail_on_data_loss` is set.
        LeaderUnreachable: there was no answer for `request_timeout_ms`.
        KafkaError: a broker refused, or sent what no log can hold.
    """
    leader = PartitionLeader(TopicPartition(wanted.topic, wanted.partition), settings)
    try:
        for stretch in RangeFetching(wanted, settings, leader, Patience(settings.request_timeout_ms)):
            batch = _to_arrow(stretch, wanted, settings)
            if batch.num_rows:
                yield batch
    finally:
        leader.close()


def _to_arrow(stretch: Stretch, wanted: OffsetRange, settings: ReadSettings) -> pa.RecordBatch:
    reader = BatchReader(TopicPartition(wanted.topic, wanted.partition), b"", fetch_offset=stretch.first, aborted=stretch.aborted)
    reader._batches = iter(stretch.batches)
    records = [record for some in reader for record in some if record.offset < wanted.end]
    schema = arrow_schema(settings.columns)
    return pa.RecordBatch.from_arrays([pa.array([_CELLS[field.name](record) for record in records], field.type) for field in schema], schema=schema)


def _headers(record: ConsumerRecord) -> list[dict[str, Any]] | None:
    return [{"key": key, "value": value} for key, value in record.headers] or None


_CELLS: dict[str, Any] = {
    "key": lambda record: record.key,
    "value": lambda record: record.value,
    "topic": lambda record: record.topic,
    "partition": lambda record: record.partition,
    "offset": lambda record: record.offset,
    "timestamp": lambda record: record.timestamp * 1000,
    "timestampType": lambda record: int(record.timestamp_type),
    "headers": _headers,
}
