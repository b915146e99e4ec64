"""The coordinator's broker dies (SIGKILL), comes back, and is stopped politely, under a group of librdkafka, kafka-python and Java's consumer together.

Each time members, assignments and offsets are kept, nobody is assigned anew, and the group goes on reading. How long it takes is printed.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient, NoBroker
from pykafka_classic.edges.processes import require_java
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import Sent, create_topic, end_offsets, eventually, send
from tests.integration.group_story import Member, assigned
from tests.integration.test_group_clients import HEAP, HERE, JAVA_PROPERTIES, java_class_path

TOPIC: Final = "read-through-failovers"
GROUP: Final = "goes-on"
PARTITIONS: Final = 6
COMMITS: Final = 1500
MEMBERS_WAIT_S: Final = 60.0
SESSION_MS: Final = 20_000  # on a busy machine a member may be silent for seconds, and that is not what is tried here
LOADED: Final = re.compile(r"Finished loading offsets and group metadata from __consumer_offsets-(\d+) in (\d+) milliseconds for epoch (\d+)")


@dataclass
class Trial:
    """A cluster and the group's members."""

    cluster: LocalCluster
    members: list[Member]
    sent: set[str] = field(default_factory=set)

    def ask(self, number: int) -> DescribedGroup | None:
        """What a broker tells of the group; None where it is not the coordinator (yet)."""
        try:
            with BlockingClient("127.0.0.1", self.cluster.ports[number], timeout_ms=5_000) as client:
                answer = client.send(DescribeGroupsRequest(groups=[GROUP]))
        except (NoBroker, Disconnected):
            return None
        assert isinstance(answer, DescribeGroupsResponse)
        return answer.groups[0] if not answer.groups[0].error_code else None

    def coordinator(self) -> int:
        """Who coordinates the group, as he says himself; -1 where nobody does."""
        return next((number for number in range(3) if self.cluster.brokers[number].running and self.ask(number) is not None), -1)

    def committed(self) -> dict[int, int]:
        """The group's offsets."""
        with BlockingClient("127.0.0.1", self.cluster.ports[self.coordinator()]) as client:
            answer = client.send(OffsetFetchRequest(group_id=GROUP, topics=None))
        assert isinstance(answer, OffsetFetchResponse) and not answer.error_code
        return {partition.partition_index: partition.committed_offset for topic in answer.topics for partition in topic.partitions}

    def read_more(self) -> None:
        """Records sent now are read and committed."""
        values = [f"record-{len(self.sent) + number}" for number in range(60)]
        send(self.cluster.bootstrap, TOPIC, [Sent(value.encode(), value.encode()) for value in values], acks="all")
        self.sent.update(values)
        ends = end_offsets(self.cluster.bootstrap, TOPIC)
        eventually(lambda: self.coordinator() >= 0 and self.committed() == ends, f"{ends} is committed", seconds=MEMBERS_WAIT_S)
        for member in self.members:
            member.look()

    def loading_ms(self, number: int) -> list[int]:
        """How long each load of a broker's present life took."""
        return [int(match[2]) for match in LOADED.finditer(self.cluster.brokers[number].output())]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    directory = tmp_path_factory.mktemp("coordinator")
    overrides = {**KEEP, "zookeeper.session.timeout.ms": "3000", "offsets.topic.num.partitions": "3", "min.insync.replicas": "1"}
    with LocalCluster(directory, brokers=3, overrides=overrides) as cluster:
        create_topic(cluster.bootstrap, TOPIC, partitions=PARTITIONS)
        made = Trial(cluster, [Member(command, directory / f"member-{number}.log") for number, command in enumerate(commands(cluster.bootstrap, directory))])
        try:
            for member in made.members:
                member.start()
            eventually(lambda: settled(made), "all members have partitions", seconds=MEMBERS_WAIT_S)
            fill_partition(made)
            made.read_more()
            yield made
        finally:
            for member in made.members:
                if member.running:
                    member.kill()
    assert_no_stack_traces(cluster)


def commands(bootstrap: str, directory: Path) -> list[list[str]]:
    """All with the range assignor; without Maven or Java's jars it is a group of two."""
    usual = [bootstrap, TOPIC, GROUP, "range"]
    python = ["env", f"SESSION_TIMEOUT_MS={SESSION_MS}", sys.executable]
    found = [[*python, str(HERE / "members" / f"{client}_member.py"), *usual] for client in ("librdkafka", "kafka_python")]
    jars = java_class_path("2.8.2") if shutil.which("mvn") else None
    if jars is not None:
        (directory / "java.properties").write_text(JAVA_PROPERTIES)
        verifiable = [require_java(), *HEAP, "-cp", jars, "org.apache.kafka.tools.VerifiableConsumer", "--verbose", "--session-timeout", str(SESSION_MS)]
        options = ["--bootstrap-server", bootstrap, "--topic", TOPIC, "--group-id", GROUP, "--consumer.config", str(directory / "java.properties")]
        found.append([*verifiable, *options])
    return found


def settled(trial: Trial) -> bool:
    for member in trial.members:
        member.look()
    group = trial.ask(trial.coordinator()) if trial.coordinator() >= 0 else None
    if group is None or group.group_state != "Stable" or len(group.members) != len(trial.members):
        return False
    return sorted(partition for member in trial.members for partition in member.partitions) == list(range(PARTITIONS))


def fill_partition(trial: Trial) -> None:
    """Commits of a consumer without membership, in the group's own partition of `__consumer_offsets`, so that there is something to load."""
    coordinator = trial.coordinator()
    with BlockingClient("127.0.0.1", trial.cluster.ports[coordinator]) as client:
        other = next(name for name in (f"simple-{number}" for number in range(100)) if told_coordinator(client, name) == coordinator)
        for offset in range(COMMITS):
            places = [
                OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset, committed_metadata="") for partition in range(PARTITIONS)
            ]
            client.post(OffsetCommitRequest(group_id=other, generation_id=-1, topics=[OffsetCommitRequestTopic(TOPIC, places)]))
        for _ in range(COMMITS):
            answer = client.receive()
            assert isinstance(answer, OffsetCommitResponse)
            assert {partition.error_code for partition in answer.topics[0].partitions} == {ErrorCode.NONE}


def told_coordinator(client: BlockingClient, group: str) -> int:
    answer = client.send(FindCoordinatorRequest(key=group))
    assert isinstance(answer, FindCoordinatorResponse)
    return answer.node_id


@pytest.mark.parametrize("how", ["killed", "stopped", "killed again"])
def test_the_group_goes_on_with_the_next_coordinator(trial: Trial, how: str) -> None:
    number = trial.coordinator()
    before, offsets = trial.ask(number), trial.committed()
    assert before is not None
    changes = [member.changes for member in trial.members]
    ended = time.monotonic()
    if how == "stopped":
        trial.cluster.brokers[number].stop()
    else:
        trial.cluster.brokers[number].kill()
    eventually(lambda: trial.coordinator() not in {-1, number}, "another coordinator answers")
    moved_s = time.monotonic() - ended
    after = trial.ask(trial.coordinator())
    assert after is not None and comparable(after) == comparable(before)
    assert trial.committed() == offsets
    trial.read_more()
    print(f"coordinator {number} {how}, {trial.coordinator()} answers after {moved_s:.2f} s; its loads took {trial.loading_ms(trial.coordinator())} ms")
    assert [member.changes for member in trial.members] == changes, "somebody was assigned anew"
    trial.cluster.restart(number)
    eventually(lambda: set(range(3)) == in_sync(trial), "all replicas are in sync again", seconds=MEMBERS_WAIT_S)


def in_sync(trial: Trial) -> set[int]:
    """Brokers in the ISR of every partition of `__consumer_offsets`."""
    told = trial.cluster.metadata(trial.coordinator(), ["__consumer_offsets"])
    return set.intersection(*(set(partition.isr_nodes) for partition in told.topics[0].partitions)) if told is not None else set()


def comparable(group: DescribedGroup) -> object:
    members = {each.member_id: (each.client_id, each.client_host, tuple(assigned(group, each.member_assignment))) for each in group.members}
    return group.group_state, group.protocol_data, members


def test_each_record_was_read_once(trial: Trial) -> None:
    """Everything was committed before each failover, and nobody was assigned anew: so each record was read once."""
    read = [value for member in trial.members for value in member.read]
    assert sorted(read) == sorted(trial.sent)
