"""Time, chance and other threads, all in the test's hand.

`FakeClock` moves only by `advance`; `FakeBackground` runs work at once or when told; `SeededRandom` gives the same numbers for the same seed.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

from pykafka_classic.common.promise import Promise

T = TypeVar("T")

CALLS_MAX: Final = 1_000_000  # in one `advance`: more means a timer that sets itself again without delay


class FakeTimer:
    """A pending call of a `FakeClock`; ordered by due time, then by creation."""

    __slots__ = ("call", "due_ms", "order")

    def __init__(self, due_ms: float, order: int, call: Callable[[], None]) -> None:
        self.due_ms = due_ms
        self.order = order
        self.call: Callable[[], None] | None = call  # None once run or cancelled

    def cancel(self) -> None:
        """Forget the call."""
        self.call = None

    def __lt__(self, other: FakeTimer) -> bool:
        return (self.due_ms, self.order) < (other.due_ms, other.order)


class FakeClock:
    """The `Clock` seam. Wall-clock and monotonic time go together, but for `jump`."""

    def __init__(self, now_ms: int = 1_600_000_000_000) -> None:
        self._start_ms = now_ms
        self._elapsed_ms = 0.0
        self._timers: list[FakeTimer] = []
        self._created = 0

    def now_ms(self) -> int:
        """Wall-clock time since the epoch."""
        return int(self._start_ms + self._elapsed_ms)

    def monotonic_ms(self) -> float:
        """Time since this clock was made."""
        return self._elapsed_ms

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> FakeTimer:
        """Call once `advance` has come that far; a delay of 0 waits for an `advance` too."""
        self._created += 1
        timer = FakeTimer(self._elapsed_ms + max(delay_ms, 0), self._created, call)
        heapq.heappush(self._timers, timer)
        return timer

    def advance(self, ms: float = 0) -> None:
        """Let time pass and run, in the order of their due times, all timers due; those that they set too."""
        target_ms = self._elapsed_ms + ms
        for _ in range(CALLS_MAX):
            if not self._timers or self._timers[0].due_ms > target_ms:
                break
            self._run(heapq.heappop(self._timers))
        else:
            raise AssertionError(f"more than {CALLS_MAX} calls within {ms} ms: a timer sets itself again without delay")
        self._elapsed_ms = target_ms

    def advance_to_next(self) -> bool:
        """Jump to the next pending timer and run what is due then; False where none is pending."""
        due_ms = self.next_due_ms()
        if due_ms is None:
            return False
        self.advance(due_ms - self._elapsed_ms)
        return True

    def next_due_ms(self) -> float | None:
        """When, in `monotonic_ms`, the next pending timer is due; None: no timer."""
        while self._timers and self._timers[0].call is None:
            heapq.heappop(self._timers)
        return self._timers[0].due_ms if self._timers else None

    def jump(self, ms: int) -> None:
        """Move the wall clock alone, as an operator or NTP would; no timer runs."""
        self._start_ms += ms

    @property
    def pending(self) -> int:
        """Timers neither run nor cancelled."""
        return sum(timer.call is not None for timer in self._timers)

    def _run(self, timer: FakeTimer) -> None:
        call, timer.call = timer.call, None
        if call is None:
            return
        self._elapsed_ms = max(self._elapsed_ms, timer.due_ms)
        call()


class FakeBackground:
    """The `Background` seam: work runs at once, or, with `queued=True`, when `run_next` or `run_all` says so."""

    def __init__(self, *, queued: bool = False) -> None:
        self.queued = queued
        self._queue: deque[Callable[[], None]] = deque()

    @property
    def pending(self) -> int:
        """Pieces of work not yet run."""
        return len(self._queue)

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """Run `work` now or queue it; what it returns or raises settles the promise."""
        promise: Promise[T] = Promise()

        def perform() -> None:
            try:
                value = work()
            except Exception as error:
                promise.fail(error)
            else:
                promise.resolve(value)

        if self.queued:
            self._queue.append(perform)
        else:
            perform()
        return promise

    def run_next(self) -> bool:
        """Run the oldest queued piece; False where there is none."""
        if not self._queue:
            return False
        self._queue.popleft()()
        return True

    def run_all(self) -> None:
        """Run all queued work, and what it queues in turn."""
        while self.run_next():
            pass


class SeededRandom(random.Random):
    """The `Random` seam with a seed that a failing test can print."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.seed_used = seed
