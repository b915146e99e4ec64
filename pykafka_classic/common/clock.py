"""The seam to time: what the deciders know of clocks and timers.

Real: `edges/clocks.py` (the reactor's). In tests: `FakeClock`, which moves only by `advance`. All units are milliseconds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, TypeVar

from pykafka_classic.common.promise import Promise

T = TypeVar("T")

log = logging.getLogger(__name__)


class Timer(Protocol):
    """One pending call."""

    def cancel(self) -> None:
        """Forget the call; does nothing where it has run or was cancelled before."""
        ...


class Clock(Protocol):
    """What time it is, and a way to be called later on the deciders' thread."""

    def now_ms(self) -> int:
        """Wall-clock time since the epoch; it may jump. For what is stored or sent."""
        ...

    def monotonic_ms(self) -> float:
        """Time that never goes back, from an arbitrary start. For durations: lag, time-outs."""
        ...

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Timer:
        """Call once, `delay_ms` from now (at the earliest)."""
        ...


class Random(Protocol):
    """The seam to chance; `random.Random` satisfies it."""

    def randrange(self, stop: int, /) -> int:
        """An integer in [0, stop)."""
        ...

    def getrandbits(self, k: int, /) -> int:
        """k random bits."""
        ...


class Background(Protocol):
    """The seam to other threads: work that would block the reactor (sync, recovery, big compression)."""

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """Run `work` off the deciders' thread; the promise settles on the deciders' thread."""
        ...


def after(clock: Clock, delay_ms: float) -> Promise[None]:
    """A promise that is kept `delay_ms` from now."""
    promise: Promise[None] = Promise()
    clock.call_later(delay_ms, lambda: promise.resolve(None))
    return promise


def within(clock: Clock, promise: Promise[T], limit_ms: float) -> Promise[T | None]:
    """What `promise` brings if it is settled in time, else None; what it stands for goes on, and a failure that comes too late is logged."""
    outcome: Promise[T | None] = Promise()
    timer = clock.call_later(limit_ms, lambda: outcome.resolve(None))

    def settled(_: Promise[T]) -> None:
        error = promise.error()
        if outcome.settled:
            if error is not None:
                log.error("A failure that came after its time limit of %d ms", limit_ms, exc_info=error)
            return
        timer.cancel()
        if error is not None:
            outcome.fail(error)
        else:
            outcome.resolve(promise.result())

    promise.when_settled(settled)
    return outcome
