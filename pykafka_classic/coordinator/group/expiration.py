"""Forgetting offsets nobody uses any more (KIP-211; the table of facts/coordination.md 5.7), and groups that have neither members nor offsets."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.coordinator.group.group_store import GroupStore
from pykafka_classic.coordinator.group.subscription import subscribed_topics

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")


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
        if not self._store.active:
            return
        removed = sum(self.forget(group, self._expired(group)) for group in self._store.groups())
        if removed:
            log.info("[GroupMetadataManager]: Removed %d expired offsets", removed)
        self.start()

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
