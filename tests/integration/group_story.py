"""What groups of foreign consumers live through, many groups at a time: members join, sleep beyond their session, die and leave.

A group is settled when its coordinator says that it is stable with so many members, that their assignments are a partition of the topic, and the living members
say so too. Records sent then are read once, by one member; those sent while members come and go at least once.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import ChildProcess
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import Sent, end_offsets, eventually, send

TOPIC: Final = "read-by-all"
PARTITIONS: Final = 6
SETTLED_S: Final = 60.0
BATCH: Final = 60


class Member(ChildProcess):
    """One process; its lines of JSON (see members/) as they come."""

    def __init__(self, command: Sequence[str], log_path: Path) -> None:
        super().__init__(command, log_path=log_path)
        self.path = log_path
        self.partitions: set[int] = set()
        self.changes = 0  # how often its partitions have changed
        self.read: list[str] = []
        self.places: list[tuple[int, int]] = []  # partition and offset of each
        self.skipped: list[str] = []  # records that were left out within one ownership
        self._next: dict[int, int] = {}  # partition -> the offset that has to come, as long as it is owned
        self._position = 0

    def start(self) -> None:
        """Another life owns nothing yet."""
        self.partitions = set()
        super().start()

    def look(self) -> None:
        """Take in what it has printed."""
        with self.path.open("rb") as file:
            file.seek(self._position)
            lines = file.read().split(b"\n")[:-1]
        self._position += sum(len(line) + 1 for line in lines)
        for line in lines:
            if line.startswith(b"{"):
                self._note(json.loads(line))

    def _note(self, event: dict[str, Any]) -> None:
        match event["name"]:
            case "record_data":
                self.read.append(event["value"])
                self.places.append((event["partition"], event["offset"]))
                self._check_order(event["partition"], event["offset"])
            case "assignment":
                self._own(set(event["partitions"]))
            case "partitions_assigned":
                self._own(self.partitions | {each["partition"] for each in event["partitions"]})
            case "partitions_revoked":
                self._own(self.partitions - {each["partition"] for each in event["partitions"]})

    def _check_order(self, partition: int, offset: int) -> None:
        if offset > self._next.get(partition, offset):  # reading something again is allowed
            self.skipped.append(f"{partition}: {offset} instead of {self._next[partition]}")
        self._next[partition] = offset + 1

    def _own(self, partitions: set[int]) -> None:
        self.changes += partitions != self.partitions
        self._next = {partition: offset for partition, offset in self._next.items() if partition in partitions & self.partitions}
        self.partitions = partitions


@dataclass
class Group:
    """One group: its members in the order in which they start, and who of them runs."""

    name: str
    members: list[Member]
    is_static: bool = False
    running: list[Member] = field(default_factory=list)

    @property
    def read(self) -> Counter[str]:
        """How often each value was read, by whomever."""
        return Counter(value for member in self.members for value in member.read)


class Story:
    """Groups on one cluster, all going through the same at the same time."""

    def __init__(self, cluster: LocalCluster, groups: Sequence[Group]) -> None:
        self.groups = list(groups)
        self.once: set[str] = set()  # values sent to settled groups
        self.at_least_once: set[str] = set()
        self.table: list[str] = []
        self._cluster = cluster
        self._started = time.monotonic()
        self._sent = 0

    # acts

    def start(self, choose: Callable[[Group], Sequence[Member]]) -> None:
        """Members join."""
        for group, members in self._chosen(choose):
            for member in members:
                member.start()
                group.running.append(member)

    def gone(self, choose: Callable[[Group], Sequence[Member]], end: Callable[[Member], object]) -> None:
        """Members go, one way or another."""
        for group, members in self._chosen(choose):
            for member in members:
                end(member)
                group.running.remove(member)

    def _chosen(self, choose: Callable[[Group], Sequence[Member]]) -> Iterator[tuple[Group, Sequence[Member]]]:
        for group in self.groups:
            yield group, list(choose(group))

    # records

    def _send(self, where: set[str]) -> None:
        values = [f"record-{self._sent + number}" for number in range(BATCH)]
        self._sent += BATCH
        send(self._cluster.bootstrap, TOPIC, [Sent(value.encode(), value.encode()) for value in values], acks="all")
        where.update(values)

    def send_amid_changes(self) -> None:
        """Read at least once: who is told to go may have read without having committed."""
        self._send(self.at_least_once)

    def send_settled(self, what: str, *, asleep: bool = False) -> None:
        """Wait until all groups are settled, then send, and wait until all was read and committed.

        While a member is `asleep`, a fetch of its may be open: what that is answered it reads when it wakes, before it learns that it is out of the group.
        """
        for group in self.groups:
            eventually(lambda group=group: self._is_settled(group), f"{what}: {group.name} is settled", seconds=SETTLED_S)  # type: ignore[misc]
        after_s = time.monotonic() - self._started
        for group in self.groups:
            owned = ", ".join(f"{group.members.index(member)}: {sorted(member.partitions)}" for member in group.running)
            self.table.append(f"{after_s:5.1f} s  {what:28} {group.name:34} {owned}")
        reading = [group for group in self.groups if group.running]
        if len(reading) == len(self.groups):
            self._send(self.at_least_once if asleep else self.once)
            self.wait_committed()

    def wait_committed(self) -> None:
        """All that was sent is read and committed by each group that has members."""
        ends = end_offsets(self._cluster.bootstrap, TOPIC)
        for group in self.groups:
            if group.running:
                eventually(lambda group=group: self._committed(group) == ends, f"{group.name} has committed {ends}", seconds=SETTLED_S)  # type: ignore[misc]

    # what the coordinator says

    def _ask(self, request: DescribeGroupsRequest | OffsetFetchRequest) -> Any:
        with BlockingClient("127.0.0.1", self._cluster.ports[0]) as client:
            return client.send(request)

    def _committed(self, group: Group) -> Mapping[int, int]:
        answer = self._ask(OffsetFetchRequest(group_id=group.name, topics=None))
        assert isinstance(answer, OffsetFetchResponse)
        return {partition.partition_index: partition.committed_offset for topic in answer.topics for partition in topic.partitions}

    def _is_settled(self, group: Group) -> bool:
        answer = self._ask(DescribeGroupsRequest(groups=[group.name]))
        assert isinstance(answer, DescribeGroupsResponse)
        [described] = answer.groups
        for member in group.members:
            if member.path.exists():
                member.look()
        if not group.running:
            return described.group_state in ("Empty", "Dead")
        given = sorted(partition for member in described.members for partition in assigned(described, member.member_assignment))
        owned = sorted(partition for member in group.running for partition in member.partitions)
        every = list(range(PARTITIONS))
        return described.group_state == "Stable" and len(described.members) == len(group.running) and given == every and owned == every


def assigned(described: DescribedGroup, assignment: bytes) -> list[int]:
    """The partitions in a member's assignment; none before it has one."""
    if described.group_state != "Stable" or not assignment:
        return []
    topics = decode(ConsumerProtocolAssignment, 0, assignment, 2)[0].assigned_partitions
    return [partition for topic in topics for partition in topic.partitions]
