"""Who leads a partition and who is in sync with the leader: the value that elections produce, that ZooKeeper stores and that brokers are told.

Invariants: `leader` is in `isr` or is NO_LEADER; `leader_epoch` grows with every decision of the controller (never with an ISR change asked for by the
leader); `zk_version` is the data version of the `state` znode that holds this value, so a conditional write with it fails if anybody else wrote since.
Mirrors Kafka's LeaderAndIsr and LeaderIsrAndControllerEpoch (api/LeaderAndIsr.scala, controller/KafkaController.scala), here one flat value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NO_LEADER: Final = -1
LEADER_DURING_DELETE: Final = -2  # in UpdateMetadata: forget this partition
EPOCH_DURING_DELETE: Final = -2  # in StopReplica: the topic is being deleted, do not compare epochs
NO_EPOCH: Final = -1  # in StopReplica: nothing is known about the leader
INITIAL_LEADER_EPOCH: Final = 0
INITIAL_ZK_VERSION: Final = 0


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """The state of one partition, and the epoch of the controller that decided it."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    controller_epoch: int

    @staticmethod
    def initial(live_replicas: tuple[int, ...], *, controller_epoch: int) -> LeaderAndIsr:
        """The state of a new partition: all live replicas are in sync (they are all empty), the first of them leads."""
        return LeaderAndIsr(live_replicas[0], INITIAL_LEADER_EPOCH, live_replicas, INITIAL_ZK_VERSION, controller_epoch)

    def decide(self, *, leader: int, isr: tuple[int, ...]) -> LeaderAndIsr:
        """The next decision: epoch + 1. Its `zk_version` stays that of the state it replaces, until it is written."""
        return LeaderAndIsr(leader, self.leader_epoch + 1, isr, self.zk_version, self.controller_epoch)

    def written(self, *, zk_version: int, controller_epoch: int) -> LeaderAndIsr:
        """This state as it stands in ZooKeeper after a write by the controller of that epoch."""
        return LeaderAndIsr(self.leader, self.leader_epoch, self.isr, zk_version, controller_epoch)

    def equals_ignoring_versions(self, other: LeaderAndIsr) -> bool:
        """Same leader, epoch and ISR (in order), whoever wrote it and at whatever version."""
        return self.leader == other.leader and self.leader_epoch == other.leader_epoch and self.isr == other.isr

    def without_replica(self, replica: int) -> LeaderAndIsr:
        """The decision that takes a replica out: it no longer leads, and leaves the ISR, unless it is the only member.

        A sole member stays, so that the partition still remembers who has all of its data (facts 3.4; it allows a clean election when that one returns).
        """
        leader = NO_LEADER if replica == self.leader else self.leader
        isr = self.isr if len(self.isr) == 1 else tuple(broker for broker in self.isr if broker != replica)
        return self.decide(leader=leader, isr=isr)

    def __str__(self) -> str:
        isr = ", ".join(map(str, self.isr))
        return f"LeaderAndIsr(leader={self.leader}, leaderEpoch={self.leader_epoch}, isr=List({isr}), zkVersion={self.zk_version})"
