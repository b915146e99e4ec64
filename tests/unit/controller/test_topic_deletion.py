"""Deleting topics."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.states import ReplicaState
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.stop_replica import StopReplicaRequest
from pykafka_classic.protocol.schema import Message
from tests.unit.controller.cluster import ControlCluster, answer_done, answer_with, summary

T0 = TopicPartition("t", 0)


def cluster_with_topic(*assignment: list[int], properties: dict[str, str] | None = None) -> ControlCluster:
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"} | (properties or {}), brokers=(0, 1, 2))
    cluster.create_topic("t", assignment)
    cluster.forget()
    return cluster


def test_a_deleted_topic_leaves_nothing_behind() -> None:
    cluster = cluster_with_topic([1, 2], [2, 1])
    cluster.delete_topic("t")
    assert [path for path in cluster.server.tree() if path.endswith("/t") or "/t/" in path] == []
    context = cluster.controller.context
    assert (context.all_topics, context.topics_to_be_deleted, context.topic_ids, context.leadership, context.replica_states) == (set(), {}, {}, {}, {})


def test_znodes_go_in_the_order_tree_config_mark_children_first() -> None:
    cluster = cluster_with_topic([1], [1])
    cluster.delete_topic("t")
    removed = [change.path for change in cluster.server.log if change.event == "delete"]
    assert removed == [
        "/brokers/topics/t/partitions/0/state",
        "/brokers/topics/t/partitions/0",
        "/brokers/topics/t/partitions/1/state",
        "/brokers/topics/t/partitions/1",
        "/brokers/topics/t/partitions",
        "/brokers/topics/t",
        "/config/topics/t",
        "/admin/delete_topics/t",
    ]


def test_brokers_are_told_to_forget_then_to_stop_then_to_delete() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.delete_topic("t")
    assert [summary(each) for each in cluster.network.sent if each.broker_id == 1] == [
        "UpdateMetadata to 1: t-0 leader -2 epoch 0 isr 1,2",
        "StopReplica to 1: t-0 epoch -2",
        "StopReplica to 1: t-0 epoch -2 delete",
    ]


def test_every_broker_is_told_to_forget_also_those_without_replicas() -> None:
    cluster = cluster_with_topic([1])
    cluster.delete_topic("t")
    assert [summary(each) for each in cluster.network.sent if each.broker_id == 0] == ["UpdateMetadata to 0: t-0 leader -2 epoch 0 isr 1"]


def test_the_isr_shrinks_replica_by_replica_to_no_leader() -> None:
    cluster = cluster_with_topic([0, 1, 2])
    cluster.server.held = False
    cluster.network.answer = lambda *_: None  # so that the znode stays
    cluster.delete_topic("t")
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (-1, (2,), 3)


def test_no_leader_is_sought_for_a_topic_being_deleted() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.delete_topic("t")
    assert cluster.sent(LeaderAndIsrRequest) == []


def test_the_znodes_stay_until_every_replica_has_answered() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.network.answer = lambda broker_id, request, version: None if broker_id == 2 else answer_done(broker_id, request, version)
    cluster.delete_topic("t")
    assert cluster.server.exists("/brokers/topics/t")
    assert cluster.controller.is_topic_queued_for_deletion("t")


def test_a_deletion_waits_for_a_dead_broker_and_goes_on_when_it_returns() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    cluster.delete_topic("t")
    assert cluster.server.exists("/admin/delete_topics/t")
    cluster.start(2)
    assert not cluster.server.exists("/brokers/topics/t")
    assert not cluster.server.exists("/admin/delete_topics/t")


def test_a_broker_that_dies_during_a_deletion_halts_it_until_it_returns() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.network.answer = lambda broker_id, request, version: None if broker_id == 2 else answer_done(broker_id, request, version)
    cluster.delete_topic("t")
    cluster.kill(2)
    assert cluster.server.exists("/brokers/topics/t")
    cluster.network.answer = answer_done
    cluster.start(2)
    assert not cluster.server.exists("/brokers/topics/t")


def test_a_broker_that_cannot_delete_halts_the_deletion() -> None:
    cluster = cluster_with_topic([1, 2])

    def answer(broker_id: int, request: Message, version: int) -> Message:
        fails = broker_id == 2 and isinstance(request, StopReplicaRequest)
        return answer_with(request, version, lambda _: ErrorCode.KAFKA_STORAGE_ERROR if fails else ErrorCode.NONE)

    cluster.network.answer = answer
    cluster.delete_topic("t")
    context = cluster.controller.context
    assert "t" in context.topics_ineligible_for_deletion
    assert {replica.replica: state for replica, state in context.replica_states.items()} == {
        1: ReplicaState.DELETION_SUCCESSFUL,
        2: ReplicaState.OFFLINE,
    }


def test_an_error_for_the_whole_stop_replica_fails_all_its_replicas() -> None:
    cluster = cluster_with_topic([1])

    def answer(_: int, request: Message, version: int) -> Message:
        response = answer_with(request, version, lambda _: ErrorCode.NONE)
        if isinstance(request, StopReplicaRequest):
            response.error_code = ErrorCode.STALE_BROKER_EPOCH  # type: ignore[attr-defined]
        return response

    cluster.network.answer = answer
    cluster.delete_topic("t")
    assert cluster.server.exists("/brokers/topics/t")


def test_the_next_controller_goes_on_with_a_deletion() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.network.answer = lambda *_: None
    cluster.delete_topic("t")
    cluster.network.answer = answer_done
    cluster.kill(0)
    assert not cluster.server.exists("/brokers/topics/t")
    assert not cluster.server.exists("/admin/delete_topics/t")


def test_a_mark_on_an_unknown_topic_is_removed() -> None:
    cluster = cluster_with_topic([1])
    cluster.delete_topic("never-was")
    assert not cluster.server.exists("/admin/delete_topics/never-was")


def test_where_deletion_is_disabled_the_marks_are_removed_and_the_topic_stays() -> None:
    cluster = cluster_with_topic([1], properties={"delete.topic.enable": "false"})
    cluster.delete_topic("t")
    assert cluster.server.exists("/brokers/topics/t")
    assert not cluster.server.exists("/admin/delete_topics/t")


def test_a_new_controller_removes_marks_where_deletion_is_disabled() -> None:
    cluster = ControlCluster({"delete.topic.enable": "false"})
    cluster.create_topic("t", [[1]])
    cluster.delete_topic("t")
    cluster.start(1)
    assert not cluster.server.exists("/admin/delete_topics/t")
    assert cluster.state("t", 0).leader == 1


def test_several_topics_are_deleted_independently() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.create_topic("u", [[0, 1]])
    cluster.kill(2)
    for topic in ("t", "u"):
        cluster.delete_topic(topic)
    assert cluster.server.exists("/brokers/topics/t")
    assert not cluster.server.exists("/brokers/topics/u")


def test_a_deleted_topic_can_be_created_again_at_once() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.delete_topic("t")
    cluster.create_topic("t", [[2, 0]])
    assert cluster.state("t", 0).leader == 2
    assert cluster.controller.context.assignment(T0).replicas == (2, 0)


def test_a_topic_without_any_live_replica_is_deleted_when_they_return() -> None:
    cluster = cluster_with_topic([1])
    cluster.kill(1)
    cluster.delete_topic("t")
    assert cluster.server.exists("/brokers/topics/t")
    cluster.start(1)
    assert not cluster.server.exists("/brokers/topics/t")
