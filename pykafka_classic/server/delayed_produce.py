"""A Produce with acks=all that waits until the high watermark has passed its records.

Mirrors kafka.server.DelayedProduce; facts/coordination.md 4.8. Whatever the outcome, the records stay in the leader's log.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.server.append_values import PartitionAppendResult
from pykafka_classic.server.hosted_partitions import HostedPartitions


def replication_verdict(partition: Partition, required_offset: int) -> ErrorCode | None:
    """None while the in-sync replicas have not all got everything below `required_offset`; then NONE, or what is wrong.

    The maximal ISR decides whether they are enough: the leader may not count on a shrink that the controller has not confirmed.
    """
    leader_log = partition.leader_log
    if leader_log is None:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if leader_log.high_watermark < required_offset:
        return None
    enough = len(partition.in_sync.state.maximal_isr) >= leader_log.config.min_insync_replicas
    return ErrorCode.NONE if enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


class DelayedProduce(DelayedOperation):
    """Invariant: `_required` holds the partitions without a verdict; their results say REQUEST_TIMED_OUT, which is what stands if the time ends."""

    __slots__ = ("_hosted", "_required", "_results", "outcome")

    def __init__(
        self, timeout_ms: float, hosted: HostedPartitions, required: Mapping[TopicPartition, int], results: dict[TopicPartition, PartitionAppendResult]
    ) -> None:
        super().__init__(timeout_ms)
        self._hosted = hosted
        self._required = dict(required)  # partition -> the offset that the high watermark must reach
        self._results = results
        self.outcome: Promise[dict[TopicPartition, PartitionAppendResult]] = Promise()
        for topic_partition in required:
            results[topic_partition].error = ErrorCode.REQUEST_TIMED_OUT

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
        try:
            verdict = replication_verdict(self._hosted.get(topic_partition), self._required[topic_partition])
        except KafkaError as error:
            verdict = error.code
        if verdict is not None:
            self._results[topic_partition].error = verdict
            del self._required[topic_partition]

    def on_complete(self) -> None:
        """Answer."""
        self.outcome.resolve(self._results)
