"""Forgetting offsets nobody uses any more (KIP-211; the table of facts/coordination.md 5.7), and groups that have neither members nor offsets."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.coordinator.group.group_store import GroupStore
from pykafka_classic.coordinator.group.subscription import subscribed_topics

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")

TURN_OFFSETS: Final = 5_000  # looked at in one turn of the reactor


class OffsetExpiration:
    """Looks at all groups each `offsets.retention.check.interval.ms`."""

    def __init__(self, store: GroupStore, clock: Clock, *, retention_ms: int, check_interval_ms: int) -> None:
        self._store = store
        self._clock = clock
        self._retention_ms = retention_ms
        self._check_interval_ms = check_interval_ms

    def start(self) -> None:
        """Begin to look, for as long as the store is active."""
        self._clock.call_later(self._check_interval_ms, self._check)

    def _check(self) -> None:
        if self._store.active:
            spawn(self._forget_expired()).when_settled(self._checked)

    def _checked(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None:
            log.error("[GroupMetadataManager]: Error while looking for expired offsets", exc_info=error)
        self.start()

    async def _forget_expired(self) -> None:
        """Go through all groups, with a pause now and then: there may be a million offsets."""
        removed = looked_at = 0
        for group in self._store.groups():
            if self._store.get(group.group_id) is not group:
                continue  # unloaded, or gone, in a pause
            looked_at += 1 + len(self._store.offsets_of(group.group_id).acknowledged)
            removed += self.forget(group, self._expired(group))
            if looked_at >= TURN_OFFSETS:
                looked_at = 0
                await after(self._clock, 0)
        if removed:
            log.info("[GroupMetadataManager]: Removed %d expired offsets", removed)

    def forget_partitions(self, topic_partitions: Sequence[TopicPartition]) -> None:
        """A topic was deleted: its offsets go in every group. All at once: a topic of the same name may follow."""
        gone, removed = frozenset(topic_partitions), 0
        for group in self._store.groups():
            offsets = self._store.offsets_of(group.group_id)
            known: list[Iterable[TopicPartition]] = [offsets.acknowledged, offsets.pending, *offsets.pending_transactional.values()]
            if offsets.empty or not all(gone.isdisjoint(each) for each in known):
                removed += self.forget(group, sorted(gone))
        if removed:
            log.info("[GroupMetadataManager]: Removed %d offsets associated with deleted partitions", removed)

    def forget(self, group: GroupMetadata, topic_partitions: Iterable[TopicPartition]) -> int:
        """Remove offsets, and the group with them if it is empty and has no others; write the tombstones. The number of offsets removed."""
        offsets = self._store.offsets_of(group.group_id)
        removed = offsets.remove(topic_partitions)
        if group.state is GroupState.EMPTY and offsets.empty:
            group.transition_to(GroupState.DEAD, self._clock.now_ms())
        if group.state is GroupState.DEAD:
            group.stop_timers()  # of members that were told to come back
            self._store.store_tombstones(group.group_id, removed, group_too=group.generation_id > 0)
            self._store.discard(group.group_id)
        else:
            self._store.store_tombstones(group.group_id, removed, group_too=False)
        return len(removed)

    def _expired(self, group: GroupMetadata) -> list[TopicPartition]:
        offsets = self._store.offsets_of(group.group_id)
        now_ms = self._clock.now_ms()
        return [
            topic_partition
            for topic_partition, record in offsets.acknowledged.items()
            if self._is_expired(group, topic_partition, record.committed, now_ms)
            and topic_partition not in offsets.pending
            and not offsets.has_pending_transactional(topic_partition)
        ]

    def _is_expired(self, group: GroupMetadata, topic_partition: TopicPartition, committed: OffsetAndMetadata, now_ms: int) -> bool:
        if committed.expire_timestamp_ms is not None:
            return now_ms >= committed.expire_timestamp_ms
        if group.protocol_type is None:
            return now_ms - committed.commit_timestamp_ms >= self._retention_ms
        if group.state is GroupState.EMPTY:
            since_ms = committed.commit_timestamp_ms if group.current_state_timestamp_ms is None else group.current_state_timestamp_ms
            return now_ms - since_ms >= self._retention_ms
        topics = subscribed_topics(group) if group.state is GroupState.STABLE else None
        if topics is None or topic_partition.topic in topics:
            return False
        return now_ms - committed.commit_timestamp_ms >= self._retention_ms
