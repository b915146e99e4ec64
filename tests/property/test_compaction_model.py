"""A compacted log against the list of all that was ever written: no latest value is lost, no outdated one comes back, offsets and order stay.

Appends, truncations above the high watermark, rolls, passes of the cleaner, clean stops, SIGKILL and losses of power, in any
order; the cleaner's checkpoint survives them or is lost with them.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pykafka_classic.common.promise import spawn
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.cleaner_config import CleanerConfig
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_cleaner import LogCleaner
from pykafka_classic.records.batch_builder import BatchFields, build_batch
from pykafka_classic.records.compression import GZIP, NONE
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from tests.unit.log.helpers import LOG_DIR, PARTITION, Disk, read_all

KEYS = st.integers(0, 5).map(lambda number: b"key-%d" % number)
VALUES = st.none() | st.binary(max_size=120)


class Written(NamedTuple):
    """One record."""

    offset: int
    key: bytes
    value: bytes | None


def content(log: Log) -> list[Written]:
    """All that can be read. Checksums are looked at, as a consumer does."""
    found = []
    for one in iterate_batches(read_all(log)):
        assert one.is_valid()
        for record in one.records():
            assert record.key is not None
            found.append(Written(record.offset, bytes(record.key), record.value))
    return found


class CompactedLogMachine(RuleBasedStateMachine):
    """`written`: every record that was appended and not cut off since. From `compacted` on nothing is missing; below `unique_below` each key occurs once."""

    @initialize(segment_bytes=st.integers(600, 2000))
    def begin(self, segment_bytes: int) -> None:
        """An empty log."""
        self.disk = Disk(segment_bytes=segment_bytes, index_interval_bytes=100, cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.0)
        self.log: Log = self.disk.open()
        self.written: list[Written] = []
        self.batches: list[tuple[int, int]] = []
        self.compacted = self.unique_below = 0
        self.high_watermark = 0
        self.clean_offset: int | None = None

    @rule(pairs=st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5), codec=st.sampled_from([NONE, GZIP]))
    def append(self, pairs: list[tuple[bytes, bytes | None]], codec: int) -> None:
        """One batch."""
        records = [Record(index, 1000, key, value) for index, (key, value) in enumerate(pairs)]
        first = self.log.append_as_leader(build_batch(records, BatchFields(codec=codec)), leader_epoch=0).first_offset
        self.written += [Written(first + index, key, value) for index, (key, value) in enumerate(pairs)]
        self.batches.append((first, first + len(pairs) - 1))

    @rule()
    def roll(self) -> None:
        """Begin a new segment: the old one may be compacted."""
        self.log.roll()

    @rule()
    def replicate(self) -> None:
        """Everything has reached the followers."""
        self.high_watermark = self.log.log_end_offset
        self.log.update_high_watermark(self.high_watermark)

    @rule(back=st.integers(0, 8))
    def truncate(self, back: int) -> None:
        """As after an election; never below the high watermark."""
        offset = max(self.log.log_end_offset - back, self.high_watermark)
        self.log.truncate_to(offset)
        self._forget_from(offset)

    @rule()
    def compact(self) -> None:
        """One pass."""
        before = self.log.segments.active.base_offset
        cleaner = self._cleaner()
        if spawn(cleaner.clean_filthiest()).result():
            self.clean_offset = cleaner._clean_offsets[LOG_DIR][PARTITION]
            self.compacted = self.unique_below = max(self.compacted, self.clean_offset)
            assert self.compacted <= min(before, self.high_watermark)
        assert not cleaner._uncleanable

    @rule()
    def restart(self) -> None:
        """A clean stop and a start."""
        self.log.flush()
        self.log.close()
        self._open(clean=True)

    @rule()
    def kill(self) -> None:
        """SIGKILL."""
        recovery_point = self.log.recovery_point
        self.disk.file_system.kill()
        self._open(clean=False, recovery_point=recovery_point)

    @rule(seed=st.integers(0, 1 << 30))
    def lose_power(self, seed: int) -> None:
        """What was not synced is lost in part; what the followers have will come from them."""
        recovery_point = self.log.recovery_point
        self.disk.file_system.crash(random.Random(seed))
        self._open(clean=False, recovery_point=recovery_point)
        assert self.log.log_end_offset >= max((last + 1 for _, last in self.batches if last < recovery_point), default=0)
        self._forget_from(self.log.log_end_offset)
        self.unique_below = 0  # the segments from before the last pass may be back, whole
        self.high_watermark = min(self.high_watermark, self.log.log_end_offset)
        self.log.update_high_watermark(self.high_watermark)

    @rule()
    def lose_the_cleaners_checkpoint(self) -> None:
        """Everything counts as dirty again: more work, nothing else."""
        self.clean_offset = None

    def _cleaner(self) -> LogCleaner:
        cleaner = LogCleaner(self.disk.services, CleanerConfig(), {PARTITION: self.log})
        cleaner._clean_offsets[LOG_DIR] = {} if self.clean_offset is None else {PARTITION: self.clean_offset}
        return cleaner

    def _open(self, *, clean: bool, recovery_point: int = 0) -> None:
        self.log = self.disk.open(clean=clean, recovery_point=recovery_point)
        self.log.update_high_watermark(self.high_watermark)

    def _forget_from(self, offset: int) -> None:
        """A batch goes as a whole."""
        offset = next((first for first, last in self.batches if last >= offset), offset)
        self.batches = [batch for batch in self.batches if batch[1] < offset]
        self.written = [one for one in self.written if one.offset < offset]
        self.compacted, self.unique_below = min(self.compacted, offset), min(self.unique_below, offset)

    @invariant()
    def holds_what_it_must_and_nothing_else(self) -> None:
        """See the class."""
        if not hasattr(self, "log"):
            return
        found = content(self.log)
        offsets = [one.offset for one in found]
        assert offsets == sorted(set(offsets))
        assert set(found) <= set(self.written)
        assert [one for one in found if one.offset >= self.compacted] == [one for one in self.written if one.offset >= self.compacted]
        latest = {one.key: one for one in self.written}
        assert set(latest.values()) <= set(found)
        below = [one.key for one in found if one.offset < self.unique_below]
        assert len(below) == len(set(below))

    @invariant()
    def every_offset_can_be_asked_for(self) -> None:
        """A read at a gap begins with the batch around it, or the next one."""
        if not hasattr(self, "log"):
            return
        batches = [(header.base_offset, header.last_offset) for header in iterate_headers(read_all(self.log))]
        for offset in range(0, self.log.log_end_offset, 3):
            info = self.log.read(offset, max_length=1, max_offset=self.log.log_end_offset, min_one_message=True)
            expected = next((batch for batch in batches if batch[1] >= offset), None)
            if expected is None:
                assert info.records is None
            else:
                assert info.records is not None
                header = next(iter(iterate_headers(info.records.read())))
                assert (header.base_offset, header.last_offset) == expected


TestCompactedLogMachine = CompactedLogMachine.TestCase
TestCompactedLogMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
