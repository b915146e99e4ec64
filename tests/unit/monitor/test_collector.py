"""What the nodes tell at present, rows of changes, and brokers that fall silent."""

from __future__ import annotations

from typing import cast

from pykafka_classic.client.admin.requests import ClusterRequests
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.collector.changes import ChangeRows
from pykafka_classic.monitor.collector.pulse import ANSWERS, SILENT, Pulse
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.store.rows import ChangeKind, EventRow
from pykafka_classic.monitor.znodes import Change, Node
from tests.fakes.clock import FakeClock
from zk_schema import partition_state, topics
from zk_schema.partition_state import TopicPartitionStateZNode
from zk_schema.topics import ReplicaAssignment, TopicZNode

BROKER = (
    b'{"listener_security_protocol_map":{"SSL":"SSL","PLAIN":"PLAINTEXT"},"endpoints":["SSL://secure:9093","PLAIN://open:9092"],"jmx_port":-1,"features":{},'
    b'"timestamp":"1","version":5}'
)


def made(path: str, data: bytes | None) -> Change:
    return Change(path, None, Node(data, mtime_ms=1_000), 1)


def removed(path: str, data: bytes | None) -> Change:
    return Change(path, Node(data, ephemeral_owner=7, version=3, czxid=5), None, 9)


def state(topic: str, partition: int, leader: int, *isr: int) -> Change:
    return made(partition_state.path(topic, partition), partition_state.encode(TopicPartitionStateZNode(leader, 0, isr, 1)))


def view(*changes: Change) -> ClusterView:
    found = ClusterView()
    found.update(changes)
    return found


def test_partitions_are_asked_of_leaders_that_are_alive() -> None:
    found = view(made("/brokers/ids/1", BROKER), state("a", 0, 1, 1), state("a", 1, 2, 2), state("b", 0, -1, 2), made("/brokers/topics/a/x", b""))
    assert found.by_leader() == {1: [TopicPartition("a", 0)]}
    assert found.brokers == {1: ("open", 9092)}
    found.update([removed("/brokers/ids/1", BROKER)])
    assert found.by_leader() == {}


def test_a_topic_that_is_deleted_leaves_nothing() -> None:
    znode = topics.encode(TopicZNode(None, {0: ReplicaAssignment((1, 2)), 1: ReplicaAssignment((2, 1))}))
    found = view(made("/brokers/topics/a", znode), state("a", 0, 1, 1))
    assert found.replicas == {TopicPartition("a", 0): (1, 2), TopicPartition("a", 1): (2, 1)}
    found.update([removed(partition_state.path("a", 0), b""), removed("/brokers/topics/a", znode)])
    assert (found.replicas, found.leaders, found.in_sync) == ({}, {}, {})


def test_a_coordinator_is_who_leads_the_partition_that_javas_hash_names() -> None:
    """Java: "radar".hashCode() is 108270342, and 108270342 % 50 is 42."""
    partitions = [state("__consumer_offsets", number, 1 if number == 42 else 2, 1) for number in range(50)]
    found = view(made("/brokers/ids/1", BROKER), made("/brokers/ids/2", BROKER), *partitions)
    assert found.coordinator_of("radar") == 1
    found.update([removed("/brokers/ids/1", BROKER)])
    assert found.coordinator_of("radar") is None
    assert view().coordinator_of("radar") is None


def test_commits_in_zookeeper_and_nodes_that_hold_nonsense() -> None:
    found = view(made("/consumers/g/offsets/t/0", b"17"), made("/consumers/g/offsets/t/1", b"many"), made("/brokers/ids/1", b"{"), made("/controller", b"?"))
    assert {partition: each.offset for partition, each in found.zookeeper_offsets["g"].items()} == {TopicPartition("t", 0): 17}
    assert (found.brokers, found.has_controller) == ({1: None}, True)
    found.update([removed("/consumers/g/offsets/t/0", b"17")])
    assert found.zookeeper_offsets == {}


def test_changes_as_rows_keep_their_order_also_where_clocks_differ() -> None:
    rows = ChangeRows()
    gone = removed("/controller", b"x")
    again = Change("/controller", None, Node(b"y", ephemeral_owner=8, czxid=10, mzxid=10, mtime_ms=4_000), 10)
    (first,), (second,) = rows.rows([gone], 5_000), rows.rows([again], 5_010)  # ZooKeeper's clock is behind by a second
    assert (first.kind, first.t_ms, first.owner, first.version, first.data) == (ChangeKind.REMOVED, 5_000, 7, 3, b"x")
    assert (second.kind, second.t_ms, second.seen_ms, second.owner) == (ChangeKind.CREATED, 5_000, 5_010, 8)
    assert [each.kind for each in rows.rows([made("/a", b"")], 1, found=True)] == [ChangeKind.FOUND]


def test_secrets_do_not_reach_the_store_and_are_no_change_when_it_is_read_again() -> None:
    scram = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=x,stored_key=y","consumer_byte_rate":"5"}}'
    (row,) = ChangeRows().rows([made("/config/users/alice", scram)], 1)
    assert row.data is not None and b"stored_key" not in row.data and b'"consumer_byte_rate":"5"' in row.data
    (token,) = ChangeRows().rows([made("/delegation_token/tokens/t1", b'{"hmac":"x"}')], 1)
    assert token.data == b"(secret)"
    plain = b'{"version":1,"config":{"retention.ms":"1"}}'
    assert ChangeRows().rows([made("/config/topics/t", plain)], 1)[0].data == plain
    restored, read = Node(row.data, czxid=3, mzxid=4), Node(scram, czxid=3, mzxid=4)
    assert ChangeRows().rows([Change("/config/users/alice", restored, read, 4)], 1) == []


class Answers:
    """Brokers as the pulse sees them: what they answer is what a test says."""

    def __init__(self) -> None:
        self.error: KafkaError | None = None

    def deadline(self, _: float) -> float:
        return 0

    async def ask_once(self, *_: object, **__: object) -> None:
        if self.error is not None:
            await Promise.failed(self.error)


def test_a_refused_connection_counts_at_once_and_an_answer_that_does_not_come_the_second_time() -> None:
    clock, answers, told = FakeClock(), Answers(), list[EventRow]()
    found = view(made("/brokers/ids/1", BROKER))
    pulse = Pulse(cast("ClusterRequests", answers), found, clock, told.append)
    pulse.start()
    assert told == []
    answers.error = KafkaError(ErrorCode.REQUEST_TIMED_OUT, "slow")
    clock.advance(1_000)
    assert told == []
    assert not pulse.silent
    clock.advance(1_000)
    assert [(each.name, each.broker) for each in told] == [(SILENT, 1)]
    answers.error = None
    clock.advance(1_000)
    answers.error = KafkaError(ErrorCode.NETWORK_EXCEPTION, "refused")
    clock.advance(1_000)
    clock.advance(1_000)
    assert [each.name for each in told] == [SILENT, ANSWERS, SILENT]
    assert told[-1].facts == {"why": "refused"}
    assert set(pulse.silent) == {1}
    found.update([removed("/brokers/ids/1", BROKER)])
    clock.advance(1_000)
    assert not pulse.silent
    pulse.stop()
