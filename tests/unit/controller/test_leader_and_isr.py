"""The state of a partition, and its assignment, as values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.controller.leader_and_isr import NO_LEADER, LeaderAndIsr
from pykafka_classic.controller.replica_assignment import ReplicaAssignment

REPLICAS = st.lists(st.integers(min_value=0, max_value=6), min_size=1, max_size=5, unique=True).map(tuple)


def state(leader: int, *isr: int) -> LeaderAndIsr:
    return LeaderAndIsr(leader, 3, isr, zk_version=9, controller_epoch=2)


def test_a_new_partition_is_led_by_its_first_live_replica_at_epoch_0() -> None:
    assert LeaderAndIsr.initial((2, 1), controller_epoch=5) == LeaderAndIsr(2, 0, (2, 1), 0, 5)


def test_a_follower_that_is_taken_out_leaves_the_isr() -> None:
    assert state(1, 1, 2, 3).without_replica(2) == LeaderAndIsr(1, 4, (1, 3), 9, 2)


def test_a_leader_that_is_taken_out_leaves_no_leader() -> None:
    assert state(1, 1, 2).without_replica(1) == LeaderAndIsr(NO_LEADER, 4, (2,), 9, 2)


def test_the_only_isr_member_stays_in_the_isr_though_it_no_longer_leads() -> None:
    assert state(1, 1).without_replica(1) == LeaderAndIsr(NO_LEADER, 4, (1,), 9, 2)


def test_states_are_equal_whatever_version_they_have_but_not_in_another_isr_order() -> None:
    one = state(1, 1, 2)
    assert one.equals_ignoring_versions(one.written(zk_version=77, controller_epoch=8))
    assert not one.equals_ignoring_versions(state(1, 2, 1))


def test_a_state_prints_as_kafka_prints_it() -> None:
    assert str(state(1, 1, 2)) == "LeaderAndIsr(leader=1, leaderEpoch=3, isr=List(1, 2), zkVersion=9)"


def test_reassigning_puts_the_target_first_and_then_those_that_leave() -> None:
    assert ReplicaAssignment((1, 2)).reassign_to((2, 3)) == ReplicaAssignment((2, 3, 1), (3,), (1,))


def test_a_second_reassignment_replaces_the_first() -> None:
    moving = ReplicaAssignment((1, 2)).reassign_to((3, 4))
    assert moving.reassign_to((1, 5)) == ReplicaAssignment((1, 5, 2), (5,), (2,))


def test_reassigning_back_to_the_origin_cancels() -> None:
    moving = ReplicaAssignment((1, 2)).reassign_to((2, 3))
    cancelled = moving.reassign_to(moving.origin_replicas)
    assert set(cancelled.replicas) == {1, 2}
    assert not cancelled.is_being_reassigned


def test_a_changed_order_alone_is_no_reassignment_of_replicas() -> None:
    assert ReplicaAssignment((1, 2)).reassign_to((2, 1)) == ReplicaAssignment((2, 1))


def test_a_removed_replica_is_nowhere_listed() -> None:
    assert ReplicaAssignment((2, 3, 1), (3,), (1,)).remove_replica(1) == ReplicaAssignment((2, 3), (3,), ())


@given(REPLICAS, REPLICAS, REPLICAS)
def test_target_and_origin_come_back_out_of_a_reassignment(origin: tuple[int, ...], first: tuple[int, ...], second: tuple[int, ...]) -> None:
    moving = ReplicaAssignment(origin).reassign_to(first).reassign_to(second)
    assert moving.target_replicas == second
    assert set(moving.origin_replicas) == set(origin)
    assert set(moving.adding_replicas).isdisjoint(moving.removing_replicas)
