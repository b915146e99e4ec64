"""What a handler can reach: the parts of one broker, wired by `kafka_server`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pykafka_classic.common.clock import Background, Clock
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.controller.controller import KafkaController
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.coordinator.transaction.service import TransactionService
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.server.auto_topic_creation import AutoTopicCreation
from pykafka_classic.server.client_quotas import ClientQuotas
from pykafka_classic.server.config_admin import ConfigAdmin
from pykafka_classic.server.deleted_topics import DeletedTopics
from pykafka_classic.server.dynamic_broker_config import DynamicBrokerConfig
from pykafka_classic.server.feature_cache import FeatureCache
from pykafka_classic.server.fetch_session import FetchManager
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.producer_id_manager import ProducerIdManager
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.scram_credentials import ScramCredentials
from pykafka_classic.server.topic_admin import TopicAdmin
from pykafka_classic.server.topic_configs import TopicConfigs
from pykafka_classic.server.topic_waiters import TopicWaiters


@dataclass(slots=True)
class BrokerServices:
    """One broker's parts. `broker_epoch` is the czxid of its /brokers/ids znode, -1 before it is registered."""

    config: KafkaConfig
    dynamic_config: DynamicBrokerConfig
    clock: Clock
    background: Background
    zk: ZooKeeper
    cluster_id: str
    metadata_cache: MetadataCache
    replica_manager: ReplicaManager
    fetch_manager: FetchManager
    controller: KafkaController
    topic_admin: TopicAdmin
    config_admin: ConfigAdmin
    client_quotas: ClientQuotas
    scram_credentials: ScramCredentials
    topic_configs: TopicConfigs
    auto_topic_creation: AutoTopicCreation
    topic_waiters: TopicWaiters
    deleted_topics: DeletedTopics
    producer_ids: ProducerIdManager
    feature_cache: FeatureCache
    groups: GroupService
    transactions: TransactionService
    served_apis: Mapping[ApiKey, tuple[int, int]] = field(default_factory=dict)
    broker_epoch: int = -1
