"""Groups of both generations with real processes, while 100,000 keyed records are produced: members 1 -> 2 -> 4 -> 3 (SIGKILL) -> one sleeps -> 1.

All records are read; within a partition in order; committed offsets never go back; what a fenced member commits is refused. Prints who owned what when.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from pykafka_classic.clients import Consumer, Producer, TopicPartition
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import connect_any
from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import create_topic, eventually

ROOT = Path(__file__).parents[2]
TOPIC = GROUP = "proof"
PARTITIONS = 6
RECORDS = 100_000
PER_SECOND = 4_000
KEYS = 1_000
SETTLED_S = 1.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path, brokers=3, overrides={**KEEP, "group.min.session.timeout.ms": "1000"}) as running:
        create_topic(running.bootstrap, TOPIC, partitions=PARTITIONS)
        yield running
    assert_no_stack_traces(running)


class MemberProcess:
    """One member, and what it wrote down."""

    def __init__(self, directory: Path, generation: str, cluster: LocalCluster, name: str) -> None:
        address = cluster.zookeeper.address if generation == "zookeeper" else cluster.bootstrap
        command = [sys.executable, "-m", "tests.integration.proof_member", generation, address, TOPIC, GROUP, str(directory / name)]
        self.name = name
        self._diary = directory / f"{name}.jsonl"
        self._diary.touch()
        self.process = ChildProcess(command, log_path=directory / f"{name}.log", environment={**os.environ, "PYTHONPATH": str(ROOT)})
        self.process.start()
        self.away_ms: float | None = None  # killed, or put to sleep for the first time
        self._lines: list[dict[str, Any]] = []
        self._read_to = 0

    def lines(self) -> list[dict[str, Any]]:
        """All that it has said."""
        with self._diary.open("rb") as diary:
            diary.seek(self._read_to)
            whole, newline, _ = diary.read().rpartition(b"\n")
        self._read_to += len(whole) + len(newline)
        self._lines += [json.loads(line) for line in whole.splitlines()]
        return self._lines

    def owns(self) -> frozenset[int]:
        """Now."""
        said: list[list[int]] = [line["owns"] for line in self.lines() if "owns" in line]
        return frozenset(said[-1]) if said else frozenset()

    def reads(self) -> list[tuple[int, int, int]]:
        """Partition, offset and number, in the order in which they came."""
        return [(partition, offset, number) for line in self.lines() for partition, offset, number in line.get("read", ())]

    def stints(self) -> list[tuple[int, float, float]]:
        """Partition, from and to (ms): what it owned when, while it was awake."""
        found: list[tuple[int, float, float]] = []
        since: dict[int, float] = {}
        for line in [*(each for each in self.lines() if "owns" in each), {"owns": [], "at": float("inf")}]:
            ended = [each for each in since if each not in line["owns"]]
            found += [(partition, since.pop(partition), line["at"]) for partition in ended]
            for partition in line["owns"]:
                since.setdefault(partition, line["at"])
        away = self.away_ms
        return [(partition, start, min(end, away) if away is not None and start < away else end) for partition, start, end in found]


class KeyedLoad(threading.Thread):
    """Keyed records at an even pace; a record's value is its number among those of its key."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self.sent = 0
        self._address = bootstrap

    def run(self) -> None:
        """All of them."""
        began = time.monotonic()
        with Producer(self._address, enable_idempotence=True, linger_ms=10) as producer:
            while self.sent < RECORDS:
                for _ in range(PER_SECOND // 50):
                    producer.send(TOPIC, str(self.sent // KEYS), f"key {self.sent % KEYS}")
                    self.sent += 1
                time.sleep(max(0.0, began + self.sent / PER_SECOND - time.monotonic()))


class CommitWatch(threading.Thread):
    """Looks at the group's offsets again and again; `went_back` names those that did."""

    def __init__(self, look: Callable[[], dict[int, int]]) -> None:
        super().__init__()
        self.went_back: list[tuple[int, int, int]] = []
        self.last: dict[int, int] = {}
        self._look = look
        self._ending = threading.Event()

    def run(self) -> None:
        """Until `end`."""
        while not self._ending.wait(0.05):
            for partition, offset in self._look().items():
                if offset < self.last.get(partition, 0):
                    self.went_back.append((partition, self.last[partition], offset))
                self.last[partition] = offset

    def end(self) -> None:
        """And no more."""
        self._ending.set()
        self.join()


def wait_divided(members: list[MemberProcess]) -> str:
    """Until every partition is owned by one of them, and everybody has a share, for a while; the row of the table."""
    since: list[float] = []

    def settled() -> bool:
        shares = [member.owns() for member in members]
        if not (all(shares) and sum(map(len, shares)) == PARTITIONS == len(frozenset().union(*shares))):
            since.clear()
            return False
        since.append(time.monotonic())
        return since[-1] - since[0] > SETTLED_S

    eventually(settled, f"{PARTITIONS} partitions divided among {[member.name for member in members]}", seconds=60)
    return ", ".join(f"{member.name} {sorted(member.owns())}" for member in members)


@pytest.mark.parametrize("generation", ["coordinator", "zookeeper"])
def test_members_come_go_die_and_sleep_while_records_flow(cluster: LocalCluster, tmp_path: Path, generation: str, capsys: pytest.CaptureFixture[str]) -> None:
    everyone: list[MemberProcess] = []
    table: list[str] = []
    load = KeyedLoad(cluster.bootstrap)

    def join(name: str) -> MemberProcess:
        everyone.append(MemberProcess(tmp_path, generation, cluster, name))
        return everyone[-1]

    def row(what: str, members: list[MemberProcess]) -> None:
        table.append(f"{load.sent:>7,} sent  {what:<28} {wait_divided(members)}")

    with committed_offsets(cluster, generation) as look:
        watch = CommitWatch(look)
        load.start()
        watch.start()
        try:
            one = join("a")
            row("one", [one])
            two = join("b")
            row("two", [one, two])
            three, four = join("c"), join("d")
            row("four", [one, two, three, four])
            two.process.kill()
            two.away_ms = time.time() * 1000
            row("three: b was killed", [one, three, four])
            if generation == "coordinator":
                assert_fenced(cluster, two)
            three.process.pause()
            three.away_ms = time.time() * 1000
            row("two: c sleeps", [one, four])
            three.process.resume()
            row("three: c is awake", [one, three, four])
            four.process.stop()
            three.process.stop()
            row("one", [one])
            load.join()
            with Consumer(cluster.bootstrap) as asker:
                ends = {each.partition: end for each, end in asker.end_offsets(asker.partitions_of(TOPIC)).items()}
            everything = {(partition, offset) for partition, end in ends.items() for offset in range(end)}
            assert len(everything) == RECORDS
            eventually(lambda: everything <= {read[:2] for member in everyone for read in member.reads()}, "all is read", seconds=60)
            eventually(lambda: watch.last == ends, "all is committed")
        finally:
            watch.end()
            for member in everyone:
                if member.process.running:
                    member.process.kill()
            load.join()
    with capsys.disabled():
        print(f"\n{generation}:", *table, sep="\n  ")
    assert watch.went_back == [], "a committed offset went back"
    assert_in_order(everyone)
    assert_alone(everyone, tolerance_ms=0 if generation == "coordinator" else 1_000)  # of the first generation ownership is looked at, not told


@contextmanager
def committed_offsets(cluster: LocalCluster, generation: str) -> Iterator[Callable[[], dict[int, int]]]:
    """What asks for the group's offsets, by partition: at its coordinator, or in ZooKeeper."""
    if generation == "coordinator":
        names = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        with Consumer(cluster.bootstrap, group_id=GROUP, enable_auto_commit=False) as asker:
            yield lambda: {each.partition: found.offset for each, found in asker.committed(names).items()}
        return
    client = KazooClient(cluster.zookeeper.address)
    client.start()
    paths = {number: f"/consumers/{GROUP}/offsets/{TOPIC}/{number}" for number in range(PARTITIONS)}
    try:
        yield lambda: {number: int(client.get(path)[0]) for number, path in paths.items() if client.exists(path)}
    finally:
        client.stop()
        client.close()


def assert_fenced(cluster: LocalCluster, dead: MemberProcess) -> None:
    """What the dead member could still have sent: a commit with its id, in its generation, and in that of now."""
    member_id, generation = next(line["member"] for line in reversed(dead.lines()) if "member" in line)
    with connect_any(cluster.bootstrap) as client:
        found = client.send(FindCoordinatorRequest(key=GROUP))
    assert isinstance(found, FindCoordinatorResponse)
    with connect_any([(found.host, found.port)]) as client:
        for named in (generation, generation + 1, generation + 2):
            topics = [OffsetCommitRequestTopic(TOPIC, [OffsetCommitRequestPartition(partition_index=0, committed_offset=0, committed_metadata="")])]
            answer = client.send(OffsetCommitRequest(group_id=GROUP, generation_id=named, member_id=member_id, topics=topics))
            assert isinstance(answer, OffsetCommitResponse)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID


def assert_in_order(everyone: list[MemberProcess]) -> None:
    """While a member owns a partition it reads it without holes or steps back; and of each key the numbers rise along the partition."""
    numbers: dict[int, dict[int, int]] = {partition: {} for partition in range(PARTITIONS)}
    for member in everyone:
        last: dict[int, int] = {}  # by partition that it has owned since
        owned: set[int] = set()
        for line in member.lines():
            owned = set(line.get("owns", owned))
            last = {partition: offset for partition, offset in last.items() if partition in owned}
            for partition, offset, number in line.get("read", ()):
                assert offset == last.get(partition, offset - 1) + 1, f"{member.name} read {partition}:{offset} after {last[partition]}"
                last[partition] = offset
                numbers[partition][offset] = number
    for partition, by_offset in numbers.items():
        assert sorted(by_offset) == list(range(len(by_offset))), f"holes in partition {partition}"
        assert sorted(by_offset.values()) == [by_offset[offset] for offset in sorted(by_offset)], "records were sent in rounds over all keys"


def assert_alone(everyone: list[MemberProcess], *, tolerance_ms: float) -> None:
    """No partition had two owners who were awake."""
    stints = sorted((partition, start, end, member.name) for member in everyone for partition, start, end in member.stints())
    for one, other in pairwise(stints):
        if one[0] == other[0]:
            assert other[1] >= one[2] - tolerance_ms, f"partition {one[0]}: {one[3]} until {one[2]:.0f}, {other[3]} from {other[1]:.0f}"
