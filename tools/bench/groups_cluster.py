"""How fast groups are on a real broker: `python tools/bench/groups_cluster.py`. Raw protocol clients, a connection each, against one broker process.

What a group waits for is one rebalance: from the leader's JoinGroup to the last member's assignment. Commits are counted against the broker's CPU time, too.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from pykafka_classic.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykafka_classic.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from pykafka_classic.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse
from pykafka_classic.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from pykafka_classic.testing.cluster import LocalCluster

MEMBERS, PARTITIONS = 50, 200
ROUNDS = 5
COMMITTERS, COMMITS_EACH = 20, 500
GROUP, TOPIC = "bench", "flights"
METADATA = bytes(2) + encode(ConsumerProtocolSubscription(topics=[TOPIC]), 0)


def prepare(client: BlockingClient) -> None:
    """The topic, and a coordinator."""
    client.send(CreateTopicsRequest(topics=[CreatableTopic(name=TOPIC, num_partitions=PARTITIONS, replication_factor=1)], timeout_ms=30_000))

    def found() -> bool:
        answer = client.send(FindCoordinatorRequest(key=GROUP))
        assert isinstance(answer, FindCoordinatorResponse)
        return not answer.error_code and not client.send(OffsetCommitRequest(group_id=GROUP, generation_id=-1)).topics  # type: ignore[attr-defined]

    wait_until(found, seconds=30)
    wait_until(lambda: not commit_errors(client), seconds=30)


def commit_errors(client: BlockingClient) -> set[int]:
    """Of one commit, which is refused while the partition loads."""
    answer = client.send(commit_of("warm-up", 0, 0))
    assert isinstance(answer, OffsetCommitResponse)
    return {partition.error_code for topic in answer.topics for partition in topic.partitions} - {0}


def commit_of(group: str, partition: int, offset: int) -> OffsetCommitRequest:
    """One partition's offset, of a consumer without membership."""
    place = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset, committed_metadata="")
    return OffsetCommitRequest(group_id=group, generation_id=-1, topics=[OffsetCommitRequestTopic(TOPIC, [place])])


def wait_for(asking: BlockingClient, state: str, members: int) -> None:
    """Until the coordinator tells the group like that."""

    def told() -> bool:
        answer = asking.send(DescribeGroupsRequest(groups=[GROUP]))
        assert isinstance(answer, DescribeGroupsResponse)
        return (answer.groups[0].group_state, len(answer.groups[0].members)) == (state, members)

    wait_until(told, seconds=30)


def join(client: BlockingClient, member_id: str) -> None:
    """In a version that lets a newcomer in at once."""
    client.post(JoinGroupRequest(GROUP, 30_000, 60_000, member_id, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", METADATA)]), 3)


def finish(clients: list[BlockingClient]) -> list[str]:
    """The rest of a rebalance that all have joined; the members' ids."""
    joined = [client.receive() for client in clients]
    ids = [answer.member_id for answer in joined if isinstance(answer, JoinGroupResponse)]
    for client, answer in zip(clients, joined, strict=True):
        assert isinstance(answer, JoinGroupResponse) and not answer.error_code, answer
        client.post(SyncGroupRequest(GROUP, answer.generation_id, answer.member_id, assignments=shares(ids) if answer.members else []), 3)
    for client in clients:
        given = client.receive()
        assert isinstance(given, SyncGroupResponse) and not given.error_code and given.assignment, given
    return ids


def gather_members(clients: list[BlockingClient], asking: BlockingClient) -> list[str]:
    """A stable group of all clients, led by the first."""
    join(clients[0], "")
    [leader] = finish(clients[:1])
    for client in clients[1:]:
        join(client, "")
    wait_for(asking, "PreparingRebalance", len(clients))
    join(clients[0], leader)
    return finish(clients)


def rebalance(clients: list[BlockingClient], ids: list[str], asking: BlockingClient) -> float:
    """Seconds from the leader's joining again to the last assignment."""
    started = time.perf_counter()
    join(clients[0], ids[0])
    wait_for(asking, "PreparingRebalance", len(clients))
    for client, member_id in zip(clients[1:], ids[1:], strict=True):
        join(client, member_id)
    assert finish(clients) == ids
    return time.perf_counter() - started


def shares(ids: list[str]) -> list[SyncGroupRequestAssignment]:
    """Each member's part."""
    parts = {member_id: list(range(number, PARTITIONS, len(ids))) for number, member_id in enumerate(ids)}
    return [
        SyncGroupRequestAssignment(member_id, bytes(2) + encode(ConsumerProtocolAssignment(assigned_partitions=[AssignedTopic(TOPIC, part)]), 0))
        for member_id, part in parts.items()
    ]


def cpu_s(pid: int) -> float | None:
    """CPU time of a process, where /proc tells it."""
    stat = Path("/proc", str(pid), "stat")
    return sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK") if stat.exists() else None


def commits(clients: list[BlockingClient], pid: int) -> str:
    """All clients commit without waiting for each answer."""
    cpu_before, started = cpu_s(pid), time.perf_counter()
    for offset in range(COMMITS_EACH):
        for number, client in enumerate(clients):
            client.post(commit_of(f"group-{number}", offset % PARTITIONS, offset), 7)
    for client in clients:
        for _ in range(COMMITS_EACH):
            answer = client.receive()
            assert isinstance(answer, OffsetCommitResponse) and not answer.topics[0].partitions[0].error_code
    count, seconds, cpu_after = len(clients) * COMMITS_EACH, time.perf_counter() - started, cpu_s(pid)
    used = "" if cpu_before is None or cpu_after is None else f", {count / (cpu_after - cpu_before):,.0f} for each second of the broker's CPU"
    return f"offset commits over the network: {count / seconds:,.0f}/s{used} (aim: 2,000/s on one core)"


def main() -> None:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory, LocalCluster(Path(directory), brokers=1) as cluster:
        clients = [BlockingClient("127.0.0.1", cluster.ports[0], client_id=f"member-{number}") for number in range(MEMBERS)]
        prepare(clients[0])
        asking = BlockingClient("127.0.0.1", cluster.ports[0])
        ids = gather_members(clients, asking)
        times = [rebalance(clients, ids, asking) for _ in range(ROUNDS)]
        told = ", ".join(f"{1000 * seconds:.0f}" for seconds in times)
        print(f"rebalance of {MEMBERS} members over {PARTITIONS} partitions, over the network: {told} ms (aim: below 1,000)")
        print(commits(clients[:COMMITTERS], cluster.brokers[0].pid))
        for client in (*clients, asking):
            client.close()


if __name__ == "__main__":
    main()
