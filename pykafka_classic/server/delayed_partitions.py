"""A request about several partitions that waits until each has its verdict.

Mirrors what kafka.server.DelayedProduce and DelayedDeleteRecords have in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Generic, Protocol, TypeVar

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.server.hosted_partitions import HostedPartitions


class WithError(Protocol):
    """What is known of a partition."""

    error: ErrorCode


R = TypeVar("R", bound=WithError)


class DelayedPartitions(DelayedOperation, Generic[R]):
    """Invariant: `_required` holds the partitions without a verdict; their results say REQUEST_TIMED_OUT, which is what stands if the time ends."""

    __slots__ = ("_hosted", "_required", "_results", "outcome")

    def __init__(self, timeout_ms: float, hosted: HostedPartitions, required: Mapping[TopicPartition, int], results: dict[TopicPartition, R]) -> None:
        super().__init__(timeout_ms)
        self._hosted = hosted
        self._required = dict(required)  # partition -> the offset that it must reach
        self._results = results
        self.outcome: Promise[dict[TopicPartition, R]] = Promise()
        for topic_partition in required:
            results[topic_partition].error = ErrorCode.REQUEST_TIMED_OUT

    def verdict(self, topic_partition: TopicPartition, required: int, result: R) -> ErrorCode | None:
        """None while the partition has not reached `required`; then NONE, or what is wrong."""
        raise NotImplementedError

    def try_complete(self) -> bool:
        """Look at all partitions without a verdict."""
        for topic_partition in list(self._required):
            self._look_at(topic_partition)
        return not self._required and self.force_complete()

    def try_complete_key(self, key: Hashable) -> bool:
        """Only this partition has changed."""
        if key in self._required and isinstance(key, TopicPartition):
            self._look_at(key)
        return not self._required and self.force_complete()

    def _look_at(self, topic_partition: TopicPartition) -> None:
        result = self._results[topic_partition]
        verdict = self.verdict(topic_partition, self._required[topic_partition], result)
        if verdict is not None:
            result.error = verdict
            del self._required[topic_partition]

    def on_complete(self) -> None:
        """Answer."""
        self.outcome.resolve(self._results)
