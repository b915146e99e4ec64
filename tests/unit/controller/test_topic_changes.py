"""Topics that appear, grow and vanish."""

from __future__ import annotations

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.states import PartitionState, ReplicaState
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from tests.unit.controller.cluster import ControlCluster, summary, told
from zk_schema import topics
from zk_schema.topics import ReplicaAssignment as StoredAssignment
from zk_schema.topics import TopicZNode


def new_cluster(**properties: str) -> ControlCluster:
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"} | {key.replace("_", "."): value for key, value in properties.items()}, brokers=(0, 1, 2))
    cluster.forget()
    return cluster


def grow(cluster: ControlCluster, topic: str, *assignment: list[int]) -> None:
    """Write a topic's znode anew with this assignment."""
    stored = cluster.topic(topic)
    znode = TopicZNode(stored.topic_id, {index: StoredAssignment(tuple(replicas)) for index, replicas in enumerate(assignment)})
    cluster.server.put(topics.path(topic), topics.encode(znode))
    cluster.settle()


def test_a_new_topic_goes_through_new_to_online() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2], [2, 0]])
    context = cluster.controller.context
    assert set(context.partition_states.values()) == {PartitionState.ONLINE}
    assert set(context.replica_states.values()) == {ReplicaState.ONLINE}


def test_parents_are_written_before_states() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2], [2, 0]])
    created = [change.path.removeprefix("/brokers/topics/t/") for change in cluster.server.changes("/brokers/topics/t/partitions")]
    assert created == ["partitions", "partitions/0", "partitions/1", "partitions/0/state", "partitions/1/state"]


def test_replicas_of_a_new_topic_are_told_once_and_as_new() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2]])
    assert [summary(each) for each in cluster.network.sent if isinstance(each.request, LeaderAndIsrRequest)] == [
        "LeaderAndIsr to 1: t-0 leader 1 epoch 0 isr 1,2 new",
        "LeaderAndIsr to 2: t-0 leader 1 epoch 0 isr 1,2 new",
    ]


def test_dead_replicas_of_a_new_topic_are_neither_in_sync_nor_told() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[9, 1]])
    assert cluster.state("t", 0).isr == (1,)


def test_a_topic_without_id_gets_one_before_anything_else_is_written() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1]], with_id=False)
    topic_id = cluster.topic("t").topic_id
    assert topic_id is not None
    assert len(topic_id) == 22
    assert [change.path for change in cluster.server.changes("/brokers/topics/t")][:3] == [
        "/brokers/topics/t",
        "/brokers/topics/t",
        "/brokers/topics/t/partitions",
    ]


def test_below_2_8_a_topic_gets_no_id() -> None:
    cluster = new_cluster(inter_broker_protocol_version="2.7")
    cluster.create_topic("t", [[1]], with_id=False)
    assert cluster.topic("t").topic_id is None
    assert cluster.state("t", 0).leader == 1


def test_the_controller_knows_topics_by_id() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1]])
    topic_id = cluster.controller.context.topic_ids["t"]
    assert cluster.controller.topic_name_of(topic_id) == "t"
    assert cluster.controller.topic_name_of(bytes(16)) is None


def test_an_added_partition_is_created_like_a_new_topic() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2]])
    cluster.forget()
    grow(cluster, "t", [1, 2], [2, 0])
    assert cluster.state("t", 1).leader == 2
    [request, *_] = cluster.sent(LeaderAndIsrRequest, to=0)
    assert list(told(request)) == [TopicPartition("t", 1)]


def test_a_changed_list_of_an_existing_partition_is_ignored() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2]])
    cluster.forget()
    grow(cluster, "t", [0, 1])
    assert cluster.controller.context.assignment(TopicPartition("t", 0)) == ReplicaAssignment((1, 2))
    assert cluster.sent() == []


def test_partitions_can_be_added_again_and_again() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1]])
    for count in range(2, 5):
        grow(cluster, "t", *[[1]] * count)
    assert len(cluster.controller.context.partitions_of("t")) == 4
    assert cluster.state("t", 3).leader == 1


def test_partitions_added_to_a_topic_being_deleted_are_taken_back() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 9]])  # broker 9 is dead: the deletion has to wait
    cluster.delete_topic("t")
    grow(cluster, "t", [1, 9], [1, 2])
    assert set(cluster.topic("t").assignment) == {0}
    assert not cluster.server.exists("/brokers/topics/t/partitions/1")


def test_a_topic_that_vanishes_is_forgotten() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1]])
    cluster.server.remove("/brokers/topics/t")
    cluster.settle()
    context = cluster.controller.context
    assert (context.all_topics, context.assignments, context.leadership, context.partition_states, context.replica_states) == (set(), {}, {}, {}, {})


def test_a_topic_that_vanished_can_be_created_again() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1]])
    cluster.server.remove("/brokers/topics/t")
    cluster.settle()
    cluster.create_topic("t", [[2]])
    assert cluster.state("t", 0).leader == 2


def test_an_unreadable_topic_is_left_alone_and_the_others_are_created() -> None:
    cluster = new_cluster()
    cluster.server.put("/brokers/topics/broken", b"{")
    cluster.create_topic("t", [[1]])
    assert cluster.state("t", 0).leader == 1


def test_hundreds_of_partitions_are_one_request_for_each_broker() -> None:
    cluster = new_cluster()
    cluster.create_topic("t", [[1, 2]] * 300)
    assert len(cluster.sent(LeaderAndIsrRequest, to=1)) == 1
    assert len(cluster.controller.context.leadership) == 300
