"""What all assignors of a group of the second generation have in common: a member, and the question asked of its leader.

The leader of a group gets every member's subscription in its JoinGroup response, runs the assignor that the group has chosen, and sends the result with its
SyncGroup. Nobody else computes it, so an assignor may use what members say about themselves (`owned`, `user_data`).

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{ConsumerPartitionAssignor,internals/AbstractPartitionAssignor}.java.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pykafka_classic.common.topic_partition import TopicPartition

Assignment: TypeAlias = dict[str, list[TopicPartition]]  # by member id; every member has an entry


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member as the leader of its group sees it."""

    member_id: str
    topics: tuple[str, ...]
    instance_id: str | None = None  # static members (KIP-345) keep their place by it
    owned: tuple[TopicPartition, ...] = ()  # ConsumerProtocolSubscription v1+: what it reads at present
    user_data: bytes | None = None  # the assignor's own words


class PartitionAssignor(Protocol):
    """One way to divide partitions among members."""

    @property
    def name(self) -> str:
        """As in the protocols of JoinGroup and in `partition.assignment.strategy`."""
        ...

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        """What a member sends of itself when it joins: its last assignment, and the generation that it was given in; none for a new member (generation -1)."""
        ...

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """Every partition of every known topic to one member that subscribes to it. Topics that are not in `partition_counts` are passed over."""
        ...


def in_order_of_names(members: Iterable[GroupMember]) -> list[GroupMember]:
    """Static members first, by instance id; then the rest, by member id: so a static member that restarts under a new member id keeps its place."""
    return sorted(members, key=lambda member: (member.instance_id is None, member.instance_id or member.member_id))


def partitions_of(partition_counts: Mapping[str, int], topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of these topics that are known, in the order given."""
    return [TopicPartition(topic, partition) for topic in topics for partition in range(partition_counts.get(topic, 0))]
