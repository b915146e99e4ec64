"""`make pipeline`: a cluster, a year of flights, both jobs, the first of them killed in the middle; and the totals compared with the file, to the last flight.

Everything lies in one folder, which is removed when all went well. Where a run was killed, the next one goes on with what it finds there: the cluster's logs,
the checkpoint, the tables.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pykafka_classic.common.zookeeper import GetChildren
from pykafka_classic.demo.console import ProgressBar, heading, line, say
from pykafka_classic.demo.flights import ROWS
from pykafka_classic.demo.places import FREE_PORTS, make_cluster, told_in_a_sentence
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import StartFailed, wait_until
from spark_integration.pipelines import delays, totals
from spark_integration.pipelines.data_set import broken_count, flights_by_departure, records
from spark_integration.pipelines.jobs import Job
from spark_integration.pipelines.loading import create_topics, load
from spark_integration.pipelines.sessions import DEAD_LETTERS, DEPARTURES, RESULTS
from zk_schema import broker_ids

PARTITIONS: Final = 4
SESSIONS_END_S: Final = 30.0
SESSION_TIMEOUT_MS: Final = 6_000  # so long a group waits for a member that was killed; as short as brokers allow


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """How it is to run."""
    options = argparse.ArgumentParser(prog="make pipeline", description=__doc__.partition(".")[0] if __doc__ else None)
    options.add_argument("--bootstrap", help="brokers of a cluster that runs; one is started where this is not given")
    options.add_argument(FREE_PORTS, action="store_true", help="let the cluster take free ports instead of 2181 and 9092-9094")
    options.add_argument("--directory", type=Path, default=Path("build/pipeline"), help="where everything lies (default: %(default)s)")
    options.add_argument("--flights", type=int, default=ROWS, help="so many, from the first of January on (default: all, %(default)s)")
    options.add_argument("--master", default="local[2]", help="Spark's master (default: %(default)s)")
    options.add_argument("--batches", type=int, default=6, help="so many micro-batches of job 1 (default: %(default)s)")
    options.add_argument("--no-kill", dest="kill", action="store_false", help="let job 1 run to its end at once")
    options.add_argument("--keep", action="store_true", help="do not remove the folder at the end")
    options.add_argument("--one-process", action="store_true", help="both jobs in this process, one after the other, to save time; none is killed")
    return options.parse_args(arguments)


class Pipeline:
    """The run."""

    def __init__(self, options: argparse.Namespace, bootstrap: str) -> None:
        self._options = options
        self._bootstrap = bootstrap
        self._directory: Path = options.directory.resolve()
        self._common = ["--bootstrap", bootstrap, "--master", options.master]

    def load(self) -> None:
        """The flights come in."""
        heading(f"The topic {DEPARTURES}, {PARTITIONS} partitions; {RESULTS}, compacted; {DEAD_LETTERS}")
        create_topics(self._bootstrap, {DEPARTURES: {}, RESULTS: {"cleanup.policy": "compact"}, DEAD_LETTERS: {}}, partitions=PARTITIONS)
        flights = flights_by_departure(self._options.flights)
        total = len(flights) + broken_count(len(flights))
        say(
            f"{len(flights):,} flights in the order of their departure, keyed by the flight. Some come hours late, some when all others have come,"
            f" and {broken_count(len(flights)):,} broken copies among them."
        )
        bar = ProgressBar(total, "loaded")
        began = time.monotonic()
        sent = load(self._bootstrap, DEPARTURES, records(flights), bar.show)
        bar.show(total, last=True)
        line(f"{sent:,} sent in {time.monotonic() - began:.1f} s, {total - sent:,} were there already")

    def delays(self) -> None:
        """Job 1, killed in the middle and started again."""
        heading("Job 1: delays by day, carrier and airport; group delays-job")
        options, output = self._options, self._directory / "output"
        batch = -(-(options.flights + broken_count(options.flights)) // options.batches) + PARTITIONS  # each partition's share is rounded down
        where = ["--checkpoint", str(self._directory / "checkpoint"), "--output", str(output), "--option", f"session.timeout.ms={SESSION_TIMEOUT_MS}"]
        arguments = [*self._common, *where, "--batch", str(batch)]
        if options.one_process:
            _check(delays.run(arguments), "delays")
            return
        job, tables = Job("delays", arguments, self._directory), output / "flights"
        if options.kill and not tables.exists():
            if job.follow(line, lambda: len(list(tables.glob("from=*"))) > options.batches // 2):
                return
            job.kill()
            say("SIGKILL, while it writes this batch's tables. Once more, with the same checkpoint:")
        job.follow(line)

    def totals(self) -> None:
        """Job 2."""
        heading("Job 2: the results and the dead letters, added up; group totals-job")
        view = ["--view", str(self._directory / "view"), "--tables", str(self._directory / "output"), "--compare", str(self._options.flights)]
        if self._options.one_process:
            _check(totals.run([*self._common, *view]), "totals")
            return
        Job("totals", [*self._common, *view], self._directory).follow(line)

    def groups(self) -> None:
        """What is left to read."""
        heading("kafka-consumer-groups --describe: nothing is left to read")
        command = [sys.executable, "-m", "pykafka_classic.cli.consumer_groups", "--bootstrap-server", self._bootstrap, "--describe"]
        groups = [word for group in ("delays-job", "totals-job") for word in ("--group", group)]
        line(subprocess.run([*command, *groups], stdout=subprocess.PIPE, text=True, check=True).stdout.strip())


def _check(status: int, name: str) -> None:
    if status:
        raise StartFailed(f"The job {name} failed with status {status}")


@contextmanager
def brokers(options: argparse.Namespace) -> Iterator[str]:
    """The cluster that is given, or one that is started, and stopped afterwards: where its brokers are."""
    if options.bootstrap is not None:
        yield options.bootstrap
        return
    heading("A cluster: one ZooKeeper, three brokers")
    began = time.monotonic()
    cluster = make_cluster(options.directory.resolve() / "cluster", [FREE_PORTS] if options.free_ports else [])
    try:
        cluster.check_ports()
        cluster.start_zookeeper()
        with BlockingZooKeeper(cluster.zookeeper.address) as zk:  # brokers of a run that was killed are there until their sessions end
            wait_until(lambda: not zk.submit(GetChildren(broker_ids.PATH))[0].children, seconds=SESSIONS_END_S)
        for broker in cluster.brokers:
            broker.start()
        cluster.wait_ready()
        line(f"ZooKeeper on {cluster.zookeeper.address}, brokers on {cluster.bootstrap}, after {time.monotonic() - began:.1f} s")
        yield cluster.bootstrap
        cluster.stop()
    finally:
        cluster.kill()


def run(arguments: Sequence[str]) -> int:
    """All of it; the exit status."""
    options = options_of(arguments)
    began = time.monotonic()
    if options.directory.exists():
        say(f"Going on with what is in {options.directory}: a run before has not come to its end. (To begin anew, remove that folder.)")
    options.directory.mkdir(parents=True, exist_ok=True)
    with brokers(options) as bootstrap:
        pipeline = Pipeline(options, bootstrap)
        for chapter in (pipeline.load, pipeline.delays, pipeline.totals, pipeline.groups):
            chapter()
    if not options.keep:
        shutil.rmtree(options.directory)
    line(f"\nDone in {time.monotonic() - began:.0f} s; {options.directory} is {'kept' if options.keep else 'removed'}.")
    return 0


if __name__ == "__main__":
    sys.exit(told_in_a_sentence(lambda: run(sys.argv[1:]), target="pipeline"))
