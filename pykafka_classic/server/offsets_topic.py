"""`__consumer_offsets` as the group coordinator needs it, over the replica manager."""

from __future__ import annotations

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_store import Appended
from pykafka_classic.log.log import Log
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.replica_manager import ReplicaManager


class ReplicatedOffsetsTopic:
    """Implements the coordinator's `OffsetsTopic` seam.

    `stored_partition_count`: from the topic's znode at start; None while the topic does not exist. It may not change while the cluster runs: groups would move.
    """

    def __init__(self, config: KafkaConfig, replica_manager: ReplicaManager, metadata_cache: MetadataCache) -> None:
        self.stored_partition_count: int | None = None
        self._config = config
        self._replica_manager = replica_manager
        self._metadata_cache = metadata_cache

    def partition_count(self) -> int:
        """Of the topic as it is; before its creation, what the config will give it."""
        if self.stored_partition_count is None:
            self.stored_partition_count = self._metadata_cache.partition_count(GROUP_METADATA_TOPIC) or None
        return self.stored_partition_count or self._config.offsets_topic_num_partitions

    def log(self, partition: int) -> Log | None:
        """The local log."""
        return self._replica_manager.local_log(TopicPartition(GROUP_METADATA_TOPIC, partition))

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        """Append as the coordinator; settled when `required_acks` is met."""
        topic_partition = TopicPartition(GROUP_METADATA_TOPIC, partition)
        return self._replica_manager.append_as_coordinator(topic_partition, records, required_acks=required_acks, timeout_ms=timeout_ms).then(
            lambda outcome: Appended(ErrorCode(outcome.error), outcome.base_offset)
        )
