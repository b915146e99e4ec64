"""What the two state machines do on each transition, seen in ZooKeeper and in the requests."""

from __future__ import annotations

import pytest

from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.controller_context import PartitionAndReplica
from pykafka_classic.controller.election import OfflinePartitionLeaderElection, PreferredReplicaPartitionLeaderElection
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.partition_state_machine import ElectionFailed
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.states import VALID_PREVIOUS_PARTITION_STATES, VALID_PREVIOUS_REPLICA_STATES, PartitionState, ReplicaState
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.stop_replica import StopReplicaRequest
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.unit.controller.cluster import ControlCluster, summary

T0 = TopicPartition("t", 0)
OLD_IBP = {"inter.broker.protocol.version": "2.6"}  # leaders write their ISR themselves


class Machines:
    """A controller with one topic `t`, and its state machines."""

    def __init__(self, *assignment: list[int], properties: dict[str, str] | None = None, brokers: tuple[int, ...] = (1, 2, 3)) -> None:
        self.cluster = ControlCluster({"auto.leader.rebalance.enable": "false"} | (properties or {}), brokers=brokers)
        self.cluster.create_topic("t", assignment)
        self.context = self.cluster.controller.context
        self.handlers = self.cluster.controller._handlers
        self.cluster.forget()

    def partitions(self, target: PartitionState, *partitions: TopicPartition, strategy: object = None) -> dict[TopicPartition, object]:
        """Move partitions; all of `t` by default."""
        moved = list(partitions) or self.context.partitions_of("t")
        outcome = spawn(self.handlers.partitions.handle_state_changes(moved, target, strategy))  # type: ignore[arg-type]
        self.cluster.settle()
        return dict(outcome.result())

    def replicas(self, target: ReplicaState, *replicas: tuple[TopicPartition, int]) -> None:
        """Move replicas."""
        outcome = spawn(self.handlers.replicas.handle_state_changes([PartitionAndReplica(*each) for each in replicas], target))
        self.cluster.settle()
        outcome.result()

    def summaries(self) -> list[str]:
        """What was sent."""
        return [summary(each) for each in self.cluster.network.sent]


# Partitions


@pytest.mark.parametrize("target", PartitionState)
@pytest.mark.parametrize("before", PartitionState)
def test_an_invalid_partition_transition_changes_nothing(before: PartitionState, target: PartitionState) -> None:
    machines = Machines([1, 2])
    machines.context.partition_states[T0] = before
    machines.partitions(target, strategy=OfflinePartitionLeaderElection())
    if before not in VALID_PREVIOUS_PARTITION_STATES[target]:
        assert machines.context.partition_state(T0) is before
        assert machines.cluster.sent() == []
        assert machines.cluster.server.log == []


def test_an_invalid_transition_does_not_stop_the_others_of_the_call() -> None:
    machines = Machines([1, 2], [2, 1])
    machines.context.partition_states[T0] = PartitionState.NON_EXISTENT
    machines.partitions(PartitionState.OFFLINE)
    assert machines.context.partition_state(TopicPartition("t", 1)) is PartitionState.OFFLINE


def test_a_new_partition_is_led_by_the_first_live_replica_and_all_live_ones_are_in_sync() -> None:
    machines = Machines([9, 2, 1])
    stored = machines.cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch, stored.controller_epoch) == (2, (2, 1), 0, 1)


def test_a_new_partition_without_a_live_replica_stays_new() -> None:
    machines = Machines([8, 9])
    assert machines.context.partition_state(T0) is PartitionState.NEW
    assert not machines.cluster.server.exists("/brokers/topics/t/partitions/0/state")


def test_a_state_that_is_there_already_fails_the_initialization() -> None:
    machines = Machines([1, 2])
    del machines.context.leadership[T0]
    machines.context.partition_states[T0] = PartitionState.NEW
    machines.cluster.put_state(T0, LeaderAndIsr(2, 5, (2,), 0, 1))
    machines.partitions(PartitionState.ONLINE)
    assert machines.context.partition_state(T0) is PartitionState.NEW


def test_a_state_that_is_exactly_what_we_meant_to_create_counts_as_created() -> None:
    machines = Machines([1, 2])
    del machines.context.leadership[T0]
    machines.context.partition_states[T0] = PartitionState.NEW
    machines.partitions(PartitionState.ONLINE)
    assert machines.context.partition_state(T0) is PartitionState.ONLINE


def test_an_election_raises_the_epoch_and_tells_the_online_replicas() -> None:
    machines = Machines([1, 2, 3])
    machines.context.shutting_down_broker_ids.add(1)
    machines.partitions(PartitionState.ONLINE, strategy=OfflinePartitionLeaderElection())
    assert machines.summaries()[:2] == ["LeaderAndIsr to 2: t-0 leader 2 epoch 1 isr 2,3", "LeaderAndIsr to 3: t-0 leader 2 epoch 1 isr 2,3"]


def test_a_failed_election_keeps_the_state_and_says_why() -> None:
    machines = Machines([1, 2])
    machines.context.leadership[T0] = LeaderAndIsr(2, 3, (2,), 0, 1)
    outcome = machines.partitions(PartitionState.ONLINE, strategy=PreferredReplicaPartitionLeaderElection())
    assert outcome == {T0: ElectionFailed("Failed to elect leader for partition t-0 under strategy PreferredReplicaPartitionLeaderElectionStrategy")}
    assert machines.cluster.server.log == []


def test_a_state_that_changed_meanwhile_is_read_again_and_decided_again() -> None:
    machines = Machines([1, 2, 3])
    machines.cluster.put_state(T0, LeaderAndIsr(1, 0, (1, 3), 0, 1))
    machines.context.shutting_down_broker_ids.add(1)
    machines.partitions(PartitionState.ONLINE, strategy=OfflinePartitionLeaderElection())
    stored = machines.cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (3, (3,), 1)


def test_below_2_7_the_stored_state_is_read_before_an_election() -> None:
    machines = Machines([1, 2, 3], properties=OLD_IBP)
    machines.cluster.put_state(T0, LeaderAndIsr(1, 0, (1, 3), 0, 1))
    machines.context.shutting_down_broker_ids.add(1)
    machines.partitions(PartitionState.ONLINE, strategy=OfflinePartitionLeaderElection())
    assert machines.cluster.state("t", 0).leader == 3


def test_a_state_written_by_a_later_controller_is_left_alone() -> None:
    machines = Machines([1, 2], properties=OLD_IBP)
    machines.cluster.put_state(T0, LeaderAndIsr(1, 4, (1, 2), 0, 99))
    outcome = machines.partitions(PartitionState.ONLINE, strategy=OfflinePartitionLeaderElection())
    assert isinstance(outcome[T0], ElectionFailed)
    assert machines.cluster.state("t", 0).controller_epoch == 99


def test_an_election_for_a_vanished_state_fails() -> None:
    machines = Machines([1, 2])
    machines.cluster.server.remove("/brokers/topics/t/partitions/0/state")
    outcome = machines.partitions(PartitionState.ONLINE, strategy=OfflinePartitionLeaderElection())
    assert isinstance(outcome[T0], ElectionFailed)


# Replicas


@pytest.mark.parametrize("target", ReplicaState)
@pytest.mark.parametrize("before", ReplicaState)
def test_an_invalid_replica_transition_changes_nothing(before: ReplicaState, target: ReplicaState) -> None:
    machines = Machines([1, 2])
    replica = PartitionAndReplica(T0, 2)
    machines.context.replica_states[replica] = before
    machines.replicas(target, (T0, 2))
    if before not in VALID_PREVIOUS_REPLICA_STATES[target]:
        assert machines.context.replica_state(replica) is before
        assert machines.cluster.sent() == []
        assert machines.cluster.server.log == []
    else:
        assert machines.context.replica_state(replica) is target


def test_a_new_replica_of_a_led_partition_is_told_to_follow_as_new() -> None:
    machines = Machines([1, 2])
    machines.replicas(ReplicaState.NEW, (T0, 3))
    assert machines.summaries()[0] == "LeaderAndIsr to 3: t-0 leader 1 epoch 0 isr 1,2 new"


def test_a_new_replica_cannot_be_the_leader() -> None:
    machines = Machines([1, 2])
    machines.context.replica_states[PartitionAndReplica(T0, 1)] = ReplicaState.NON_EXISTENT
    machines.replicas(ReplicaState.NEW, (T0, 1))
    assert machines.context.replica_state(PartitionAndReplica(T0, 1)) is ReplicaState.NON_EXISTENT


def test_an_online_replica_is_told_the_present_state() -> None:
    machines = Machines([1, 2])
    machines.replicas(ReplicaState.ONLINE, (T0, 2))
    assert machines.summaries()[0] == "LeaderAndIsr to 2: t-0 leader 1 epoch 0 isr 1,2"


def test_a_new_replica_that_comes_online_is_told_nothing_but_is_in_the_assignment() -> None:
    machines = Machines([1, 2])
    machines.context.replica_states[PartitionAndReplica(T0, 3)] = ReplicaState.NEW
    machines.replicas(ReplicaState.ONLINE, (T0, 3))
    assert machines.cluster.sent() == []
    assert machines.context.assignment(T0) == ReplicaAssignment((1, 2, 3))


def test_an_offline_follower_leaves_the_isr_is_told_to_stop_and_the_others_are_told() -> None:
    machines = Machines([1, 2, 3])
    machines.replicas(ReplicaState.OFFLINE, (T0, 2))
    assert machines.cluster.state("t", 0).isr == (1, 3)
    assert sorted(machines.summaries()) == [
        "LeaderAndIsr to 1: t-0 leader 1 epoch 1 isr 1,3",
        "LeaderAndIsr to 3: t-0 leader 1 epoch 1 isr 1,3",
        "StopReplica to 2: t-0 epoch 0",
        "UpdateMetadata to 1: t-0 leader 1 epoch 1 isr 1,3",
        "UpdateMetadata to 2: t-0 leader 1 epoch 1 isr 1,3",
        "UpdateMetadata to 3: t-0 leader 1 epoch 1 isr 1,3",
    ]


def test_an_offline_leader_leaves_the_partition_leaderless() -> None:
    machines = Machines([1, 2])
    machines.replicas(ReplicaState.OFFLINE, (T0, 1))
    stored = machines.cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (-1, (2,), 1)


def test_the_last_isr_member_stays_in_the_isr() -> None:
    machines = Machines([1])
    machines.replicas(ReplicaState.OFFLINE, (T0, 1))
    stored = machines.cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (-1, (1,), 1)


def test_a_replica_outside_the_isr_goes_offline_without_a_write_but_the_others_are_told() -> None:
    machines = Machines([1, 2, 3])
    machines.replicas(ReplicaState.OFFLINE, (T0, 3))
    machines.cluster.forget()
    machines.replicas(ReplicaState.OFFLINE, (T0, 3))
    assert machines.cluster.server.log == []
    assert "LeaderAndIsr to 1: t-0 leader 1 epoch 1 isr 1,2" in machines.summaries()


def test_an_isr_that_changed_meanwhile_is_read_again() -> None:
    machines = Machines([1, 2, 3])
    machines.cluster.put_state(T0, LeaderAndIsr(1, 0, (1, 2), 0, 1))
    machines.replicas(ReplicaState.OFFLINE, (T0, 2))
    stored = machines.cluster.state("t", 0)
    assert (stored.leader, stored.isr, stored.leader_epoch) == (1, (1,), 1)


def test_a_replica_whose_state_is_missing_does_not_go_offline() -> None:
    machines = Machines([1, 2], properties=OLD_IBP)
    machines.cluster.server.remove("/brokers/topics/t/partitions/0/state")
    machines.replicas(ReplicaState.OFFLINE, (T0, 2))
    assert machines.context.replica_state(PartitionAndReplica(T0, 2)) is ReplicaState.ONLINE


def test_an_offline_replica_of_a_topic_being_deleted_is_not_told_of_to_the_others() -> None:
    machines = Machines([1, 2])
    machines.context.topics_to_be_deleted["t"] = None
    machines.replicas(ReplicaState.OFFLINE, (T0, 2))
    assert machines.cluster.sent(LeaderAndIsrRequest) == []
    assert machines.summaries() == ["StopReplica to 2: t-0 epoch -2"]


def test_an_offline_replica_of_a_partition_without_state_is_announced_to_all() -> None:
    machines = Machines([8, 9])
    machines.context.replica_states[PartitionAndReplica(T0, 9)] = ReplicaState.ONLINE
    machines.replicas(ReplicaState.OFFLINE, (T0, 9))
    assert machines.summaries() == ["UpdateMetadata to 1: no partitions", "UpdateMetadata to 2: no partitions", "UpdateMetadata to 3: no partitions"]


def test_a_deletion_is_one_stop_replica_with_delete() -> None:
    machines = Machines([1, 2])
    machines.context.replica_states[PartitionAndReplica(T0, 2)] = ReplicaState.OFFLINE
    machines.replicas(ReplicaState.DELETION_STARTED, (T0, 2))
    assert machines.summaries() == ["StopReplica to 2: t-0 epoch 0 delete"]


def test_a_replica_that_no_longer_exists_is_forgotten() -> None:
    machines = Machines([1, 2])
    machines.context.replica_states[PartitionAndReplica(T0, 2)] = ReplicaState.DELETION_SUCCESSFUL
    machines.replicas(ReplicaState.NON_EXISTENT, (T0, 2))
    assert machines.context.assignment(T0) == ReplicaAssignment((1,))
    assert PartitionAndReplica(T0, 2) not in machines.context.replica_states


def test_replicas_of_one_broker_share_one_request() -> None:
    machines = Machines([1, 2], [2, 1], [1, 2])
    machines.replicas(ReplicaState.ONLINE, *((partition, 2) for partition in machines.context.partitions_of("t")))
    assert len(machines.cluster.sent(LeaderAndIsrRequest, to=2)) == 1
    assert machines.cluster.sent(StopReplicaRequest) == []
    assert len(machines.cluster.sent(UpdateMetadataRequest, to=1)) == 1
