"""The committed offsets of one group: what is acknowledged, what is on its way, what waits for a transaction's end. Pure bookkeeping.

A commit becomes visible when its append is acknowledged. Several commits for a partition may be on their way; a later one is never overwritten by an earlier
one, which is told by the offset of the record that carried it (facts/coordination.md 5.7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata


class CommitRecord(NamedTuple):
    """A commit and where it stands in the log."""

    committed: OffsetAndMetadata
    record_offset: int


@dataclass(slots=True)
class GroupOffsets:
    """Offsets by partition.

    Invariant: a partition in `pending` has at least one append under way.
    """

    acknowledged: dict[TopicPartition, CommitRecord] = field(default_factory=dict)
    pending: dict[TopicPartition, OffsetAndMetadata] = field(default_factory=dict)
    # producer id -> partition -> commit; record_offset is -1 until the append is acknowledged
    pending_transactional: dict[int, dict[TopicPartition, CommitRecord]] = field(default_factory=dict)

    def get(self, topic_partition: TopicPartition) -> OffsetAndMetadata | None:
        """The visible offset."""
        record = self.acknowledged.get(topic_partition)
        return None if record is None else record.committed

    def prepare(self, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commits are about to be appended."""
        self.pending.update(commits)

    def acknowledge(self, commits: Mapping[TopicPartition, OffsetAndMetadata], base_offset: int) -> None:
        """The append is replicated; the records stand at `base_offset`, in the order of `commits`."""
        for index, (topic_partition, committed) in enumerate(commits.items()):
            self._forget_pending(topic_partition, committed)
            self.load(topic_partition, CommitRecord(committed, base_offset + index))

    def fail(self, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """The append failed."""
        for topic_partition, committed in commits.items():
            self._forget_pending(topic_partition, committed)

    def _forget_pending(self, topic_partition: TopicPartition, committed: OffsetAndMetadata) -> None:
        if self.pending.get(topic_partition) is committed:
            del self.pending[topic_partition]

    def load(self, topic_partition: TopicPartition, record: CommitRecord) -> None:
        """Take over a record unless a later one is known."""
        known = self.acknowledged.get(topic_partition)
        if known is None or known.record_offset < record.record_offset:
            self.acknowledged[topic_partition] = record

    def remove(self, topic_partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Forget; those that had a visible offset are returned and need a tombstone."""
        removed = []
        for topic_partition in topic_partitions:
            self.pending.pop(topic_partition, None)
            for commits in self.pending_transactional.values():
                commits.pop(topic_partition, None)
            if self.acknowledged.pop(topic_partition, None) is not None:
                removed.append(topic_partition)
        return removed

    # transactions

    def prepare_transactional(self, producer_id: int, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Transactional commits are about to be appended; they stay invisible until the transaction's marker."""
        waiting = self.pending_transactional.setdefault(producer_id, {})
        waiting.update({topic_partition: CommitRecord(committed, -1) for topic_partition, committed in commits.items()})

    def acknowledge_transactional(self, producer_id: int, commits: Mapping[TopicPartition, OffsetAndMetadata], base_offset: int) -> None:
        """The append is replicated."""
        waiting = self.pending_transactional.get(producer_id, {})
        for index, (topic_partition, committed) in enumerate(commits.items()):
            if topic_partition in waiting and waiting[topic_partition].committed is committed:
                waiting[topic_partition] = CommitRecord(committed, base_offset + index)

    def fail_transactional(self, producer_id: int, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """The append failed."""
        waiting = self.pending_transactional.get(producer_id, {})
        for topic_partition, committed in commits.items():
            if topic_partition in waiting and waiting[topic_partition].committed is committed:
                del waiting[topic_partition]
        if not waiting:
            self.pending_transactional.pop(producer_id, None)

    def complete_transaction(self, producer_id: int, *, commit: bool) -> None:
        """The marker came: apply the commits, or drop them."""
        for topic_partition, record in self.pending_transactional.pop(producer_id, {}).items():
            if commit and record.record_offset >= 0:
                self.load(topic_partition, record)

    def has_pending_transactional(self, topic_partition: TopicPartition) -> bool:
        """True while a transaction holds a commit for this partition."""
        return any(topic_partition in commits for commits in self.pending_transactional.values())

    @property
    def empty(self) -> bool:
        """True without any offset, visible or not."""
        return not (self.acknowledged or self.pending or any(self.pending_transactional.values()))
