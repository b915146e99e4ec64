"""The partitions that this broker hosts: online ones, and those whose log dir has failed.

| state | how it comes | what clients are told |
|---|---|---|
| online | the first LeaderAndIsr | by its role |
| offline | its log dir failed, or its log could not be created | KAFKA_STORAGE_ERROR |
| not hosted, but in the metadata cache | moved to other brokers | NOT_LEADER_OR_FOLLOWER: look for it again |
| not hosted, not known | never was, or is deleted | UNKNOWN_TOPIC_OR_PARTITION |

Mirrors ReplicaManager.allPartitions and HostedPartition; facts/coordination.md 4.9.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.metadata_cache import MetadataCache


class HostedPartitions:
    """Invariant: a partition is not both online and offline."""

    def __init__(self, metadata_cache: MetadataCache) -> None:
        self._metadata_cache = metadata_cache
        self.online: dict[TopicPartition, Partition] = {}
        self.offline: set[TopicPartition] = set()

    def get(self, topic_partition: TopicPartition) -> Partition:
        """An online partition. Raises KAFKA_STORAGE_ERROR, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION."""
        partition = self.online.get(topic_partition)
        if partition is not None:
            return partition
        if topic_partition in self.offline:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"Partition {topic_partition} is in an offline log directory")
        known = self._metadata_cache.contains(topic_partition)
        raise KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Error while fetching partition state for {topic_partition}"
        )

    def add(self, partition: Partition) -> None:
        """Host a partition."""
        self.online[partition.topic_partition] = partition
        self.offline.discard(partition.topic_partition)

    def remove(self, topic_partition: TopicPartition) -> Partition | None:
        """Host it no more."""
        self.offline.discard(topic_partition)
        return self.online.pop(topic_partition, None)

    def mark_offline(self, topic_partition: TopicPartition) -> None:
        """Its log dir has failed."""
        self.online.pop(topic_partition, None)
        self.offline.add(topic_partition)

    def leaders(self) -> Iterable[Partition]:
        """Those that this broker leads."""
        return (partition for partition in self.online.values() if partition.is_leader)
