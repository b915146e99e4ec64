"""AlterIsr, and the notifications of older brokers."""

from __future__ import annotations

import json

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.protocol.messages.alter_isr import (
    AlterIsrRequest,
    AlterIsrRequestPartitionData,
    AlterIsrRequestTopicData,
    AlterIsrResponse,
    AlterIsrResponsePartitionData,
)
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.unit.controller.cluster import ControlCluster, summary

T0 = TopicPartition("t", 0)
OLD = {"inter.broker.protocol.version": "2.6", "log.message.format.version": "2.6"}


@pytest.fixture
def cluster() -> ControlCluster:
    """Topic t: partition 0 on 1, 2, 0, led by 1. Broker 0 is the controller."""
    found = ControlCluster({"auto.leader.rebalance.enable": "false"}, brokers=(0, 1, 2))
    found.create_topic("t", [[1, 2, 0]])
    found.forget()
    return found


def alter(
    cluster: ControlCluster, isr: list[int], *, version: int = 0, leader_epoch: int = 0, broker_id: int = 1, broker_epoch: int | None = None, topic: str = "t"
) -> AlterIsrResponse:
    """A leader's request, answered."""
    epoch = cluster.controller.context.broker_epoch(broker_id) if broker_epoch is None else broker_epoch
    data = AlterIsrRequestPartitionData(0, leader_epoch, isr, version)
    answer = cluster.controller.alter_isr(AlterIsrRequest(broker_id, -1 if epoch is None else epoch, [AlterIsrRequestTopicData(topic, [data])]))
    cluster.settle()
    return answer.result()


def verdict(response: AlterIsrResponse) -> AlterIsrResponsePartitionData:
    """The one partition of a response."""
    assert response.error_code == ErrorCode.NONE
    return response.topics[0].partitions[0]


def test_a_shrunk_isr_is_written_under_the_same_leader_epoch(cluster: ControlCluster) -> None:
    answered = verdict(alter(cluster, [1, 2]))
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (1, (1, 2), 0)
    assert (answered.error_code, answered.leader_id, answered.leader_epoch, answered.isr, answered.current_isr_version) == (0, 1, 0, [1, 2], 1)


def test_the_write_stands_behind_the_fence(cluster: ControlCluster) -> None:
    alter(cluster, [1, 2])
    check, write = cluster.server.log
    assert (check.event, check.path, check.zxid) == ("check", "/controller_epoch", write.zxid)


def test_all_brokers_hear_of_it_by_update_metadata_and_none_by_leader_and_isr(cluster: ControlCluster) -> None:
    alter(cluster, [1, 2])
    assert cluster.sent(LeaderAndIsrRequest) == []
    assert sorted(summary(each) for each in cluster.network.sent) == [f"UpdateMetadata to {broker}: t-0 leader 1 epoch 0 isr 1,2" for broker in range(3)]


def test_the_same_request_again_is_answered_alike_and_writes_nothing(cluster: ControlCluster) -> None:
    first = alter(cluster, [1, 2])
    cluster.forget()
    assert alter(cluster, [1, 2]) == first  # with the old version: its answer had been lost
    assert cluster.server.log == []


def test_another_version_is_refused(cluster: ControlCluster) -> None:
    assert verdict(alter(cluster, [1, 2], version=5)).error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert cluster.state("t", 0).isr == (1, 2, 0)


def test_an_old_leader_epoch_is_refused(cluster: ControlCluster) -> None:
    cluster.kill(2)
    assert verdict(alter(cluster, [1], version=1)).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_broker_that_does_not_lead_is_refused(cluster: ControlCluster) -> None:
    assert verdict(alter(cluster, [2], broker_id=2)).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_an_unknown_partition_is_refused(cluster: ControlCluster) -> None:
    assert verdict(alter(cluster, [1], topic="u")).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("broker_id", "broker_epoch"), [(9, 1), (1, 0), (1, 10**9)])
def test_a_broker_that_is_not_registered_under_this_epoch_is_refused_as_a_whole(cluster: ControlCluster, broker_id: int, broker_epoch: int) -> None:
    response = alter(cluster, [1], broker_id=broker_id, broker_epoch=broker_epoch)
    assert (response.error_code, response.topics) == (ErrorCode.STALE_BROKER_EPOCH, [])


def test_one_request_may_carry_many_partitions_with_a_verdict_each(cluster: ControlCluster) -> None:
    cluster.create_topic("u", [[1, 2], [1, 2]])
    epoch = cluster.controller.context.broker_epoch(1)
    assert epoch is not None
    request = AlterIsrRequest(
        1,
        epoch,
        [
            AlterIsrRequestTopicData("t", [AlterIsrRequestPartitionData(0, 0, [1], 0)]),
            AlterIsrRequestTopicData("u", [AlterIsrRequestPartitionData(1, 0, [1], 0), AlterIsrRequestPartitionData(0, 0, [1], 7)]),
        ],
    )
    answer = cluster.controller.alter_isr(request)
    cluster.settle()
    verdicts = {(topic.name, each.partition_index): each.error_code for topic in answer.result().topics for each in topic.partitions}
    assert verdicts == {("t", 0): 0, ("u", 1): 0, ("u", 0): ErrorCode.INVALID_UPDATE_VERSION}


def test_an_expanded_isr_lets_the_new_member_be_elected(cluster: ControlCluster) -> None:
    alter(cluster, [1])
    alter(cluster, [1, 0], version=1)
    cluster.kill(1)
    assert cluster.state("t", 0).leader == 0


# Notifications


@pytest.fixture
def old_cluster() -> ControlCluster:
    """As above, but leaders write their ISR themselves."""
    found = ControlCluster({"auto.leader.rebalance.enable": "false"} | OLD, brokers=(0, 1, 2))
    found.create_topic("t", [[1, 2, 0]])
    found.forget()
    return found


def notify(cluster: ControlCluster, number: int, *partitions: TopicPartition) -> None:
    data = {"version": 1, "partitions": [{"topic": partition.topic, "partition": partition.partition} for partition in partitions]}
    cluster.server.put(f"/isr_change_notification/isr_change_{number:010d}", json.dumps(data).encode())
    cluster.settle()


def test_a_notification_makes_the_controller_read_the_state_and_tell_all_brokers(old_cluster: ControlCluster) -> None:
    old_cluster.put_state(T0, LeaderAndIsr(1, 0, (1, 2), 0, 1))
    notify(old_cluster, 3, T0)
    assert old_cluster.controller.context.leadership[T0].isr == (1, 2)
    assert [summary(each) for each in old_cluster.network.sent] == [f"UpdateMetadata to {broker}: t-0 leader 1 epoch 0 isr 1,2" for broker in range(3)]
    assert old_cluster.server.children("/isr_change_notification") == []


def test_notifications_are_seen_one_after_the_other(old_cluster: ControlCluster) -> None:
    for number, isr in enumerate([(1, 2), (1,), (1, 0)]):
        old_cluster.put_state(T0, LeaderAndIsr(1, 0, isr, 0, 1))
        notify(old_cluster, number, T0)
        assert old_cluster.controller.context.leadership[T0].isr == isr


def test_a_malformed_notification_is_removed(old_cluster: ControlCluster) -> None:
    old_cluster.server.put("/isr_change_notification/isr_change_0000000000", b"{}")
    old_cluster.settle()
    assert old_cluster.server.children("/isr_change_notification") == []
    assert old_cluster.sent(UpdateMetadataRequest) == []


def test_notifications_of_older_brokers_are_heard_at_any_version(cluster: ControlCluster) -> None:
    cluster.put_state(T0, LeaderAndIsr(1, 0, (1, 2), 0, 1))
    notify(cluster, 3, T0)
    assert cluster.controller.context.leadership[T0].isr == (1, 2)


def test_a_broker_that_is_gone_does_not_join_and_its_leader_is_told_the_isr_as_it_is(cluster: ControlCluster) -> None:
    cluster.kill(2)
    before = cluster.state("t", 0)
    answered = verdict(alter(cluster, [*before.isr, 2], version=1, leader_epoch=before.leader_epoch))
    assert (answered.error_code, answered.isr) == (0, list(before.isr))
    assert cluster.state("t", 0) == before and 2 not in before.isr
