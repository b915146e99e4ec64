"""What the tables of topics, brokers and groups hold."""

from __future__ import annotations

from pykafka_classic.cli.pkc import rows
from pykafka_classic.client.admin.cluster import ClusterDescription
from pykafka_classic.client.admin.groups import GroupDescription, GroupListing, MemberDescription
from pykafka_classic.client.admin.topics import PartitionDescription, TopicDescription
from pykafka_classic.client.group_offsets.values import GroupSnapshot, PartitionOffsets, StoredOffset
from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.topic_partition import TopicPartition

FLIGHTS = TopicDescription(
    "flights",
    bytes(16),
    False,
    (PartitionDescription(0, 1, (1, 2, 3), (1, 2)), PartitionDescription(1, None, (3,), (3,)), PartitionDescription(2, 2, (2, 1), (2, 1))),
)
ONE, TWO = Node(1, "a", 9092, "r1"), Node(2, "b", 9092)
CLUSTER = ClusterDescription("id", TWO, (ONE, TWO))
P0, P1 = TopicPartition("flights", 0), TopicPartition("flights", 1)


def test_a_topic_in_numbers() -> None:
    row = rows.topic_row(FLIGHTS)
    assert {name: row[name] for name in ("partitions", "replicas", "under_replicated", "without_leader")} == {
        "partitions": 3,
        "replicas": 3,
        "under_replicated": 1,
        "without_leader": 1,
    }


def test_partitions_with_the_records_that_are_there() -> None:
    found = rows.partition_rows(FLIGHTS, {P0: 10}, {P0: 25})
    assert [(row["partition"], row["leader"], row["first"], row["next"], row["records"]) for row in found] == [
        (0, 1, 10, 25, 15),
        (1, None, None, None, None),
        (2, 2, None, None, None),
    ]


def test_brokers_that_partitions_miss_stand_among_those_that_are_alive() -> None:
    found = {row["broker"]: row for row in rows.broker_rows(CLUSTER, [FLIGHTS])}
    assert {number: (row["leads"], row["replicas"], row["out_of_sync"], row["controller"]) for number, row in found.items()} == {
        1: (1, 2, 0, False),
        2: (1, 2, 0, True),
        3: (0, 2, 1, False),
    }
    assert (found[1]["address"], found[3]["address"]) == ("a:9092", "not alive")


def test_groups_of_both_stores_have_the_same_columns() -> None:
    group = GroupDescription("billing", "Stable", "consumer", "range", ONE, (MemberDescription("m-1", None, "c", "/10.0.0.1", (P1, P0)),))
    kafka, zookeeper = rows.kafka_group_row(GroupListing("billing", "consumer", "Stable"), group), rows.zookeeper_group_row("old", ["m"])
    assert kafka.keys() == zookeeper.keys()
    assert (kafka["members"], kafka["assignor"], kafka["coordinator"]) == (1, "range", 1)
    assert (zookeeper["state"], rows.zookeeper_group_row("old", [])["state"]) == ("Stable", "Empty")
    assert rows.kafka_member_rows(group)[0]["partitions"] == ["flights-0", "flights-1"]
    assert rows.kafka_member_rows(group)[0]["host"] == "10.0.0.1"


def test_an_owner_is_a_thread_of_a_member() -> None:
    """The owner's name is the member's, a dash, and the thread's number (facts/coordination.md)."""
    found = rows.zookeeper_member_rows("old", ["old_a-1", "old_a-10"], {P0: "old_a-1-0", P1: "old_a-10-0"})
    assert {row["member"]: row["partitions"] for row in found} == {"old_a-1": ["flights-0"], "old_a-10": ["flights-1"]}


def test_lag_tells_which_store_is_newer_and_what_is_gone() -> None:
    both = PartitionOffsets(StoredOffset(5, 1000), StoredOffset(7, 2000), 0, 10, 3_000)
    deleted = PartitionOffsets(None, StoredOffset(5, 1000), 8, 10, None)
    unknown = PartitionOffsets(StoredOffset(5, 1000), None)
    snapshot = GroupSnapshot("g", {P0: both, P1: deleted, TopicPartition("gone", 0): unknown}, unreadable={TopicPartition("x", 0): "'abc' is no number"})
    found = rows.lag_rows(snapshot)
    assert [(row["kafka"], row["zookeeper"], row["lag"], row["note"]) for row in found] == [
        (7, 5, 3, "kafka is newer"),
        (5, None, 2, "the next record is gone"),
        (None, 5, None, "no such partition"),
        (None, None, None, "ZooKeeper holds no offset: 'abc' is no number"),
    ]
    assert rows.lag_summary(snapshot) == "g: 5 records behind, 3 partitions, no members"


def test_summaries_of_groups_that_have_committed_nothing_or_have_a_member() -> None:
    assert rows.lag_summary(GroupSnapshot("g", {}, zookeeper_members=("m",))) == "g: nothing committed, no partitions, 1 member"
