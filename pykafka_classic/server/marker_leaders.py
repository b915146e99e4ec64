"""Who leads the partitions that a transaction's markers go to, as this broker's metadata cache knows."""

from __future__ import annotations

from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.metadata_cache import MetadataCache


class MarkerLeaders:
    """Implements the transaction coordinator's `Leaders` seam, at the brokers' listener."""

    def __init__(self, metadata_cache: MetadataCache, listener: str) -> None:
        self._metadata_cache = metadata_cache
        self._listener = listener

    def exists(self, topic_partition: TopicPartition) -> bool:
        """Whether the cache has the partition: it is not deleted."""
        return self._metadata_cache.contains(topic_partition)

    def leader(self, topic_partition: TopicPartition) -> Node | None:
        """The leader's address, where one is alive."""
        return self._metadata_cache.leader_node(topic_partition.topic, topic_partition.partition, self._listener)
