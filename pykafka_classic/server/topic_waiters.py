"""Clients that wait until the metadata cache shows what they asked for (a topic with leaders, a topic gone, a new leader).

Mirrors kafka.server.{DelayedCreatePartitions, DelayedDeleteTopics} with the topic purgatory: the key is the topic, and every UpdateMetadata request checks
the topics that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pykafka_classic.common.promise import Promise
from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.purgatory.purgatory import Purgatory


class _DelayedTopicChange(DelayedOperation):
    """Waits for `done()`; its promise tells whether that came true before the time-out."""

    def __init__(self, delay_ms: float, done: Callable[[], bool]) -> None:
        super().__init__(delay_ms)
        self._done = done
        self.outcome: Promise[bool] = Promise()

    def try_complete(self) -> bool:
        """Complete once the condition holds."""
        return self._done() and self.force_complete()

    def on_complete(self) -> None:
        """Tell how it ended."""
        self.outcome.resolve(self._done())

    def on_expiration(self) -> None:
        """`on_complete` runs after this one and tells that the condition does not hold."""


class TopicWaiters:
    """The topic purgatory."""

    def __init__(self, purgatory: Purgatory) -> None:
        self._purgatory = purgatory

    def wait(self, topics: Iterable[str], done: Callable[[], bool], timeout_ms: float) -> Promise[bool]:
        """True as soon as `done()`, which is looked at whenever one of `topics` changes; False after `timeout_ms`."""
        operation = _DelayedTopicChange(timeout_ms, done)
        self._purgatory.try_complete_else_watch(operation, list(topics))
        return operation.outcome

    def topics_changed(self, topics: Iterable[str]) -> None:
        """Look again at those who wait for one of these."""
        for topic in topics:
            self._purgatory.check_and_complete(topic)
