"""A Produce with acks=all that waits until the high watermark has passed its records.

Mirrors kafka.server.DelayedProduce; facts/coordination.md 4.8. Whatever the outcome, the records stay in the leader's log.
"""

from __future__ import annotations

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.append_values import PartitionAppendResult
from pykafka_classic.server.delayed_partitions import DelayedPartitions


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


class DelayedProduce(DelayedPartitions[PartitionAppendResult]):
    """What is required of a partition is a high watermark."""

    __slots__ = ()

    def verdict(self, topic_partition: TopicPartition, required: int, result: PartitionAppendResult) -> ErrorCode | None:
        """As `replication_verdict`."""
        del result
        try:
            return replication_verdict(self._hosted.get(topic_partition), required)
        except KafkaError as error:
            return error.code
