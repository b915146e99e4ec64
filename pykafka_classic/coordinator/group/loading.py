"""Becoming and ceasing to be the coordinator of a partition of `__consumer_offsets`.

On becoming leader the partition is read from its start to its end, chunk by chunk, with a pause after each so that the broker goes on serving. Only then do the
groups answer (facts/coordination.md 5.8). What the records mean is in `loaded_records.py`.

The replica manager tells of an election only where this broker did not lead before. So a second one without a resignation in between means that something
unknown happened meanwhile: the groups of the earlier term are unloaded at once, with their timers, and the partition is read again.

Differs from Kafka: a partition that cannot be read to its end has no coordinator here, and the log says why; Kafka answers with what it has read so far, and
has forgotten the other offsets.
"""

from __future__ import annotations

import logging
from typing import Final

from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata
from pykafka_classic.coordinator.group.group_store import GroupStore, OffsetsTopic
from pykafka_classic.coordinator.group.loaded_records import STEP, LoadedRecords
from pykafka_classic.coordinator.group.offsets import GroupOffsets
from pykafka_classic.log.log import Log

log = logging.getLogger("kafka.coordinator.group.GroupMetadataManager")

TURN_BYTES: Final = 128 * 1024  # read and applied in one turn of the reactor: more would keep everybody else waiting


class PartitionUnreadable(Exception):
    """The log of a partition does not give the records that it should have."""


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
        self._store.begin_loading(partition)
        spawn(self._load(partition, leader_epoch)).when_settled(lambda outcome: self._loaded(partition, leader_epoch, outcome))

    def on_resignation(self, partition: int, leader_epoch: int | None) -> None:
        """This broker leads the partition no more; without an epoch the partition is being deleted."""
        if leader_epoch is None:
            self._epochs.pop(partition, None)  # a topic of the same name begins with epoch 0
        elif leader_epoch < self._epochs.get(partition, -1):
            return
        else:
            self._epochs[partition] = leader_epoch
        if partition in self._store.owned or partition in self._store.loading:
            log.info("[GroupCoordinator]: Resigned as the group coordinator for partition %d in epoch %s", partition, leader_epoch)
        self._store.unload(partition)

    def _is_current(self, partition: int, leader_epoch: int) -> bool:
        return self._epochs.get(partition) == leader_epoch and partition in self._store.loading

    def _loaded(self, partition: int, leader_epoch: int, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None:
            log.error("[GroupMetadataManager]: Error loading offsets from __consumer_offsets-%d in epoch %d", partition, leader_epoch, exc_info=error)
            if self._is_current(partition, leader_epoch):
                self._store.unload(partition)

    async def _load(self, partition: int, leader_epoch: int) -> None:
        started_ms = self._clock.monotonic_ms()
        partition_log = self._topic.log(partition)
        if partition_log is None:
            raise PartitionUnreadable(f"__consumer_offsets-{partition} has no log here any more")
        loaded = await self._read(partition_log, partition, leader_epoch)
        if loaded is None or not await self._take_over(loaded, partition, leader_epoch):
            return  # resigned, or elected again, while reading: that one decides
        self._store.finish_loading(partition)
        log.info(
            "[GroupMetadataManager]: Finished loading offsets and group metadata from __consumer_offsets-%d in %.0f milliseconds for epoch %d",
            partition,
            self._clock.monotonic_ms() - started_ms,
            leader_epoch,
        )

    async def _read(self, partition_log: Log, partition: int, leader_epoch: int) -> LoadedRecords | None:
        loaded = LoadedRecords()
        offset = partition_log.log_start_offset
        while offset < partition_log.log_end_offset:
            data = partition_log.read(offset, max_length=self._chunk_bytes, max_offset=partition_log.log_end_offset, min_one_message=True)
            if data.records is None:
                break  # compaction has removed all that followed
            behind = loaded.replay(data.records.read(), offset)
            if behind <= offset:  # to go on without what is missing would be to forget commits
                raise PartitionUnreadable(f"no record at offset {offset}, where the log ends at {partition_log.log_end_offset}")
            offset = behind
            await after(self._clock, 0)
            if not self._is_current(partition, leader_epoch):
                return None
        return loaded

    async def _take_over(self, loaded: LoadedRecords, partition: int, leader_epoch: int) -> bool:
        """False where it was no longer wanted."""
        for _ in loaded.decode():
            await after(self._clock, 0)
            if not self._is_current(partition, leader_epoch):
                return False
        for number, group_id in enumerate(sorted(loaded.offsets.keys() | loaded.groups.keys())):
            if number % STEP == STEP - 1:
                await after(self._clock, 0)
                if not self._is_current(partition, leader_epoch):
                    return False
            offsets = loaded.offsets.get(group_id) or GroupOffsets()
            self._store.on_group_loaded(self._store.put(loaded.groups.get(group_id) or GroupMetadata(group_id), offsets))
        return True
