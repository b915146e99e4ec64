"""Who becomes leader: the four strategies as functions of the assignment, the ISR and the live brokers. No I/O, no state.

    strategy             candidate: the first of the assignment that is ...        new ISR
    Offline              online and in the ISR; else, if unclean is allowed,        ISR without the dead; unclean: the leader alone
                         the first that is online at all (data may be lost)
    Reassign             (of the target list) online and in the ISR                 unchanged
    PreferredReplica     assignment[0], if online and in the ISR                    unchanged
    ControlledShutdown   live or leaving, in the ISR and not leaving                ISR without those that are leaving

Source: facts/coordination.md 3.6; Kafka's controller/Election.scala and PartitionLeaderElectionAlgorithms.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from pykafka_classic.controller.leader_and_isr import LeaderAndIsr


@dataclass(frozen=True, slots=True)
class OfflinePartitionLeaderElection:
    """A partition has no leader, or its leader died. `allow_unclean` forces what else the topic's config decides."""

    allow_unclean: bool = False

    def __str__(self) -> str:
        return f"OfflinePartitionLeaderElectionStrategy({str(self.allow_unclean).lower()})"


@dataclass(frozen=True, slots=True)
class ReassignPartitionLeaderElection:
    """A reassignment is complete and its target does not contain the present leader."""

    def __str__(self) -> str:
        return "ReassignPartitionLeaderElectionStrategy"


@dataclass(frozen=True, slots=True)
class PreferredReplicaPartitionLeaderElection:
    """Leadership shall return to the first replica of the assignment."""

    def __str__(self) -> str:
        return "PreferredReplicaPartitionLeaderElectionStrategy"


@dataclass(frozen=True, slots=True)
class ControlledShutdownPartitionLeaderElection:
    """A broker announced that it is leaving."""

    def __str__(self) -> str:
        return "ControlledShutdownPartitionLeaderElectionStrategy"


ElectionStrategy: TypeAlias = (
    OfflinePartitionLeaderElection | ReassignPartitionLeaderElection | PreferredReplicaPartitionLeaderElection | ControlledShutdownPartitionLeaderElection
)


def name_of(strategy: ElectionStrategy) -> str:
    """Kafka's name without its long end: OfflinePartition, ReassignPartition, PreferredReplicaPartition, ControlledShutdownPartition."""
    return type(strategy).__name__.removesuffix("LeaderElection")


@dataclass(frozen=True, slots=True)
class Elected:
    """The decision, not written yet, and the brokers that have to be told. `unclean`: the leader may lack committed records."""

    leader_and_isr: LeaderAndIsr
    recipients: tuple[int, ...]
    unclean: bool = False


def _first(candidates: Sequence[int], *conditions: Collection[int]) -> int | None:
    return next((broker for broker in candidates if all(broker in condition for condition in conditions)), None)


def elect_for_offline(current: LeaderAndIsr, assignment: Sequence[int], online: AbstractSet[int], *, unclean_allowed: bool) -> Elected | None:
    """A live ISR member, or any live replica where unclean election is allowed; None: the partition stays without leader.

    `online`: the assigned replicas whose broker is live, is not shutting down and has the replica's disk.
    """
    recipients = tuple(broker for broker in assignment if broker in online)
    leader = _first(assignment, online, current.isr)
    if leader is not None:
        isr = tuple(broker for broker in current.isr if broker in online)
        return Elected(current.decide(leader=leader, isr=isr), recipients)
    if unclean_allowed and recipients:
        return Elected(current.decide(leader=recipients[0], isr=(recipients[0],)), recipients, unclean=True)
    return None


def elect_for_reassign(current: LeaderAndIsr, target: Sequence[int], online: AbstractSet[int]) -> Elected | None:
    """The first replica of the target list that is live and in sync."""
    leader = _first(target, online, current.isr)
    return None if leader is None else Elected(current.decide(leader=leader, isr=current.isr), tuple(target))


def elect_preferred(current: LeaderAndIsr, assignment: Sequence[int], online: AbstractSet[int]) -> Elected | None:
    """The first replica of the assignment and no other."""
    leader = _first(assignment[:1], online, current.isr)
    return None if leader is None else Elected(current.decide(leader=leader, isr=current.isr), tuple(assignment))


def elect_for_controlled_shutdown(
    current: LeaderAndIsr, assignment: Sequence[int], online_or_leaving: AbstractSet[int], *, leaving: AbstractSet[int]
) -> Elected | None:
    """A live ISR member that stays. None: the leaving broker keeps the leadership to its end.

    The leaving broker is told too: it learns in the same way as any other that it is a follower now.
    """
    leader = _first(assignment, online_or_leaving - leaving, current.isr)
    if leader is None:
        return None
    isr = tuple(broker for broker in current.isr if broker not in leaving)
    recipients = tuple(broker for broker in assignment if broker in online_or_leaving)
    return Elected(current.decide(leader=leader, isr=isr), recipients)
