"""`range`: of each topic by itself, consecutive partitions to each member.

Of P partitions and M members, sorted, the first P mod M members get one more than the others. As every topic starts again with the first member, the same few
members carry the surplus of all topics; in return, partition n of two topics with equal counts goes to the same member, which a join of the two needs.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/RangeAssignor.java; facts/coordination.md 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, in_order_of_names
from pykafka_classic.common.topic_partition import TopicPartition

T = TypeVar("T")

NAME: Final = "range"


def ranges(takers: Sequence[T], count: int) -> list[tuple[T, range]]:
    """Consecutive shares of `count` partitions, in the order of the takers (one at least); the first ones get the surplus. Shares may be empty."""
    share, surplus = divmod(count, len(takers))
    bounds = [share * index + min(index, surplus) for index in range(len(takers) + 1)]
    return [(taker, range(bounds[index], bounds[index + 1])) for index, taker in enumerate(takers)]


class RangeAssignor:
    """Kafka's default assignor up to 2.8."""

    name = NAME

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:  # noqa: ARG002  # it has nothing to say
        """None."""
        return None

    def assign(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember]) -> Assignment:
        """See the module."""
        ordered = in_order_of_names(members)
        assignment: Assignment = {member.member_id: [] for member in members}
        for topic in sorted({topic for member in members for topic in member.topics if topic in partition_counts}):
            subscribers = [member.member_id for member in ordered if topic in member.topics]
            for member_id, share in ranges(subscribers, partition_counts[topic]):
                assignment[member_id] += [TopicPartition(topic, partition) for partition in share]
        return assignment
