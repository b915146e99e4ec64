"""The producers of one log: who wrote what, which transactions are open, and the snapshots on disk.

State is a function of the batches below `map_end_offset`. After a restart or a truncation it is made again: the newest usable snapshot at or below the end,
and the batches behind it. Snapshots are taken when a segment is rolled (named after the new base offset), at a clean close, and by recovery.

Open transactions hold back the last stable offset; so do those that ended with a marker at or above the high watermark, for it might still be lost.

Source: facts/storage.md 6; ProducerStateManager.scala.
"""

from __future__ import annotations

import logging
from bisect import insort
from collections.abc import Iterable

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import names
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import BatchHeader
from pykafka_classic.log.control_marker import read_marker
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.producer_entry import CompletedTransaction, ProducerAppendInfo, ProducerStateEntry
from pykafka_classic.log.producer_snapshot import CorruptSnapshot, decode_snapshot, encode_snapshot

log = logging.getLogger("kafka.log.ProducerStateManager")


class ProducerStateManager:
    """See the module. Invariant: `_ongoing` and `_unreplicated` are sorted by first offset, `_snapshots` ascends."""

    __slots__ = (
        "_expiration_ms",
        "_file_system",
        "_last_snapshot_offset",
        "_ongoing",
        "_partition",
        "_snapshots",
        "_unreplicated",
        "directory",
        "map_end_offset",
        "producers",
    )

    def __init__(self, file_system: FileSystem, directory: str, partition: TopicPartition, expiration_ms: int) -> None:
        self._file_system = file_system
        self._partition = partition
        self._expiration_ms = expiration_ms
        self._snapshots: list[int] = []
        self._last_snapshot_offset = 0
        self._ongoing: list[tuple[int, int]] = []  # (first offset, producer id)
        self._unreplicated: list[tuple[int, int]] = []  # (first offset, offset of the marker)
        self.directory = directory
        self.map_end_offset = 0  # the state includes every batch below
        self.producers: dict[int, ProducerStateEntry] = {}

    # Reading

    @property
    def is_empty(self) -> bool:
        """True where no producer is known and nothing holds back the last stable offset."""
        return not self.producers and not self._unreplicated

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins whose outcome is not certain yet."""
        candidates = [transactions[0][0] for transactions in (self._ongoing, self._unreplicated) if transactions]
        return min(candidates) if candidates else None

    @property
    def first_undecided_offset(self) -> int | None:
        """Where the oldest open transaction begins."""
        return self._ongoing[0][0] if self._ongoing else None

    @property
    def snapshots(self) -> list[int]:
        """Offsets of the snapshot files, ascending."""
        return list(self._snapshots)

    def last_stable_offset_after(self, completed: CompletedTransaction) -> int:
        """What the last stable offset will be once this transaction's marker is replicated."""
        for first_offset, producer_id in self._ongoing:
            if producer_id != completed.producer_id:
                return first_offset
        return completed.last_offset + 1

    # Appending

    def prepare(self, producer_id: int, origin: AppendOrigin) -> ProducerAppendInfo:
        """Start to account for an append by this producer."""
        current = self.producers.get(producer_id)
        return ProducerAppendInfo(current if current is not None else ProducerStateEntry(producer_id), origin, str(self._partition))

    def update(self, info: ProducerAppendInfo) -> None:
        """The append is in the log: its changes count."""
        changed = info.entry
        known = self.producers.get(changed.producer_id)
        if known is None:
            self.producers[changed.producer_id] = changed
        else:
            known.enter_epoch(changed.producer_epoch)
            known.batches.extend(changed.batches)
            known.coordinator_epoch = changed.coordinator_epoch
            known.first_offset_of_transaction = changed.first_offset_of_transaction
            known.last_timestamp = changed.last_timestamp
        for first_offset in info.started_transactions:
            insort(self._ongoing, (first_offset, changed.producer_id))

    def complete(self, completed: CompletedTransaction) -> None:
        """A marker ended this transaction; it holds back the last stable offset until the marker is below the high watermark."""
        self._ongoing.remove((completed.first_offset, completed.producer_id))
        insort(self._unreplicated, (completed.first_offset, completed.last_offset))

    def replay(self, header: BatchHeader, batch: memoryview) -> CompletedTransaction | None:
        """Account for a batch that stands in the log already; the transaction that it ended. The caller then indexes and completes that."""
        completed = None
        if header.producer_id >= 0:
            info = self.prepare(header.producer_id, AppendOrigin.REPLICATION)
            if header.is_control:
                marker = read_marker(batch)
                completed = info.append_marker(header, marker) if marker is not None else None
            else:
                info.append_data(header)
            self.update(info)
        self.map_end_offset = header.last_offset + 1
        return completed

    def on_high_watermark_updated(self, high_watermark: int) -> None:
        """Markers below it are safe."""
        if self._unreplicated:
            self._unreplicated = [transaction for transaction in self._unreplicated if transaction[1] >= high_watermark]

    def remove_expired(self, now_ms: int) -> None:
        """Forget producers that have been idle for too long."""
        for producer_id in [entry.producer_id for entry in self.producers.values() if entry.is_expired(now_ms, self._expiration_ms)]:
            del self.producers[producer_id]

    # Snapshots

    def find_snapshots(self, offsets: Iterable[int], segment_base_offsets: Iterable[int] = ()) -> None:
        """These snapshot files are in the directory. Of those that belong to no segment only the newest stays, and only above the last segment's base."""
        base_offsets = set(segment_base_offsets)
        self._snapshots = sorted(offsets)
        if not base_offsets:
            return
        strays = [offset for offset in self._snapshots if offset not in base_offsets]
        if strays and strays[-1] >= max(base_offsets):
            strays.pop()
        for offset in strays:
            self.remove_snapshot(offset)

    def take_snapshot(self, *, sync: bool = False) -> None:
        """Write a snapshot at `map_end_offset`, unless the newest is as new. Raises OSError."""
        offset = self.map_end_offset
        if offset <= self._last_snapshot_offset:
            return
        file = self._file_system.open(self._snapshot_path(offset), create=True)
        try:
            file.truncate(0)
            file.append([encode_snapshot(self.producers.values())])
            if sync:
                file.sync()
        finally:
            file.close()
        if offset not in self._snapshots:
            insort(self._snapshots, offset)
        self._last_snapshot_offset = offset

    def remove_snapshot(self, offset: int) -> None:
        """Remove the file, if there is one."""
        if offset in self._snapshots:
            self._snapshots.remove(offset)
            path = self._snapshot_path(offset)
            if self._file_system.exists(path):
                self._file_system.remove(path)

    # Starting and truncating

    def skip_to(self, offset: int) -> None:
        """There is nothing to know about producers below `offset`: note that in a snapshot."""
        self.map_end_offset = offset
        self.take_snapshot()

    def truncate_and_reload(self, log_start_offset: int, log_end_offset: int, now_ms: int) -> None:
        """Go back to the newest snapshot within the log, unless the state is exactly that of `log_end_offset`. The caller replays from `map_end_offset`."""
        for offset in self.snapshots:
            if offset > log_end_offset or offset <= log_start_offset:
                self.remove_snapshot(offset)
        if log_end_offset != self.map_end_offset:
            self._clear()
            self._load_newest_snapshot(log_start_offset, now_ms)
        else:
            self.on_log_start_offset_incremented(log_start_offset)

    def on_log_start_offset_incremented(self, log_start_offset: int) -> None:
        """Records below are gone."""
        self.on_high_watermark_updated(log_start_offset)
        self.map_end_offset = max(self.map_end_offset, log_start_offset)
        self._last_snapshot_offset = self._snapshots[-1] if self._snapshots else log_start_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """The log is empty and begins at `offset`."""
        self._clear()
        for snapshot in self.snapshots:
            self.remove_snapshot(snapshot)
        self._last_snapshot_offset = 0
        self.map_end_offset = offset

    def _clear(self) -> None:
        self.producers.clear()
        self._ongoing.clear()
        self._unreplicated.clear()

    def _load_newest_snapshot(self, log_start_offset: int, now_ms: int) -> None:
        while self._snapshots:
            offset = self._snapshots[-1]
            try:
                entries = decode_snapshot(self._file_system.read(self._snapshot_path(offset)))
            except (CorruptSnapshot, FileNotFoundError) as error:
                log.warning("[ProducerStateManager partition=%s] snapshot %d cannot be used: %s", self._partition, offset, error)
                self.remove_snapshot(offset)
                continue
            for entry in entries:
                if not entry.is_expired(now_ms, self._expiration_ms):
                    self._load_entry(entry)
            self.map_end_offset = self._last_snapshot_offset = offset
            return
        self.map_end_offset = self._last_snapshot_offset = log_start_offset

    def _load_entry(self, entry: ProducerStateEntry) -> None:
        self.producers[entry.producer_id] = entry
        if entry.first_offset_of_transaction is not None:
            insort(self._ongoing, (entry.first_offset_of_transaction, entry.producer_id))

    def _snapshot_path(self, offset: int) -> str:
        return f"{self.directory}/{names.numbered_name(offset, names.SNAPSHOT)}"
