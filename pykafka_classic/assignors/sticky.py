"""`sticky` and `cooperative-sticky`: as even as can be, and with as few partitions as possible changing hands.

Both compute the same assignment. With `sticky` members give up everything before they join and get most of it back (eager). With `cooperative-sticky` they go
on reading while the group rebalances, so a partition that changes hands is left out of this generation: its old reader sees that it lost it, gives it up, joins
again, and in the next generation the new reader gets it (KIP-429).

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/{StickyAssignor,CooperativeStickyAssignor}.java.

Differs from Kafka: with unequal subscriptions, where Java's order of hashing decides between equals, ours is by name. A member without any subscription gets
nothing; in 2.8 it gets partitions if it happens to be first. Of two members that claim one partition in one generation neither is believed, and a partition
that does not exist cannot be claimed; in 2.8 both would be assigned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pykafka_classic.assignors import sticky_user_data
from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, partitions_of
from pykafka_classic.assignors.sticky_equal import EqualSubscriptions, trusted_claims
from pykafka_classic.assignors.sticky_unequal import UnequalSubscriptions
from pykafka_classic.assignors.sticky_user_data import Claim
from pykafka_classic.common.java import hash_map_order
from pykafka_classic.common.topic_partition import TopicPartition

NAME: Final = "sticky"
COOPERATIVE_NAME: Final = "cooperative-sticky"


class StickyAssignor:
    """Eager."""

    name = NAME

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        """What the member had, and in which generation."""
        return sticky_user_data.encode_sticky(Claim(tuple(owned), generation))

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """See the module."""
        return _assign(partition_counts, members, {member.member_id: sticky_user_data.decode_sticky(member.user_data) for member in members})


class CooperativeStickyAssignor:
    """Members keep reading while the group rebalances."""

    name = COOPERATIVE_NAME

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:  # noqa: ARG002  # the subscription says what is owned
        """The generation."""
        return sticky_user_data.encode_cooperative(generation)

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """As sticky, but for what changes hands: nobody gets that yet."""
        claims = {member.member_id: sticky_user_data.decode_cooperative(member.owned, member.user_data) for member in members}
        wanted = _assign(partition_counts, members, claims)
        owners: dict[TopicPartition, set[str]] = {}
        for member in members:
            for partition in claims[member.member_id].owned:
                owners.setdefault(partition, set()).add(member.member_id)
        return {member: [partition for partition in got if member in owners.get(partition, {member})] for member, got in wanted.items()}


def _assign(partition_counts: Mapping[str, int], members: Sequence[GroupMember], claims: Mapping[str, Claim]) -> Assignment:
    if not members:
        return {}
    ordered = sorted(members, key=lambda member: member.member_id)
    subscriptions = {frozenset(member.topics) for member in ordered}
    if len(subscriptions) > 1:
        return UnequalSubscriptions(partition_counts, ordered, {member.member_id: claims[member.member_id] for member in ordered}).solve()
    partitions = partitions_of(partition_counts, sorted(next(iter(subscriptions))))
    # Where all members lack the same, Java's order of hashing decides who gets the odd partition; ours decides likewise.
    owned = trusted_claims({member_id: claims[member_id] for member_id in hash_map_order(member.member_id for member in ordered)}, partition_counts)
    return EqualSubscriptions(partitions, owned).solve()
