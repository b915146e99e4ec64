"""What Spark's log tells of a batch, and the table of progress. The logs are those that Spark 4.3 wrote for two batches, their configuration left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from pyspark.errors import PySparkException

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.batch_log import UnknownCheckpoint, decode, range_of
from spark_integration.pipelines.progress import Table, Written
from spark_integration.pipelines.sessions import in_a_sentence
from spark_integration.places import place_of

FIRST = (
    'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1795280463308,"conf":{}}\n'
    '{"flights": {"0": 2657, "1": 2430}, "@begin": {"flights": {"0": 57, "1": 0}}, "@reader": "34ee5d6a90b74ba2"}'
)
SECOND = (
    'v1\n{"batchWatermarkMs":1357343700000,"batchTimestampMs":1795280475412,"conf":{}}\n'
    '{"flights": {"0": 5314, "1": 4861, "2": 10}, "@begin": {"flights": {"2": 0}}, "@reader": "34ee5d6a90b74ba2"}'
)
THIRD = SECOND.replace("5314", "6000").replace("1357343700000", "1357862100000")
P0, P1, P2 = (TopicPartition("flights", number) for number in range(3))


def test_a_batch_begins_where_the_one_before_ended_or_where_it_says_itself() -> None:
    batch = range_of(decode(SECOND), decode(FIRST))
    assert batch.begins == {P0: 2657, P1: 2430, P2: 0}
    assert batch.ends == {P0: 5314, P1: 4861, P2: 10}
    assert place_of(batch.begins) == "from=5087"


def test_what_is_late_goes_by_the_watermark_of_the_batch_before() -> None:
    assert range_of(decode(SECOND), decode(FIRST)).closed_until is None
    assert range_of(decode(THIRD), decode(SECOND)).closed_until == datetime(2013, 1, 4, 23, 55, tzinfo=UTC)


def test_the_first_batch_is_read_again_from_where_it_says() -> None:
    options = range_of(decode(FIRST), None).options("radar")
    assert json.loads(options["start"]) == {"flights": {"0": 57, "1": 0}}
    assert (json.loads(options["assign"]), json.loads(options["end"])) == ({"flights": [0, 1]}, {"flights": {"0": 2657, "1": 2430}})
    assert (options["group.id"], options["membership"]) == ("radar", "none")


def test_a_later_batch_is_read_again_by_its_offsets() -> None:
    options = range_of(decode(SECOND), decode(FIRST)).options("radar")
    assert json.loads(options["start"]) == {"flights": {"0": 2657, "1": 2430, "2": 0}}


def test_a_first_batch_that_does_not_say_where_it_begins_is_refused() -> None:
    with pytest.raises(UnknownCheckpoint, match="its first batch does not say where it begins"):
        range_of(decode(SECOND), None)


@pytest.mark.parametrize("text", ["", "v2\n{}\n{}", "v1\n{}", FIRST + '\n{"other": {"0": 1}}'], ids=["nothing", "another version", "no source", "two sources"])
def test_a_log_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(UnknownCheckpoint):
        decode(text)


def test_progress_is_a_heading_and_a_line_for_each_batch() -> None:
    told: list[str] = []
    batches = {0: Written(10_000, 10, 0, 376), 1: Written(5_000, 8, 3, 90, datetime(2013, 1, 11, 18, tzinfo=UTC))}
    table = Table(batches, told.append)
    for _ in range(2):  # Spark reports a batch as long as it is one of the last hundred
        table.show(0, lag=None, duration_ms=2_000)
        table.show(1, lag=1_250_000, duration_ms=0)
        table.show(2, lag=0, duration_ms=100)  # only the watermark moved
    assert [line.split() for line in told] == [
        ["batch", "rows", "letters", "late", "results", "lag", "rows/s", "ms", "days", "closed", "until"],
        ["0", "10,000", "10", "0", "376", "-", "5,000", "2,000", "-"],
        ["1", "5,000", "8", "3", "90", "1,250,000", "0", "0", "2013-01-11", "18:00"],
    ]


def test_of_sparks_stack_traces_the_sentence_of_our_source_is_told() -> None:
    wrapped = "[PYTHON_DATA_SOURCE_ERROR] Failed: Traceback\n  File x\nspark_integration.cluster.CannotPlan: no broker at host:1\n SQLSTATE: 38000"
    assert in_a_sentence(PySparkException(wrapped)) == "no broker at host:1"
    assert in_a_sentence(PySparkException("[PATH_NOT_FOUND] airlines.csv")) == "[PATH_NOT_FOUND] airlines.csv"
