"""The states of a partition and of a replica, as the controller sees them, and which state may follow which.

The two tables are the whole truth: the state machines look a transition up and skip what is not in it. docs/controller.md draws its diagrams from them.
Source: facts/coordination.md 3.4 and 3.5 (Kafka's PartitionStateMachine.scala and ReplicaStateMachine.scala, `validPreviousStates`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class PartitionState(IntEnum):
    """What the controller has done about a partition; the numbers are Kafka's (a metric shows them)."""

    NEW = 0  # known, but no leader chosen yet: there is no `state` znode
    ONLINE = 1  # has an elected leader
    OFFLINE = 2  # had a leader once; that one is gone
    NON_EXISTENT = 3  # never created, or deleted

    def __str__(self) -> str:
        return _PARTITION_STATE_NAMES[self]


class ReplicaState(IntEnum):
    """What the controller has told a broker about one replica; the numbers are Kafka's."""

    NEW = 1  # may only become a follower yet
    ONLINE = 2  # told to lead or to follow
    OFFLINE = 3  # its broker is dead, or it was told to stop
    DELETION_STARTED = 4  # told to delete its log
    DELETION_SUCCESSFUL = 5  # it said that the log is gone
    DELETION_INELIGIBLE = 6  # cannot be deleted now: its broker is dead or refused
    NON_EXISTENT = 7  # forgotten

    def __str__(self) -> str:
        return _REPLICA_STATE_NAMES[self]


_PARTITION_STATE_NAMES: Final[Mapping[PartitionState, str]] = {
    PartitionState.NEW: "NewPartition",
    PartitionState.ONLINE: "OnlinePartition",
    PartitionState.OFFLINE: "OfflinePartition",
    PartitionState.NON_EXISTENT: "NonExistentPartition",
}

_REPLICA_STATE_NAMES: Final[Mapping[ReplicaState, str]] = {
    ReplicaState.NEW: "NewReplica",
    ReplicaState.ONLINE: "OnlineReplica",
    ReplicaState.OFFLINE: "OfflineReplica",
    ReplicaState.DELETION_STARTED: "ReplicaDeletionStarted",
    ReplicaState.DELETION_SUCCESSFUL: "ReplicaDeletionSuccessful",
    ReplicaState.DELETION_INELIGIBLE: "ReplicaDeletionIneligible",
    ReplicaState.NON_EXISTENT: "NonExistentReplica",
}

# state -> the states from which it may be entered
VALID_PREVIOUS_PARTITION_STATES: Final[Mapping[PartitionState, frozenset[PartitionState]]] = {
    PartitionState.NEW: frozenset({PartitionState.NON_EXISTENT}),
    PartitionState.ONLINE: frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
    PartitionState.OFFLINE: frozenset({PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE}),
    PartitionState.NON_EXISTENT: frozenset({PartitionState.OFFLINE}),
}

_BEFORE_ONLINE_OR_OFFLINE: Final = frozenset({ReplicaState.NEW, ReplicaState.ONLINE, ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE})

VALID_PREVIOUS_REPLICA_STATES: Final[Mapping[ReplicaState, frozenset[ReplicaState]]] = {
    ReplicaState.NEW: frozenset({ReplicaState.NON_EXISTENT}),
    ReplicaState.ONLINE: _BEFORE_ONLINE_OR_OFFLINE,
    ReplicaState.OFFLINE: _BEFORE_ONLINE_OR_OFFLINE,
    ReplicaState.DELETION_STARTED: frozenset({ReplicaState.OFFLINE}),
    ReplicaState.DELETION_SUCCESSFUL: frozenset({ReplicaState.DELETION_STARTED}),
    ReplicaState.DELETION_INELIGIBLE: frozenset({ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED}),
    ReplicaState.NON_EXISTENT: frozenset({ReplicaState.DELETION_SUCCESSFUL}),
}
