"""Calls of one consumer's user to its core, during which the core may call back: rebalance callbacks run in the user's thread, while that waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar

from pykafka_classic.client.client_errors import IllegalState
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clients.client_thread import ClientThread
from pykafka_classic.edges.clients.told_listener import Told, ToldListener
from pykafka_classic.edges.signals import NOTICED_S

T = TypeVar("T")

Step: TypeAlias = Callable[[], bool]  # what the client thread has for the user's thread: a callback, or the end of the call; says whether it is the end


class UserCalls:
    """See the module."""

    def __init__(self, thread: ClientThread) -> None:
        self._thread = thread
        self._queue: SimpleQueue[Step] = SimpleQueue()
        self._user: int | None = None  # the thread that is inside a call
        self._depth = 0
        self._outcome: object = None

    def listener(self, told: Mapping[str, Told | None]) -> Listener:
        """One that calls these, by the names assigned, revoked and lost."""
        return Listener(self._thread, self._queue, told)

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
        self._outcome = outcome

        def ended() -> bool:
            return self._outcome is outcome  # not that of an earlier call, which was broken off

        def settled(promise: Promise[T]) -> None:
            promise.error()
            outcome.append(promise)
            self._queue.put(ended)

        def start() -> None:
            try:
                promise = begin()
            except Exception as error:  # noqa: BLE001  # it belongs to who waits
                promise = Promise.failed(error)
            promise.when_settled(settled)

        self._thread.call_soon(start)
        try:
            self._wait()
        except BaseException:
            if interrupt is not None:
                self._thread.call_soon(interrupt)
                self._wait()
            raise
        return outcome[0].result()

    def _wait(self) -> None:
        """Run callbacks until the call has ended."""
        ended = False
        while not ended:
            try:
                step = self._queue.get(timeout=NOTICED_S)
            except Empty:
                continue
            ended = step()


class Listener(ToldListener):
    """Hands callbacks to the user's thread."""

    def __init__(self, thread: ClientThread, queue: SimpleQueue[Step], told: Mapping[str, Told | None]) -> None:
        super().__init__(told)
        self._thread = thread
        self._queue = queue

    def call(self, told: Told, partitions: tuple[TopicPartition, ...]) -> Promise[None]:
        """During the call that the user's thread waits in."""
        done = Promise[None]()

        def run() -> bool:
            try:
                told(partitions)
            except Exception as error:  # noqa: BLE001  # poll raises it again, when the rebalance is through
                self._thread.call_soon(done.fail, error)
            else:
                self._thread.call_soon(done.resolve, None)
            return False

        self._queue.put(run)
        return done
