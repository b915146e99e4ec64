"""ZooKeeper for tools, Spark's driver and scripts: the same adapter, on the caller's thread, which waits for each answer.

The adapter wants a loop that runs calls handed over by kazoo's thread. Here that loop is a queue which is worked off while somebody waits; between two waits
kazoo keeps the session alive by itself, and what it has to tell stays in the queue.
"""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Result, SessionEvent, WatchEvent
from pykafka_classic.edges.shell_requests import AnyRequest
from pykafka_classic.edges.signals import NOTICED_S, signals_held_back
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings

T = TypeVar("T")

MAX_IN_FLIGHT: Final = 50
CLOSE_S: Final = 2.0


class QueueTimer:
    """A call for later; implements `edges.reactor.DelayedCall`."""

    __slots__ = ("call", "cancelled")

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        """Forget it."""
        self.cancelled = True


class QueueLoop:
    """Implements `edges.reactor.ReactorLoop` without a reactor: calls run inside `run_until`, on the thread that calls it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any]] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, QueueTimer]] = []  # a heap by due time
        self._numbers = itertools.count()  # keeps timers of one time in order

    def callLater(self, delay: float, call: Callable[..., Any], /, *args: Any) -> QueueTimer:
        """Call once, `delay` seconds from now, if somebody waits then."""
        timer = QueueTimer(lambda: call(*args))
        heapq.heappush(self._timers, (time.monotonic() + delay, next(self._numbers), timer))
        return timer

    def callFromThread(self, call: Callable[..., Any], /, *args: Any) -> None:
        """From any thread."""
        self._calls.put(lambda: call(*args))

    def callInThread(self, call: Callable[..., Any], /, *args: Any) -> None:
        """In a thread of its own."""
        threading.Thread(target=call, args=args, daemon=True).start()

    def run_until(self, done: Callable[[], bool], *, seconds: float | None = None) -> bool:
        """Run calls and timers until `done()`; False where time is up before."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not done():
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return False
            self._run_one(now, deadline)
        return True

    def _run_one(self, now: float, deadline: float | None) -> None:
        if self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled:
                self._run(timer.call)
            return
        due = [time_s - now for time_s in (deadline, self._timers[0][0] if self._timers else None) if time_s is not None]
        try:
            call = self._calls.get(timeout=min([NOTICED_S, *due]))
        except queue.Empty:
            return
        self._run(call)

    @staticmethod
    def _run(call: Callable[[], Any]) -> None:
        with signals_held_back():  # Ctrl-C ends a wait, and leaves no call half done
            call()


class BlockingZooKeeper:
    """One session of a tool, begun by the constructor. Also a context manager. Raises ZooKeeperUnavailable where nobody answers in time."""

    def __init__(self, connect: str, *, session_timeout_ms: int = 30_000, connection_timeout_ms: int = 15_000, creates_chroot: bool = True) -> None:
        settings = ZooKeeperSettings(
            connect, session_timeout_ms, connection_timeout_ms, MAX_IN_FLIGHT, creates_chroot=creates_chroot, name="[ZooKeeperClient tool]"
        )
        self._loop = QueueLoop()
        self._events: deque[WatchEvent | SessionEvent] = deque()
        self.zk = KazooZooKeeper(settings, self._loop)
        self.zk.add_watch_listener(self._events.append)
        self.zk.add_session_listener(self._events.append)
        with signals_held_back():
            connected = self.zk.connect()
        self.wait(connected)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def wait(self, promise: Promise[T], *, seconds: float | None = None) -> T:
        """The outcome of a promise that the adapter settles. TimeoutError where it takes too long."""
        if not self._loop.run_until(lambda: promise.settled, seconds=seconds):
            raise TimeoutError(f"no answer from ZooKeeper within {seconds:g} s")
        return promise.result()

    def submit(self, *requests: AnyRequest) -> list[Result]:
        """Send all, pipelined, and wait for all answers."""
        return self.wait(self.zk.submit(requests))

    def one(self, request: AnyRequest) -> Result:
        """Send one and wait for its answer."""
        return self.submit(request)[0]

    def next_event(self, *, seconds: float | None = None) -> WatchEvent | SessionEvent | None:
        """The next watch or session event; None where none comes in time."""
        return self._events.popleft() if self._loop.run_until(lambda: bool(self._events), seconds=seconds) else None

    def close(self) -> None:
        """End the session; where ZooKeeper does not answer it ends by itself, when its time is up."""
        closed = self.zk.close()
        self._loop.run_until(lambda: closed.settled, seconds=CLOSE_S)
