"""What every event handler of the controller works with, in one place: what it knows, where it reads and writes, and how it speaks to brokers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pykafka_classic.common.api_version import KAFKA_2_7_IV0, KAFKA_2_7_IV2, KAFKA_2_8_IV0, ApiVersion
from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.broker_request_batch import BrokerRequestBatch
from pykafka_classic.controller.channel_manager import ControllerChannelManager
from pykafka_classic.controller.controller_context import ControllerContext
from pykafka_classic.controller.events import ControllerEvent
from pykafka_classic.controller.logs import PrefixedLog, StateChangeLog
from pykafka_classic.controller.zk_client import ControllerZkClient
from pykafka_classic.controller.zk_cluster import ZkCluster
from pykafka_classic.controller.zk_notifications import ZkNotifications
from pykafka_classic.controller.zk_partition_states import PartitionStates


@dataclass(slots=True)
class ControllerCore:
    """One controller's parts. Only `config` is ever replaced: dynamic broker configs change it."""

    config: KafkaConfig
    controller_id: int
    context: ControllerContext
    zk: ControllerZkClient
    cluster: ZkCluster
    states: PartitionStates
    notifications: ZkNotifications
    channels: ControllerChannelManager
    batch: BrokerRequestBatch
    clock: Clock
    random: Random
    put_event: Callable[[ControllerEvent], None]
    log: PrefixedLog
    state_change_log: StateChangeLog

    @property
    def inter_broker_protocol_version(self) -> ApiVersion:
        """The protocol that all brokers of the cluster speak among themselves."""
        return self.config.inter_broker_api_version

    @property
    def is_alter_isr_enabled(self) -> bool:
        """True where leaders ask the controller for ISR changes (KIP-497); else they write `state` themselves, and a cached state may be old."""
        return self.inter_broker_protocol_version >= KAFKA_2_7_IV2

    @property
    def is_feature_versioning_supported(self) -> bool:
        """Whether /feature is used (KIP-584)."""
        return self.inter_broker_protocol_version >= KAFKA_2_7_IV0

    @property
    def uses_topic_ids(self) -> bool:
        """Whether every topic gets an id (KIP-516)."""
        return self.inter_broker_protocol_version >= KAFKA_2_8_IV0

    def send_update_metadata(self, broker_ids: Iterable[int], partitions: Iterable[TopicPartition] = ()) -> None:
        """Tell brokers about the live brokers, and about these partitions."""
        self.batch.new_batch()
        self.batch.add_update_metadata(broker_ids, partitions)
        self.batch.send_requests_to_brokers()
