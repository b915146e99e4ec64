"""A broker announces that it is leaving."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from tests.unit.controller.cluster import ControlCluster, summary

T0, T1, T2 = (TopicPartition("t", index) for index in range(3))


def cluster_with_topic(*assignment: list[int]) -> ControlCluster:
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"}, brokers=(0, 1, 2))
    cluster.create_topic("t", assignment)
    cluster.forget()
    return cluster


def shut_down(cluster: ControlCluster, broker_id: int, broker_epoch: int | None = None) -> frozenset[TopicPartition]:
    epoch = cluster.controller.context.broker_epoch(broker_id) if broker_epoch is None else broker_epoch
    answer = cluster.controller.controlled_shutdown(broker_id, -1 if epoch is None else epoch)
    cluster.settle()
    return answer.result()


def test_what_it_leads_goes_to_another_isr_member_and_it_leaves_the_isr() -> None:
    cluster = cluster_with_topic([1, 2, 0])
    assert shut_down(cluster, 1) == frozenset()
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (2, (2, 0), 1)


def test_the_leaving_leader_is_told_by_leader_and_isr_like_the_others() -> None:
    cluster = cluster_with_topic([1, 2])
    shut_down(cluster, 1)
    assert "LeaderAndIsr to 1: t-0 leader 2 epoch 1 isr 2" in [summary(each) for each in cluster.network.sent]


def test_where_it_follows_it_is_stopped_with_the_old_epoch_and_leaves_the_isr() -> None:
    cluster = cluster_with_topic([2, 1])
    shut_down(cluster, 1)
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (2, (2,), 1)
    lines = [summary(each) for each in cluster.network.sent if each.broker_id == 1]
    assert lines[0] == "StopReplica to 1: t-0 epoch 0"


def test_a_partition_with_one_replica_stays_and_is_not_reported() -> None:
    cluster = cluster_with_topic([1])
    assert shut_down(cluster, 1) == frozenset()
    assert cluster.state("t", 0).leader == 1


def test_a_partition_without_another_isr_member_stays_and_is_reported() -> None:
    cluster = cluster_with_topic([1, 2], [1, 0])
    cluster.kill(2)
    assert shut_down(cluster, 1) == {T0}
    assert cluster.state("t", 0).leader == 1


def test_a_leaving_broker_is_still_sent_requests_but_elected_for_nothing() -> None:
    cluster = cluster_with_topic([1, 2])
    shut_down(cluster, 2)
    cluster.create_topic("u", [[2, 1]])
    assert cluster.state("u", 0).leader == 1
    cluster.kill(1)
    assert cluster.state("t", 0).leader == -1
    assert cluster.controller.context.live_or_shutting_down_broker_ids == [0, 2]


def test_when_its_znode_goes_nothing_is_left_to_write() -> None:
    cluster = cluster_with_topic([1, 2], [2, 1])
    shut_down(cluster, 1)
    cluster.forget()
    cluster.kill(1)
    assert cluster.server.changes("/brokers/topics") == []
    assert cluster.controller.context.shutting_down_broker_ids == set()


def test_a_broker_that_returns_may_lead_again() -> None:
    cluster = cluster_with_topic([1, 2])
    shut_down(cluster, 1)
    cluster.kill(1)
    cluster.start(1)
    cluster.create_topic("u", [[1, 2]])
    assert cluster.state("u", 0).leader == 1


def test_the_controller_itself_may_leave() -> None:
    cluster = cluster_with_topic([0, 1])
    assert shut_down(cluster, 0) == frozenset()
    assert cluster.state("t", 0).leader == 1


def test_asking_twice_is_answered_alike() -> None:
    cluster = cluster_with_topic([1, 2])
    assert shut_down(cluster, 1) == shut_down(cluster, 1) == frozenset()
    assert cluster.state("t", 0).leader_epoch <= 2


def test_topics_being_deleted_are_left_alone() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    cluster.delete_topic("t")
    cluster.forget()
    assert shut_down(cluster, 1) == frozenset()
    assert cluster.server.changes("/brokers/topics") == []


@pytest.mark.parametrize(("broker_id", "broker_epoch", "error"), [(9, 5, ErrorCode.BROKER_NOT_AVAILABLE), (1, 0, ErrorCode.STALE_BROKER_EPOCH)])
def test_unknown_brokers_and_old_epochs_are_refused(broker_id: int, broker_epoch: int, error: ErrorCode) -> None:
    cluster = cluster_with_topic([1, 2])
    with pytest.raises(KafkaError) as refused:
        shut_down(cluster, broker_id, broker_epoch)
    assert refused.value.code is error
    assert cluster.controller.context.shutting_down_broker_ids == set()


def test_a_broker_without_epoch_is_believed() -> None:
    cluster = cluster_with_topic([1, 2])
    shut_down(cluster, 1, -1)
    assert cluster.state("t", 0).leader == 2
