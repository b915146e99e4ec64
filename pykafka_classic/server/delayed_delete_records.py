"""A DeleteRecords that waits until the records are gone from all live replicas.

Mirrors kafka.server.DelayedDeleteRecords; facts/storage.md 12. Followers learn the leader's log start with their next fetch, and tell theirs with the one
after it.
"""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.append_values import DeleteRecordsResult
from pykafka_classic.server.delayed_partitions import DelayedPartitions


class DelayedDeleteRecords(DelayedPartitions[DeleteRecordsResult]):
    """What is required of a partition is a low watermark."""

    __slots__ = ()

    def verdict(self, topic_partition: TopicPartition, required: int, result: DeleteRecordsResult) -> ErrorCode | None:
        """None while some live replica still has older records; the answer tells how far they are, either way."""
        try:
            result.low_watermark = self._hosted.get(topic_partition).low_watermark()
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE if result.low_watermark >= required else None
