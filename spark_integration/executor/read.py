"""What runs in a Spark task that reads: one range of offsets in, Arrow batches out."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.executor.arrow_batches import arrow_batches
from spark_integration.executor.fetching import Patience, RangeFetching
from spark_integration.executor.leader import PartitionLeader
from spark_integration.ranges import OffsetRange, ReadSettings


def read_range(wanted: OffsetRange, settings: ReadSettings) -> Iterator[pa.RecordBatch]:
    """The records of a range that a consumer would see, with the columns of `settings.columns`.

    Raises:
        DataLoss: records of the range are gone, and `fail_on_data_loss` is set.
        RangeUnreadable: no leader answered for `request_timeout_ms`, or a transaction stayed open for so long.
        KafkaError: a broker refused, or sent what no log can hold.
    """
    leader = PartitionLeader(TopicPartition(wanted.topic, wanted.partition), settings)
    try:
        for stretch in RangeFetching(wanted, settings, leader, Patience(settings.request_timeout_ms)):
            yield from arrow_batches(stretch, wanted, settings.columns)
    finally:
        leader.close()
