"""A log against a list: whatever is appended, truncated, rolled, flushed, deleted and recovered after crashes, both have the same records."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.log import Log
from tests.unit.log.helpers import Disk, batch, read_all

BATCH_SIZES = st.integers(min_value=0, max_value=400)


@dataclass
class Model:
    """What the log must hold: (first offset, last offset, epoch, timestamp) of each batch."""

    batches: list[tuple[int, int, int, int]] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def truncate(self, offset: int) -> None:
        """Batches that hold `offset` or come after it go."""
        self.batches = [one for one in self.batches if one[1] < offset]
        self.end = min(self.end, offset)

    def last_end(self) -> int:
        """The offset after the last batch."""
        return self.batches[-1][1] + 1 if self.batches else self.start


class LogMachine(RuleBasedStateMachine):
    """Any sequence of operations. The leader epoch rises now and then."""

    @initialize(segment_bytes=st.integers(2500, 4000), interval=st.integers(0, 500), preallocate=st.booleans())
    def begin(self, segment_bytes: int, interval: int, *, preallocate: bool) -> None:
        """An empty log."""
        self.disk = Disk(segment_bytes=segment_bytes, index_interval_bytes=interval, preallocate=preallocate)
        self.log: Log = self.disk.open()
        self.model = Model()
        self.epoch = 0

    @rule(size=BATCH_SIZES, count=st.integers(1, 4), timestamp=st.integers(1, 10_000))
    def append_as_leader(self, size: int, count: int, timestamp: int) -> None:
        """A batch gets the next offsets."""
        info = self.log.append_as_leader(batch([(b"k", b"v" * size)] * count, timestamp=timestamp), leader_epoch=self.epoch)
        assert (info.first_offset, info.last_offset) == (self.model.end, self.model.end + count - 1)
        self.model.batches.append((info.first_offset, info.last_offset, self.epoch, timestamp))
        self.model.end += count

    @rule(sizes=st.lists(st.tuples(BATCH_SIZES, st.integers(0, 3)), min_size=1, max_size=6), timestamp=st.integers(1, 10_000))
    def append_as_follower(self, sizes: list[tuple[int, int]], timestamp: int) -> None:
        """Batches with gaps between them, as after compaction on the leader."""
        data = b""
        for size, gap in sizes:
            offset = self.model.end + gap
            data += batch([(b"k", b"v" * size)] * 2, base_offset=offset, leader_epoch=self.epoch, timestamp=timestamp)
            self.model.batches.append((offset, offset + 1, self.epoch, timestamp))
            self.model.end = offset + 2
        self.log.append_as_follower(data)

    @rule()
    def new_epoch(self) -> None:
        """Another leader."""
        self.epoch += 1
        self.log.leader_epoch_cache.assign(self.epoch, self.log.log_end_offset)

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        """Go back some offsets."""
        offset = max(self.model.end - back, self.model.start)
        self.log.truncate_to(offset)
        self.model.truncate(offset)

    @rule()
    def roll(self) -> None:
        """Begin a new segment."""
        self.log.roll()

    @rule()
    def flush(self) -> None:
        """Make everything durable."""
        self.log.flush()
        assert self.log.recovery_point == self.model.end

    @rule(fraction=st.floats(0, 1))
    def delete_records(self, fraction: float) -> None:
        """The log start rises, and whole segments below it go."""
        self.log.update_high_watermark(self.model.end)
        offset = self.model.start + int((self.model.end - self.model.start) * fraction)
        self.log.maybe_increment_log_start_offset(offset)
        self.log.delete_old_segments(0)
        self.model.start = self.log.log_start_offset
        self.model.batches = [one for one in self.model.batches if one[1] >= self.model.start]

    @rule()
    def restart(self) -> None:
        """A clean stop and a start."""
        self.log.flush()
        self.log.close()
        self.log = self.disk.open(log_start_offset=self.model.start)
        self._resume()

    @rule()
    def kill(self) -> None:
        """SIGKILL: everything written is there."""
        recovery_point = self.log.recovery_point
        self.disk.file_system.kill()
        self.log = self.disk.open(clean=False, recovery_point=recovery_point, log_start_offset=self.model.start)
        self._resume()

    @rule(seed=st.integers(0, 1 << 30))
    def crash(self, seed: int) -> None:
        """Loss of power: what was flushed is there, and of the rest a beginning."""
        recovery_point = self.log.recovery_point
        self.disk.file_system.crash(random.Random(seed))
        self.log = self.disk.open(clean=False, recovery_point=recovery_point, log_start_offset=self.model.start)
        assert self.log.log_end_offset >= max((one[1] + 1 for one in self.model.batches if one[1] < recovery_point), default=self.model.start)
        self.model.truncate(self.log.log_end_offset)
        self._resume()

    def _resume(self) -> None:
        # An end inside a gap is known only from the batches before it; what was truncated within a batch too.
        assert self.log.log_end_offset in (self.model.end, max(self.model.last_end(), self.log.segments.active.base_offset))
        self.model.end = self.log.log_end_offset
        self.epoch += 1
        self.log.leader_epoch_cache.assign(self.epoch, self.log.log_end_offset)

    @precondition(lambda self: self.model.batches)
    @rule(pick=st.integers(0, 10_000))
    def read_somewhere(self, pick: int) -> None:
        """A read begins with the batch that holds the offset, or the next one."""
        offset = self.model.start + pick % max(self.model.end - self.model.start, 1)
        expected = next((one for one in self.model.batches if one[1] >= offset), None)
        info = self.log.read(offset, max_length=1, max_offset=self.model.end, min_one_message=True)
        if expected is None:
            assert info.records is None
        else:
            assert info.records is not None
            first = next(iterate_headers(info.records.read()))
            assert (first.base_offset, first.last_offset) == expected[:2]

    @precondition(lambda self: self.model.batches)
    @rule(timestamp=st.integers(1, 10_000))
    def look_up_by_time(self, timestamp: int) -> None:
        """The first record not older than a time is the one that a walk from the start finds."""
        expected = next(((one[3], max(one[0], self.model.start)) for one in self.model.batches if one[3] >= timestamp), None)
        found = self.log.offset_for_timestamp(timestamp).result()
        assert (None if found is None else found[:2]) == expected

    @invariant()
    def holds_the_same_batches(self) -> None:
        """Log and list agree."""
        if not hasattr(self, "log"):
            return
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.model.start, self.model.end)
        headers = [header for header in iterate_headers(read_all(self.log)) if header.last_offset >= self.model.start]
        assert [(one.base_offset, one.last_offset, one.leader_epoch, one.max_timestamp) for one in headers] == self.model.batches

    @invariant()
    def epochs_are_those_of_the_batches(self) -> None:
        """Every batch's epoch is known with its offset."""
        if hasattr(self, "log"):
            for first, last, epoch, _ in self.model.batches:
                if first >= self.model.start:
                    assert self.log.leader_epoch_cache.epoch_for_offset(last) == epoch


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=60, stateful_step_count=30)
