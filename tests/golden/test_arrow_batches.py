"""What Kafka's own classes wrote, as the Arrow batches that Spark gets."""

from __future__ import annotations

import pytest

from pykafka_classic.records.record_batch import TimestampType
from tests.golden.arrow_rows import records_in, stretch_of, tables
from tests.golden.records_data import TIMESTAMP_TYPES, Line, check_record, numbered, of_kind

WRITTEN = [line for line in of_kind("batch") if "error" not in line]
NEW = [line for line in WRITTEN if all(batch["magic"] == 2 for batch in line["batches"])]


def visible(line: Line) -> list[Line]:
    """The records that a consumer sees, each with its batch's kind of timestamp; `null` headers and none are the same."""
    return [record | {"timestampType": batch["timestampType"]} for batch in line["batches"] if not batch.get("control") for record in batch["records"]]


@pytest.mark.parametrize("line", WRITTEN, ids=numbered(WRITTEN))
def test_rows_are_the_records_that_kafka_reads(line: Line) -> None:
    made = tables(stretch_of(bytes.fromhex(line["hex"])))
    expected = visible(line)
    for record, told in zip(records_in(made), expected, strict=True):
        check_record(record, told)
    kinds = [TIMESTAMP_TYPES[TimestampType(kind)] for batch in made for kind in batch.column("timestampType").to_pylist()]
    assert kinds == [record["timestampType"] for record in expected]


def test_batches_of_one_answer_become_one_arrow_batch() -> None:
    made = tables(stretch_of(b"".join(bytes.fromhex(line["hex"]) for line in NEW), first=-1))
    assert len(made) == 1
    expected = [record for line in NEW for record in visible(line)]
    for record, told in zip(records_in(made), expected, strict=True):
        check_record(record, told)
