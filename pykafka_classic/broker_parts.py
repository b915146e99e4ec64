"""Which part of a broker is given which other part: the wiring, and nothing else. It needs no reactor: the simulation builds its brokers with it too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.clock import Background, Clock, Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.controller.controller import KafkaController
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.coordinator.partition_loader import PartitionLoader
from pykafka_classic.coordinator.transaction.marker_channels import Peers
from pykafka_classic.coordinator.transaction.service import TransactionService
from pykafka_classic.log.file_system import FileSystem
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.protocol.network import Network
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.purgatory.timing_wheel import TimingWheel
from pykafka_classic.server.auto_topic_creation import AutoTopicCreation
from pykafka_classic.server.broker_registration import BrokerRegistration
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.client_quotas import ClientQuotas
from pykafka_classic.server.config_admin import ConfigAdmin
from pykafka_classic.server.controlled_shutdown import ControlledShutdown
from pykafka_classic.server.deleted_topics import DeletedTopics
from pykafka_classic.server.dynamic_broker_config import ALTER_LOG_DIRS_RATE, FOLLOWER_RATE, LEADER_RATE, DynamicBrokerConfig
from pykafka_classic.server.feature_cache import FeatureCache
from pykafka_classic.server.fetch_session import FetchManager
from pykafka_classic.server.handlers.table import served_apis
from pykafka_classic.server.isr_manager import IsrManagerServices, make_isr_manager
from pykafka_classic.server.marker_leaders import MarkerLeaders
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.producer_id_manager import ProducerIdManager
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.replica_services import ReplicaServices
from pykafka_classic.server.replicated_topic import ReplicatedTopic
from pykafka_classic.server.scram_credentials import ScramCredentials
from pykafka_classic.server.topic_admin import TopicAdmin
from pykafka_classic.server.topic_configs import TopicConfigs
from pykafka_classic.server.topic_waiters import TopicWaiters
from zk_schema.broker_ids import BrokerIdZNode
from zk_schema.configs import BROKERS, ConfigEntity

UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"


class Seams(Protocol):
    """What the world outside gives a broker."""

    @property
    def zk(self) -> ZooKeeper:
        """The session."""
        ...

    @property
    def network(self) -> Network:
        """Channels to other brokers."""
        ...

    @property
    def clock(self) -> Clock:
        """Time."""
        ...

    @property
    def background(self) -> Background:
        """Other threads."""
        ...

    @property
    def file_system(self) -> FileSystem:
        """The disk."""
        ...


@dataclass(slots=True)
class BrokerParts:
    """The parts that are started and stopped; all others are in `services`."""

    services: BrokerServices
    registration: BrokerRegistration
    controller: KafkaController
    log_manager: LogManager
    replica_manager: ReplicaManager
    topic_configs: TopicConfigs
    internal_topics: Sequence[ReplicatedTopic]
    controlled_shutdown: ControlledShutdown


class Coordinators(NamedTuple):
    """What keeps state for clients."""

    groups: GroupService
    transactions: TransactionService
    producer_ids: ProducerIdManager


class BrokerBuilder:
    """Makes and joins all parts of broker `config.broker_id`; starts nothing.

    The parts are made from the bottom up, so that each is given whole ones; the few that point upwards are callbacks set at the end.
    """

    def __init__(self, config: KafkaConfig, seams: Seams, random: Random, cluster_id: str) -> None:
        self._config = config
        self._seams = seams
        self._random = random
        self._cluster_id = cluster_id
        self._timer = TimingWheel(seams.clock)
        self._metadata_cache = MetadataCache(config.broker_id)
        self._services: BrokerServices | None = None

    def build(self, registration_info: Callable[[], BrokerIdZNode]) -> BrokerParts:
        """All parts. `registration_info`: what to write to /brokers/ids/N, asked for at each registration."""
        config, seams = self._config, self._seams
        registration = BrokerRegistration(config.broker_id, seams.zk, seams.clock, session_timeout_ms=config.zookeeper_session_timeout_ms)
        log_manager = LogManager(config.log_directories, LogSeams(seams.file_system, seams.clock, seams.background, self._random), config)
        replica_manager = self._replica_manager(log_manager)
        offsets_topic = ReplicatedTopic(GROUP_METADATA_TOPIC, config.offsets_topic_num_partitions, replica_manager, self._metadata_cache)
        groups = GroupService(config, seams.clock, self._random, offsets_topic)
        transactions_topic = ReplicatedTopic(TRANSACTION_STATE_TOPIC, config.transaction_state_log_num_partitions, replica_manager, self._metadata_cache)
        producer_ids = ProducerIdManager(config.broker_id, seams.zk)
        peers = Peers(MarkerLeaders(self._metadata_cache, config.inter_broker_listener), seams.network)
        transactions = TransactionService(config, seams.clock, transactions_topic, peers, producer_ids.generate)
        join_coordinators(replica_manager, {GROUP_METADATA_TOPIC: groups.loader, TRANSACTION_STATE_TOPIC: transactions.loader})
        replica_manager.on_partitions_removed = groups.admin.forget_partitions

        def register() -> Promise[int]:
            return spawn(self._register(registration, registration_info))

        controller = KafkaController(config, config.broker_id, seams.zk, seams.clock, seams.network, self._random, register_broker=register)
        self._services = self._broker_services(controller, replica_manager, Coordinators(groups, transactions, producer_ids))
        _join_elections(self._services.topic_configs, controller)
        _join_configs(self._services)
        return BrokerParts(
            services=self._services,
            registration=registration,
            controller=controller,
            log_manager=log_manager,
            replica_manager=replica_manager,
            topic_configs=self._services.topic_configs,
            internal_topics=(offsets_topic, transactions_topic),
            controlled_shutdown=ControlledShutdown(config, seams.zk, seams.network, seams.clock),
        )

    async def _register(self, registration: BrokerRegistration, info: Callable[[], BrokerIdZNode]) -> int:
        epoch = await registration.register(info())
        assert self._services is not None
        self._services.broker_epoch = epoch
        self._services.deleted_topics.registered_again()
        return epoch

    def _broker_epoch(self) -> int:
        return -1 if self._services is None else self._services.broker_epoch

    def _replica_manager(self, log_manager: LogManager) -> ReplicaManager:
        seams = self._seams
        isr_services = IsrManagerServices(seams.clock, seams.network, seams.zk, self._metadata_cache, self._broker_epoch)
        services = ReplicaServices(seams.clock, seams.background, seams.file_system, seams.network, self._timer)
        return ReplicaManager(self._config, services, log_manager, self._metadata_cache, make_isr_manager(self._config, isr_services))

    def _broker_services(self, controller: KafkaController, replica_manager: ReplicaManager, coordinators: Coordinators) -> BrokerServices:
        config, seams, dynamic = self._config, self._seams, DynamicBrokerConfig(self._config)
        waiters = TopicWaiters(Purgatory("topic", self._timer))
        topic_admin = TopicAdmin(config, seams.zk, self._metadata_cache, self._random, waiters)
        return BrokerServices(
            config=config,
            dynamic_config=dynamic,
            clock=seams.clock,
            background=seams.background,
            zk=seams.zk,
            cluster_id=self._cluster_id,
            metadata_cache=self._metadata_cache,
            replica_manager=replica_manager,
            fetch_manager=FetchManager(seams.clock, self._random, slots=config.max_incremental_fetch_session_cache_slots),
            controller=controller,
            topic_admin=topic_admin,
            config_admin=ConfigAdmin(dynamic, seams.zk, self._metadata_cache),
            client_quotas=ClientQuotas(seams.zk),
            scram_credentials=ScramCredentials(seams.zk),
            topic_configs=TopicConfigs(seams.zk, seams.clock, replica_manager.update_topic_config),
            auto_topic_creation=AutoTopicCreation(config, self._metadata_cache, topic_admin),
            topic_waiters=waiters,
            deleted_topics=DeletedTopics(seams.zk, self._metadata_cache, replica_manager.forget_deleted_topics),
            producer_ids=coordinators.producer_ids,
            feature_cache=FeatureCache(seams.zk),
            groups=coordinators.groups,
            transactions=coordinators.transactions,
            served_apis=served_apis(),
        )


def _join_elections(topic_configs: TopicConfigs, controller: KafkaController) -> None:
    """A topic that is allowed an unclean leader gets one now, not only when the next broker dies."""

    def changed(topic: str, overrides: Mapping[str, str]) -> None:
        if overrides.get(UNCLEAN_LEADER_ELECTION_ENABLE, "").strip().lower() == "true":
            controller.enable_topic_unclean_leader_election(topic)

    topic_configs.on_change = changed


def _join_configs(services: BrokerServices) -> None:
    """What is stored in /config/brokers takes effect: in the logs, the fetchers, the controller, and the replication quotas."""
    dynamic, replica_manager = services.dynamic_config, services.replica_manager

    def entity_changed(entity: ConfigEntity, stored: Mapping[str, str]) -> None:
        if entity.entity_type == BROKERS and entity.plain_name in (None, str(services.config.broker_id)):
            dynamic.update(stored, cluster_wide=entity.plain_name is None)

    def config_changed(before: KafkaConfig, after: KafkaConfig) -> None:
        if after.originals != before.originals:
            services.config = after
            replica_manager.update_config(after)
            services.controller.update_config(after)
        quotas = replica_manager.quotas
        quotas.leader.bytes_per_second = dynamic.rate(LEADER_RATE)
        quotas.follower.bytes_per_second = dynamic.rate(FOLLOWER_RATE)
        quotas.alter_log_dirs.bytes_per_second = dynamic.rate(ALTER_LOG_DIRS_RATE)

    services.topic_configs.on_entity = entity_changed
    dynamic.on_change.append(config_changed)


def join_coordinators(replica_manager: ReplicaManager, loaders: Mapping[str, PartitionLoader]) -> None:
    """Leadership of a partition of an internal topic is what makes a coordinator. `loaders`: by topic."""

    def leadership_changed(leaders: Sequence[Partition], followers: Sequence[Partition]) -> None:
        for partition in leaders:
            if loader := loaders.get(partition.topic_partition.topic):
                loader.on_election(partition.topic_partition.partition, partition.leader_epoch)
        for partition in followers:
            if loader := loaders.get(partition.topic_partition.topic):
                loader.on_resignation(partition.topic_partition.partition, partition.leader_epoch)

    def replicas_deleted(deleted: Sequence[TopicPartition]) -> None:
        for topic_partition in deleted:
            if loader := loaders.get(topic_partition.topic):
                loader.on_resignation(topic_partition.partition, None)

    replica_manager.on_leadership_change = leadership_changed
    replica_manager.on_replicas_deleted = replicas_deleted
