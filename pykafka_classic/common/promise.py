"""A value that is not there yet: the one notion of "later" below the edges.

Deciders run on one thread and never block. Where Kafka's broker parks a thread on a lock or a future, ours hands out a `Promise` and goes on. A promise is
settled once, with a value or with an exception; its callbacks run at once, in the order in which they were added, on the thread that settles it (there is
only one).

A coroutine (`async def`) may `await` a promise; `spawn` runs it up to its first unsettled promise and again whenever that one settles. There is no scheduler,
no queue and no clock in here: what runs next is decided by whoever settles a promise, which is what lets a whole cluster run under a seed in the simulation.

Differs from `twisted.internet.defer.Deferred`: a callback cannot change the value for those after it, and nothing in here knows a reactor.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")

log = logging.getLogger(__name__)


class Promise(Generic[T]):
    """One settled-once result.

    Invariant: `_callbacks` is empty once the promise is settled.
    """

    __slots__ = ("_callbacks", "_error", "_observed", "_settled", "_value")

    def __init__(self) -> None:
        self._settled = False
        self._value: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Promise[T]], None]] = []
        self._observed = False

    @staticmethod
    def resolved(value: U) -> Promise[U]:
        """A promise that already holds `value`."""
        promise: Promise[U] = Promise()
        promise.resolve(value)
        return promise

    @staticmethod
    def failed(error: BaseException) -> Promise[Any]:
        """A promise that already failed with `error`."""
        promise: Promise[Any] = Promise()
        promise.fail(error)
        return promise

    @property
    def settled(self) -> bool:
        """True once `resolve` or `fail` has been called."""
        return self._settled

    def resolve(self, value: T) -> None:
        """Settle with a value. Settling twice is a bug."""
        assert not self._settled, "a promise is settled once"
        self._settled, self._value = True, value
        self._run_callbacks()

    def fail(self, error: BaseException) -> None:
        """Settle with an exception. Settling twice is a bug."""
        assert not self._settled, "a promise is settled once"
        self._settled, self._error = True, error
        self._run_callbacks()

    def result(self) -> T:
        """The value, or the exception raised. Only for a settled promise."""
        assert self._settled, "not settled yet"
        self._observed = True
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]  # T may itself be None

    def error(self) -> BaseException | None:
        """The exception of a failed promise, else None. Only for a settled promise."""
        assert self._settled, "not settled yet"
        self._observed = True
        return self._error

    def when_settled(self, callback: Callable[[Promise[T]], None]) -> None:
        """Call back with this promise once it is settled: now, if it is."""
        self._observed = True
        if self._settled:
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, on_value: Callable[[T], U]) -> Promise[U]:
        """A promise of `on_value(value)`; a failure passes through."""
        following: Promise[U] = Promise()

        def follow(settled: Promise[T]) -> None:
            try:
                value = on_value(settled.result())
            except Exception as error:
                following.fail(error)
            else:
                following.resolve(value)

        self.when_settled(follow)
        return following

    def __await__(self) -> Generator[Promise[T], None, T]:
        if not self._settled:
            yield self
        return self.result()

    def _run_callbacks(self) -> None:
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def __del__(self) -> None:
        if self._error is not None and not self._observed:
            log.error("A failure that nobody looked at", exc_info=self._error)


class _Run(Generic[T]):
    """A coroutine under way. Not a closure that names itself: that would be a cycle, and keep all that the outcome holds until the collector comes."""

    __slots__ = ("_coroutine", "outcome")

    def __init__(self, coroutine: Coroutine[Promise[Any], None, T]) -> None:
        self._coroutine = coroutine
        self.outcome: Promise[T] = Promise()

    def advance(self, _: Promise[Any] | None = None) -> None:
        """To the next unsettled promise, or to the end."""
        # Promises that are settled already never get here: __await__ does not yield them. So the depth of the stack does not grow with the number of awaits.
        try:
            awaited = self._coroutine.send(None)
        except StopIteration as stop:
            self.outcome.resolve(stop.value)
        except Exception as error:
            self.outcome.fail(error)
        else:
            awaited.when_settled(self.advance)


def spawn(coroutine: Coroutine[Promise[Any], None, T]) -> Promise[T]:
    """Run a coroutine whose awaits are promises; its outcome becomes the returned promise."""
    run = _Run(coroutine)
    run.advance()
    return run.outcome


def failure_told(tell: Callable[[str, BaseException], None], text: str) -> Callable[[Promise[Any]], None]:
    """For `when_settled`: what to do with a failure that only a log is to know of, as in `failure_told(log.warning, "Auto-commit failed: %s")`."""

    def settled(outcome: Promise[Any]) -> None:
        error = outcome.error()
        if error is not None:
            tell(text, error)

    return settled


def bug_told(logger: logging.Logger, text: str) -> Callable[[Promise[Any]], None]:
    """For `when_settled`: a failure is a bug, and its traceback belongs into the log."""
    return failure_told(lambda text, error: logger.error(text, exc_info=error), text)


def gather(promises: Sequence[Promise[T]]) -> Promise[list[T]]:
    """All values in order, or the first failure once all are settled."""
    together: Promise[list[T]] = Promise()
    missing = len(promises)
    if not missing:
        together.resolve([])

    def count_down(_: Promise[T]) -> None:
        nonlocal missing
        missing -= 1
        if missing:
            return
        failure = next((error for error in (promise.error() for promise in promises) if error is not None), None)
        if failure is not None:
            together.fail(failure)
        else:
            together.resolve([promise.result() for promise in promises])

    for promise in promises:
        promise.when_settled(count_down)
    return together
