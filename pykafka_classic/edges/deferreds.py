"""A promise as Twisted's users know it."""

from __future__ import annotations

from typing import TypeVar

from twisted.internet.defer import Deferred

from pykafka_classic.common.promise import Promise

T = TypeVar("T")


def as_deferred(promise: Promise[T]) -> Deferred[T]:
    """A Deferred that fires as the promise settles. Cancelling it stops the waiting, not the work."""
    deferred: Deferred[T] = Deferred()

    def settled(_: Promise[T]) -> None:
        if deferred.called:
            return  # cancelled
        error = promise.error()
        if error is not None:
            deferred.errback(error)
        else:
            deferred.callback(promise.result())

    promise.when_settled(settled)
    return deferred
