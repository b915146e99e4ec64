"""Groups and transactions that a coordinator of ours and one of Apache Kafka hand to each other, and Apache's formatters over what we wrote to
`__consumer_offsets`. Skipped where the jars of Apache Kafka cannot be had.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.integration.apache import OURS, MixedCluster, class_path
from tests.integration.foreign import DEADLINE_S, Sent, eventually, send
from tests.integration.java_tools import JavaTools
from tests.integration.mixed_story import make_topic, running, wait_both_in_sync
from tests.integration.witness import Witness

OUR_BROKER: Final = 0
APACHES: Final = 1
OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
PARTITIONS: Final = 5

Pair = tuple[MixedCluster, Witness]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with running(tmp_path_factory.mktemp("groups"), [OURS, "2.8.2"], "2.8") as (cluster, witness):
        for key_type, topic in ((0, OFFSETS), (1, TRANSACTIONS)):  # Apache's creates both internal topics
            eventually(lambda key_type=key_type: coordinator_of(cluster, "any", key_type) >= 0, "a coordinator")  # type: ignore[misc]
            wait_both_in_sync(witness, topic, PARTITIONS)
        make_topic(cluster, "in", [[0, 1], [1, 0]])
        make_topic(cluster, "out", [[0, 1], [1, 0]])
        send(cluster.bootstrap, "in", [Sent(None, str(number).encode()) for number in range(100)], acks="all")
        yield cluster, witness


def coordinator_of(cluster: MixedCluster, key: str, key_type: int) -> int:
    """As Apache's broker tells; -1 while there is none."""
    with BlockingClient("127.0.0.1", cluster.ports[APACHES]) as client:
        found = client.send(FindCoordinatorRequest(key=key, key_type=key_type))
    assert isinstance(found, FindCoordinatorResponse)
    return found.node_id if not found.error_code else -1


def partition_of(key: str) -> int:
    return abs_java(string_hash(key)) % PARTITIONS


def lead(pair: Pair, topic: str, partition: int, broker: int) -> None:
    """Make a broker the leader of one partition: first replica, then the preferred leader's election."""
    cluster, witness = pair
    wait_both_in_sync(witness, topic, PARTITIONS)
    leaders = witness.leaders(topic, PARTITIONS)
    leaders[partition] = broker
    witness.reassign(topic, [[leader, 1 - leader] for leader in leaders])
    eventually(lambda: not witness.exists("/admin/reassign_partitions"), "the order of replicas is taken")

    def led() -> bool:
        if witness.state(topic, partition).leader == broker:
            return True
        if not witness.exists("/admin/preferred_replica_election"):
            witness.elect_preferred([(topic, partition)])
        return False

    eventually(led, f"broker {broker} leads {topic}-{partition}")
    eventually(lambda: all(told_leader(cluster, number, topic, partition) == broker for number in (0, 1)), "both brokers know it")


def told_leader(cluster: MixedCluster, number: int, topic: str, partition: int) -> int:
    told = cluster.metadata(number, [topic])
    return -1 if told is None else next((each.leader_id for each in told.topics[0].partitions if each.partition_index == partition), -1)


def describe(cluster: MixedCluster, broker: int, group_id: str) -> DescribedGroup:
    with BlockingClient("127.0.0.1", cluster.ports[broker]) as client:
        response = client.send(DescribeGroupsRequest(groups=[group_id]))
    assert isinstance(response, DescribeGroupsResponse)
    return response.groups[0]


def stable_at(pair: Pair, broker: int, group_id: str, members: int) -> DescribedGroup:
    """The group as its coordinator tells, once it has loaded it."""
    found: list[DescribedGroup] = []

    def stable() -> bool:
        found[:] = [describe(pair[0], broker, group_id)]
        return not found[0].error_code and found[0].group_state == "Stable" and len(found[0].members) == members

    eventually(stable, f"{group_id} is stable at broker {broker}")
    return found[0]


def comparable(group: DescribedGroup) -> object:
    members = sorted(
        (each.member_id, each.group_instance_id, each.client_id, each.client_host, each.member_metadata, each.member_assignment) for each in group.members
    )
    return group.protocol_type, group.protocol_data, members


class Member:
    """A librdkafka consumer that counts its assignments."""

    def __init__(self, bootstrap: str, group_id: str, **settings: str) -> None:
        common = {"bootstrap.servers": bootstrap, "group.id": group_id, "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 2}
        self.assignments: list[list[TopicPartition]] = []
        self.consumer = Consumer(
            {**common, "session.timeout.ms": 20_000, "heartbeat.interval.ms": 500, **{k.replace("_", "."): v for k, v in settings.items()}}
        )
        self.consumer.subscribe(["in"], on_assign=lambda _, partitions: self.assignments.append(partitions))


def while_polling(members: list[Member], condition: Callable[[], bool], what: str) -> None:
    def polled() -> bool:
        for member in members:
            member.consumer.poll(0.05)
        return condition()

    eventually(polled, what)


def commit(member: Member, offsets: dict[int, int]) -> None:
    """Again where the coordinator is moving."""
    places = [TopicPartition("in", number, offset) for number, offset in offsets.items()]

    def taken() -> bool:
        try:
            member.consumer.commit(offsets=places, asynchronous=False)
        except KafkaException:
            return False
        return True

    eventually(taken, "the commit is taken")


def committed(bootstrap: str, group_id: str) -> dict[int, int]:
    """A stranger's look."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group_id})
    try:
        found = consumer.committed([TopicPartition("in", number) for number in (0, 1)], timeout=DEADLINE_S)
        return {each.partition: each.offset for each in found if each.offset >= 0}
    finally:
        consumer.close()


@pytest.mark.parametrize("first", [OUR_BROKER, APACHES], ids=["ours then apache's", "apache's then ours"])
def test_a_group_changes_its_coordinator_without_a_rebalance_and_keeps_its_offsets(pair: Pair, first: int) -> None:
    cluster, _ = pair
    group_id = f"handed-over-{first}"
    partition = partition_of(group_id)
    lead(pair, OFFSETS, partition, first)
    members = [Member(cluster.bootstrap, group_id), Member(cluster.bootstrap, group_id, group_instance_id="static")]
    try:
        while_polling(members, lambda: all(len(member.consumer.assignment()) == 1 for member in members), "a partition each")
        commit(members[0], {each.partition: 11 for each in members[0].consumer.assignment()})
        commit(members[1], {each.partition: 22 for each in members[1].consumer.assignment()})
        before, offsets = comparable(stable_at(pair, first, group_id, 2)), committed(cluster.bootstrap, group_id)
        assert sorted(offsets.values()) == [11, 22]
        rebalances = [len(member.assignments) for member in members]
        for coordinator in (1 - first, first):
            lead(pair, OFFSETS, partition, coordinator)
            assert comparable(stable_at(pair, coordinator, group_id, 2)) == before
            until = time.monotonic() + 2.0  # some heartbeats of both members
            while_polling(members, lambda until=until: time.monotonic() > until, "they beat")  # type: ignore[misc]
            offsets = {number: offset + 1 for number, offset in offsets.items()}
            for member in members:
                commit(member, {each.partition: offsets[each.partition] for each in member.consumer.assignment()})
            assert committed(cluster.bootstrap, group_id) == offsets
        assert [len(member.assignments) for member in members] == rebalances, "nobody was assigned anew"
    finally:
        for member in members:
            member.consumer.close()


# transactions


def begin(pair: Pair, group_id: str, offset: int) -> tuple[Producer, Consumer]:
    """A transaction that has written a record to each partition of `out` and sent an offset of `in`. Its transactional id is the group's."""
    cluster, _ = pair
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": group_id, "log_level": 2})
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce("out", f"{group_id} {offset}".encode(), partition=partition)
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group_id})
    producer.send_offsets_to_transaction([TopicPartition("in", 0, offset)], consumer.consumer_group_metadata(), DEADLINE_S)
    return producer, consumer


def end(producer: Producer, *, commits: bool) -> None:
    (producer.commit_transaction if commits else producer.abort_transaction)(DEADLINE_S)


@pytest.mark.parametrize("moves", [None, APACHES, OUR_BROKER], ids=["stays ours", "moves to apache's", "moves to ours"])
def test_offsets_of_transactions_count_when_they_commit(pair: Pair, moves: int | None) -> None:
    cluster, _ = pair
    group_id = f"transactional-{moves}"
    lead(pair, TRANSACTIONS, partition_of(group_id), APACHES)
    lead(pair, OFFSETS, partition_of(group_id), OUR_BROKER if moves is None else 1 - moves)
    expected: dict[int, int] = {}
    for offset, commits in ((5, True), (7, False), (9, True)):
        producer, consumer = begin(pair, group_id, offset)
        if moves is not None and offset == 9:  # the last one is open while the coordinator changes
            lead(pair, OFFSETS, partition_of(group_id), moves)
        end(producer, commits=commits)
        consumer.close()
        expected = {0: offset} if commits else expected
        eventually(lambda expected=expected: committed(cluster.bootstrap, group_id) == expected, f"{expected} is committed")  # type: ignore[misc]
    assert read_committed(cluster.bootstrap, group_id) == [f"{group_id} {offset}" for offset in (5, 5, 9, 9)]


@pytest.mark.parametrize("first", [OUR_BROKER, APACHES], ids=["ours then apache's", "apache's then ours"])
def test_transactions_change_their_coordinator_and_end_as_they_should(pair: Pair, first: int) -> None:
    """One that is open, and one of which the new coordinator knows only that it had ended: each kind reads what the other kind wrote down."""
    cluster, _ = pair
    name = f"moved-{first}"
    home = partition_of(name)
    lead(pair, TRANSACTIONS, home, first)
    expected = []
    for coordinator, offset, commits in ((1 - first, 1, True), (first, 2, False), (1 - first, 3, True)):
        producer, consumer = begin(pair, name, offset)
        lead(pair, TRANSACTIONS, home, coordinator)
        end(producer, commits=commits)
        consumer.close()
        expected += [f"{name} {offset}"] * 2 if commits else []
        eventually(lambda expected=expected: read_committed(cluster.bootstrap, name) == expected, f"{expected} can be read")  # type: ignore[misc]
    assert committed(cluster.bootstrap, name) == {0: 3}


def read_committed(bootstrap: str, start: str) -> list[str]:
    """Values in `out` that begin so, as a consumer of committed records sees them."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "reads",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("out", partition, 0) for partition in (0, 1)])
    found: list[str] = []
    ended: set[int | None] = set()
    deadline = time.monotonic() + DEADLINE_S
    while len(ended) < 2:
        assert time.monotonic() < deadline
        message = consumer.poll(1.0)
        if message is not None and message.error() is not None:
            ended.add(message.partition())
        elif message is not None:
            found.append((message.value() or b"").decode())
    consumer.close()
    return sorted(value for value in found if value.startswith(start + " "))


# formatters


def formatted(pair: Pair, formatter: str) -> str:
    """What Apache's console consumer prints of `__consumer_offsets`, to its end."""
    arguments = ["--bootstrap-server", pair[0].bootstrap, "--topic", OFFSETS, "--from-beginning", "--timeout-ms", "2500"]
    tools = JavaTools(class_path("2.8.2"))
    more = ["--formatter", f"kafka.coordinator.group.GroupMetadataManager${formatter}", "--consumer-property", "exclude.internal.topics=false"]
    _, printed = tools.attempt("kafka.tools.ConsoleConsumer", *arguments, *more)
    return printed


def test_apaches_formatters_read_what_our_coordinator_wrote(pair: Pair) -> None:
    cluster, _ = pair
    lead(pair, OFFSETS, partition_of("formatted"), OUR_BROKER)
    member = Member(cluster.bootstrap, "formatted", group_instance_id="static", client_id="some-client")
    while_polling([member], lambda: len(member.consumer.assignment()) == 2, "both partitions")
    member.consumer.commit(offsets=[TopicPartition("in", 1, 33, "a note")], asynchronous=False)
    [described] = stable_at(pair, OUR_BROKER, "formatted", 1).members
    member.consumer.close()
    offsets = formatted(pair, "OffsetsMessageFormatter")
    assert re.search(
        r"^\[formatted,in,1\]::OffsetAndMetadata\(offset=33, leaderEpoch=Optional\S*, metadata=a note.*, commitTimestamp=\d+, expireTimestamp=None\)$",
        offsets,
        re.MULTILINE,
    )
    groups = formatted(pair, "GroupMetadataMessageFormatter")
    line = next(line for line in groups.splitlines() if line.startswith("formatted::"))
    for expected in (
        "GroupMetadata(groupId=formatted, generation=1, protocolType=Some(consumer), currentState=Stable",
        f"memberId={described.member_id}, groupInstanceId=Some(static), clientId=some-client, clientHost=/127.0.0.1",
        "sessionTimeoutMs=20000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)",
    ):
        assert expected in line
