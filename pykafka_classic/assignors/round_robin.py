"""`roundrobin`: all partitions of all topics, sorted, dealt out one by one to the members in turn.

A member that does not subscribe to the topic of the card in hand is passed over. With equal subscriptions nobody has two more than another; with unequal ones
the result may be far from even, which is what `sticky` mends.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/RoundRobinAssignor.java.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Final

from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, in_order_of_names, partitions_of
from pykafka_classic.common.topic_partition import TopicPartition

NAME: Final = "roundrobin"


class RoundRobinAssignor:
    """Deals partitions out like cards."""

    name = NAME

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:  # noqa: ARG002  # it has nothing to say
        """None."""
        return None

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """See the module."""
        assignment: Assignment = {member.member_id: [] for member in members}
        round_table = cycle(in_order_of_names(members))
        topics = sorted({topic for member in members for topic in member.topics})
        for partition in partitions_of(partition_counts, topics):
            # Somebody subscribes, for the topics are the members': the round ends.
            taker = next(member for member in round_table if partition.topic in member.topics)
            assignment[taker.member_id].append(partition)
        return assignment
