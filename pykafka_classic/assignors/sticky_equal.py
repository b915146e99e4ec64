"""The sticky assignment of a group whose members all subscribe to the same topics: the usual case, solved directly, without search.

P partitions, M members: everyone gets P div M or one more. A member keeps what it owns up to the larger share; what nobody owns, or nobody may keep, is
dealt out by name to the members below the smaller share, in the order of their ids; what they still lack is taken from members at the larger share,
oldest first; what is left over goes, one each, to members at the smaller share.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java (constrainedAssign); compared in tests/golden.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from pykafka_classic.assignors.consumer_assignor import Assignment
from pykafka_classic.assignors.sticky_user_data import DEFAULT_GENERATION, Claim
from pykafka_classic.common.topic_partition import TopicPartition


def trusted_claims(claims: Mapping[str, Claim], partition_counts: Mapping[str, int]) -> dict[str, list[TopicPartition]]:
    """By member id, what it may keep: only the newest generation is believed, only in partitions that there are, and of two that claim one neither."""
    newest = max((claim.generation for claim in claims.values()), default=DEFAULT_GENERATION)
    believed = {member: dict.fromkeys(claim.owned) if claim.generation == newest else {} for member, claim in claims.items()}
    claimants = Counter(partition for owned in believed.values() for partition in owned)
    return {
        member: [partition for partition in owned if claimants[partition] == 1 and partition.partition in range(partition_counts.get(partition.topic, 0))]
        for member, owned in believed.items()
    }


class EqualSubscriptions:
    """One computation. `owned` by member id, at least one member; `partitions` sorted."""

    def __init__(self, partitions: Sequence[TopicPartition], owned: Mapping[str, Sequence[TopicPartition]]) -> None:
        self._least, surplus = divmod(len(partitions), len(owned))
        self._most = self._least + (surplus > 0)
        self._owned = owned
        self._assignment: Assignment = {member: list(kept[: self._most]) for member, kept in owned.items()}
        taken = {partition for kept in self._assignment.values() for partition in kept}
        self._unassigned = deque(partition for partition in partitions if partition not in taken)

    def solve(self) -> Assignment:
        """Partitions by member id."""
        unfilled = sorted(member for member, kept in self._owned.items() if len(kept) < self._least)
        at_least = deque(member for member, kept in self._assignment.items() if len(self._owned[member]) >= self._least and len(kept) == self._least)
        at_most = deque(member for member, kept in self._assignment.items() if len(self._owned[member]) >= self._least and len(kept) == self._most)
        at_least += self._deal_to(unfilled)
        at_least += self._take_for(unfilled, at_most)
        for partition in self._unassigned:
            self._assignment[at_least.popleft()].append(partition)
        return self._assignment

    def _deal_to(self, unfilled: list[str]) -> list[str]:
        """Deal in rounds until all are filled or nothing is left; takes the filled ones out of `unfilled` and returns them."""
        filled: list[str] = []
        while unfilled and self._unassigned:
            for member in list(unfilled):
                if not self._unassigned:
                    break
                self._assignment[member].append(self._unassigned.popleft())
                if len(self._assignment[member]) == self._least:
                    unfilled.remove(member)
                    filled.append(member)
        return filled

    def _take_for(self, unfilled: Sequence[str], at_most: deque[str]) -> list[str]:
        """Let members that have one more give to those who lack; there are enough, for the sum is right."""
        for member in unfilled:
            while len(self._assignment[member]) < self._least:
                self._assignment[member].append(self._assignment[at_most.popleft()].pop(0))
        return list(unfilled)
