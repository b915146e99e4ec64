"""A group that grows and shrinks while 100,000 keyed records are produced: members 1, 2, 4, 3 (one is killed), 1.

Every acknowledged record is read, in order within a partition; committed offsets only rise, whoever commits. Who owned what when is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import Load, create_topic, end_offsets, eventually
from tests.integration.group_story import Member
from tests.integration.test_group_clients import HERE

TOPIC: Final = "keyed"
PARTITIONS: Final = 6
RECORDS: Final = 100_000
PER_SECOND: Final = 6_000
WAIT_S: Final = 90.0


class Readers:
    """A group of librdkafka's members."""

    def __init__(self, cluster: LocalCluster, directory: Path, name: str, strategy: str) -> None:
        self._cluster = cluster
        self.name = name
        command = [sys.executable, str(HERE / "members" / "librdkafka_member.py"), cluster.bootstrap, TOPIC, name, strategy]
        self.members = [Member(command, directory / f"{name}-{number}.log") for number in range(4)]
        self.running: list[Member] = []
        self.table: list[str] = []
        self._committed: dict[int, int] = {}
        self._started = time.monotonic()

    def start(self, count: int) -> None:
        """So many more."""
        for member in self.members[len(self.running) : len(self.running) + count]:
            member.start()
            self.running.append(member)

    def end(self, count: int, how: Callable[[Member], object]) -> None:
        """So many fewer."""
        for _ in range(count):
            how(self.running.pop())

    def settle(self) -> None:
        """Wait until those who are there share all partitions."""
        eventually(self._shared_out, f"{len(self.running)} members share all partitions", seconds=WAIT_S)
        owned = "; ".join(f"{self.members.index(member)}: {sorted(member.partitions)}" for member in self.running)
        self.table.append(f"{time.monotonic() - self._started:5.1f} s  {self.name}  {owned}")

    def _shared_out(self) -> bool:
        self.look()
        owned = sorted(partition for member in self.running for partition in member.partitions)
        return owned == list(range(PARTITIONS)) and all(member.partitions for member in self.running)

    def look(self) -> dict[int, int]:
        """Take in what members printed, and the committed offsets, which never go back."""
        for member in self.members:
            if member.path.exists():
                member.look()
        with BlockingClient("127.0.0.1", self._cluster.ports[0]) as client:
            answer = client.send(OffsetFetchRequest(group_id=self.name, topics=None))
        assert isinstance(answer, OffsetFetchResponse)
        now = {partition.partition_index: partition.committed_offset for topic in answer.topics for partition in topic.partitions}
        back = {partition: (offset, now.get(partition)) for partition, offset in self._committed.items() if now.get(partition, -1) < offset}
        assert not back, f"committed offsets went back: {back}"
        self._committed = now
        return now


# When so much of the records is produced.
CHANGES: Final[list[tuple[float, Callable[[Readers], None]]]] = [
    (0.0, lambda group: group.start(1)),
    (0.15, lambda group: group.start(1)),
    (0.35, lambda group: group.start(2)),
    (0.6, lambda group: group.end(1, Member.kill)),
    (0.8, lambda group: group.end(2, Member.stop)),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("load"), brokers=1, overrides=KEEP) as running:
        create_topic(running.bootstrap, TOPIC, partitions=PARTITIONS, replicas=1)
        yield running
    assert_no_stack_traces(running)


def test_all_is_read_in_order_while_members_come_and_go(cluster: LocalCluster, tmp_path: Path) -> None:
    groups = [Readers(cluster, tmp_path, strategy, strategy) for strategy in ("range", "cooperative-sticky")]
    try:
        with Load(cluster.bootstrap, TOPIC, partitions=PARTITIONS, per_second=PER_SECOND // PARTITIONS, keys=1000) as load:
            for share, change in CHANGES:
                eventually(lambda share=share: load.count >= share * RECORDS, f"{share:.0%} are produced", seconds=WAIT_S)  # type: ignore[misc]
                for group in groups:
                    change(group)
                for group in groups:
                    group.settle()
            eventually(lambda: load.count >= RECORDS, "all are produced", seconds=WAIT_S)
        ends = end_offsets(cluster.bootstrap, TOPIC)
        for group in groups:
            eventually(lambda group=group: group.look() == ends, "all are read and committed", seconds=WAIT_S)  # type: ignore[misc]
            check(group, load, ends)
            print("\n".join(group.table))
    finally:
        for group in groups:
            for member in group.members:
                if member.running:
                    member.kill()


def check(group: Readers, load: Load, ends: dict[int, int]) -> None:
    """Nothing lost, nothing skipped."""
    sent = sum(len(numbers) for numbers in load.acknowledged.values())
    read = [place for member in group.members for place in member.places]
    assert load.failed == [] and sent == sum(ends.values()) >= RECORDS
    assert [member.skipped for member in group.members if member.skipped] == []
    assert set(read) == {(partition, offset) for partition, end in ends.items() for offset in range(end)}
    print(f"{group.name}: {sent} acknowledged, 0 lost, {len(read) - sent} read again")
