"""What all fetchers of a broker have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.replication_quota import ReplicationQuota


@dataclass(frozen=True, slots=True)
class FetcherSettings:
    """What all fetchers of a broker share."""

    config: KafkaConfig
    hosted: HostedPartitions
    now_ms: Callable[[], float]  # monotonic
    failed_partitions: set[TopicPartition]  # not fetched until the next LeaderAndIsr
    quota: ReplicationQuota  # of throttled replicas that catch up

    @property
    def protocol(self) -> ApiVersion:
        """inter.broker.protocol.version."""
        return self.config.inter_broker_api_version
