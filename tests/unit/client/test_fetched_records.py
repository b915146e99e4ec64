"""From a Fetch answer to what a consumer hands out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from pykafka_classic.client.fetched_records import read_fetched
from pykafka_classic.common.topic_partition import TopicPartition

GOLDEN = Path(__file__).parents[2] / "golden" / "data" / "records" / "batches.jsonl.gz"
P = TopicPartition("t", 3)


def recorded(name: str) -> bytes:
    """A batch that Kafka's MemoryRecordsBuilder wrote."""
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        return next(bytes.fromhex(line["hex"]) for line in map(json.loads, lines) if line.get("name") == name and line["kind"] == "batch")


def test_records_before_the_fetch_offset_are_dropped() -> None:
    data = recorded("plain/2/gzip")
    everything = read_fetched(P, data, fetch_offset=0)
    assert len(everything.records) > 2
    second = everything.records[1].offset
    later = read_fetched(P, data, fetch_offset=second)
    assert later.records == everything.records[1:]
    assert later.next_offset == everything.next_offset == everything.records[-1].offset + 1
    assert {(record.topic, record.partition) for record in later.records} == {("t", 3)}


def test_a_batch_that_is_cut_off_waits_for_the_next_fetch() -> None:
    data = recorded("plain/2/none")
    assert read_fetched(P, data + data[:40], fetch_offset=0) == read_fetched(P, data, fetch_offset=0)
    assert read_fetched(P, data[:-1], fetch_offset=7).next_offset == 7


def test_control_batches_are_passed_over_but_count_as_read() -> None:
    fetched = read_fetched(P, recorded("control_commit"), fetch_offset=0)
    assert (fetched.records, fetched.next_offset > 0) == ((), True)


def test_an_empty_answer_stays_where_it_is() -> None:
    assert read_fetched(P, None, fetch_offset=5).next_offset == 5
    assert read_fetched(P, b"", fetch_offset=5).next_offset == 5


def test_old_messages_have_the_same_form() -> None:
    fetched = read_fetched(P, recorded("plain/0/none"), fetch_offset=0)
    assert fetched.records
    assert all(record.timestamp == -1 and record.headers == () for record in fetched.records)
