"""Reading what Kafka wrote: batches, message sets, and compressed data in other writers' habits."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.records.record_batch import iterate_batches
from tests.golden.records_data import Line, check_batches, numbered, of_kind

WRITTEN = [line for line in of_kind("batch") if "error" not in line]
READERS = of_kind("reader")


@pytest.mark.parametrize("line", WRITTEN, ids=numbered(WRITTEN))
def test_a_batch_that_kafka_wrote_reads_as_kafka_reads_it(line: Line) -> None:
    check_batches(bytes.fromhex(line["hex"]), line["batches"])


@pytest.mark.parametrize("line", READERS, ids=numbered(READERS))
def test_compressed_data_is_accepted_or_refused_as_kafka_does(line: Line) -> None:
    data = bytes.fromhex(line["hex"])
    if line["accepted"]:
        check_batches(data, line["batches"])
        return
    with pytest.raises(KafkaError):
        for batch in iterate_batches(data):
            batch.records()
