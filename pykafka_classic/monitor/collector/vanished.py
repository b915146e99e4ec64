"""What was there in the rounds before and is no longer: groups, commits, partitions. Pure.

A series that ends needs a last sample that says so, or its last value would hold for ever. But what is missing in a round may only not have been told: a
coordinator may be moving, a leader may not have answered. So commits count as gone only where the coordinator told the group's others, partitions where their
state node is gone, and groups where the broker that should know them did not list them three times in a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.store.rows import NO_COMMIT, GroupSample

MISSED_MAX: Final = 3


class KnownGroups:
    """Groups that were listed."""

    def __init__(self, groups: Iterable[str] = ()) -> None:
        self._missed = dict.fromkeys(groups, 0)

    def gone(self, listed: Set[str], may_be_missing: Set[str]) -> list[str]:
        """Those that are gone, by what was listed now. `may_be_missing`: those whose coordinator did not answer."""
        for group in listed:
            self._missed[group] = 0
        for group in self._missed.keys() - listed - may_be_missing:
            self._missed[group] += 1
        found = sorted(group for group, missed in self._missed.items() if missed >= MISSED_MAX)
        for group in found:
            del self._missed[group]
        return found

    @property
    def names(self) -> frozenset[str]:
        """All that may exist."""
        return frozenset(self._missed)


class KnownCommits:
    """What groups had committed to one store."""

    def __init__(self, store: str, commits: Mapping[str, Set[TopicPartition]]) -> None:
        self._store = store
        self._commits = {group: set(partitions) for group, partitions in commits.items()}

    def ended(self, commits: Mapping[str, Iterable[TopicPartition]], gone_groups: Iterable[str]) -> list[GroupSample]:
        """Last samples of series that ended, by what groups were told to have committed now; groups that are not among these keep theirs."""
        now = {group: set(partitions) for group, partitions in commits.items()} | {group: set() for group in gone_groups}
        found = [
            GroupSample(group, self._store, *partition, NO_COMMIT, 0, None, exact=True)
            for group, partitions in now.items()
            for partition in self._commits.get(group, set()) - partitions
        ]
        self._commits |= now
        self._commits = {group: partitions for group, partitions in self._commits.items() if partitions}
        return found

    @property
    def groups(self) -> frozenset[str]:
        """Those that have committed something."""
        return frozenset(self._commits)
