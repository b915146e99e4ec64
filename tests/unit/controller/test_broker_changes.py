"""Brokers that come, go, come back, change or lose a disk."""

from __future__ import annotations

import json
from collections.abc import Callable

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.states import PartitionState, ReplicaState
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from pykafka_classic.protocol.schema import Message
from tests.unit.controller.cluster import Answer, ControlCluster, answer_done, answer_with, summary, told

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def cluster_with_topic(*assignment: list[int], brokers: tuple[int, ...] = (0, 1, 2)) -> ControlCluster:
    """Broker 0 is the controller."""
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"}, brokers=brokers)
    cluster.create_topic("t", assignment)
    cluster.forget()
    return cluster


def summaries(cluster: ControlCluster, to: int) -> list[str]:
    return [summary(each) for each in cluster.network.sent if each.broker_id == to]


# Coming


def test_others_hear_of_a_new_broker_before_it_hears_of_them() -> None:
    cluster = cluster_with_topic([1, 0])
    cluster.start(3)
    assert summaries(cluster, 1) == ["UpdateMetadata to 1: no partitions"]
    assert summaries(cluster, 3) == ["UpdateMetadata to 3: t-0 leader 1 epoch 0 isr 1,0"]


def test_a_returning_broker_gets_all_its_replicas_in_one_request_with_unchanged_epochs() -> None:
    cluster = cluster_with_topic([0, 1], [0, 1])
    cluster.kill(1)
    cluster.forget()
    cluster.start(1)
    [request] = cluster.sent(LeaderAndIsrRequest, to=1)
    assert {partition: (state.leader_epoch, state.is_new) for partition, state in told(request).items()} == {T0: (1, False), T1: (1, False)}
    assert cluster.server.changes("/brokers/topics") == []


def test_a_partition_without_leader_gets_one_when_its_last_isr_member_returns() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    cluster.kill(1)
    assert (cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (-1, (1,))
    cluster.start(2)
    assert cluster.state("t", 0).leader == -1
    cluster.start(1)
    assert (cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (1, (1,))


def test_a_new_partition_without_live_replicas_is_created_when_one_starts() -> None:
    cluster = cluster_with_topic([3])
    assert cluster.controller.context.partition_state(T0) is PartitionState.NEW
    cluster.start(3)
    assert cluster.state("t", 0).leader == 3
    assert cluster.controller.context.partition_state(T0) is PartitionState.ONLINE


# Going


def test_a_dead_leader_is_followed_by_the_first_live_isr_member() -> None:
    cluster = cluster_with_topic([1, 2, 0])
    cluster.kill(1)
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (2, (2, 0), 1)


def test_an_ordinary_brokers_death_costs_one_write_for_each_partition() -> None:
    cluster = cluster_with_topic([1, 2], [2, 1], [0, 2])
    cluster.kill(1)
    assert sorted(change.path for change in cluster.server.changes("/brokers/topics")) == [
        "/brokers/topics/t/partitions/0/state",
        "/brokers/topics/t/partitions/1/state",
    ]


def test_a_dead_follower_leaves_the_isr_under_a_new_epoch() -> None:
    cluster = cluster_with_topic([0, 1])
    cluster.kill(1)
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (0, (0,), 1)


def test_a_dead_broker_is_sent_nothing() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(1)
    assert cluster.sent(to=1) == []
    assert cluster.controller._core.channels.broker_ids == [0, 2]


def test_when_nobody_led_anything_the_survivors_are_told_of_the_death() -> None:
    cluster = cluster_with_topic([0, 2])
    cluster.kill(1)
    assert summaries(cluster, 0) == ["UpdateMetadata to 0: no partitions"]


def test_replicas_of_a_dead_broker_are_offline() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(1)
    states = {replica.replica: state for replica, state in cluster.controller.context.replica_states.items()}
    assert states == {1: ReplicaState.OFFLINE, 2: ReplicaState.ONLINE}


def test_two_brokers_that_die_together_are_handled_together() -> None:
    cluster = cluster_with_topic([1, 2, 0])
    cluster.server.held = True
    sessions = [cluster.kill(broker_id, expire=False) for broker_id in (1, 2)]
    for session in sessions:
        cluster.server.close_session(session)
    cluster.server.held = False
    cluster.settle()
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (0, (0,), 1)


# Coming back before anybody noticed


def test_a_bounced_broker_is_taken_for_dead_and_then_for_new() -> None:
    cluster = cluster_with_topic([1, 2])
    before = cluster.controller.context.broker_epoch(1)
    cluster.server.held = True
    session = cluster.kill(1, expire=False)
    cluster.server.close_session(session)
    cluster.start(1, settle=False)
    cluster.server.held = False
    cluster.settle()
    assert cluster.controller.context.broker_epoch(1) != before
    stored = cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (2, (2,), 1)
    assert summaries(cluster, 1)[-1].startswith("UpdateMetadata to 1: t-0 leader 2 epoch 1")
    assert cluster.sent(LeaderAndIsrRequest, to=1)


def test_a_broker_that_only_changed_its_listeners_keeps_its_epoch_and_its_partitions() -> None:
    cluster = cluster_with_topic([1, 2])
    epoch = cluster.controller.context.broker_epoch(1)
    stored = json.loads(cluster.server.data("/brokers/ids/1") or b"")
    stored["endpoints"] = ["PLAINTEXT://elsewhere:9091"]
    cluster.nodes[1].zk._server.put("/brokers/ids/1", json.dumps(stored).encode())
    cluster.settle()
    assert cluster.controller.context.broker_epoch(1) == epoch
    assert cluster.server.changes("/brokers/topics") == []
    [request] = cluster.sent(UpdateMetadataRequest, to=2)
    assert isinstance(request, UpdateMetadataRequest)
    assert [broker.endpoints[0].host for broker in request.live_brokers] == ["b0", "elsewhere", "b2"]


def test_a_rewritten_registration_that_says_the_same_is_nothing_to_tell() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.server.put("/brokers/ids/1", cluster.server.data("/brokers/ids/1"))
    cluster.settle()
    assert cluster.sent() == []


def test_the_next_change_of_a_registration_is_seen_too() -> None:
    cluster = cluster_with_topic([1, 2])
    for host in ("one", "two"):
        stored = json.loads(cluster.server.data("/brokers/ids/1") or b"")
        stored["endpoints"] = [f"PLAINTEXT://{host}:9091"]
        cluster.server.put("/brokers/ids/1", json.dumps(stored).encode())
        cluster.settle()
    assert cluster.controller.context.live_or_shutting_down_brokers[1].registration.endpoints[0].host == "two"


# Disks


def failing(broker_id: int, *partitions: TopicPartition) -> Answer:
    """Answers of a cluster in which one broker has lost the disk of these partitions."""

    def answer(addressee: int, request: Message, version: int) -> Message:
        def error(partition: TopicPartition) -> int:
            return ErrorCode.KAFKA_STORAGE_ERROR if addressee == broker_id and partition in partitions else ErrorCode.NONE

        return answer_with(request, version, error)

    return answer


def fail_disk(cluster: ControlCluster, answer: Callable[[int, Message, int], Message | None]) -> None:
    """Broker 1 says that a disk failed."""
    cluster.network.answer = answer
    cluster.server.put("/log_dir_event_notification/log_dir_event_0000000007", b'{"version":1,"broker":1,"event":1}')
    cluster.settle()


def test_a_failed_disk_makes_the_controller_ask_the_broker_by_leader_and_isr() -> None:
    cluster = cluster_with_topic([1, 2], [1, 0])
    fail_disk(cluster, answer_done)
    [request] = cluster.sent(LeaderAndIsrRequest, to=1)
    assert list(told(request)) == [T0, T1]
    assert cluster.server.children("/log_dir_event_notification") == []


def test_partitions_on_the_failed_disk_get_another_leader_and_the_others_keep_theirs() -> None:
    cluster = cluster_with_topic([1, 2], [1, 0])
    fail_disk(cluster, failing(1, T0))
    assert (cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (2, (2,))
    assert (cluster.state("t", 1).leader, cluster.state("t", 1).isr) == (1, (1, 0))
    assert not cluster.controller.context.is_replica_online(1, T0)


def test_offline_replicas_of_a_failed_disk_are_in_the_metadata() -> None:
    cluster = cluster_with_topic([1, 2])
    fail_disk(cluster, failing(1, T0))
    last = cluster.sent(UpdateMetadataRequest, to=2)[-1]
    assert told(last)[T0].offline_replicas == [1]


def test_a_broker_that_restarts_has_all_its_disks_until_it_says_otherwise() -> None:
    cluster = cluster_with_topic([1, 2])
    fail_disk(cluster, failing(1, T0))
    cluster.network.answer = answer_done
    cluster.kill(1)
    cluster.start(1)
    assert cluster.controller.context.is_replica_online(1, T0)


def test_malformed_notifications_are_removed() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.server.put("/log_dir_event_notification/log_dir_event_0000000007", b"?")
    cluster.settle()
    assert cluster.server.children("/log_dir_event_notification") == []


def test_an_error_for_a_whole_leader_and_isr_changes_nothing() -> None:
    cluster = cluster_with_topic([1, 2])

    def refuse(_: int, request: Message, version: int) -> Message:
        response = answer_with(request, version, lambda _: ErrorCode.KAFKA_STORAGE_ERROR)
        response.error_code = ErrorCode.STALE_CONTROLLER_EPOCH  # type: ignore[attr-defined]
        return response

    fail_disk(cluster, refuse)
    assert cluster.controller.context.is_replica_online(1, T0)
