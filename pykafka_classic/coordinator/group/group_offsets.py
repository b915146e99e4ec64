"""Committing and fetching a group's offsets (facts/coordination.md 5.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.java import string_length
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_coordinator import GroupCoordinator
from pykafka_classic.coordinator.group.group_metadata import UNKNOWN_MEMBER, GroupMetadata, GroupState
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.coordinator.group.group_store import NO_PRODUCER, GroupStore

CommitErrors = Mapping[TopicPartition, ErrorCode]


@dataclass(frozen=True, slots=True)
class Committer:
    """Who commits. A simple consumer has generation -1 and no member id; `producer` (id, epoch) only within a transaction."""

    group_id: str
    member_id: str = UNKNOWN_MEMBER
    group_instance_id: str | None = None
    generation_id: int = -1
    producer: tuple[int, int] = NO_PRODUCER


@dataclass(frozen=True, slots=True)
class FetchedOffset:
    """A partition's committed offset; -1 without one."""

    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""
    error: ErrorCode = ErrorCode.NONE


class GroupOffsetService:
    """The offset requests."""

    def __init__(self, store: GroupStore, coordinator: GroupCoordinator, *, metadata_bytes_max: int) -> None:
        self._store = store
        self._coordinator = coordinator
        self._metadata_bytes_max = metadata_bytes_max

    def commit(self, committer: Committer, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> Promise[CommitErrors]:
        """An error for each partition, once the commit is replicated or refused."""
        error = self._store.why_not_ours(committer.group_id, empty_id_allowed=committer.producer == NO_PRODUCER)
        group = None if error else self._store.get(committer.group_id)
        if not error and group is None:
            if committer.generation_id >= 0 and committer.producer == NO_PRODUCER:
                error = ErrorCode.ILLEGAL_GENERATION  # of a group that this coordinator does not know (any more)
            else:
                group = self._store.create(committer.group_id)
        if not error and group is not None:
            error = self._why_not(group, committer)
        if error or group is None:
            return Promise.resolved(dict.fromkeys(commits, error))
        return self._store_commits(group, committer, commits)

    def _store_commits(self, group: GroupMetadata, committer: Committer, commits: Mapping[TopicPartition, OffsetAndMetadata]) -> Promise[CommitErrors]:
        fitting = {tp: commit for tp, commit in commits.items() if string_length(commit.metadata) <= self._metadata_bytes_max}
        errors = {tp: ErrorCode.OFFSET_METADATA_TOO_LARGE for tp in commits if tp not in fitting}
        if not fitting:
            return Promise.resolved(errors)
        stored = self._store.store_offsets(group, fitting, committer.producer)
        return stored.then(lambda error: {**errors, **dict.fromkeys(fitting, error)})

    def _why_not(self, group: GroupMetadata, committer: Committer) -> ErrorCode:
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if group.is_fenced(committer.member_id, committer.group_instance_id):
            return ErrorCode.FENCED_INSTANCE_ID
        if committer.producer != NO_PRODUCER:
            return self._why_not_transactional(group, committer)
        if committer.generation_id < 0 and group.state is GroupState.EMPTY:
            return ErrorCode.NONE
        if committer.member_id not in group.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if committer.generation_id != group.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        if group.state is GroupState.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        self._coordinator.member_is_alive(group, committer.member_id)
        return ErrorCode.NONE

    def _why_not_transactional(self, group: GroupMetadata, committer: Committer) -> ErrorCode:
        if committer.member_id != UNKNOWN_MEMBER and committer.member_id not in group.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if committer.generation_id >= 0 and committer.generation_id != group.generation_id:
            return ErrorCode.ILLEGAL_GENERATION
        return ErrorCode.NONE

    def fetch(
        self, group_id: str, topic_partitions: Sequence[TopicPartition] | None, *, require_stable: bool
    ) -> tuple[ErrorCode, dict[TopicPartition, FetchedOffset]]:
        """The named partitions' offsets, or all (None); the error is for the group."""
        error = self._store.why_not_ours(group_id, empty_id_allowed=True)
        if error:
            return error, {}
        group = self._store.get(group_id)
        if group is None or group.state is GroupState.DEAD:
            return ErrorCode.NONE, {topic_partition: FetchedOffset() for topic_partition in topic_partitions or ()}
        offsets = self._store.offsets_of(group_id)
        wanted: Iterable[TopicPartition] = list(offsets.acknowledged) if topic_partitions is None else topic_partitions
        found: dict[TopicPartition, FetchedOffset] = {}
        for topic_partition in wanted:
            committed = offsets.get(topic_partition)
            if require_stable and offsets.has_pending_transactional(topic_partition):
                found[topic_partition] = FetchedOffset(error=ErrorCode.UNSTABLE_OFFSET_COMMIT)
            elif committed is None:
                found[topic_partition] = FetchedOffset()
            else:
                found[topic_partition] = FetchedOffset(committed.offset, committed.leader_epoch, committed.metadata)
        return ErrorCode.NONE, found

    def complete_transaction(self, producer_id: int, partitions: Iterable[int], *, commit: bool) -> None:
        """The transaction's marker was written to these partitions of `__consumer_offsets`: its commits there become visible, or are dropped."""
        self._store.complete_transaction(producer_id, frozenset(partitions), commit=commit)
