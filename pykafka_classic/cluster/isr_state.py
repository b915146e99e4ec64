"""The ISR as a leader holds it: what is committed in ZooKeeper, and a change that is under way.

| state | committed ISR | maximal ISR | who may change it |
|---|---|---|---|
| CommittedIsr | as in ZooKeeper | the same | the leader may propose |
| PendingExpandIsr | still without the newcomer | with it: the HighWatermark waits for it already | the verdict, or a LeaderAndIsr |
| PendingShrinkIsr | still with the laggards | the same: they still count | the verdict, or a LeaderAndIsr |

The maximal ISR is what the controller may at this moment believe to be in sync. The HighWatermark must not pass any of these, or a leader elected from them
would lack committed records. A refused change leaves the state pending: only the next LeaderAndIsr tells what is true (facts/coordination.md 4.6, trap 4).

Members keep the order in which they joined, as the znode shows it.

Mirrors kafka.cluster.{CommittedIsr, PendingExpandIsr, PendingShrinkIsr} and the AlterIsrManager trait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class CommittedIsr:
    """Nothing under way."""

    isr: tuple[int, ...]

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """Those that may be in sync."""
        return self.isr

    @property
    def in_flight(self) -> bool:
        """Whether a change is under way."""
        return False


@dataclass(frozen=True, slots=True)
class PendingExpandIsr:
    """A follower is proposed as a member."""

    isr: tuple[int, ...]
    new_in_sync_replica: int
    maximal_isr: tuple[int, ...]

    @staticmethod
    def of(isr: tuple[int, ...], new_in_sync_replica: int) -> PendingExpandIsr:
        """Propose this newcomer."""
        return PendingExpandIsr(isr, new_in_sync_replica, (*isr, new_in_sync_replica))

    @property
    def in_flight(self) -> bool:
        """Whether a change is under way."""
        return True

    @property
    def proposed_isr(self) -> tuple[int, ...]:
        """What the ISR would become."""
        return self.maximal_isr


@dataclass(frozen=True, slots=True)
class PendingShrinkIsr:
    """Some members are proposed for removal."""

    isr: tuple[int, ...]
    out_of_sync_replicas: tuple[int, ...]

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """Those that may be in sync."""
        return self.isr

    @property
    def in_flight(self) -> bool:
        """Whether a change is under way."""
        return True

    @property
    def proposed_isr(self) -> tuple[int, ...]:
        """What the ISR would become."""
        return tuple(broker_id for broker_id in self.isr if broker_id not in self.out_of_sync_replicas)


PendingIsr: TypeAlias = PendingExpandIsr | PendingShrinkIsr
IsrState: TypeAlias = CommittedIsr | PendingIsr


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """A partition's state as the znode holds it. `zk_version`: of the znode that it was read from, or that a write expects."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int


@dataclass(frozen=True, slots=True)
class AlterIsrItem:
    """A proposed change, and who is told the verdict: the state that holds now, or why the change was refused."""

    topic_partition: TopicPartition
    leader_and_isr: LeaderAndIsr
    controller_epoch: int  # of the last LeaderAndIsr; only the ZooKeeper variant writes it
    on_verdict: Callable[[LeaderAndIsr | ErrorCode], None]


class IsrManager(Protocol):
    """The seam to whoever may change the ISR: the controller, or in older clusters ZooKeeper itself."""

    def submit(self, item: AlterIsrItem) -> bool:
        """Propose a change; False where one of this partition waits already. The verdict comes later, never during this call."""
        ...

    def clear_pending(self, topic_partition: TopicPartition) -> None:
        """Drop what has not been sent: a LeaderAndIsr has overtaken it."""
        ...
