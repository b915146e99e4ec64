"""Looking at groups and deleting them: ListGroups, DescribeGroups, DeleteGroups, OffsetDelete (facts/coordination.md 5.6)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.expiration import OffsetExpiration
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState
from pykafka_classic.coordinator.group.group_store import GroupStore
from pykafka_classic.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE, subscribed_topics

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")


class GroupAdmin:
    """The administrative side of the groups that this broker coordinates."""

    def __init__(self, store: GroupStore, expiration: OffsetExpiration, clock: Clock) -> None:
        self._store = store
        self._expiration = expiration
        self._clock = clock

    def list(self, states: Collection[str]) -> tuple[ErrorCode, list[GroupMetadata]]:
        """Groups in these states (none named: all). While partitions are loading the list comes with COORDINATOR_LOAD_IN_PROGRESS."""
        if not self._store.active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if self._store.loading else ErrorCode.NONE
        return error, [group for group in self._store.groups() if not states or group.state.value in states]

    def describe(self, group_id: str) -> tuple[ErrorCode, GroupMetadata | None]:
        """The group; None without an error: it does not exist (told as state Dead)."""
        error = self._store.why_not_ours(group_id, empty_id_allowed=True)
        return error, None if error else self._store.get(group_id)

    def delete(self, group_id: str) -> ErrorCode:
        """Delete an empty group with all its offsets."""
        error = self._store.why_not_ours(group_id, empty_id_allowed=True)
        if error:
            return error
        group = self._store.get(group_id)
        if group is None or group.state is GroupState.DEAD:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if group.state is not GroupState.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP
        group.transition_to(GroupState.DEAD, self._clock.now_ms())
        removed = self._expiration.forget(group, list(self._store.offsets_of(group_id).acknowledged))
        log.info("[GroupCoordinator]: Group %s was deleted; %d offsets were removed.", group_id, removed)
        return ErrorCode.NONE

    def delete_offsets(self, group_id: str, topic_partitions: Sequence[TopicPartition]) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Forget offsets of topics that no member reads."""
        error = self._store.why_not_ours(group_id)
        if error:
            return error, {}
        group = self._store.get(group_id)
        if group is None or group.state is GroupState.DEAD:
            return ErrorCode.GROUP_ID_NOT_FOUND, {}
        if group.state is not GroupState.EMPTY and group.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return ErrorCode.NON_EMPTY_GROUP, {}
        topics = frozenset() if group.state is GroupState.EMPTY else subscribed_topics(group)
        errors = {
            topic_partition: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if topics is None or topic_partition.topic in topics else ErrorCode.NONE
            for topic_partition in topic_partitions
        }
        allowed = [topic_partition for topic_partition, refused in errors.items() if not refused]
        if allowed:  # a request that forgets nothing does not end an empty group either
            self._expiration.forget(group, allowed)
        return ErrorCode.NONE, errors

    def forget_partitions(self, topic_partitions: Sequence[TopicPartition]) -> None:
        """A topic was deleted: its offsets go in every group."""
        if topic_partitions:
            self._expiration.forget_partitions(topic_partitions)
