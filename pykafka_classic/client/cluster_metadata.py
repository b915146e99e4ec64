"""What a client knows of the cluster: brokers, topics, who leads what. Values; `cluster_client` keeps the newest.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/{Metadata,MetadataCache}.java.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.metadata import MetadataResponse, MetadataResponsePartition

NO_LEADER = -1
NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """One partition."""

    partition: int
    leader: int  # -1: none
    leader_epoch: int  # -1: not known
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One topic; `partitions` by number, empty where `error` says why."""

    name: str
    error: ErrorCode
    is_internal: bool
    partitions: Mapping[int, PartitionInfo]

    @property
    def partition_count(self) -> int:
        """How many there are."""
        return len(self.partitions)


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    """One answer to a Metadata request, joined with what was known before."""

    brokers: Mapping[int, Node] = field(default_factory=dict)
    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    cluster_id: str | None = None
    controller_id: int = -1

    def partition(self, partition: TopicPartition) -> PartitionInfo | None:
        """What is known of a partition."""
        topic = self.topics.get(partition.topic)
        return topic.partitions.get(partition.partition) if topic is not None else None

    def leader_of(self, partition: TopicPartition) -> int | None:
        """The id of a leader that is alive; None where there is none, or it is not known."""
        info = self.partition(partition)
        return info.leader if info is not None and info.leader in self.brokers else None

    def updated(self, response: MetadataResponse, *, is_all: bool) -> ClusterMetadata:
        """With a new answer; topics that it does not name stay as they were, unless it names all there are."""
        topics = {} if is_all else dict(self.topics)
        for each in response.topics:
            partitions = {}
            if each.error_code == ErrorCode.NONE:
                for one in each.partitions:
                    partitions[one.partition_index] = self._newer(TopicPartition(each.name, one.partition_index), one)
            topics[each.name] = TopicInfo(each.name, ErrorCode(each.error_code), each.is_internal, partitions)
        brokers = {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in response.brokers}
        return ClusterMetadata(brokers, topics, response.cluster_id, response.controller_id)

    def _newer(self, name: TopicPartition, told: MetadataResponsePartition) -> PartitionInfo:
        """KIP-320: a broker that lags behind may tell of an older leader than is known already."""
        known = self.partition(name)
        if known is not None and NO_EPOCH < told.leader_epoch < known.leader_epoch:
            return known
        return PartitionInfo(
            told.partition_index, told.leader_id, told.leader_epoch, tuple(told.replica_nodes), tuple(told.isr_nodes), tuple(told.offline_replicas)
        )
