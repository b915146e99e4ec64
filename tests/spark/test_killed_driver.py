"""A driver that is killed (SIGKILL, with its JVM and its readers) loses nothing, and repeats one batch at most."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from pykafka_classic.testing.cluster import LocalCluster
from tests.spark.jobs import eventually, knows_limits, lag, new_topic, numbers_of

ROOT: Final = Path(__file__).resolve().parents[2]
NOW: Final = {"processingTime": "0 seconds"}


class Driver:
    """A run of `tests.spark.driver`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        self._lines = process.stdout

    def wait_for(self, line: str) -> None:
        """Read on to a line; fail where the program ends without it."""
        for each in self._lines:
            if each.strip() == line:
                return
        raise AssertionError(f"the driver has ended without saying {line!r}")

    def wait(self) -> int:
        """Until it ends."""
        for _ in self._lines:
            continue
        return self._process.wait()

    def kill(self) -> None:
        """The whole of it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def driver(out: Path, source: dict[str, str], *, hold: Any = None, listens: bool = True, **trigger: Any) -> Iterator[Driver]:
    job = {"out": str(out), "options": source, "hold": hold, "listens": listens, "trigger": trigger or NOW}
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (out / "driver.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.driver", json.dumps(job)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    with process:
        try:
            yield Driver(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@knows_limits
def test_a_driver_killed_anywhere_loses_nothing_and_repeats_one_batch_at_most(spark: SparkSession, cluster: LocalCluster, tmp_path: Path) -> None:
    topic = new_topic(cluster, records=60)
    source = {
        "bootstrap.servers": cluster.bootstrap,
        "subscribe": topic,
        "group.id": topic,
        "maxOffsetsPerTrigger": "10",
        "session.timeout.ms": "6000",  # the killed driver is a member for so long
        "heartbeat.interval.ms": "500",
    }

    with driver(tmp_path, source, hold=["begun", 1]) as first:
        first.wait_for("held")
        assert lag(cluster, topic) == 50
        first.kill()  # before the sink

    with driver(tmp_path, source, hold=["written", 2]) as second:
        second.wait_for("held")
        assert lag(cluster, topic) == 40
        second.kill()  # after the sink, before Spark has written that down

    with driver(tmp_path, source, listens=False, processingTime="1 hour") as third:
        third.wait_for("written 2")
        eventually((tmp_path / "checkpoint" / "commits" / "2").exists)
        assert lag(cluster, topic) == 40
        third.kill()  # between batches: Spark knows that batch 2 is done, the group does not

    with driver(tmp_path, source, availableNow=True) as last:
        assert last.wait() == 0
    assert lag(cluster, topic) == 0

    appended = [json.loads(line) for line in (tmp_path / "appended").read_text().splitlines()]
    assert [number for number, _ in appended] == [0, 1, 2, 2, 3, 4, 5]
    assert appended[2] == appended[3]
    counts = Counter(itertools.chain.from_iterable(numbers for _, numbers in appended))
    assert sorted(counts) == list(range(60))
    assert sorted(number for number, count in counts.items() if count > 1) == appended[2][1]
    assert numbers_of(spark.read.parquet(str(tmp_path / "exact"))) == list(range(60))  # docs/spark.md, "Exactly once"
