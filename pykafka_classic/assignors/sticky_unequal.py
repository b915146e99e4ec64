"""The sticky assignment of a group whose members subscribe to different topics: keep what can be kept, fill up, then move one by one while that evens out.

1. **Keep**: each partition stays with the member that claims it in the newest generation, if that one still subscribes. The claim before it is remembered.
2. **Fill**: partitions without a reader, those with the fewest possible readers first, go to the possible reader that has the least.
3. **Move**: a partition moves from its reader to one that has at least two fewer: to the one who had it before, if that evens out; else to the one who has the
   least. Where a partition of the same topic moved the other way before, that one goes back instead: each topic's partitions move in one direction only.
4. **Judge**: if members kept something and the moves did not improve the balance (the sum of all pairwise differences), they are undone.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java (generalAssign); compared in tests/golden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from pykafka_classic.assignors.consumer_assignor import Assignment, GroupMember, partitions_of
from pykafka_classic.assignors.sticky_user_data import Claim
from pykafka_classic.common.topic_partition import TopicPartition


def latest_claims(claims: Mapping[str, Claim]) -> tuple[dict[TopicPartition, str], dict[TopicPartition, str]]:
    """Who had a partition last, and who had it before that one (in an older generation). Of two claims of one generation the first member's counts."""
    by_generation: dict[TopicPartition, dict[int, str]] = {}
    for member, claim in claims.items():
        for partition in claim.owned:
            by_generation.setdefault(partition, {}).setdefault(claim.generation, member)
    latest: dict[TopicPartition, str] = {}
    previous: dict[TopicPartition, str] = {}
    for partition, members in by_generation.items():
        newest, *older = sorted(members, reverse=True)
        latest[partition] = members[newest]
        if older:
            previous[partition] = members[older[0]]
    return latest, previous


class Movements:
    """Which partitions have moved, from whom to whom, seen from where they were at first."""

    def __init__(self) -> None:
        self._moved: dict[TopicPartition, tuple[str, str]] = {}

    def instead_of(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """The partition to move from `source` to `target`: this one, or one of its topic that came the other way."""
        source = self._moved.get(partition, (source, ""))[0]
        reverse = (target, source)
        returning = (other for other, pair in self._moved.items() if pair == reverse and other.topic == partition.topic)
        return min(returning, default=partition)

    def record(self, partition: TopicPartition, source: str, target: str) -> None:
        """It moves now."""
        origin = self._moved.pop(partition, (source, ""))[0]
        if origin != target:
            self._moved[partition] = (origin, target)


class UnequalSubscriptions:
    """One computation.

    Invariant: `_reader[p] == m` exactly where p is in `_assignment[m]`.
    """

    def __init__(self, partition_counts: Mapping[str, int], members: Sequence[GroupMember], claims: Mapping[str, Claim]) -> None:
        self._possible = {member.member_id: dict.fromkeys(partitions_of(partition_counts, member.topics)) for member in members}
        topics = sorted({topic for member in members for topic in member.topics})
        self._readers = {
            partition: [member for member, possible in self._possible.items() if partition in possible] for partition in partitions_of(partition_counts, topics)
        }
        self._order = sorted(self._readers, key=lambda partition: (len(self._readers[partition]), partition))
        self._assignment: Assignment = {member.member_id: [] for member in members}
        self._reader: dict[TopicPartition, str] = {}
        latest, self._previous = latest_claims(claims)
        self._revoked = self._keep(latest)
        self._started_empty = not any(self._assignment.values())
        self._movements = Movements()

    def solve(self) -> Assignment:
        """Partitions by member id."""
        unassigned = [partition for partition in self._order if partition not in self._reader]
        for partition in unassigned:
            self._give(partition, self._least_loaded(self._readers[partition]))
        movable = [partition for partition in self._order if len(self._readers[partition]) > 1]
        movers = [member for member in self._assignment if self._takes_part(member)]
        before = {member: list(self._assignment[member]) for member in movers}
        if not self._revoked:
            self._move_while_it_helps([partition for partition in movable if partition in set(unassigned)], movers)
        moved = self._move_while_it_helps(movable, movers)
        if not self._started_empty and moved and self._score(self._assignment[member] for member in movers) >= self._score(before.values()):
            self._assignment.update(before)
        return self._assignment

    # the steps

    def _keep(self, latest: Mapping[TopicPartition, str]) -> bool:
        """Give partitions to those who have them; True where somebody must give one up because he no longer subscribes."""
        revoked = False
        for partition, member in latest.items():
            if partition not in self._readers:
                continue
            if partition in self._possible[member]:
                self._give(partition, member)
            else:
                revoked = True
        return revoked

    def _move_while_it_helps(self, partitions: Sequence[TopicPartition], movers: Sequence[str]) -> bool:
        """Go round the partitions until a round moves none; True where any moved."""
        moved = False
        while True:
            count = 0
            for partition in partitions:
                if self._balanced(movers):
                    break
                count += self._move(partition)
            if not count:
                return moved
            moved = True

    def _move(self, partition: TopicPartition) -> bool:
        source = self._reader[partition]
        previous = self._previous.get(partition, "")
        if previous in self._readers[partition] and self._load(source) > self._load(previous) + 1:
            target = previous
        else:
            target = self._least_loaded(self._readers[partition])
            if self._load(source) <= self._load(target) + 1:
                return False
        actual = self._movements.instead_of(partition, source, target)
        source = self._reader[actual]
        self._movements.record(actual, source, target)
        self._assignment[source].remove(actual)
        self._give(actual, target)
        return True

    def _give(self, partition: TopicPartition, member: str) -> None:
        self._assignment[member].append(partition)
        self._reader[partition] = member

    # what the steps ask

    def _load(self, member: str) -> int:
        return len(self._assignment[member])

    def _least_loaded(self, members: Iterable[str]) -> str:
        return min(members, key=lambda member: (self._load(member), member))

    def _takes_part(self, member: str) -> bool:
        """False for a member that has all it can have, and nothing that another could."""
        if self._load(member) < len(self._possible[member]):
            return True
        return any(len(self._readers[partition]) > 1 for partition in self._assignment[member])

    def _balanced(self, movers: Sequence[str]) -> bool:
        """True where no move could even things out."""
        loads = [self._load(member) for member in movers]
        if not loads or min(loads) >= max(loads) - 1:
            return True
        return not any(
            self._load(member) < self._load(self._reader[partition])
            for member in movers
            for partition in self._possible[member]
            if self._reader[partition] != member
        )

    @staticmethod
    def _score(assignments: Iterable[Sequence[TopicPartition]]) -> int:
        return sum(abs(len(one) - len(other)) for one, other in combinations(assignments, 2))
