"""Calls of one consumer's user to its core, during which the core may call back: rebalance callbacks run in the user's thread, while that waits."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from pykafka_classic.client.client_errors import IllegalState
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.client_thread import ClientThread
from pykafka_classic.edges.clients.told_listener import Told, ToldListener
from pykafka_classic.edges.signals import NOTICED_S

T = TypeVar("T")


class _Callback:
    """One call of a user's function, which a rebalance waits for."""

    def __init__(self, call: Callable[[], None], settle: Callable[[Exception | None], None]) -> None:
        self._call = call
        self._settle = settle
        self._begun = False

    def run(self) -> None:
        """Once. The rebalance goes on whatever comes of it, also a Ctrl-C in its midst."""
        if self._begun:
            return
        error = None
        try:
            self._begun = True
            self._call()
        except Exception as raised:  # noqa: BLE001  # poll raises it again, when the rebalance is through
            error = raised
        finally:
            self._settle(error)


class UserCalls:
    """See the module."""

    def __init__(self, thread: ClientThread) -> None:
        self._thread = thread
        self._callbacks: deque[_Callback] = deque()
        self._bell: SimpleQueue[None] = SimpleQueue()  # rung when there is something to look at; a lost sound costs `NOTICED_S`
        self._user: int | None = None  # the thread that is inside a call
        self._depth = 0

    def listener(self, told: Mapping[str, Told | None]) -> Listener:
        """One that calls these, by the names assigned, revoked and lost."""
        return Listener(self._thread, self._callbacks, self._bell, told)

    def call(self, begin: Callable[[], Promise[T]], *, interrupt: Callable[[], None] | None = None) -> T:
        """Begin something on the client thread, run callbacks meanwhile, wait for its outcome; `interrupt` (there) ends it when the wait is broken off."""
        me = threading.get_ident()
        if self._user not in (None, me):
            raise IllegalState("a consumer is for one thread; another one is inside a call of it")
        if self._depth:
            return self._thread.call(begin)  # out of a callback: those to come must not run inside this one
        self._user, self._depth = me, 1
        try:
            return self._wait_for(begin, interrupt)
        finally:
            self._user, self._depth = None, 0

    def _wait_for(self, begin: Callable[[], Promise[T]], interrupt: Callable[[], None] | None) -> T:
        outcome: list[Promise[T]] = []

        def settled(promise: Promise[T]) -> None:
            promise.error()
            outcome.append(promise)
            self._bell.put(None)

        def start() -> None:
            try:
                promise = begin()
            except Exception as error:  # noqa: BLE001  # it belongs to who waits
                promise = Promise.failed(error)
            promise.when_settled(settled)

        self._thread.call_soon(start)
        try:
            self._wait(outcome)
        except BaseException:
            if interrupt is not None:
                self._thread.call_soon(interrupt)
                self._wait(outcome)
            raise
        return outcome[0].result()

    def _wait(self, outcome: Sequence[object]) -> None:
        """Run callbacks until there is an outcome. Ctrl-C may break it off between any two steps: what is still to do then stands there as before."""
        while True:
            if self._callbacks:
                self._callbacks[0].run()
                self._callbacks.popleft()
            elif outcome:
                return
            else:
                with contextlib.suppress(Empty):
                    self._bell.get(timeout=NOTICED_S)


class Listener(ToldListener):
    """Hands callbacks to the user's thread."""

    def __init__(self, thread: ClientThread, callbacks: deque[_Callback], bell: SimpleQueue[None], told: Mapping[str, Told | None]) -> None:
        super().__init__(told)
        self._thread = thread
        self._callbacks = callbacks
        self._bell = bell

    def call(self, told: Told, partitions: tuple[TopicPartition, ...]) -> Promise[None]:
        """During the call that the user's thread waits in."""
        done = Promise[None]()

        def settle(error: Exception | None) -> None:
            if error is not None:
                self._thread.call_soon(done.fail, error)
            else:
                self._thread.call_soon(done.resolve, None)

        self._callbacks.append(_Callback(lambda: told(partitions), settle))
        self._bell.put(None)
        return done
