"""Becoming and ceasing to be the coordinator of what a partition of an internal topic keeps.

On becoming leader the partition is read from its start to its end, chunk by chunk, with a pause after each so that the broker goes on serving. Only then does
the coordinator answer for it (facts/coordination.md 5.8, 6.2). What the records mean is the keeper's affair: `group/loading.py`, `transaction/loading.py`.

The replica manager tells of an election only where this broker did not lead before. So a second one without a resignation in between means that something
unknown happened meanwhile: what the earlier term knew is unloaded at once, with its timers, and the partition is read again.

Differs from Kafka: a partition that cannot be read to its end has no coordinator here, and the log says why; Kafka answers with what it has read so far, and
has forgotten the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Clock, after
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.coordinator.internal_topic import InternalTopic
from pykafka_classic.log.log import Log

TURN_BYTES: Final = 128 * 1024  # read and applied in one turn of the reactor: more would keep everybody else waiting


class PartitionUnreadable(Exception):
    """The log of a partition does not give the records that it should have."""


class Reading(Protocol):
    """One partition's records, on their way into the coordinator's memory."""

    def replay(self, data: bytes, from_offset: int) -> int:
        """Note the whole batches in `data`, but for records below `from_offset`; the offset after the last one. Raises CorruptRecord."""
        ...

    def take_over(self) -> Iterator[None]:
        """Hand what was read to the keeper; stops now and then, and is not gone on with where the partition is no longer led."""
        ...


class Keeper(Protocol):
    """Whose partitions are loaded: the store of groups, or of transactions. A partition is never both loading and owned."""

    owned: set[int]
    loading: set[int]

    def begin_loading(self, partition: int) -> Reading:
        """Answer that the partition is loading; forget what an earlier term knew."""
        ...

    def finish_loading(self, partition: int, leader_epoch: int) -> None:
        """All is here: answer."""
        ...

    def unload(self, partition: int) -> None:
        """Forget a partition, loaded or loading."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """How the log calls it; Kafka's words."""

    logger: logging.Logger
    topic: str
    coordinator: str  # "GroupCoordinator"
    role: str  # "group coordinator"
    contents: str  # "offsets and group metadata"


class PartitionLoader:
    """Loads and unloads partitions.

    Invariant: `_epochs[p]` is the leader epoch of the last election or resignation that was taken notice of.
    """

    def __init__(self, keeper: Keeper, topic: InternalTopic, clock: Clock, words: Words, *, chunk_bytes: int) -> None:
        self._keeper = keeper
        self._topic = topic
        self._clock = clock
        self._words = words
        self._chunk_bytes = min(chunk_bytes, TURN_BYTES)
        self._epochs: dict[int, int] = {}

    def on_election(self, partition: int, leader_epoch: int) -> None:
        """This broker leads the partition since `leader_epoch`."""
        if leader_epoch <= self._epochs.get(partition, -1):
            return
        self._epochs[partition] = leader_epoch
        words = self._words
        words.logger.info("[%s]: Elected as the %s for partition %d in epoch %d", words.coordinator, words.role, partition, leader_epoch)
        broker_events.emit(broker_events.COORDINATOR_ELECTED, partition=f"{words.topic}-{partition}", leader_epoch=leader_epoch)
        reading = self._keeper.begin_loading(partition)
        spawn(self._load(reading, partition, leader_epoch)).when_settled(lambda outcome: self._loaded(partition, leader_epoch, outcome))

    def on_resignation(self, partition: int, leader_epoch: int | None) -> None:
        """This broker leads the partition no more; without an epoch the partition is being deleted."""
        if leader_epoch is None:
            self._epochs.pop(partition, None)  # a topic of the same name begins with epoch 0
        elif leader_epoch < self._epochs.get(partition, -1):
            return
        else:
            self._epochs[partition] = leader_epoch
        if partition in self._keeper.owned or partition in self._keeper.loading:
            words = self._words
            words.logger.info("[%s]: Resigned as the %s for partition %d in epoch %s", words.coordinator, words.role, partition, leader_epoch)
            broker_events.emit(broker_events.COORDINATOR_RESIGNED, partition=f"{words.topic}-{partition}", leader_epoch=leader_epoch)
        self._keeper.unload(partition)

    def _is_current(self, partition: int, leader_epoch: int) -> bool:
        return self._epochs.get(partition) == leader_epoch and partition in self._keeper.loading

    def _loaded(self, partition: int, leader_epoch: int, outcome: Promise[None]) -> None:
        error, words = outcome.error(), self._words
        if error is not None:
            where = f"{words.topic}-{partition}"
            words.logger.error("[%s]: Error loading %s from %s in epoch %d", words.coordinator, words.contents, where, leader_epoch, exc_info=error)
            if self._is_current(partition, leader_epoch):
                self._keeper.unload(partition)

    async def _load(self, reading: Reading, partition: int, leader_epoch: int) -> None:
        started_ms, words = self._clock.monotonic_ms(), self._words
        partition_log = self._topic.log(partition)
        if partition_log is None:
            raise PartitionUnreadable(f"{words.topic}-{partition} has no log here any more")
        read = await self._read(reading, partition_log, partition, leader_epoch)
        if not read or not await self._take_over(reading, partition, leader_epoch):
            return  # resigned, or elected again, while reading: that one decides
        self._keeper.finish_loading(partition, leader_epoch)
        words.logger.info(
            "[%s]: Finished loading %s from %s-%d in %.0f milliseconds for epoch %d",
            words.coordinator,
            words.contents,
            words.topic,
            partition,
            self._clock.monotonic_ms() - started_ms,
            leader_epoch,
        )

    async def _read(self, reading: Reading, partition_log: Log, partition: int, leader_epoch: int) -> bool:
        """False where it was no longer wanted."""
        offset = partition_log.log_start_offset
        while offset < partition_log.log_end_offset:
            data = partition_log.read(offset, max_length=self._chunk_bytes, max_offset=partition_log.log_end_offset, min_one_message=True)
            if data.records is None:
                break  # compaction has removed all that followed
            behind = reading.replay(data.records.read(), offset)
            if behind <= offset:  # to go on without what is missing would be to forget it
                raise PartitionUnreadable(f"no record at offset {offset}, where the log ends at {partition_log.log_end_offset}")
            offset = behind
            await after(self._clock, 0)
            if not self._is_current(partition, leader_epoch):
                return False
        return True

    async def _take_over(self, reading: Reading, partition: int, leader_epoch: int) -> bool:
        for _ in reading.take_over():
            await after(self._clock, 0)
            if not self._is_current(partition, leader_epoch):
                return False
        return True
