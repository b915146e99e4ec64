"""Becoming and ceasing to be the coordinator of a partition of `__consumer_offsets`.

On becoming leader the partition is read from its start to its end, chunk by chunk, with a pause after each so that the broker goes on serving: the last value
of a key counts, a tombstone removes, a transaction's marker decides over its commits. Only then do the groups answer (facts/coordination.md 5.8).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata
from pykafka_classic.coordinator.group.group_records import GroupKey, OffsetKey, UnknownRecordVersion
from pykafka_classic.coordinator.group.group_store import GroupStore, OffsetsTopic
from pykafka_classic.coordinator.group.offsets import CommitRecord, GroupOffsets
from pykafka_classic.log.log import Log
from pykafka_classic.protocol.schema import SchemaError
from pykafka_classic.records.record_batch import iterate_batches, read_end_transaction_marker

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")

TURN_BYTES: Final = 128 * 1024  # read and applied in one turn of the reactor: more would keep everybody else waiting


@dataclass(slots=True)
class _Loaded:
    """What the records read so far say."""

    groups: dict[str, GroupMetadata | None] = field(default_factory=dict)  # None: the last record was a tombstone
    offsets: dict[str, dict[TopicPartition, CommitRecord]] = field(default_factory=dict)
    pending: dict[int, dict[tuple[str, TopicPartition], CommitRecord]] = field(default_factory=dict)


class GroupLoader:
    """Loads and unloads partitions.

    Invariant: `_epochs[p]` is the leader epoch of the last election or resignation that was taken notice of.
    """

    def __init__(self, store: GroupStore, topic: OffsetsTopic, clock: Clock, *, chunk_bytes: int) -> None:
        self._store = store
        self._topic = topic
        self._clock = clock
        self._chunk_bytes = min(chunk_bytes, TURN_BYTES)
        self._epochs: dict[int, int] = {}

    def on_election(self, partition: int, leader_epoch: int) -> None:
        """This broker leads the partition since `leader_epoch`."""
        if leader_epoch <= self._epochs.get(partition, -1):
            return
        self._epochs[partition] = leader_epoch
        log.info("[GroupCoordinator]: Elected as the group coordinator for partition %d in epoch %d", partition, leader_epoch)
        self._store.owned.discard(partition)
        self._store.loading.add(partition)
        spawn(self._load(partition, leader_epoch)).when_settled(lambda outcome: self._failed(partition, outcome))

    def on_resignation(self, partition: int, leader_epoch: int | None) -> None:
        """This broker leads the partition no more; without an epoch the partition is being deleted."""
        if leader_epoch is not None:
            if leader_epoch < self._epochs.get(partition, -1):
                return
            self._epochs[partition] = leader_epoch
        if partition in self._store.owned or partition in self._store.loading:
            log.info("[GroupCoordinator]: Resigned as the group coordinator for partition %d in epoch %s", partition, leader_epoch)
        self._unload(partition)

    def _unload(self, partition: int) -> None:
        self._store.owned.discard(partition)
        self._store.loading.discard(partition)
        for group in self._store.groups_of(partition):
            self._store.on_group_unloaded(group)
            self._store.discard(group.group_id)

    def _failed(self, partition: int, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None:
            log.error("[GroupMetadataManager]: Error loading offsets from __consumer_offsets-%d", partition, exc_info=error)
            self._store.loading.discard(partition)

    async def _load(self, partition: int, leader_epoch: int) -> None:
        started_ms = self._clock.monotonic_ms()
        partition_log = self._topic.log(partition)
        if partition_log is None:
            log.warning("[GroupMetadataManager]: __consumer_offsets-%d has no log here any more", partition)
            self._store.loading.discard(partition)
            return
        loaded = await self._read(partition_log, partition, leader_epoch)
        if loaded is None:
            return  # resigned, or elected again, while reading: that one decides
        self._unload_leftovers(partition)
        for group_id in loaded.offsets.keys() | loaded.groups.keys() | {group_id for keys in loaded.pending.values() for group_id, _ in keys}:
            self._take_over(group_id, loaded)
        self._store.loading.discard(partition)
        self._store.owned.add(partition)
        log.info(
            "[GroupMetadataManager]: Finished loading offsets and group metadata from __consumer_offsets-%d in %.0f milliseconds for epoch %d",
            partition,
            self._clock.monotonic_ms() - started_ms,
            leader_epoch,
        )

    def _unload_leftovers(self, partition: int) -> None:
        """Groups of an earlier term: led, still led, with a new epoch in between."""
        for group in self._store.groups_of(partition):
            self._store.on_group_unloaded(group)
            self._store.discard(group.group_id)

    async def _read(self, partition_log: Log, partition: int, leader_epoch: int) -> _Loaded | None:
        loaded = _Loaded()
        offset = partition_log.log_start_offset
        while offset < partition_log.log_end_offset:
            if self._epochs.get(partition) != leader_epoch or partition not in self._store.loading:
                return None
            data = partition_log.read(offset, max_length=self._chunk_bytes, max_offset=partition_log.log_end_offset, min_one_message=True)
            if data.records is None or not len(data.records):
                break
            offset = _apply_chunk(data.records.read(), offset, loaded)
            await after(self._clock, 0)
        return loaded if self._epochs.get(partition) == leader_epoch and partition in self._store.loading else None

    def _take_over(self, group_id: str, loaded: _Loaded) -> None:
        stored = loaded.groups.get(group_id)
        offsets = GroupOffsets(acknowledged=loaded.offsets.get(group_id, {}))
        for producer_id, commits in loaded.pending.items():
            mine = {topic_partition: record for (owner, topic_partition), record in commits.items() if owner == group_id}
            if mine:
                offsets.pending_transactional[producer_id] = mine
        if stored is None and offsets.empty:
            return
        group = self._store.put(stored or GroupMetadata(group_id), offsets)
        self._store.on_group_loaded(group)


def _apply_chunk(data: bytes, offset: int, loaded: _Loaded) -> int:
    """Apply whole batches; the offset after the last."""
    for batch in iterate_batches(data):
        if batch.is_control:
            if batch.records_count:  # compaction may have left the header alone
                _apply_marker(batch.producer_id, commit=read_end_transaction_marker(batch).commit, loaded=loaded)
        else:
            for record in batch.records():
                if record.offset >= offset and record.key is not None:
                    pending = loaded.pending.setdefault(batch.producer_id, {}) if batch.is_transactional else None
                    try:
                        _apply_record(bytes(record.key), None if record.value is None else bytes(record.value), record.offset, loaded, pending)
                    except (UnknownRecordVersion, SchemaError) as error:  # one that cannot be read must not keep all other groups from their offsets
                        log.error("[GroupMetadataManager]: the record at offset %d can't be read and is skipped: %s", record.offset, error)
        offset = batch.last_offset + 1
    return offset


def _apply_record(raw_key: bytes, value: bytes | None, offset: int, loaded: _Loaded, pending: dict[tuple[str, TopicPartition], CommitRecord] | None) -> None:
    key = group_records.read_key(raw_key)
    match key:
        case OffsetKey(group_id, topic_partition):
            if value is None:
                loaded.offsets.get(group_id, {}).pop(topic_partition, None)
                return
            record = CommitRecord(group_records.read_offset_value(value), offset)
            if pending is not None:
                pending[group_id, topic_partition] = record
            else:
                loaded.offsets.setdefault(group_id, {})[topic_partition] = record
        case GroupKey(group_id):
            loaded.groups[group_id] = None if value is None else group_records.read_group_value(group_id, value)
        case None:
            log.warning("[GroupMetadataManager]: a record of an unknown key version at offset %d is skipped", offset)


def _apply_marker(producer_id: int, *, commit: bool, loaded: _Loaded) -> None:
    for (group_id, topic_partition), record in loaded.pending.pop(producer_id, {}).items():
        known = loaded.offsets.get(group_id, {}).get(topic_partition)
        if commit and (known is None or known.record_offset < record.record_offset):
            loaded.offsets.setdefault(group_id, {})[topic_partition] = record
