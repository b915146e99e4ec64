"""The two tables of states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.controller.states import VALID_PREVIOUS_PARTITION_STATES, VALID_PREVIOUS_REPLICA_STATES, PartitionState, ReplicaState


def test_every_partition_state_has_a_row() -> None:
    assert set(VALID_PREVIOUS_PARTITION_STATES) == set(PartitionState)


def test_every_replica_state_has_a_row() -> None:
    assert set(VALID_PREVIOUS_REPLICA_STATES) == set(ReplicaState)


def test_states_print_under_kafkas_names() -> None:
    assert [str(state) for state in PartitionState] == ["NewPartition", "OnlinePartition", "OfflinePartition", "NonExistentPartition"]
    assert [str(state) for state in ReplicaState] == [
        *("NewReplica", "OnlineReplica", "OfflineReplica"),
        *("ReplicaDeletionStarted", "ReplicaDeletionSuccessful", "ReplicaDeletionIneligible", "NonExistentReplica"),
    ]


def test_numbers_are_kafkas() -> None:
    assert [state.value for state in PartitionState] == [0, 1, 2, 3]
    assert [state.value for state in ReplicaState] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("state", "previous"),
    [
        (PartitionState.NEW, {PartitionState.NON_EXISTENT}),
        (PartitionState.ONLINE, {PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
        (PartitionState.OFFLINE, {PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
        (PartitionState.NON_EXISTENT, {PartitionState.OFFLINE}),
    ],
)
def test_partition_states_follow_the_facts(state: PartitionState, previous: set[PartitionState]) -> None:
    assert VALID_PREVIOUS_PARTITION_STATES[state] == previous


@pytest.mark.parametrize(
    ("state", "previous"),
    [
        (ReplicaState.NEW, {ReplicaState.NON_EXISTENT}),
        (ReplicaState.ONLINE, {ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE}),
        (ReplicaState.OFFLINE, {ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE}),
        (ReplicaState.DELETION_STARTED, {ReplicaState.OFFLINE}),
        (ReplicaState.DELETION_SUCCESSFUL, {ReplicaState.DELETION_STARTED}),
        (ReplicaState.DELETION_INELIGIBLE, {ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED}),
        (ReplicaState.NON_EXISTENT, {ReplicaState.DELETION_SUCCESSFUL}),
    ],
)
def test_replica_states_follow_the_facts(state: ReplicaState, previous: set[ReplicaState]) -> None:
    assert VALID_PREVIOUS_REPLICA_STATES[state] == previous


@given(st.sampled_from(list(ReplicaState)))
def test_no_replica_is_stuck_for_ever(start: ReplicaState) -> None:
    reached, frontier = {start}, {start}
    while frontier:
        frontier = {state for state in ReplicaState if VALID_PREVIOUS_REPLICA_STATES[state] & frontier} - reached
        reached |= frontier
    assert ReplicaState.NON_EXISTENT in reached
    assert ReplicaState.ONLINE in reached
