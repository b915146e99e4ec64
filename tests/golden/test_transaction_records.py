"""`__transaction_state` as Kafka wrote it (golden/logs/transactions): read by us, written again, and loaded as a coordinator loads it."""

from __future__ import annotations

from typing import Final

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.transaction import transaction_records
from pykafka_classic.coordinator.transaction.loading import TransactionReading
from pykafka_classic.coordinator.transaction.transaction_metadata import TransactionMetadata
from pykafka_classic.records.record_batch import iterate_batches
from tests.golden.log_data import members

PARTITIONS: Final = (0, 1)

# The last line of each transactional id in golden/logs/transactions/dump (kafka-dump-log --transaction-log-decoder):
# producer id, epoch, state, time-out, last update.
LAST_LINES: Final = {
    "tx-a": (0, 2, "COMPLETE_COMMIT", 60_000, 1795240048217),
    "tx-b": (1, 2, "COMPLETE_COMMIT", 60_000, 1795240047610),
    "tx-c": (2, 0, "COMPLETE_ABORT", 60_000, 1795240048219),
    "tx-d": (3, 3, "COMPLETE_ABORT", 60_000, 1795240049314),
    "tx-e": (7, 0, "COMPLETE_COMMIT", 60_000, 1795240051289),
    "tx-open": (8, 0, "ONGOING", 600_000, 1795240051352),
}


def log_of(partition: int) -> bytes:
    [data] = [data for name, data in members("transactions").items() if name.endswith(f"/__transaction_state-{partition}/00000000000000000000.log")]
    return data


@pytest.mark.parametrize("partition", PARTITIONS)
def test_each_record_is_written_as_kafka_wrote_it(partition: int) -> None:
    records = [record for batch in iterate_batches(log_of(partition)) for record in batch.records()]
    assert records
    for record in records:
        assert record.key is not None
        assert record.value is not None
        assert transaction_records.key(transaction_records.read_key(record.key)) == record.key
        row = transaction_records.read_value(record.value)
        again = transaction_records.value(row)
        assert transaction_records.read_value(again) == row
        if len({topic for topic, _ in row.partitions}) < 2:  # the order of topics is that of Scala's hash map
            assert again == record.value


def test_what_a_coordinator_loads_is_what_kafkas_tool_printed_last() -> None:
    loaded: dict[str, TransactionMetadata] = {}
    for partition in PARTITIONS:
        reading = TransactionReading(loaded.__setitem__)
        reading.replay(log_of(partition), 0)
        assert list(reading.take_over()) == []
    rows = {name: each.row for name, each in loaded.items()}
    told = {name: (row.producer_id, row.producer_epoch, row.state.name, row.timeout_ms, row.update_ms) for name, row in rows.items()}
    assert told == LAST_LINES
    assert rows["tx-open"].partitions == {TopicPartition("txn-open", 0)}
