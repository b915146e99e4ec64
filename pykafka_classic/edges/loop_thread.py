"""A thread that runs one `QueueLoop`: for a member of a group of ZooKeeper's era, whose watches must be heard whatever its user does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.blocking_zookeeper import QueueLoop
from pykafka_classic.edges.signals import signals_held_back
from pykafka_classic.edges.waiting import begin_on

T = TypeVar("T")


class LoopThread:
    """Runs from `start` until `end`."""

    def __init__(self, name: str) -> None:
        self.loop = QueueLoop()
        self._ended = False
        self._thread = threading.Thread(target=self.loop.run_until, args=(lambda: self._ended,), name=name, daemon=True)

    def start(self) -> None:
        """Begin to run what is called."""
        with signals_held_back():
            self._thread.start()

    def call(self, begin: Callable[[], Promise[T]], *, timeout_s: float | None = None) -> T:
        """Begin something on the thread, and wait for its outcome. TimeoutError where that does not come in time."""
        return begin_on(self.loop.callFromThread, begin).result(timeout_s)

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ended

    def end(self, *, timeout_s: float | None = None) -> None:
        """Run what was called before, then no more; wait for that."""
        self.loop.callFromThread(self._end)
        self._thread.join(timeout_s)

    def _end(self) -> None:
        self._ended = True
