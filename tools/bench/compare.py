"""Ours beside Apache Kafka: the same librdkafka workloads against both, alternately, in one run. A table, docs/bench/compare.json, .md and .svg.

    python tools/bench/compare.py                         all workloads, five rounds, beside Apache Kafka 2.8.2: about a quarter of an hour
    python tools/bench/compare.py --quick                 one round, shorter runs: three minutes
    python tools/bench/compare.py --only produce-1k,in-flight-1 --rounds 9
    python tools/bench/compare.py --peer 3.9.1            another release, through Maven
    python tools/bench/compare.py --peer host:9092        brokers that run already (nothing is told of their processes; what needs starts is left out)
    python tools/bench/compare.py --peer none             ours alone
    python tools/bench/compare.py --list                  the names of the workloads

Before its rounds each workload is run once, briefly, against both sides, and that run does not count: a JVM has to warm up. The ratio is how much better ours
is: rates are divided by the peer's, times divide the peer's. Bold in the table: below the bar.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from comparison import cluster_life, latency, throughput
from comparison.librdkafka import BenchFailed
from comparison.picture import write_picture
from comparison.results import Results
from comparison.sides import OURS, Side, make_cluster
from comparison.workloads import Load, Workload

from pykafka_classic.edges.child_processes import StartFailed
from pykafka_classic.testing.apache import JarsNotFetched, broker_class_path

ALL: Final = [*throughput.WORKLOADS, *latency.WORKLOADS, *cluster_life.WORKLOADS]
NOBODY: Final = "none"
SECONDS: Final = 1.2
QUICK_SECONDS: Final = 0.8
WARM_UP_S: Final = 0.6
ROUNDS: Final = 5
TO_WARM_UP: Final = {1: ("produce-1k", "consume-1k", "in-flight-8"), 3: ("produce-rf3-1k", "in-flight-8-rf3", "end-to-end-1000")}  # before anything counts
DOCS: Final = Path(__file__).resolve().parents[2] / "docs" / "bench"


def options_of(arguments: list[str]) -> argparse.Namespace:
    """What the user wants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default="2.8.2", help="a release of Apache Kafka, bootstrap addresses, or none")
    parser.add_argument("--only", default="", help="names of workloads, or beginnings of names, with commas")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--output", type=Path, help="a folder for compare.json, .md and .svg; docs/bench where all workloads are run")
    parser.add_argument("--directory", type=Path, help="where the brokers have their data; the system's temporary folder if absent")
    options = parser.parse_args(arguments)
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds: at least one")
    wanted = tuple(name for name in options.only.split(",") if name)
    options.workloads = [each for each in ALL if each.name in wanted or not wanted] or [each for each in ALL if each.name.startswith(wanted)]
    if not options.workloads:
        parser.error(f"--only: none of {', '.join(each.name for each in ALL)}")
    if options.output is None and not wanted:
        options.output = DOCS
    return options


@contextmanager
def side_of(kind: str, brokers: int, directory: Path) -> Iterator[Side]:
    """A cluster of so many brokers, for as long as the block lasts; of one that runs already, what it is."""
    if ":" in kind:
        yield Side(kind, kind, directory)
        return
    if not brokers:  # the workload starts its own
        yield Side(kind, "", directory)
        return
    cluster = make_cluster(kind, directory / f"{kind}-{brokers}", brokers)
    cluster.start()
    try:
        yield Side(kind, cluster.bootstrap, directory, cluster)
    finally:
        cluster.kill()
        shutil.rmtree(directory / f"{kind}-{brokers}", ignore_errors=True)


def run_workload(workload: Workload, sides: list[Side], options: argparse.Namespace, results: Results) -> None:
    """A brief run that does not count, then the rounds."""
    load = Load(QUICK_SECONDS if options.quick else SECONDS, options.quick)
    rounds = min(options.rounds or (1 if options.quick else ROUNDS), workload.rounds_max)
    print(f"{workload.name}: ", end="", flush=True)
    try:
        if workload.brokers:
            for side in sides:
                workload.run(side, replace(load, seconds=WARM_UP_S))
        for number in range(rounds):
            for side in sides if number % 2 == 0 else sides[::-1]:  # neither is always the first
                results.add(workload, is_ours=side.kind == OURS, values=workload.run(side, load))
        for side in sides:
            side.forget_filled()
    except (BenchFailed, TimeoutError, StartFailed) as failure:
        results.failures.append(f"{workload.name}: {failure}")
    prefix = f"{workload.name}."
    print(", ".join(f"{key.removeprefix(prefix)} {_ratio(each.ratio)}" for key, each in results.rows.items() if key.startswith(prefix)), flush=True)


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def run_all(options: argparse.Namespace, directory: Path, results: Results) -> None:
    """All workloads that the user wants, those of a cluster size together."""
    kinds = [OURS] if options.peer == NOBODY else [OURS, options.peer]
    for brokers in (1, 3, 0):
        workloads = [each for each in options.workloads if each.brokers == brokers]
        if not workloads:
            continue
        with side_of(kinds[0], brokers, directory) as ours, side_of(kinds[-1], brokers, directory) if len(kinds) > 1 else _nobody(ours) as peer:
            sides = [ours] if peer is ours else [ours, peer]
            if brokers:
                _warm_up(sides, brokers, options)
            elif ":" in options.peer:
                sides = [ours]
            for workload in workloads:
                run_workload(workload, sides, options, results)


@contextmanager
def _nobody(ours: Side) -> Iterator[Side]:
    yield ours


def _warm_up(sides: list[Side], brokers: int, options: argparse.Namespace) -> None:
    load = Load(1.0 if options.quick else 4.0, quick=True)
    for name in TO_WARM_UP[brokers]:
        runner: Callable[[Side, Load], object] = next(each.run for each in ALL if each.name == name)
        for side in sides:
            runner(side, load)
    for side in sides:
        side.forget_filled()


def about(options: argparse.Namespace) -> dict[str, object]:
    """What a reader must know of a run."""
    model = next((line.partition(": ")[2] for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    peer = options.peer if ":" in options.peer else "nobody" if options.peer == NOBODY else f"Apache Kafka {options.peer}"
    return {
        "peer": peer,
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "processors": f"{os.cpu_count()} x {model.strip()}",
        "load": f"{os.getloadavg()[0]:.1f} before the run",
        "python": platform.python_version(),
        "rounds": options.rounds or (1 if options.quick else ROUNDS),
        "command": f"python tools/bench/compare.py {' '.join(sys.argv[1:])}".strip(),
    }


def main() -> int:
    """Run; the exit status is 1 where a workload failed."""
    options = options_of(sys.argv[1:])
    if options.list:
        for workload in ALL:
            print(f"{workload.name:<22} {'; '.join(row.title for row in workload.rows.values())}")
        return 0
    try:
        if options.peer != NOBODY and ":" not in options.peer:
            broker_class_path(options.peer)
    except JarsNotFetched as why:
        print(f"{why}; --peer none measures ours alone", file=sys.stderr)
        return 1
    results = Results(about(options))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-", dir=options.directory, ignore_cleanup_errors=True) as directory:
        run_all(options, Path(directory), results)
    results.about["took"] = f"{(time.monotonic() - began) / 60:.1f} minutes"
    print(f"\n{results.table()}")
    for failure in results.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if options.output is not None:
        results.write(options.output, "compare")
        write_picture(results, options.output / "compare.svg")
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
