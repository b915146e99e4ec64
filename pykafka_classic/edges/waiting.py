"""To wait, on one thread, for a promise that another thread makes and settles."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.signals import NOTICED_S

T = TypeVar("T")


class Waiting(Generic[T]):
    """A promise of the other thread, to wait for."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._promise: Promise[T] | None = None

    def settle(self, promise: Promise[T]) -> None:
        """On the other thread: it is there."""
        promise.error()  # looked at, even if nobody waits any more
        self._promise = promise
        self._done.set()

    def result(self, timeout_s: float | None = None) -> T:
        """What it holds. TimeoutError where it is not there in time."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._done.wait(NOTICED_S if deadline is None else min(NOTICED_S, max(deadline - time.monotonic(), 0))):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError
        assert self._promise is not None
        return self._promise.result()


def begin_on(call_soon: Callable[[Callable[[], None]], Any], begin: Callable[[], Promise[T]]) -> Waiting[T]:
    """Begin something on the thread that `call_soon` reaches; an exception of `begin` is its outcome."""
    waiting: Waiting[T] = Waiting()

    def run() -> None:
        try:
            promise = begin()
        except Exception as error:  # noqa: BLE001  # it belongs to who waits
            promise = Promise.failed(error)
        promise.when_settled(waiting.settle)

    call_soon(run)
    return waiting
