"""Which groups are ours, and how they are written to and read from `__consumer_offsets`.

A broker coordinates the groups whose partition of `__consumer_offsets` it leads: partition = abs(javaHash(group)) mod count. On becoming leader it reads that
partition from start to end (`coordinator/partition_loader.py`) and only then owns its groups; on resigning it forgets them (facts/coordination.md 5.2, 5.8).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.coordinator.group.loading import GroupReading
from pykafka_classic.coordinator.group.offsets import GroupOffsets
from pykafka_classic.coordinator.internal_topic import Appended, InternalTopic, partition_for
from pykafka_classic.records.record_batch import Record, build_batch

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")

NO_PRODUCER: Final = (-1, -1)


def _nothing(group: GroupMetadata) -> None:
    """Until the coordinator is there, nobody cares."""


_GROUP_STORE_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
_OFFSET_STORE_ERRORS: Final[Mapping[ErrorCode, ErrorCode]] = {
    **_GROUP_STORE_ERRORS,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}


class GroupStore:
    """The groups of the partitions that this broker leads.

    Invariants: a partition is never both loading and owned; a group in `_groups` belongs to a partition that is loading or owned, and stands in
    `_by_partition` under it; every producer id of a group's `pending_transactional` has the group in `_open`.
    """

    def __init__(self, config: KafkaConfig, clock: Clock, topic: InternalTopic) -> None:
        self.active = False  # True between start and shutdown of the broker
        self.on_group_loaded: Callable[[GroupMetadata], None] = _nothing
        self.on_group_unloaded: Callable[[GroupMetadata], None] = _nothing
        self.owned: set[int] = set()
        self.loading: set[int] = set()
        self._config = config
        self._clock = clock
        self._topic = topic
        self._groups: dict[str, GroupMetadata] = {}
        self._offsets: dict[str, GroupOffsets] = {}
        self._by_partition: dict[int, dict[str, GroupMetadata]] = {}
        self._late_markers: dict[int, list[tuple[int, bool]]] = {}  # partition that is loading -> producer id, commit
        self._open: dict[int, set[str]] = {}  # producer id -> groups for which it may have a commit that waits for its marker

    # whose group is it

    def partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that keeps the group."""
        return partition_for(self._topic, group_id)

    def why_not_ours(self, group_id: str | None, *, empty_id_allowed: bool = False) -> ErrorCode:
        """NONE where this broker may answer for the group. An empty id is only good for offsets, describing and deleting."""
        if group_id is None or (not group_id and not empty_id_allowed):
            return ErrorCode.INVALID_GROUP_ID
        if not self.active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition = self.partition_for(group_id)
        if partition in self.loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NONE if partition in self.owned else ErrorCode.NOT_COORDINATOR

    # loading and unloading

    def begin_loading(self, partition: int) -> GroupReading:
        """Answer for the partition's groups that they are loading; forget what an earlier term knew of them."""
        self.unload(partition)
        self.loading.add(partition)
        return GroupReading(lambda group, offsets: self.on_group_loaded(self.put(group, offsets)))

    def finish_loading(self, partition: int, leader_epoch: int) -> None:
        """The partition's groups are here: answer for them."""
        del leader_epoch  # no record of a group's tells it
        self.loading.discard(partition)
        self.owned.add(partition)
        for producer_id, commit in self._late_markers.pop(partition, []):
            self.complete_transaction(producer_id, (partition,), commit=commit)

    def unload(self, partition: int) -> None:
        """Forget a partition's groups, after `on_group_unloaded` has sent their members away."""
        self.owned.discard(partition)
        self.loading.discard(partition)
        self._late_markers.pop(partition, None)
        for group in list(self._by_partition.pop(partition, {}).values()):
            self.on_group_unloaded(group)
            self.discard(group.group_id)

    # groups

    def get(self, group_id: str) -> GroupMetadata | None:
        """The group, if there is one."""
        return self._groups.get(group_id)

    def create(self, group_id: str) -> GroupMetadata:
        """A new, empty group."""
        assert group_id not in self._groups
        return self.put(GroupMetadata(group_id, current_state_timestamp_ms=self._clock.now_ms()), GroupOffsets())

    def put(self, group: GroupMetadata, offsets: GroupOffsets) -> GroupMetadata:
        """Take in a group (loaded or new)."""
        group_id = group.group_id
        self._groups[group_id], self._offsets[group_id] = group, offsets
        self._by_partition.setdefault(self.partition_for(group_id), {})[group_id] = group
        for producer_id in offsets.pending_transactional:
            self._open.setdefault(producer_id, set()).add(group_id)
        return group

    def discard(self, group_id: str) -> None:
        """Forget a group in memory."""
        if self._groups.pop(group_id, None) is None:
            return
        self._by_partition.get(self.partition_for(group_id), {}).pop(group_id, None)
        for producer_id in self._offsets.pop(group_id).pending_transactional:
            self._close(producer_id, group_id)

    def groups(self) -> Iterator[GroupMetadata]:
        """All groups; safe against changes while iterating."""
        return iter(list(self._groups.values()))

    def offsets_of(self, group_id: str) -> GroupOffsets:
        """The committed offsets of a group that is there."""
        return self._offsets[group_id]

    # writing

    def store_group(self, group: GroupMetadata, assignments: Mapping[str, bytes]) -> Promise[ErrorCode]:
        """Write the group with these assignments; an error as SyncGroup answers it."""
        value = group_records.group_value(group, assignments, self._config.inter_broker_api_version)
        appended = self._append(group.group_id, [(group_records.group_key(group.group_id), value)])
        return appended.then(lambda outcome: _GROUP_STORE_ERRORS.get(outcome.error, outcome.error))

    def store_offsets(
        self, group: GroupMetadata, commits: Mapping[TopicPartition, OffsetAndMetadata], producer: tuple[int, int] = NO_PRODUCER
    ) -> Promise[ErrorCode]:
        """Write offsets; visible once replicated, or at the transaction's end where a producer (id, epoch) is given."""
        offsets, (producer_id, _) = self.offsets_of(group.group_id), producer
        transactional = producer != NO_PRODUCER
        if transactional:
            offsets.prepare_transactional(producer_id, commits)
            self._open.setdefault(producer_id, set()).add(group.group_id)
        else:
            offsets.prepare(commits)

        def done(outcome: Appended) -> ErrorCode:
            if outcome.error and transactional:
                offsets.fail_transactional(producer_id, commits)
                self._close_if_idle(producer_id, group.group_id, offsets)
            elif outcome.error:
                offsets.fail(commits)
            elif transactional:
                offsets.acknowledge_transactional(producer_id, commits, outcome.base_offset)
            else:
                offsets.acknowledge(commits, outcome.base_offset)
            return _OFFSET_STORE_ERRORS.get(outcome.error, outcome.error)

        ibp = self._config.inter_broker_api_version
        records = [(group_records.offset_key(group.group_id, tp), group_records.offset_value(commit, ibp)) for tp, commit in commits.items()]
        return self._append(group.group_id, records, producer, base_sequence=0).then(done)  # 0 without a producer, too: so does Kafka

    # transactions

    def complete_transaction(self, producer_id: int, partitions: Collection[int], *, commit: bool) -> None:
        """A producer's marker stands in these partitions: apply its commits for their groups, or drop them.

        While a partition is loading its marker waits: the loader may have read past the place where it stands now.
        """
        for partition in self.loading.intersection(partitions):
            self._late_markers.setdefault(partition, []).append((producer_id, commit))
        for group_id in list(self._open.get(producer_id, ())):
            if self.partition_for(group_id) in self.owned.intersection(partitions):
                self._offsets[group_id].complete_transaction(producer_id, commit=commit)
                self._close(producer_id, group_id)

    def _close_if_idle(self, producer_id: int, group_id: str, offsets: GroupOffsets) -> None:
        if self._offsets.get(group_id) is offsets and producer_id not in offsets.pending_transactional:
            self._close(producer_id, group_id)

    def _close(self, producer_id: int, group_id: str) -> None:
        groups = self._open.get(producer_id, set())
        groups.discard(group_id)
        if not groups:
            self._open.pop(producer_id, None)

    def store_tombstones(self, group_id: str, topic_partitions: Sequence[TopicPartition], *, group_too: bool) -> None:
        """Write that offsets (and the group) are gone, without waiting for the followers: losing a tombstone only delays the forgetting."""
        keys = [group_records.offset_key(group_id, topic_partition) for topic_partition in topic_partitions]
        if group_too:
            keys.append(group_records.group_key(group_id))
        if not keys:
            return
        partition = self.partition_for(group_id)
        batch = self._batch([(key, None) for key in keys])

        def done(outcome: Promise[Appended]) -> None:
            if outcome.result().error:
                log.warning("[GroupMetadataManager]: tombstones of group %s were not written: %s", group_id, outcome.result().error.name)

        self._topic.append(partition, batch, required_acks=0, timeout_ms=self._config.offsets_commit_timeout_ms).when_settled(done)

    def _append(
        self, group_id: str, records: Sequence[tuple[bytes, bytes | None]], producer: tuple[int, int] = NO_PRODUCER, base_sequence: int = -1
    ) -> Promise[Appended]:
        return self._topic.append(
            self.partition_for(group_id),
            self._batch(records, producer, base_sequence),
            required_acks=self._config.offsets_commit_required_acks,
            timeout_ms=self._config.offsets_commit_timeout_ms,
        )

    def _batch(self, records: Sequence[tuple[bytes, bytes | None]], producer: tuple[int, int] = NO_PRODUCER, base_sequence: int = -1) -> bytes:
        now_ms = self._clock.now_ms()
        return build_batch(
            [Record(offset=index, timestamp=now_ms, key=key, value=value) for index, (key, value) in enumerate(records)],
            codec=self._config.offsets_topic_compression_codec,
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=base_sequence,
            is_transactional=producer != NO_PRODUCER,
        )
