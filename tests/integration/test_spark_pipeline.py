"""The pipeline of `make pipeline` with fewer flights: a job killed with SIGKILL while it writes, and no flight lost or counted twice.

What it leaves behind is looked at here without Spark: topics by our consumer, Parquet by pyarrow; and compared with a plain count of the file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
import pytest

from pykafka_classic.clients import Consumer, ConsumerRecord
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration.pipelines.data_set import broken_count, flights_by_departure
from spark_integration.pipelines.dead_letters import LATE
from spark_integration.pipelines.delay_statistics import MEASURES
from spark_integration.pipelines.plain_count import Counted, Delays, count_plainly, summed

FLIGHTS: Final = 4_000
BATCHES: Final = 4
LIMIT_S: Final = 900


@pytest.fixture(scope="module")
def pipeline(single_broker: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that a run has left, and what it has printed."""
    directory = tmp_path_factory.mktemp("spark") / "pipeline"
    options = ["--bootstrap", single_broker.bootstrap, "--directory", str(directory), "--keep", "--flights", str(FLIGHTS), "--batches", str(BATCHES)]
    command = [sys.executable, "-m", "spark_integration.pipelines.run", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout
    return directory, done.stdout


def records(cluster: LocalCluster, topic: str) -> list[ConsumerRecord]:
    with Consumer(cluster.bootstrap, start="earliest") as consumer:
        consumer.assign(consumer.partitions_of(topic))
        return list(consumer.until_idle(2000))


def results(cluster: LocalCluster) -> Counted:
    """Of each key the last value."""
    values = {record.key: json.loads(record.value or b"{}") for record in records(cluster, "departure-delays")}
    return {(date.fromisoformat(value["day"]), value["carrier"], value["origin"]): Delays(*(value.get(name) for name in MEASURES)) for value in values.values()}


def letters(cluster: LocalCluster) -> Iterator[tuple[str, bytes]]:
    """Reason and value of each dead letter, those that were sent again aside."""
    known = set()
    for record in records(cluster, "departures-dead-letters"):
        told = {name: (value or b"").decode() for name, value in record.headers}
        position = told["topic"], told["partition"], told["offset"]
        if position not in known:
            known.add(position)
            yield told["reason"], record.value or b""


def test_results_and_late_flights_together_are_the_plain_count(pipeline: tuple[Path, str], single_broker: LocalCluster) -> None:
    flights = flights_by_departure(FLIGHTS)
    of_value = {flight.value: flight for flight in flights}
    late = count_plainly(of_value[value] for reason, value in letters(single_broker) if reason == LATE)
    assert late
    counted = results(single_broker)
    assert {key: summed(part[key] for part in (counted, late) if key in part) for key in counted.keys() | late.keys()} == count_plainly(flights)


def test_each_broken_record_is_a_dead_letter_with_its_reason(pipeline: tuple[Path, str], single_broker: LocalCluster) -> None:
    reasons = Counter(reason for reason, _ in letters(single_broker) if reason != LATE)
    assert reasons == {"not a row of flights": 2, "no such carrier: ZZ": 1, "no such airport: N.Y.": 1}  # data_set: the first four kinds of damage
    assert reasons.total() == broken_count(FLIGHTS)


def test_the_job_was_killed_and_each_flight_is_in_the_tables_once(pipeline: tuple[Path, str]) -> None:
    directory, printed = pipeline
    assert "SIGKILL" in printed
    numbers = pq.read_table(directory / "output" / "flights", columns=["number"]).column("number").to_pylist()
    assert sorted(numbers) == sorted(flight.number for flight in flights_by_departure(FLIGHTS))


def test_progress_is_a_table_of_all_batches(pipeline: tuple[Path, str]) -> None:
    lines = re.findall(r"^ +(\d+) +([\d,]+) +[\d,]+ +[\d,]+ +[\d,]+ +([\d,]+|-) +[\d,]+ +[\d,]+ ", pipeline[1], re.MULTILINE)
    assert [int(batch) for batch, *_ in lines] == list(range(BATCHES))
    assert sum(int(rows.replace(",", "")) for _, rows, _ in lines) == FLIGHTS + broken_count(FLIGHTS)
    assert lines[-1][2] == "0"


def test_both_groups_have_nothing_left_to_read(pipeline: tuple[Path, str]) -> None:
    rows = re.findall(r"^(delays-job|totals-job) +([\w-]+) +\d+ +(\d+) +(\d+) +(\d+) ", pipeline[1], re.MULTILINE)
    assert Counter((group, topic) for group, topic, *_ in rows) == {
        ("delays-job", "departures"): 4,
        ("totals-job", "departure-delays"): 4,
        ("totals-job", "departures-dead-letters"): 4,
    }
    assert all(committed == end and lag == "0" for *_, committed, end, lag in rows)
