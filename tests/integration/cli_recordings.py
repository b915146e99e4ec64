"""Plays what was recorded of Apache's command-line tools against ours, on a cluster of ours. See tests/golden/data/cli/README.md.

Our tools run inside this process, through the same `execute` as their launchers; a tool that we do not have and that only sets the scene is Apache's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final

from pykafka_classic.cli import producer_perf_test, update_offsets_in_zk, verifiable_consumer, verifiable_producer, zookeeper_shell
from pykafka_classic.cli.command import Console, Tool, execute
from pykafka_classic.cli.commands import module_of
from pykafka_classic.common.zookeeper import Exists
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import ChildProcess, free_ports, wait_until
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration import cli_masks
from tests.integration.apache import OURS, MixedCluster, class_path
from tests.integration.cli_differences import DIFFERENCES, Compared
from tests.integration.java_tools import JavaTools
from zk_schema import preferred_replica_election, reassign_partitions

DATA: Final = Path(__file__).parents[1] / "golden" / "data" / "cli"
NOBODY: Final = 7  # the recorded cluster's ports from the first on; nobody listens at this one
SETTLED_S: Final = 20.0  # in which what a command reads must have come true: a consumer commits every 5 s, and Java takes its time to begin
IDLE_MS: Final = "600"
ORDERS_S: Final = 30.0
READS: Final = ("--describe", "--list", "--verify", "ls", "get", "stat")
APACHE_TOOLS: Final = {"kafka-console-producer": "kafka.tools.ConsoleProducer", "kafka-console-consumer": "kafka.tools.ConsoleConsumer"}

Program = Callable[[Sequence[str], Console], int]
WITHOUT_OPTIONS: Final[dict[str, Program]] = {
    "kafka-producer-perf-test": producer_perf_test.main,
    "kafka-verifiable-consumer": verifiable_consumer.main,
    "kafka-verifiable-producer": verifiable_producer.main,
    "kafka.tools.UpdateOffsetsInZK": update_offsets_in_zk.main,
    "org.apache.kafka.tools.ProducerPerformance": producer_perf_test.main,
    "zookeeper-shell": zookeeper_shell.main,
}
Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Exit status and output, made alike."""

    status: int
    stdout: str
    stderr: str

    def seen(self, compared: Compared | None) -> Outcome:
        """What is compared of it."""
        match compared:
            case Compared.LINES:
                return Outcome(self.status, "\n".join(sorted(self.stdout.splitlines())), self.stderr)
            case Compared.NOTHING:
                return Outcome(0, "", "")
            case Compared.STATUS:
                return Outcome(self.status, "", "")
            case Compared.STDERR:
                return Outcome(0, "", self.stderr)
            case Compared.STATUS_AND_STDOUT:
                return Outcome(self.status, self.stdout, "")
            case Compared.SHAPE:
                return Outcome(self.status, cli_masks.shape(self.stdout), self.stderr)
            case Compared.COUNTS:
                return Outcome(self.status, cli_masks.counted(self.stdout), self.stderr)
            case Compared.SOME_LINES:
                return Outcome(self.status, cli_masks.without_lot(self.stdout), self.stderr)
            case None:
                return self


@dataclass(frozen=True, slots=True)
class Played:
    """What a case should print, and what it printed: as far as the two are compared."""

    wanted: Outcome
    found: Outcome


def recording(name: str) -> dict[str, Any]:
    """One file."""
    loaded: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return loaded


def tool_named(name: str) -> Program | None:
    """Our tool of Kafka's name; None where there is none."""
    if name in WITHOUT_OPTIONS:
        return WITHOUT_OPTIONS[name]
    module = module_of(name)
    found = getattr(importlib.import_module(f"pykafka_classic.cli.{module}"), "TOOL", None) if module else None
    return functools.partial(execute, found) if isinstance(found, Tool) else None


def run(tool: Program, arguments: Sequence[str], stdin: str | None = None) -> tuple[int, str, str]:
    """Run one of our tools in this process: exit status, stdout, stderr."""
    output, errors = StringIO(), StringIO()
    status = tool(arguments, Console(StringIO(stdin or ""), output, errors))
    return status, output.getvalue(), errors.getvalue()


def is_played(case: Case) -> bool:
    """Whether a case is played: we have the tool, and it ends by itself."""
    return tool_named(case["argv"][0]) is not None and "stopped_after_s" not in case


def is_cut_short(words: Sequence[str]) -> bool:
    """Whether a consumer is first told to wait a shorter time for more than the recorded one: Java had to get going, ours has not.

    On a machine so busy that it saw too little it is run once more, with all the time; not so the member of a group, which has then committed what it saw.
    """
    return "--timeout-ms" in words and "--group" not in words


class Replay:
    """One recording on one cluster, case by case."""

    def __init__(self, name: str, cluster: LocalCluster, folder: Path) -> None:
        self._cases: list[Case] = recording(name)["cases"]
        self._differences = DIFFERENCES.get(name, {})
        self._cluster = cluster
        self._folder = folder
        recorded = json.dumps(self._cases)
        self._zookeeper = next(iter(re.findall(r"127\.0\.0\.1:[1-3]8181", recorded)), "127.0.0.1:38181")
        ports = sorted({int(port) for port in re.findall(r"127\.0\.0\.1:(2[57]\d\d\d)", recorded)})
        self._first = ports[0] - ports[0] % 100 + 92 if ports else 25192
        self._nobody = f"127.0.0.1:{free_ports(1)[0]}"
        self._started: dict[str, ChildProcess] = {}

    def play(self) -> dict[str, Played]:
        """All cases, in their order, by name."""
        try:
            with contextlib.chdir(self._folder):
                return self._play_all()
        finally:
            for process in self._started.values():
                process.kill()

    def _play_all(self) -> dict[str, Played]:
        played = {}
        for case in self._cases:
            for step in case.get("before", ()):
                self._step(step)
            if is_played(case):
                played[case["name"]] = self._case(case)
        return played

    def _case(self, case: Case) -> Played:
        difference = self._differences.get(case["name"])
        compared = difference.compared if difference is not None else None
        wanted = self._wanted(case).seen(compared)
        deadline = time.monotonic() + (SETTLED_S if any(word in READS for word in case["argv"]) else 0)
        found = self._found(case, hasty=True).seen(compared)
        if found != wanted and is_cut_short(case["argv"]):
            found = self._found(case).seen(compared)
        while found != wanted and time.monotonic() < deadline and case["exit"] == 0:
            time.sleep(0.2)
            found = self._found(case).seen(compared)
        return Played(wanted, found)

    def _wanted(self, case: Case) -> Outcome:
        names = {self._zookeeper: "@ZK@", **{f"127.0.0.1:{self._first + number}": f"@BROKER{number}@" for number in range(NOBODY)}}
        names[f"127.0.0.1:{self._first + NOBODY}"] = "@NOBODY@"
        stdout, stderr = (cli_masks.of_java(cli_masks.alike(case[stream], names)) for stream in ("stdout", "stderr"))
        return Outcome(case["exit"], stdout, stderr.replace("{USAGE}", "{USAGE}\n"))

    def _found(self, case: Case, *, hasty: bool = False) -> Outcome:
        tool = tool_named(case["argv"][0])
        assert tool is not None
        arguments = self._arguments(case["argv"][1:], hasty=hasty)
        status, stdout, stderr = run(tool, arguments, self._here(case["stdin"] or ""))
        names = {self._cluster.zookeeper.address: "@ZK@", self._nobody: "@NOBODY@", str(self._folder): "{DIR}", str(self._folder.parent): "{DIR}"}
        names |= {f"127.0.0.1:{port}": f"@BROKER{number}@" for number, port in enumerate(self._cluster.ports)}
        return Outcome(status, *(cli_masks.of_ours(cli_masks.alike(text, names)) for text in (stdout, stderr)))

    def _here(self, text: str) -> str:
        """A text with this cluster's addresses."""
        text = text.replace(self._zookeeper, self._cluster.zookeeper.address).replace("{DIR}", str(self._folder))
        text = text.replace(f"127.0.0.1:{self._first + NOBODY}", self._nobody)
        for number, port in enumerate(self._cluster.ports):
            text = text.replace(f"127.0.0.1:{self._first + number}", f"127.0.0.1:{port}")
        return text

    def _arguments(self, words: Sequence[str], *, hasty: bool = False) -> list[str]:
        found = [self._here(word) for word in words]
        cut = hasty and is_cut_short(words)
        return [IDLE_MS if cut and before == "--timeout-ms" else word for before, word in zip(["", *found], found, strict=False)]

    def _step(self, step: Mapping[str, Any]) -> None:
        match step:
            case {"start": name, "run": [tool, *words]}:
                command = JavaTools(class_path("2.8.2")).command(APACHE_TOOLS[tool], *self._arguments(words))
                self._started[name] = ChildProcess(command, log_path=self._folder / f"{name}.log")
                self._started[name].start()
            case {"run": [name, *words]}:
                self._run_step(name, self._arguments(words), step.get("stdin"))
            case {"file": name, "content": content}:
                (self._folder / name).write_text(content)
            case {"stop": name}:
                self._started.pop(name).stop()
            case {"stop_broker": number}:
                broker = self._cluster.brokers[number]
                broker.stop() if step["signal"] == "SIGTERM" else broker.kill()
            case {"start_broker": number}:
                self._cluster.restart(number)
                self._cluster.wait_ready()
                self._wait_in_sync()
            case {"wait_s": _}:
                wait_until(self._orders_are_done, seconds=ORDERS_S)
            case {"until": _}:  # what is read is asked for until it has come true
                return
            case _:
                raise AssertionError(f"unknown step {step}")

    def _orders_are_done(self) -> bool:
        """What the wait was for: the controller has carried out what was asked of it. (Without a broker nobody does.)"""
        if not any(broker.running for broker in self._cluster.brokers):
            return True
        with BlockingZooKeeper(self._cluster.zookeeper.address) as zk:
            return not any(result.ok for result in zk.submit(Exists(preferred_replica_election.PATH), Exists(reassign_partitions.PATH)))

    def _wait_in_sync(self) -> None:
        """All replicas on brokers that there are are in sync again, as they were after the recorded wait."""
        live = set(range(len(self._cluster.brokers)))
        with Admin(self._cluster.bootstrap) as admin:

            def in_sync() -> bool:
                topics = admin.describe_topics(list(admin.list_topics(internal=True))).values_only().values()
                return all(set(each.isr) >= set(each.replicas) & live for topic in topics for each in topic.partitions)

            wait_until(in_sync, seconds=30)

    def _run_step(self, name: str, words: Sequence[str], stdin: str | None) -> None:
        tool = tool_named(name)
        if tool is None:
            status, said = JavaTools(class_path("2.8.2")).attempt(APACHE_TOOLS[name], *words, stdin=stdin)
        else:
            status, *texts = run(tool, words, stdin)
            said = "".join(texts)
        assert status == 0, f"{name} {words}: {said}"


@contextlib.contextmanager
def cluster_for(head: Mapping[str, Any], folder: Path, kind: str) -> Iterator[LocalCluster]:
    """The cluster that a recording was made on, of our brokers or of a release of Apache's; one of one broker where it needed none."""
    wanted = head["cluster"] or {"brokers": 1, "options": []}
    overrides = dict(option.split("=", 1) for option in wanted["options"])
    cluster = MixedCluster(folder, [kind] * wanted["brokers"], overrides=overrides)
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.kill()  # nobody looks at what it leaves; to stop in order would take another second or two


def play(name: str, folder: Path, kind: str = OURS) -> dict[str, Played]:
    """Play one recording on a cluster of its own."""
    (folder / "cwd").mkdir()
    with cluster_for(recording(name), folder / "cluster", kind) as cluster:
        return Replay(name, cluster, Path(os.path.realpath(folder / "cwd"))).play()
