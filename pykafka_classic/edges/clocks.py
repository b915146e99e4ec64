"""The reactor's clock and thread pool, behind the seams of `common/clock.py`.

Wall-clock time is read from the system at each call; durations come from the monotonic clock. Timers are the reactor's, which counts in wall-clock time: a jump
of the system clock moves pending timers by as much (Twisted knows no other), so what must not depend on it compares `monotonic_ms` when its timer fires.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from twisted.internet.error import AlreadyCalled, AlreadyCancelled

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.reactor import DelayedCall, ReactorLoop

T = TypeVar("T")

log = logging.getLogger("kafka.utils.KafkaScheduler")


class ReactorTimer:
    """One pending call of the reactor."""

    __slots__ = ("_call",)

    def __init__(self, call: DelayedCall) -> None:
        self._call = call

    def cancel(self) -> None:
        """Forget the call; does nothing where it has run or was cancelled before."""
        try:
            self._call.cancel()
        except (AlreadyCalled, AlreadyCancelled):
            return


class ReactorClock:
    """Implements `common.clock.Clock` over a Twisted reactor."""

    def __init__(self, reactor: ReactorLoop) -> None:
        self._reactor = reactor

    def now_ms(self) -> int:
        """Wall-clock milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        """Milliseconds that never go back."""
        return time.monotonic() * 1000

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> ReactorTimer:
        """Call once on the reactor thread; an exception in `call` is logged, not lost."""
        return ReactorTimer(self._reactor.callLater(max(0.0, delay_ms) / 1000, _logging_errors, call))


class ThreadPoolBackground:
    """Implements `common.clock.Background` with threads of its own (Kafka: `background.threads`): the reactor's pool, where names are resolved, stays free."""

    def __init__(self, reactor: ReactorLoop, *, threads: int = 10) -> None:
        self._reactor = reactor
        self._threads = threads
        self._pool = self._new_pool()

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=self._threads, thread_name_prefix="kafka-scheduler")

    def resize(self, threads: int) -> None:
        """That many threads from now on; what has been given to the old ones is done by them."""
        if threads != self._threads:
            old, self._threads = self._pool, threads
            self._pool = self._new_pool()
            old.shutdown(wait=False)

    def run(self, work: Callable[[], T]) -> Promise[T]:
        """Run `work` in a thread of the pool; the promise settles on the reactor thread."""
        promise: Promise[T] = Promise()
        self._pool.submit(settle_from_thread, self._reactor, promise, work)
        return promise

    def close(self) -> None:
        """Take no more work; what runs goes on, what has not begun is dropped. Does not wait."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def settle_from_thread(reactor: ReactorLoop, promise: Promise[T], work: Callable[[], T]) -> None:
    """Do `work` in this thread; the promise settles on the reactor's."""
    try:
        value = work()
    except BaseException as error:  # noqa: BLE001  # whatever it is belongs to who awaits the promise
        reactor.callFromThread(promise.fail, error)
    else:
        reactor.callFromThread(promise.resolve, value)


def _logging_errors(call: Callable[[], None]) -> None:
    try:
        call()
    except Exception:
        log.exception("Uncaught exception in scheduled task %r", call)
