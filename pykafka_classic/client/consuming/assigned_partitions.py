"""What a consumer reads at present, and how far it has come in each partition.

A partition is fetched when it has a position that is sure, and is not paused. Its position may be missing (committed offsets, or a reset, will give it), or in
doubt (a new leader must confirm it: KIP-320).

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/SubscriptionState.java.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pykafka_classic.client.client_errors import IllegalState
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.starts import Reset, Start
from pykafka_classic.common.topic_partition import TopicPartition

NO_REPLICA = -1


class Position(NamedTuple):
    """The next offset to read; `leader_epoch`: of the record before it, -1: not known."""

    offset: int
    leader_epoch: int = -1


@dataclass(slots=True, eq=False)
class Assigned:
    """One partition. `start`: where it shall begin, while it has no position; None: at what is committed."""

    partition: TopicPartition
    position: Position | None = None
    start: Start | None = None
    reset: Reset | None = None  # a position by ListOffsets is wanted
    paused: bool = False
    being_revoked: bool = False
    validated_epoch: int = -1  # the leader that has confirmed the position
    needs_validation: bool = False
    not_before_ms: float = 0.0  # an error was answered: wait so long
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    preferred_replica: int = NO_REPLICA
    preferred_until_ms: float = 0.0

    @property
    def fetchable(self) -> bool:
        """Whether its records are wanted now."""
        return self.position is not None and not (self.paused or self.being_revoked or self.needs_validation)

    def seek(self, position: Position) -> None:
        """Go there, whatever was before."""
        self.position, self.start, self.reset, self.needs_validation, self.not_before_ms = position, None, None, False, 0.0

    def seek_by(self, reset: Reset) -> None:
        """Go where a leader says."""
        self.position, self.start, self.reset, self.needs_validation = None, None, reset, False

    def seek_to_start(self, start: Start | None) -> None:
        """Go where a start leads; None: to what is committed."""
        self.position, self.start, self.reset, self.needs_validation = None, start, None, False


class AssignedPartitions(dict[TopicPartition, Assigned]):
    """All of them."""

    def of(self, partition: TopicPartition) -> Assigned:
        """One that must be there. IllegalState."""
        found = self.get(partition)
        if found is None:
            raise IllegalState(f"{partition} is not assigned to this consumer")
        return found

    def replace(self, partitions: Iterable[TopicPartition], start: Start | None) -> None:
        """Read these from now on; those that were there before go on where they are."""
        wanted = dict.fromkeys(partitions)
        for partition in [each for each in self if each not in wanted]:
            del self[partition]
        for partition in wanted:
            if partition not in self:
                self[partition] = Assigned(partition, start=start)

    def positions(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What a commit of everything stores."""
        return {each.partition: OffsetAndMetadata(each.position.offset, "", each.position.leader_epoch) for each in self.values() if each.position is not None}
