"""Spark's own Kafka connector against our brokers, and what our reader makes of the same records."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from pykafka_classic.testing.cluster import LocalCluster
from spark_integration.executor.read import read_range
from spark_integration.executor.schema import TYPES
from spark_integration.ranges import OffsetRange, ReadSettings
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import Sent, create_topic, end_offsets, read_all, send
from tests.integration.test_own_clients import SHAPES
from tests.spark_official.job import PER_TRIGGER, ROWS

HERE: Final = Path(__file__).parent
JARS: Final = HERE.parents[1] / "tools" / "bench" / "official_jars.py"
JOB_S: Final = 180
SHAPES_TOPIC: Final = "shapes"
KINDS: Final = {"appended": {"message.timestamp.type": "LogAppendTime"}, "old": {"message.format.version": "0.9.0"}}  # topics of other kinds

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def jars() -> str:
    """Of the connector; skips where they cannot be had."""
    asked = subprocess.run([sys.executable, str(JARS)], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        pytest.skip(asked.stderr.strip())
    return asked.stdout.strip()


@pytest.fixture(scope="module")
def cluster(jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three brokers of ours, with records of all kinds."""
    with LocalCluster(tmp_path_factory.mktemp("official"), overrides=KEEP) as running:
        create_topic(running.bootstrap, SHAPES_TOPIC, partitions=2)
        for codec in ("none", "lz4"):
            send(running.bootstrap, SHAPES_TOPIC, SHAPES, partition=0, compression_type=codec)
        send(running.bootstrap, SHAPES_TOPIC, [Sent(b"k", b"%d" % number, (), 1_600_000_000_000 + number) for number in range(50)], partition=1)
        for name, config in KINDS.items():
            create_topic(running.bootstrap, name, partitions=1, config=config)
            send(running.bootstrap, name, [each for each in SHAPES if not each.headers])
        for name in ("written", "copy"):
            create_topic(running.bootstrap, name, partitions=3)
        yield running
    assert_no_stack_traces(running)


@pytest.fixture(scope="module")
def seen(cluster: LocalCluster, jars: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the job saw: one JVM for all tests."""
    arguments = [jars, cluster.bootstrap, ",".join([SHAPES_TOPIC, *KINDS]), "written", "copy", str(tmp_path_factory.mktemp("checkpoints"))]
    done = subprocess.run([sys.executable, str(HERE / "job.py"), *arguments], capture_output=True, text=True, timeout=JOB_S, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_our_reader_gives_the_rows_that_the_connector_gives(cluster: LocalCluster, seen: dict[str, Any]) -> None:
    settings = ReadSettings(cluster.bootstrap, "read_uncommitted", True, True, 1 << 20, 20_000, tuple(TYPES))
    topics = {topic: end_offsets(cluster.bootstrap, topic) for topic in sorted([SHAPES_TOPIC, *KINDS])}
    ranges = [OffsetRange(topic, partition, 0, end) for topic, ends in topics.items() for partition, end in sorted(ends.items())]
    assert [row for each in ranges for batch in read_range(each, settings) for row in as_json(batch)] == seen["shapes"]
    assert len(seen["shapes"]) == 2 * len(SHAPES) + 50 + len(KINDS) * (len(SHAPES) - 1)


def as_json(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Rows as the job tells them."""
    times = batch.column("timestamp").view(pa.int64()).to_pylist()
    for row, us in zip(batch.drop_columns(["timestamp"]).to_pylist(), times, strict=True):
        headers = [{"key": each["key"], "value": encoded(each["value"])} for each in row["headers"]] if row["headers"] is not None else None
        yield row | {"key": encoded(row["key"]), "value": encoded(row["value"]), "us": us, "headers": headers}


def encoded(data: bytes | None) -> str | None:
    """As Spark's hex."""
    return None if data is None else data.hex().upper()


def test_the_connector_reads_between_offsets_and_up_to_a_time(seen: dict[str, Any]) -> None:
    # Offsets 1 and 2 of partition 0; of partition 1 the 3 records before the time, of partition 0 those before the first that is as late: 3.
    assert seen["ends"] == [2, 6]


def test_the_connector_writes_in_batch(cluster: LocalCluster, seen: dict[str, Any]) -> None:
    found = read_all(cluster.bootstrap, "written")
    expected = {(number % 3, b"k%d" % number, b"%d" % number * 50, (("id", b"%d" % number),)) for number in range(ROWS)}
    assert {(partition, each.record.key, each.record.value, each.record.headers) for partition, some in found.items() for each in some} == expected
    assert sum(map(len, found.values())) == seen["read"] == ROWS


def test_the_connector_streams_at_the_rate_that_it_is_told_and_stops_at_what_is_there(cluster: LocalCluster, seen: dict[str, Any]) -> None:
    first, second = seen["batches"]
    assert (sum(first), second) == (ROWS, [])
    assert len(first) == -(-ROWS // PER_TRIGGER)
    assert max(first) <= PER_TRIGGER
    copied = [each.record for some in read_all(cluster.bootstrap, "copy").values() for each in some]
    assert sorted(each.key for each in copied if each.key) == sorted(b"k%d" % number for number in range(ROWS))
