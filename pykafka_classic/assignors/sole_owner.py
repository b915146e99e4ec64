"""`sole-owner`: everything to one member, the one that has it already. Not Kafka's.

For a member that must not share. A group has one protocol that all of its members know: so Kafka's own consumers, which do not know this one, are refused by
the coordinator (INCONSISTENT_GROUP_PROTOCOL) while such a member is there. A second one of its kind can join, gets nothing, and sees by that that it is not
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, in_order_of_names, partitions_of
from pykafka_classic.common.topic_partition import TopicPartition

NAME: Final = "sole-owner"


class SoleOwnerAssignor:
    """See the module."""

    name = NAME

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        """The generation in which the member became the owner of something; None of one that owns nothing."""
        return str(generation).encode() if owned else None

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """To the owner; in a new group, or after the owner has left, to the first by name."""
        ordered = in_order_of_names(members)
        owner = next((member for member in ordered if member.user_data), ordered[0])
        everything = partitions_of(partition_counts, sorted(set(owner.topics)))
        return {member.member_id: everything if member is owner else [] for member in members}
