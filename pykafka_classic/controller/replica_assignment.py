"""The replicas of one partition, also while they are being moved from some brokers to others.

    replicas           the brokers that hold the partition; the first is the preferred leader
    adding_replicas    those of them that a reassignment adds
    removing_replicas  those of them that will leave when it is done

    origin = replicas - adding      (what there was)
    target = replicas - removing    (what there will be)

Example: [1, 2] moves to [2, 3]: replicas (2, 3, 1), adding (3,), removing (1,).
Source: facts/coordination.md 3.11; Kafka's controller/ControllerContext.scala, ReplicaAssignment (KIP-455).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def _without(replicas: Iterable[int], removed: Iterable[int]) -> tuple[int, ...]:
    gone = frozenset(removed)
    return tuple(replica for replica in replicas if replica not in gone)


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """A frozen assignment; every change makes a new one."""

    replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()

    @property
    def origin_replicas(self) -> tuple[int, ...]:
        """What a cancelled reassignment returns to."""
        return _without(self.replicas, self.adding_replicas)

    @property
    def target_replicas(self) -> tuple[int, ...]:
        """What a completed reassignment leaves."""
        return _without(self.replicas, self.removing_replicas)

    @property
    def is_being_reassigned(self) -> bool:
        """True while replicas are being added or removed."""
        return bool(self.adding_replicas or self.removing_replicas)

    def reassign_to(self, target: Iterable[int]) -> ReplicaAssignment:
        """The assignment during a move to `target`: the target first, then what has to leave. Replaces a move under way."""
        wanted = tuple(target)
        origin = self.origin_replicas
        replicas = tuple(dict.fromkeys(wanted + origin))
        return ReplicaAssignment(replicas, _without(replicas, origin), _without(replicas, wanted))

    def remove_replica(self, replica: int) -> ReplicaAssignment:
        """Without this broker, wherever it was listed."""
        return ReplicaAssignment(_without(self.replicas, [replica]), _without(self.adding_replicas, [replica]), _without(self.removing_replicas, [replica]))

    def __str__(self) -> str:
        replicas, adding, removing = (",".join(map(str, ids)) for ids in (self.replicas, self.adding_replicas, self.removing_replicas))
        return f"ReplicaAssignment(replicas={replicas}, addingReplicas={adding}, removingReplicas={removing})"
