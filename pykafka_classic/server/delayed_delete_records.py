"""A DeleteRecords that waits until the records are gone from all live replicas.

Mirrors kafka.server.DelayedDeleteRecords; facts/storage.md 12. Followers learn the leader's log start with their next fetch, and tell theirs with the one
after it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.server.append_values import DeleteRecordsResult
from pykafka_classic.server.hosted_partitions import HostedPartitions


class DelayedDeleteRecords(DelayedOperation):
    """Invariant: `_required` holds the partitions without a verdict; their results say REQUEST_TIMED_OUT."""

    __slots__ = ("_hosted", "_required", "_results", "outcome")

    def __init__(
        self, timeout_ms: float, hosted: HostedPartitions, required: Mapping[TopicPartition, int], results: dict[TopicPartition, DeleteRecordsResult]
    ) -> None:
        super().__init__(timeout_ms)
        self._hosted = hosted
        self._required = dict(required)  # partition -> the offset that the low watermark must reach
        self._results = results
        self.outcome: Promise[dict[TopicPartition, DeleteRecordsResult]] = Promise()
        for topic_partition in required:
            results[topic_partition].error = ErrorCode.REQUEST_TIMED_OUT

    def try_complete(self) -> bool:
        """Look at all partitions without a verdict."""
        for topic_partition in list(self._required):
            self._look_at(topic_partition)
        return not self._required and self.force_complete()

    def _look_at(self, topic_partition: TopicPartition) -> None:
        result = self._results[topic_partition]
        try:
            result.low_watermark = self._hosted.get(topic_partition).low_watermark()
        except KafkaError as error:
            result.error = error.code
            del self._required[topic_partition]
            return
        if result.low_watermark >= self._required[topic_partition]:
            result.error = ErrorCode.NONE
            del self._required[topic_partition]

    def on_complete(self) -> None:
        """Answer."""
        self.outcome.resolve(self._results)
