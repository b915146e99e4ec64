"""topics, partition_state, and the nodes by which tools and brokers ask the controller for something."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from zk_schema import (
    delete_topics,
    isr_change_notification,
    log_dir_event_notification,
    partition_state,
    preferred_replica_election,
    reassign_partitions,
    topics,
)
from zk_schema.errors import MalformedZNode
from zk_schema.log_dir_event_notification import LogDirEventZNode
from zk_schema.partition_state import TopicPartitionStateZNode
from zk_schema.topics import ReplicaAssignment, TopicZNode


def test_topic_paths() -> None:
    assert topics.path("t") == "/brokers/topics/t"
    assert topics.partitions_path("t") == "/brokers/topics/t/partitions"
    assert topics.partition_path("t", 3) == "/brokers/topics/t/partitions/3"
    assert partition_state.path("t", 3) == "/brokers/topics/t/partitions/3/state"
    assert delete_topics.path("t") == "/admin/delete_topics/t"


def test_paths_lead_back_to_names() -> None:
    assert topics.topic_of("/brokers/topics/t") == "t"
    assert partition_state.partition_of("/brokers/topics/a.b/partitions/12/state") == ("a.b", 12)
    assert delete_topics.topic_of("/admin/delete_topics/t") == "t"
    for path in ("/brokers/topics", "/brokers/topics/", "/brokers/topics/t/partitions", "/brokers/topics/t/partitions/x/state"):
        assert (topics.topic_of(path), partition_state.partition_of(path), delete_topics.topic_of(path)) == (None, None, None)


def test_topic_version_1_has_replicas_only() -> None:
    decoded = topics.decode(b'{"version":1,"partitions":{"1":[2,0],"0":[0,1]}}')
    assert decoded == TopicZNode(None, {0: ReplicaAssignment((0, 1)), 1: ReplicaAssignment((2, 0))})


def test_topic_version_2_has_replicas_on_the_move() -> None:
    data = b'{"version":2,"partitions":{"0":[0,1,2]},"adding_replicas":{"0":[2]},"removing_replicas":{"0":[1]}}'
    assert topics.decode(data) == TopicZNode(None, {0: ReplicaAssignment((0, 1, 2), (2,), (1,))})


def test_only_moving_partitions_are_named_in_the_two_other_maps() -> None:
    value = TopicZNode("GxJxjMhuQ1O86pZY7Wop2w", {0: ReplicaAssignment((0, 1)), 1: ReplicaAssignment((0, 1, 2), (2,), ())})
    assert topics.encode(value) == (
        b'{"partitions":{"0":[0,1],"1":[0,1,2]},"topic_id":"GxJxjMhuQ1O86pZY7Wop2w","adding_replicas":{"1":[2]},"removing_replicas":{},"version":3}'
    )


def test_a_topic_without_partitions_is_possible() -> None:
    assert topics.decode(b"{}") == TopicZNode(None, {})


@pytest.mark.parametrize(
    "data", [b'{"partitions":{"x":[1]}}', b'{"partitions":{"0":1}}', b'{"partitions":{"0":["1"]}}', b'{"topic_id":1}', b'{"partitions":[]}']
)
def test_malformed_topics(data: bytes) -> None:
    with pytest.raises(MalformedZNode):
        topics.decode(data)


def test_partition_state_is_written_in_kafkas_order() -> None:
    value = TopicPartitionStateZNode(leader=0, leader_epoch=3, isr=(0, 2), controller_epoch=1)
    assert partition_state.encode(value) == b'{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":3,"isr":[0,2]}'
    assert partition_state.decode(partition_state.encode(value)) == value


def test_a_recovering_leader_is_marked() -> None:
    value = TopicPartitionStateZNode(1, 3, (1,), 1, partition_state.RECOVERING)
    assert partition_state.encode(value).endswith(b',"leader_recovery_state":1}')
    assert partition_state.decode(partition_state.encode(value)) == value


@pytest.mark.parametrize("missing", ["leader", "leader_epoch", "isr", "controller_epoch"])
def test_every_field_of_a_partition_state_must_be_there(missing: str) -> None:
    data = '{"controller_epoch":1,"leader":0,"version":1,"leader_epoch":3,"isr":[0]}'.replace(f'"{missing}"', '"other"')
    with pytest.raises(MalformedZNode, match=f"no {missing}"):
        partition_state.decode(data.encode())


def test_a_reassignment_gives_target_replicas_by_partition() -> None:
    data = b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,0]},{"topic":"u","partition":1,"replicas":[]}]}'
    moves = reassign_partitions.decode(data)
    assert moves == {("t", 0): (1, 0), ("u", 1): ()}
    assert reassign_partitions.encode({TopicPartition(*partition): replicas for partition, replicas in moves.items()}) == data


def test_a_partition_named_twice_is_elected_once() -> None:
    data = b'{"version":1,"partitions":[{"topic":"t","partition":0},{"topic":"t","partition":0}]}'
    assert preferred_replica_election.decode(data) == (("t", 0),)
    assert preferred_replica_election.encode([TopicPartition("t", 0)]) == b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'


@pytest.mark.parametrize("data", [b"[]", b'{"version":1}', b'{"partitions":[{"topic":"t"}]}', b'{"partitions":["t-0"]}'])
def test_malformed_lists_of_partitions(data: bytes) -> None:
    for module in (preferred_replica_election, isr_change_notification, reassign_partitions):
        with pytest.raises(MalformedZNode):
            module.decode(data)


def test_notifications_are_numbered() -> None:
    assert isr_change_notification.CREATE_PATH == "/isr_change_notification/isr_change_"
    assert isr_change_notification.path(17) == "/isr_change_notification/isr_change_0000000017"
    assert isr_change_notification.sequence("isr_change_0000000017") == 17
    assert log_dir_event_notification.sequence("/log_dir_event_notification/log_dir_event_0000000003") == 3
    with pytest.raises(MalformedZNode):
        isr_change_notification.sequence("something_else")


def test_a_failed_log_directory_names_its_broker() -> None:
    assert log_dir_event_notification.encode(LogDirEventZNode(4)) == b'{"version":1,"broker":4,"event":1}'
    assert log_dir_event_notification.decode(b'{"version":1,"broker":4,"event":1}').broker == 4
