"""Bring a partition's directory back to life: finish what a crash interrupted, recover what was not flushed, find out where the log ends.

1. Remove `.deleted` and `.cleaned` files; a `.swap` log is a compaction that was complete: it takes the place of the segments that it replaces.
2. Load the segments. Index files without a log go; a segment without `.index` or with an impossible `.txnindex` is recovered.
3. After an unclean end: recover every segment from the one that holds the recovery point on. Where bytes have to be cut, all later segments go.
4. A log that ends before its log start (files were removed by hand) is emptied.
5. Epochs are cut to the log; producer state is read from the newest snapshot and the batches behind it.

Runs on a background thread: it has services of its own (no shared list of open files) and touches nothing but its directory.

Source: facts/storage.md 7, facts/observed.md "Logs, more"; Log.scala (loadSegments, recoverLog, rebuildProducerState).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log import names
from pykafka_classic.log.checkpoints import decode_epochs
from pykafka_classic.log.leader_epoch_cache import LeaderEpochFileCache
from pykafka_classic.log.log_segment import LogSegment
from pykafka_classic.log.log_segments import LogSegments
from pykafka_classic.log.log_services import LogServices
from pykafka_classic.log.open_files import OpenFiles
from pykafka_classic.log.partition_metadata import decode_partition_metadata
from pykafka_classic.log.producer_replay import LogRange, remember_recent_batches, replay_producers_from_snapshot
from pykafka_classic.log.producer_state import ProducerStateManager
from pykafka_classic.log.segment_recovery import ValidPart, copy_tail, recover_segment
from pykafka_classic.log.transaction_index import CorruptIndex

log = logging.getLogger("kafka.log.Log")


@dataclass(slots=True)
class RecoveryStats:
    """What recovery had to look through, and what it cut off."""

    segments: int = 0
    bytes: int = 0
    bytes_cut: int = 0


@dataclass(slots=True)
class LoadedLog:
    """What `Log` is made of."""

    segments: LogSegments
    producers: ProducerStateManager
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    epochs: list[tuple[int, int]]
    epochs_changed: bool  # the file does not say what `epochs` says
    topic_id: UUID | None
    recovery: RecoveryStats


@dataclass(slots=True)
class LoadRequest:
    """What is known about a log before it is loaded."""

    directory: str
    topic_partition: TopicPartition
    config: LogConfig
    clean: bool = True  # the broker's last stop was clean
    recovery_point: int = 0  # from the checkpoints
    log_start_offset: int = 0
    is_new: bool = False  # just created: the directory is empty


def load_log(services: LogServices, request: LoadRequest) -> LoadedLog:
    """Load a log. May run on a background thread. Raises OSError."""
    return _Loader(replace(services, open_files=OpenFiles(64)), request).load()


class _Loader:
    """One run of the steps above."""

    def __init__(self, services: LogServices, request: LoadRequest) -> None:
        self._services = services
        self._file_system = services.file_system
        self._request = request
        self._directory = request.directory
        self._segments = LogSegments()
        self._names = [] if request.is_new else self._file_system.list(self._directory)
        self._epochs = LeaderEpochFileCache()
        self._epochs_on_disk: list[tuple[int, int]] = []
        self._log_start_offset = request.log_start_offset
        self._recovery = RecoveryStats()
        self._unusable: list[LogSegment] = []  # loaded, and to be recovered whatever the last stop was like

    def __str__(self) -> str:
        return f"[Log partition={self._request.topic_partition}, dir={self._directory.rpartition('/')[0]}]"

    def load(self) -> LoadedLog:
        """All steps."""
        self._read_epochs()
        swaps = self._remove_leftovers()
        self._load_segments()
        for base_offset in swaps:
            self._complete_swap(base_offset)
        if not self._request.clean:
            self._recover()
        log_end_offset = self._settle_ends()
        producers = self._load_producers(log_end_offset)
        self._epochs.truncate_from_end(log_end_offset)
        self._epochs.truncate_from_start(self._log_start_offset)
        recovery_point = log_end_offset if self._request.clean else min(self._request.recovery_point, log_end_offset)
        return LoadedLog(
            segments=self._segments,
            producers=producers,
            log_start_offset=self._log_start_offset,
            log_end_offset=log_end_offset,
            recovery_point=max(recovery_point, self._log_start_offset),
            epochs=self._epochs.entries,
            epochs_changed=self._epochs.entries != self._epochs_on_disk or (self._request.is_new and self._request.config.record_version == 2),
            topic_id=self._read_topic_id(),
            recovery=self._recovery,
        )

    # Files

    def _read_epochs(self) -> None:
        path = f"{self._directory}/{names.LEADER_EPOCH_CHECKPOINT}"
        if names.LEADER_EPOCH_CHECKPOINT not in self._names:
            return
        if self._request.config.record_version < 2:
            self._file_system.remove(path)
            return
        self._epochs_on_disk = decode_epochs(self._file_system.read(path), path)
        self._epochs = LeaderEpochFileCache(self._epochs_on_disk)

    def _read_topic_id(self) -> UUID | None:
        if names.PARTITION_METADATA not in self._names:
            return None
        path = f"{self._directory}/{names.PARTITION_METADATA}"
        if not self._services.topic_ids:
            self._file_system.remove(path)
            return None
        return decode_partition_metadata(self._file_system.read(path), path)

    def _remove(self, name: str) -> None:
        path = f"{self._directory}/{name}"
        if name in self._names:
            self._names.remove(name)
        if self._file_system.exists(path):  # producer state may have removed a snapshot by itself
            self._file_system.remove(path)

    def _remove_leftovers(self) -> list[int]:
        """Clear away what a dying broker left; the base offsets of the `.swap` logs to be completed, ascending."""
        parsed = [(name, names.parse_numbered_name(name)) for name in self._names]
        files = [(name, file) for name, file in parsed if file is not None and file.suffix]
        # A swap file at or above a .cleaned one belongs to a split or a group that was not complete: its sources are still there.
        incomplete_from = min((file.base_offset for _, file in files if file.suffix == names.CLEANED), default=None)
        swaps: list[int] = []
        for name, file in files:
            if file.suffix == names.SWAP:
                for kind in (names.INDEX, names.TIME_INDEX, names.TXN_INDEX):
                    self._remove(names.numbered_name(file.base_offset, kind))
                if file.kind == names.LOG and (incomplete_from is None or file.base_offset < incomplete_from):
                    swaps.append(file.base_offset)
                    continue
            self._remove(name)
        return sorted(swaps)

    # Segments

    def _load_segments(self) -> None:
        bases = set()
        for name in self._names:
            file = names.parse_numbered_name(name)
            if file is not None and file.kind == names.LOG and not file.suffix:
                bases.add(file.base_offset)
        present = set(self._names)
        for name in list(self._names):
            file = names.parse_numbered_name(name)
            if file is not None and file.kind in (names.INDEX, names.TIME_INDEX, names.TXN_INDEX) and not file.suffix and file.base_offset not in bases:
                log.warning("%s Found an orphaned index file %s, with no corresponding log file.", self, name)
                self._remove(name)
        for base_offset in sorted(bases):
            self._load_segment(base_offset, present)
        while self._unusable:
            self._recover_segment(self._unusable.pop(0))

    def _load_segment(self, base_offset: int, present: set[str]) -> None:
        segment = LogSegment.load(self._services, self._directory, base_offset, self._request.config)
        damaged = names.numbered_name(base_offset, names.INDEX) not in present
        if names.numbered_name(base_offset, names.TXN_INDEX) in present:
            try:
                segment.transaction_index.entries  # noqa: B018  # reads and checks
            except CorruptIndex as error:
                log.warning("%s %s", self, error)
                damaged = True
        else:
            segment.transaction_index.start_empty()
        if damaged and segment.size:  # whatever the last stop was like: below the recovery point nothing else would look at it
            log.error("%s Could not find usable index files of segment %d, recovering segment and rebuilding index files...", self, base_offset)
            self._unusable.append(segment)
        elif damaged:
            segment.start_recovery()
        elif names.numbered_name(base_offset, names.TIME_INDEX) not in present:
            segment.time_index.reset()
        self._segments.add(segment)

    def _recover_segment(self, segment: LogSegment, epochs: LeaderEpochFileCache | None = None, before_cut: Callable[[], None] | None = None) -> int:
        """Recover one segment with producer state of its own, and leave a snapshot behind it so that the next one has not to go back further."""
        self._recovery.segments += 1
        self._recovery.bytes += segment.size
        producers = self._new_producers()
        self._rebuild_producers(producers, segment.base_offset, clean=False)
        cut = recover_segment(segment, producers, epochs, self._split_off, before_cut=before_cut)
        producers.take_snapshot()
        self._recovery.bytes_cut += cut
        return cut

    def _split_off(self, segment: LogSegment, valid: ValidPart) -> bool:
        """Make a segment of what lies behind the valid part; False where it cannot be one. A crash before the cut leaves both, and is met here again."""
        assert valid.goes_on_at is not None
        following = self._segments.higher(segment.base_offset)
        if following is not None and following.base_offset <= valid.goes_on_at:
            return following.base_offset == valid.goes_on_at
        log.info("%s Splitting overflowed segment %d at offset %d", self, segment.base_offset, valid.goes_on_at)
        name = f"{self._directory}/{names.numbered_name(valid.goes_on_at, names.LOG)}"
        copy_tail(self._file_system, segment, valid.size, name + names.CLEANED)
        self._file_system.rename(name + names.CLEANED, name)
        self._file_system.sync_directory(self._directory)
        split = LogSegment.load(self._services, self._directory, valid.goes_on_at, self._request.config)
        split.start_recovery()
        self._segments.add(split)
        self._unusable.insert(0, split)  # a recovery of all unflushed segments comes by it anyway
        return True

    def _complete_swap(self, base_offset: int) -> None:
        log.info("%s Found log file %s from interrupted swap operation, repairing.", self, names.numbered_name(base_offset, names.LOG, names.SWAP))
        swapped = LogSegment.load(self._services, self._directory, base_offset, self._request.config, names.SWAP)
        swapped.transaction_index.start_empty()
        self._recover_segment(swapped)
        end_offset = swapped.end_offset()
        replaced = [old for old in self._segments.between(base_offset, end_offset) if old.end_offset() > base_offset or old.base_offset == base_offset]
        for old in replaced:
            self._segments.remove(old)
            if old.base_offset != base_offset:
                old.rename(names.DELETED)  # before the swap is renamed: a crash in between leaves the swap to be found again
                old.remove_files()
        swapped.rename("")
        self._segments.add(swapped)

    def _recover(self) -> None:
        unflushed = self._segments.from_offset(self._request.recovery_point) if len(self._segments) else []
        segment = unflushed[0] if unflushed else None
        while segment is not None:
            base_offset = segment.base_offset
            log.info("%s Recovering unflushed segment %d", self, base_offset)
            if self._recover_segment(segment, self._epochs, partial(self._remove_segments_behind, base_offset)):
                log.warning("%s Corruption found in segment %d, truncating to offset %d", self, base_offset, segment.end_offset())
                return
            segment = self._segments.higher(base_offset)  # perhaps one that was split off just now

    def _remove_segments_behind(self, base_offset: int) -> None:
        # Last to first, and durably before the damage itself is cut off: whoever recovers after a crash in between must find it again, or a gap would stay.
        later = [one for one in self._segments if one.base_offset > base_offset]
        self._recovery.bytes_cut += sum(one.size for one in later)
        self._remove_segments(later[::-1])
        if later:
            self._file_system.sync_directory(self._directory)

    def _remove_segments(self, segments: Iterable[LogSegment]) -> None:
        for segment in segments:
            self._segments.remove(segment)
            segment.remove_files()
            self._remove(names.numbered_name(segment.base_offset, names.SNAPSHOT))

    def _settle_ends(self) -> int:
        """The log end offset; makes a first segment where there is none."""
        if len(self._segments):
            log_end_offset = self._segments.active.end_offset()
            if log_end_offset >= self._log_start_offset:
                self._log_start_offset = max(self._log_start_offset, self._segments.first.base_offset)
                return log_end_offset
            log.warning("%s Deleting all segments because logEndOffset (%d) is smaller than logStartOffset (%d).", self, log_end_offset, self._log_start_offset)
            self._remove_segments(self._segments)
            self._epochs.clear()
            for offset in self._snapshot_offsets():
                self._remove(names.numbered_name(offset, names.SNAPSHOT))
        self._segments.add(LogSegment.create(self._services, self._directory, self._log_start_offset, self._request.config))
        return self._log_start_offset

    # Producers

    def _new_producers(self) -> ProducerStateManager:
        services = self._services
        producers = ProducerStateManager(self._file_system, self._directory, self._request.topic_partition, services.producer_expiration_ms)
        producers.find_snapshots(self._snapshot_offsets())
        return producers

    def _snapshot_offsets(self) -> Sequence[int]:
        listing = self._file_system.list(self._directory) if self._recovery.segments else self._names  # recovery writes and removes some
        parsed = [names.parse_numbered_name(name) for name in listing]
        return [file.base_offset for file in parsed if file is not None and file.kind == names.SNAPSHOT and not file.suffix]

    def _load_producers(self, log_end_offset: int) -> ProducerStateManager:
        producers = self._new_producers()
        producers.find_snapshots(producers.snapshots, self._segments.base_offsets)
        self._rebuild_producers(producers, log_end_offset, clean=self._request.clean)
        return producers

    def _rebuild_producers(self, producers: ProducerStateManager, end_offset: int, *, clean: bool) -> None:
        if self._request.config.record_version < 2 or (clean and not producers.snapshots):
            for offset in self._last_bases(end_offset):  # nothing to find in older formats; and after an upgrade nobody has written with a producer id yet
                producers.skip_to(offset)
            return
        offsets, now_ms = LogRange(self._log_start_offset, end_offset), self._services.clock.now_ms()
        replay_producers_from_snapshot(producers, self._segments, offsets, now_ms, snapshot_bases=self._last_bases(end_offset))
        producers.take_snapshot()
        remember_recent_batches(producers, self._segments, offsets, now_ms)

    def _last_bases(self, end_offset: int) -> list[int]:
        return [*[base for base in self._segments.base_offsets[-2:] if base < end_offset], end_offset]
