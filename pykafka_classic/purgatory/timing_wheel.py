"""A hierarchical timing wheel: thousands of time-outs, one timer.

A wheel has `wheel_size` buckets of `tick_ms` each. What lies beyond its reach goes to a coarser wheel, whose tick is the whole reach of the finer one:

    level 0: tick     1 ms, reach    20 ms
    level 1: tick    20 ms, reach   400 ms
    level 2: tick   400 ms, reach 8,000 ms          and so on, made when needed

A task for 450 ms from now lies in a bucket of level 2. When that bucket's time comes its tasks are put in again, now into level 1 or 0, until their own time
has come: a task runs at its time, never before, and at most one tick of level 0 late. Adding and cancelling take constant time (a task moves at most once per
level); only a bucket that becomes used goes through a heap, and buckets are few. Most tasks are cancelled long before their time, which is why this pays.

Mirrors kafka.utils.timer.{TimingWheel, SystemTimer}; the delay queue of buckets is a heap, and the thread that waits for it is one timer of the `Clock`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from pykafka_classic.common.clock import Clock, Timer

TICK_MS: Final = 1
WHEEL_SIZE: Final = 20


class TimerTask:
    """One call at a time to come. Invariant: `_bucket` is the bucket that holds the task, None once it ran or was cancelled."""

    __slots__ = ("_bucket", "call", "expiration_ms")

    def __init__(self, expiration_ms: int, call: Callable[[], None]) -> None:
        self.expiration_ms = expiration_ms  # on the clock's monotonic scale
        self.call = call
        self._bucket: dict[TimerTask, None] | None = None

    def cancel(self) -> None:
        """Forget the call; does nothing where it ran or was cancelled before."""
        if self._bucket is not None:
            self._bucket.pop(self, None)
            self._bucket = None

    def put_into(self, bucket: dict[TimerTask, None]) -> None:
        """Wait in this bucket from now on."""
        bucket[self] = None
        self._bucket = bucket


class TimingWheel:
    """All time-outs of a broker.

    Invariants: every key of `_buckets` is in `_due` exactly once; `_armed_ms` is not later than the earliest of them (None only while there are none).
    """

    def __init__(self, clock: Clock, tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE) -> None:
        self._clock = clock
        self._tick_ms = tick_ms
        self._wheel_size = wheel_size
        self._buckets: dict[tuple[int, int], dict[TimerTask, None]] = {}  # (start, tick) -> tasks in the order of their arrival
        self._due: list[tuple[int, int]] = []  # a heap of the same keys
        self._timer: Timer | None = None
        self._armed_ms: int | None = None
        self._advancing = False

    def __len__(self) -> int:
        """Tasks that wait."""
        return sum(len(bucket) for bucket in self._buckets.values())

    def add(self, delay_ms: float, call: Callable[[], None]) -> TimerTask:
        """Call once, `delay_ms` from now; at the next turn of the clock where that is not positive."""
        task = TimerTask(math.ceil(self._clock.monotonic_ms() + max(delay_ms, 0)), call)
        self._place(task, math.floor(self._clock.monotonic_ms()))
        self._arm()
        return task

    def _place(self, task: TimerTask, now_ms: int) -> None:
        tick = self._tick_ms
        while task.expiration_ms - now_ms >= tick * self._wheel_size:
            tick *= self._wheel_size
        key = (task.expiration_ms - task.expiration_ms % tick, tick)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = {}
            heappush(self._due, key)
        task.put_into(bucket)

    def _arm(self) -> None:
        """One timer, for the earliest bucket."""
        if self._advancing or not self._due:
            return
        earliest = self._due[0][0]
        if self._armed_ms is not None and self._armed_ms <= earliest:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed_ms = earliest
        self._timer = self._clock.call_later(max(earliest - self._clock.monotonic_ms(), 0), self._advance)

    def _advance(self) -> None:
        """Empty all buckets whose time has come: run what is due, put the rest into finer wheels."""
        self._timer = self._armed_ms = None
        self._advancing = True
        try:
            self._run_due(math.floor(self._clock.monotonic_ms()))
        finally:
            self._advancing = False
            self._arm()

    def _run_due(self, now_ms: int) -> None:
        while self._due and self._due[0][0] <= now_ms:
            bucket = self._buckets.pop(heappop(self._due))
            while bucket:
                task = next(iter(bucket))
                task.cancel()
                if task.expiration_ms <= now_ms:
                    task.call()
                else:
                    self._place(task, now_ms)
