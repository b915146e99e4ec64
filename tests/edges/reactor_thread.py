"""A real reactor for the tests of the edges: it runs in a thread of its own, since a reactor cannot be started twice in one process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.broker_reactor import make_broker_reactor

T = TypeVar("T")

DEADLINE_S: Final = 20.0


class ReactorThread:
    """One reactor in one daemon thread; `call` and `wait` bring things over."""

    def __init__(self) -> None:
        self.reactor = make_broker_reactor()
        self._thread = threading.Thread(target=lambda: self.reactor.run(installSignalHandlers=False), name="test-reactor", daemon=True)
        self._thread.start()

    def call(self, work: Callable[[], T]) -> T:
        """The result of `work`, run on the reactor thread."""
        return self.wait(lambda: Promise.resolved(work()))

    def wait(self, start: Callable[[], Promise[T]], *, seconds: float = DEADLINE_S) -> T:
        """The outcome of the promise that `start`, run on the reactor thread, returns."""
        done = threading.Event()
        outcome: list[Promise[Any]] = []

        def settled(promise: Promise[Any]) -> None:
            outcome.append(promise)
            done.set()

        def begin() -> None:
            try:
                promise = start()
            except BaseException as error:  # raised again in the test's thread
                promise = Promise.failed(error)
            promise.when_settled(settled)

        self.reactor.callFromThread(begin)
        if not done.wait(seconds):
            raise TimeoutError(f"not settled within {seconds} s")
        result: T = outcome[0].result()
        return result

    def stop(self) -> None:
        """Stop the reactor and its threads."""
        self.reactor.callFromThread(self.reactor.stop)
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), "the reactor did not stop"
