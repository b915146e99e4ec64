"""`__consumer_offsets` and `__transaction_state` as their coordinators need them, over the replica manager."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.internal_topic import Appended
from pykafka_classic.log.log import Log
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.replica_manager import ReplicaManager


class ReplicatedTopic:
    """Implements the coordinators' `InternalTopic` seam.

    Attributes:
        stored_partition_count: from the topic's znode at start; None while the topic does not exist. It may not change while the cluster runs: groups would
            move.
    """

    def __init__(self, name: str, planned_partition_count: int, replica_manager: ReplicaManager, metadata_cache: MetadataCache) -> None:
        self.name = name
        self.stored_partition_count: int | None = None
        self._planned_partition_count = planned_partition_count
        self._replica_manager = replica_manager
        self._metadata_cache = metadata_cache

    def partition_count(self) -> int:
        """Of the topic as it is; before its creation, what the config will give it."""
        if self.stored_partition_count is None:
            self.stored_partition_count = self._metadata_cache.partition_count(self.name) or None
        return self.stored_partition_count or self._planned_partition_count

    def log(self, partition: int) -> Log | None:
        """The local log."""
        return self._replica_manager.local_log(TopicPartition(self.name, partition))

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        """Append as the coordinator; settled when `required_acks` is met."""
        topic_partition = TopicPartition(self.name, partition)
        return self._replica_manager.append_as_coordinator(topic_partition, records, required_acks=required_acks, timeout_ms=timeout_ms).then(
            lambda outcome: Appended(ErrorCode(outcome.error), outcome.base_offset)
        )
