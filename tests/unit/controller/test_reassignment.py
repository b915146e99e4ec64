"""Moving partitions."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ApiError
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrRequestPartitionData, AlterIsrRequestTopicData
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from tests.unit.controller.cluster import ControlCluster, summary, told
from zk_schema import reassign_partitions

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ZNODE = "/admin/reassign_partitions"


def cluster_with_topic(*assignment: list[int], properties: dict[str, str] | None = None) -> ControlCluster:
    """Broker 0 is the controller; 1, 2, 3 live too."""
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"} | (properties or {}), brokers=(0, 1, 2, 3))
    cluster.create_topic("t", assignment)
    cluster.forget()
    return cluster


def move(cluster: ControlCluster, target: tuple[int, ...] | None, partition: TopicPartition = T0) -> ApiError:
    answer = cluster.controller.alter_partition_reassignments({partition: target})
    cluster.settle()
    return answer.result()[partition]


def grow_isr(cluster: ControlCluster, *isr: int, partition: TopicPartition = T0) -> None:
    """The leader reports that these have caught up."""
    current = cluster.controller.context.leadership[partition]
    epoch = cluster.controller.context.broker_epoch(current.leader)
    assert epoch is not None
    data = AlterIsrRequestPartitionData(partition.partition, current.leader_epoch, list(isr), current.zk_version)
    cluster.controller.alter_isr(AlterIsrRequest(current.leader, epoch, [AlterIsrRequestTopicData(partition.topic, [data])]))
    cluster.settle()


def stored(cluster: ControlCluster, partition: int = 0) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    found = cluster.topic("t").assignment[partition]
    return found.replicas, found.adding_replicas, found.removing_replicas


def ask_by_znode(cluster: ControlCluster, moves: dict[TopicPartition, tuple[int, ...]]) -> None:
    cluster.server.put(ZNODE, reassign_partitions.encode(moves))
    cluster.settle()


# Waiting for the ISR


def test_a_move_is_stored_before_anything_else() -> None:
    cluster = cluster_with_topic([1, 2])
    assert move(cluster, (2, 3)) == ApiError()
    assert stored(cluster) == ((2, 3, 1), (3,), (1,))
    assert next(change.path for change in cluster.server.changes("/brokers")) == "/brokers/topics/t"


def test_old_replicas_learn_of_the_move_under_a_new_epoch_and_new_ones_as_new() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    lines = [summary(each) for each in cluster.network.sent if isinstance(each.request, LeaderAndIsrRequest)]
    assert sorted(set(lines)) == [
        "LeaderAndIsr to 1: t-0 leader 1 epoch 1 isr 1,2",
        "LeaderAndIsr to 2: t-0 leader 1 epoch 1 isr 1,2",
        "LeaderAndIsr to 3: t-0 leader 1 epoch 1 isr 1,2 new",
    ]
    state = told(cluster.sent(LeaderAndIsrRequest, to=3)[0])[T0]
    assert (state.replicas, state.adding_replicas, state.removing_replicas) == ([2, 3, 1], [3], [1])


def test_the_partition_keeps_its_leader_while_it_moves() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    assert cluster.state("t", 0).leader == 1


def test_a_move_under_way_is_listed() -> None:
    cluster = cluster_with_topic([1, 2], [2, 1])
    move(cluster, (2, 3))
    assert cluster.controller.list_partition_reassignments().result() == {T0: ReplicaAssignment((2, 3, 1), (3,), (1,))}
    assert cluster.controller.list_partition_reassignments([T1]).result() == {}


# Complete


def test_a_move_completes_when_its_target_is_within_the_isr() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    grow_isr(cluster, 1, 2, 3)
    assert stored(cluster) == ((2, 3), (), ())
    found = cluster.state("t", 0)
    assert (found.leader, found.isr, found.leader_epoch) == (2, (2, 3), 3)
    assert cluster.controller.list_partition_reassignments().result() == {}


def test_half_a_target_in_the_isr_is_not_enough() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (3, 0))
    grow_isr(cluster, 1, 2, 3)
    assert stored(cluster) == ((3, 0, 1, 2), (3, 0), (1, 2))


def test_the_old_replica_is_stopped_then_deleted() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.forget()
    grow_isr(cluster, 1, 2, 3)
    assert [summary(each) for each in cluster.network.sent if each.broker_id == 1 and summary(each).startswith("Stop")] == [
        "StopReplica to 1: t-0 epoch 2",
        "StopReplica to 1: t-0 epoch 3 delete",
    ]


def test_a_leader_that_stays_keeps_leading_under_a_new_epoch() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (1, 3))
    grow_isr(cluster, 1, 2, 3)
    found = cluster.state("t", 0)
    assert (found.leader, found.isr, found.leader_epoch) == (1, (1, 3), 3)


def test_the_znode_is_written_last() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.forget()
    grow_isr(cluster, 1, 2, 3)
    assert [change.path.removeprefix("/brokers/topics/") for change in cluster.server.changes("/brokers/topics")] == [
        "t/partitions/0/state",  # the leader's request
        "t/partitions/0/state",  # a new leader
        "t/partitions/0/state",  # without the old replica
        "t",
    ]


def test_another_order_of_the_same_replicas_completes_at_once() -> None:
    cluster = cluster_with_topic([1, 2])
    assert move(cluster, (2, 1)) == ApiError()
    assert stored(cluster) == ((2, 1), (), ())
    assert cluster.state("t", 0).leader == 1


def test_fewer_replicas_complete_at_once() -> None:
    cluster = cluster_with_topic([1, 2, 3])
    move(cluster, (2,))
    found = cluster.state("t", 0)
    assert (stored(cluster)[0], found.leader, found.isr) == ((2,), 2, (2,))


def test_completion_drops_the_replica_from_the_controllers_memory() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    grow_isr(cluster, 1, 2, 3)
    assert {replica.replica for replica in cluster.controller.context.replica_states} == {2, 3}


# Cancelling and replacing


def test_a_cancelled_move_deletes_the_replicas_that_it_had_added() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.forget()
    assert move(cluster, None) == ApiError()
    assert (sorted(stored(cluster)[0]), *stored(cluster)[1:]) == ([1, 2], (), ())
    assert "StopReplica to 3: t-0 epoch 1 delete" in [summary(each) for each in cluster.network.sent]


def test_a_move_replaces_the_one_before() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (1, 3))
    move(cluster, (1, 0))
    assert stored(cluster) == ((1, 0, 2), (0,), (2,))
    assert "StopReplica to 3: t-0 epoch 1 delete" in [summary(each) for each in cluster.network.sent]


def test_there_is_nothing_to_cancel_without_a_move() -> None:
    cluster = cluster_with_topic([1, 2])
    assert move(cluster, None).error is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


# Validation


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ((), "Empty replica list specified in partition reassignment."),
        ((1, 1), "Duplicate replica ids in partition reassignment replica list: ArrayBuffer(1, 1)"),
        ((1, -2), "Invalid broker id in replica list: ArrayBuffer(1, -2)"),
        ((1, 9), "Replica assignment has brokers that are not alive. Replica list: ArrayBuffer(9), live broker list: Set(0, 1, 2, 3)"),
    ],
)
def test_a_bad_target_is_refused(target: tuple[int, ...], message: str) -> None:
    cluster = cluster_with_topic([1, 2])
    assert move(cluster, target) == ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    assert cluster.server.log == []


def test_a_dead_broker_that_holds_the_partition_already_is_accepted() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    assert move(cluster, (2, 3)) == ApiError()


@pytest.mark.parametrize("partition", [TopicPartition("t", 7), TopicPartition("u", 0)])
def test_an_unknown_partition_is_refused(partition: TopicPartition) -> None:
    cluster = cluster_with_topic([1, 2])
    assert move(cluster, (1,), partition) == ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist.")


def test_a_topic_being_deleted_cannot_be_moved() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    cluster.delete_topic("t")
    assert move(cluster, (1, 3)).error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_one_bad_partition_does_not_stop_the_others() -> None:
    cluster = cluster_with_topic([1, 2], [1, 2])
    answer = cluster.controller.alter_partition_reassignments({T0: (), T1: (1, 3)})
    cluster.settle()
    assert {partition: result.error for partition, result in answer.result().items()} == {
        T0: ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        T1: ErrorCode.NONE,
    }


# The znode of older tools


def test_the_znode_starts_moves_and_vanishes_with_the_last_one() -> None:
    cluster = cluster_with_topic([1, 2], [2, 1])
    ask_by_znode(cluster, {T0: (1, 3), T1: (2, 3)})
    grow_isr(cluster, 1, 2, 3)
    assert reassign_partitions.decode(cluster.server.data(ZNODE)) == {T1: (2, 3)}
    grow_isr(cluster, 2, 1, 3, partition=T1)
    assert not cluster.server.exists(ZNODE)
    assert stored(cluster, 1) == ((2, 3), (), ())


def test_a_second_znode_is_seen_after_the_first() -> None:
    cluster = cluster_with_topic([1, 2])
    for target in ((1, 3), (1, 0)):
        ask_by_znode(cluster, {T0: target})
        grow_isr(cluster, *sorted({*cluster.controller.context.leadership[T0].isr, *target}))
        assert stored(cluster)[0] == target


def test_unknown_partitions_and_those_being_deleted_are_taken_out_of_the_znode() -> None:
    cluster = cluster_with_topic([1, 2])
    ask_by_znode(cluster, {T0: (1, 3), TopicPartition("u", 0): (1,)})
    assert reassign_partitions.decode(cluster.server.data(ZNODE)) == {T0: (1, 3)}


def test_what_the_znode_asks_for_is_not_checked_for_live_brokers() -> None:
    cluster = cluster_with_topic([1, 2])
    ask_by_znode(cluster, {T0: (1, 9)})
    assert stored(cluster) == ((1, 9, 2), (9,), (2,))


def test_a_move_that_is_done_already_completes_at_once() -> None:
    cluster = cluster_with_topic([1, 2])
    ask_by_znode(cluster, {T0: (1, 2)})
    assert not cluster.server.exists(ZNODE)
    assert stored(cluster) == ((1, 2), (), ())


def test_an_unreadable_znode_is_removed() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.server.put(ZNODE, b"{")
    cluster.settle()
    assert not cluster.server.exists(ZNODE)


def test_the_api_overrides_the_znode() -> None:
    cluster = cluster_with_topic([1, 2], [1, 2])
    ask_by_znode(cluster, {T0: (1, 3), T1: (1, 3)})
    move(cluster, (1, 0))
    assert reassign_partitions.decode(cluster.server.data(ZNODE)) == {T1: (1, 3)}
    assert stored(cluster) == ((1, 0, 2), (0,), (2,))


# Failures meanwhile


def test_the_next_controller_goes_on_with_a_move() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.kill(0)
    assert cluster.controller.list_partition_reassignments().result() == {T0: ReplicaAssignment((2, 3, 1), (3,), (1,))}
    grow_isr(cluster, 1, 2, 3)
    assert stored(cluster) == ((2, 3), (), ())


def test_a_move_that_the_old_controller_had_half_completed_is_completed() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    session = cluster.kill(0, expire=False)
    cluster.put_state(T0, LeaderAndIsr(1, 1, (1, 2, 3), 0, 1))
    cluster.server.close_session(session)
    cluster.settle()
    assert stored(cluster) == ((2, 3), (), ())


def test_a_move_waits_for_a_dead_target_and_goes_on_when_it_returns() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.kill(3)
    cluster.forget()
    cluster.start(3)
    assert any(summary(each).startswith("LeaderAndIsr to 3: t-0") for each in cluster.network.sent)
    grow_isr(cluster, 1, 2, 3)
    assert stored(cluster) == ((2, 3), (), ())


def test_a_topic_under_reassignment_is_deleted_only_afterwards() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.delete_topic("t")
    assert cluster.server.exists("/brokers/topics/t")
    grow_isr(cluster, 1, 2, 3)
    assert not cluster.server.exists("/brokers/topics/t")


def test_below_2_7_a_watch_on_the_state_tells_of_the_grown_isr() -> None:
    cluster = cluster_with_topic([1, 2], properties={"inter.broker.protocol.version": "2.6", "log.message.format.version": "2.6"})
    move(cluster, (2, 3))
    cluster.put_state(T0, LeaderAndIsr(1, 1, (1, 2, 3), 0, 1))
    cluster.settle()
    assert stored(cluster) == ((2, 3), (), ())
    assert cluster.state("t", 0).isr == (2, 3)


# Found by the simulation


def test_a_cancellation_that_would_delete_the_only_in_sync_replica_is_refused() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    move(cluster, (2, 3))
    grow_isr(cluster, 1, 3)
    cluster.kill(1)  # now 3, which the move is adding, alone has all records
    assert (cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (3, (3,))
    assert move(cluster, None).error is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert cluster.state("t", 0).leader == 3


def test_a_move_of_a_partition_that_never_had_a_leader_gives_it_one() -> None:
    cluster = cluster_with_topic([8, 9])
    assert move(cluster, (1, 2)) == ApiError()
    assert (stored(cluster), cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (((1, 2), (), ()), 1, (1, 2))


def test_a_move_that_cannot_go_on_does_not_stop_a_failover() -> None:
    cluster = cluster_with_topic([8, 9])
    ask_by_znode(cluster, {T0: (7, 9)})
    cluster.kill(0)
    assert cluster.controller.epoch == 2
    assert stored(cluster)[0] == (7, 9, 8)


def test_a_partition_whose_move_a_deletion_waits_for_still_gets_a_leader() -> None:
    cluster = cluster_with_topic([1])
    move(cluster, (2,))
    cluster.delete_topic("t")
    cluster.kill(1)
    cluster.start(1)
    assert cluster.state("t", 0).leader == 1
    grow_isr(cluster, 1, 2)
    assert not cluster.server.exists("/brokers/topics/t")


def test_a_broker_that_starts_does_not_let_a_deletion_overtake_a_move() -> None:
    cluster = cluster_with_topic([1, 2])
    move(cluster, (2, 3))
    cluster.delete_topic("t")
    cluster.kill(2)
    cluster.start(2)
    assert cluster.server.exists("/brokers/topics/t")
    grow_isr(cluster, 1, 2, 3)
    assert not cluster.server.exists("/brokers/topics/t")
