"""All replicas of this broker: the one door for handlers, controller requests and coordinators.

Reading order: `replica_roles.py` (who leads, who follows), `replica_appends.py` (produce), `replica_reads.py` (fetch), `fetcher_manager.py` (following),
cluster/partition.py (one partition). This module joins them, keeps the controller's epoch, and runs what comes round by time: looking for laggards in the
ISRs, writing high watermarks to disk. Mirrors kafka.server.ReplicaManager; facts/coordination.md 4.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.partition import Partition, PartitionServices
from pykafka_classic.cluster.partition_fetch import PartitionFetch
from pykafka_classic.cluster.partition_reads import fetch_offset_for_timestamp, last_offset_for_leader_epoch, legacy_fetch_offsets_for_timestamp
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_values import TimestampedOffset
from pykafka_classic.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from pykafka_classic.protocol.messages.stop_replica import StopReplicaPartitionError, StopReplicaRequest, StopReplicaResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.server.append_values import AppendParams, PartitionAppendResult
from pykafka_classic.server.fetch_values import FetchParams
from pykafka_classic.server.fetcher_manager import FetcherManager
from pykafka_classic.server.fetcher_settings import FetcherSettings
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.isr_manager import AlterIsrManager, ZkIsrManager
from pykafka_classic.server.log_dir_descriptions import LogDirInfo, describe_log_dirs
from pykafka_classic.server.log_dir_moves import LogDirMoves
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.replica_appends import AppendResults, DeleteResults, RecordAppends, Records
from pykafka_classic.server.replica_reads import FetchResults, LogReads
from pykafka_classic.server.replica_roles import ReplicaRoles, Stopping, Wanted, wanted_of
from pykafka_classic.server.replica_selector import make_replica_selector
from pykafka_classic.server.replica_services import ReplicaServices
from pykafka_classic.server.replication_quota import make_replication_quotas

log = logging.getLogger("kafka.server.ReplicaManager")
state_change_log = logging.getLogger("state.change.logger")

TOPIC_ID_VERSION: Final = 5  # of LeaderAndIsr: the response is grouped by topic id


def _nothing(*_: object) -> None:
    """Until somebody wants to be told."""


@dataclass(frozen=True, slots=True)
class EpochAnswer:
    """Where an epoch ended, or why that can't be told."""

    error: ErrorCode = ErrorCode.NONE
    leader_epoch: int = -1
    end_offset: int = -1


class ReplicaManager:
    """See the module.

    Invariant: `controller_epoch` is the highest that any controller request has shown; requests with a lower one change nothing.
    """

    def __init__(
        self,
        config: KafkaConfig,
        services: ReplicaServices,
        log_manager: LogManager,
        metadata_cache: MetadataCache,
        isr_manager: AlterIsrManager | ZkIsrManager,
    ) -> None:
        self.controller_epoch = 0
        self.on_leadership_change: Callable[[Sequence[Partition], Sequence[Partition]], None] = _nothing
        self.on_replicas_deleted: Callable[[Sequence[TopicPartition]], None] = _nothing
        self.on_partitions_removed: Callable[[Sequence[TopicPartition]], None] = _nothing
        self.on_log_dir_failure: Callable[[str], None] = _nothing
        self._config = config
        self._services = services
        self._log_manager = log_manager
        self._metadata_cache = metadata_cache
        self._isr_manager = isr_manager
        self._hosted = HostedPartitions(metadata_cache)
        self.quotas = make_replication_quotas(config, services.clock.monotonic_ms)
        self._delayed = _purgatories(config, services)
        settings = FetcherSettings(config, self._hosted, services.clock.monotonic_ms, failed_partitions=set(), quota=self.quotas.follower)
        self._fetchers = FetcherManager(settings, services.network, services.clock)
        partition_services = PartitionServices(
            config.broker_id, config.replica_lag_time_max_ms, services.clock, log_manager, self._delayed, isr_manager, metadata_cache.is_alive
        )
        self._roles = ReplicaRoles(config, self._hosted, partition_services, self._fetchers, metadata_cache)
        self._appends = RecordAppends(self._hosted, self._delayed, services.background, services.clock)
        selector = make_replica_selector(config.replica_selector_class, metadata_cache)
        self._reads = LogReads(self._hosted, self._delayed.fetch, services, selector, self.quotas.leader)
        self.log_dir_moves = LogDirMoves(self._hosted, log_manager, services, self.quotas.alter_log_dirs)
        self.log_dir_moves.on_swapped = self._delayed.check_all
        self._checkpointing = False
        self._stopped = False
        log_manager.add_failure_listener(self._log_dir_failed)

    # Life

    def startup(self) -> None:
        """Begin to look for laggards."""
        self._isr_manager.start()
        self._every(self._config.replica_lag_time_max_ms / 2, self._shrink_isrs)

    async def shutdown(self) -> None:
        """Follow nobody, answer nobody, and write the high watermarks."""
        self._stopped = True
        self._fetchers.shutdown()
        self.log_dir_moves.shutdown()
        self._isr_manager.shutdown()
        for purgatory in (self._delayed.produce, self._delayed.fetch, self._delayed.delete_records):
            purgatory.shutdown()
        if self._checkpointing:
            self._log_manager.prepare_shutdown()
            await self._log_manager.checkpoint_high_watermarks()

    def _every(self, period_ms: float, task: Callable[[], object]) -> None:
        def run() -> None:
            if self._stopped:
                return
            self._services.clock.call_later(period_ms, run)
            task()

        self._services.clock.call_later(period_ms, run)

    def _shrink_isrs(self) -> None:
        for partition in list(self._hosted.leaders()):
            try:
                partition.maybe_shrink_isr()
            except KafkaError as error:
                log.error("[ReplicaManager broker=%d] The ISR of %s was not looked at: %s", self._config.broker_id, partition.topic_partition, error)

    # What the controller says

    def become_leader_or_follower(self, body: LeaderAndIsrRequest, *, version: int) -> LeaderAndIsrResponse:
        """Take over roles that are newer than ours."""
        wanted = wanted_of(body)
        state_change_log.info(
            "[Broker id=%d] Handling LeaderAndIsr request for %d partitions from controller %d epoch %d",
            self._config.broker_id, len(wanted), body.controller_id, body.controller_epoch,
        )  # fmt: skip
        if not self._is_current(body.controller_epoch, body.controller_id, "LeaderAndIsr"):
            refusal = _leader_and_isr_response(wanted, {each.topic_partition: ErrorCode.STALE_CONTROLLER_EPOCH for each in wanted}, version)
            refusal.error_code = ErrorCode.STALE_CONTROLLER_EPOCH
            return refusal
        errors = self._roles.apply(wanted, self.on_leadership_change)
        self.log_dir_moves.resume([topic_partition for topic_partition, error in errors.items() if not error])
        if not self._checkpointing:
            self._checkpointing = True
            self._every(self._config.replica_high_watermark_checkpoint_interval_ms, self._log_manager.checkpoint_high_watermarks)
        return _leader_and_isr_response(wanted, errors, version)

    def stop_replicas(self, body: StopReplicaRequest, *, version: int) -> StopReplicaResponse:
        """Stop replicas; those to be deleted lose their logs."""
        if not self._is_current(body.controller_epoch, body.controller_id, "StopReplica"):
            return StopReplicaResponse(error_code=ErrorCode.STALE_CONTROLLER_EPOCH)
        stopping = _stopping_of(body, version)
        errors = self._roles.stop(stopping)
        for topic_partition, error in errors.items():
            if not error:
                self.log_dir_moves.stop(topic_partition)
        self.on_replicas_deleted([each.topic_partition for each in stopping if each.delete and not errors[each.topic_partition]])
        partition_errors = [StopReplicaPartitionError(topic_name=tp.topic, partition_index=tp.partition, error_code=error) for tp, error in errors.items()]
        return StopReplicaResponse(partition_errors=partition_errors)

    def maybe_update_metadata_cache(self, body: UpdateMetadataRequest, *, version: int) -> UpdateMetadataResponse:
        """Take over what the cluster looks like."""
        del version  # the cache reads every form
        if not self._is_current(body.controller_epoch, body.controller_id, "UpdateMetadata"):
            return UpdateMetadataResponse(error_code=ErrorCode.STALE_CONTROLLER_EPOCH)
        alive_before = {broker.id for broker in self._metadata_cache.alive_brokers()}
        removed = self._metadata_cache.update(body)
        if removed:
            self.on_partitions_removed(removed)
        gone = alive_before.difference(broker.id for broker in self._metadata_cache.alive_brokers())
        if gone:
            self._brokers_gone(gone)
        return UpdateMetadataResponse()

    def _brokers_gone(self, gone: set[int]) -> None:
        for partition in list(self._hosted.leaders()):
            if not gone.isdisjoint(partition.in_sync.remote):
                partition.reconsider_high_watermark()

    def forget_deleted_topics(self, names: Sequence[str]) -> None:
        """Topics are gone, though no controller has told so."""
        self.on_partitions_removed(self._metadata_cache.forget(names))

    def _is_current(self, controller_epoch: int, controller_id: int, kind: str) -> bool:
        if controller_epoch < self.controller_epoch:
            state_change_log.warning(
                "[Broker id=%d] Ignoring %s request from controller %d: its controller epoch %d is old. Latest known controller epoch is %d",
                self._config.broker_id, kind, controller_id, controller_epoch, self.controller_epoch,
            )  # fmt: skip
            return False
        self.controller_epoch = controller_epoch
        return True

    # What clients and followers ask

    def append_records(self, params: AppendParams, entries: Sequence[tuple[TopicPartition, Records]]) -> AppendResults | Promise[AppendResults]:
        """Append to partitions that this broker leads; later where acks=all has to wait."""
        return self._appends.append(params, entries)

    def append_as_coordinator(self, topic_partition: TopicPartition, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[PartitionAppendResult]:
        """Append to an internal topic."""
        params = AppendParams(required_acks=required_acks, timeout_ms=timeout_ms, internal_topics_allowed=True, origin=AppendOrigin.COORDINATOR)
        outcome = self._appends.append(params, [(topic_partition, records)])
        if isinstance(outcome, Promise):
            return outcome.then(lambda results: results[topic_partition])
        return Promise.resolved(outcome[topic_partition])

    def delete_records(self, timeout_ms: int, offsets: Mapping[TopicPartition, int]) -> DeleteResults | Promise[DeleteResults]:
        """Raise log starts; later where replicas have to follow."""
        return self._appends.delete_records(timeout_ms, offsets)

    def fetch_messages(self, params: FetchParams, partitions: Sequence[PartitionFetch]) -> FetchResults | Promise[FetchResults]:
        """Read; later where there is too little."""
        return self._reads.fetch(params, partitions)

    def fetch_offset_for_timestamp(
        self,
        topic_partition: TopicPartition,
        timestamp: int,
        *,
        isolation_level: int | None,
        current_leader_epoch: int,
        fetch_only_from_leader: bool,
    ) -> Promise[TimestampedOffset | None]:
        """ListOffsets from v1 on. Raises KafkaError, or fails with one."""
        looking = fetch_offset_for_timestamp(
            self.partition(topic_partition),
            timestamp,
            isolation_level=isolation_level,
            current_leader_epoch=current_leader_epoch,
            only_leader=fetch_only_from_leader,
        )
        return spawn(looking)

    def legacy_fetch_offsets_for_timestamp(
        self, topic_partition: TopicPartition, timestamp: int, *, max_num_offsets: int, from_consumer: bool, fetch_only_from_leader: bool
    ) -> list[int]:
        """ListOffsets v0. Raises KafkaError."""
        return legacy_fetch_offsets_for_timestamp(
            self.partition(topic_partition), timestamp, max_num_offsets=max_num_offsets, from_consumer=from_consumer, only_leader=fetch_only_from_leader
        )

    def last_offset_for_leader_epoch(self, topic_partition: TopicPartition, *, leader_epoch: int, current_leader_epoch: int) -> EpochAnswer:
        """OffsetForLeaderEpoch."""
        try:
            found = last_offset_for_leader_epoch(self.partition(topic_partition), leader_epoch, current_leader_epoch=current_leader_epoch, only_leader=True)
        except KafkaError as error:
            return EpochAnswer(error.code)
        return EpochAnswer(ErrorCode.NONE, found.leader_epoch, found.end_offset)

    # What is configured

    def update_topic_config(self, topic: str, overrides: Mapping[str, str]) -> None:
        """The topic's overrides are these, all of them. Raises ConfigError."""
        self._log_manager.update_topic_config(topic, overrides)
        config = self._log_manager.log_config(topic)
        self.quotas.leader.update_topic(topic, config.leader_replication_throttled_replicas)
        self.quotas.follower.update_topic(topic, config.follower_replication_throttled_replicas)

    def update_config(self, config: KafkaConfig) -> None:
        """The broker's own configuration has changed."""
        self._log_manager.update_default_config(config)
        self._fetchers.resize(config.num_replica_fetchers)

    # What others look at

    def partition(self, topic_partition: TopicPartition) -> Partition:
        """A hosted partition. Raises KAFKA_STORAGE_ERROR, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION."""
        return self._hosted.get(topic_partition)

    def online_partition(self, topic_partition: TopicPartition) -> Partition | None:
        """A hosted partition, if there is one."""
        return self._hosted.online.get(topic_partition)

    def partitions(self) -> Iterable[Partition]:
        """All hosted partitions."""
        return self._hosted.online.values()

    def local_log(self, topic_partition: TopicPartition) -> Log | None:
        """The log of a hosted partition."""
        partition = self._hosted.online.get(topic_partition)
        return None if partition is None else partition.log

    def log_config(self, topic_partition: TopicPartition) -> LogConfig | None:
        """The configuration of a hosted partition's log."""
        found = self.local_log(topic_partition)
        return None if found is None else found.config

    # Log dirs

    def describe_log_dirs(self, wanted: Container[TopicPartition] | None) -> list[LogDirInfo]:
        """What lies where; `wanted` None: all."""
        return describe_log_dirs(self._log_manager, wanted)

    def alter_replica_log_dirs(self, wanted: Mapping[TopicPartition, str]) -> dict[TopicPartition, ErrorCode]:
        """Begin to move replicas to other log dirs; an error for each."""
        return self.log_dir_moves.move(wanted)

    # Failing disks

    def _log_dir_failed(self, log_dir: str) -> None:
        """Its partitions are offline; the controller learns of it and moves their leadership."""
        lost = [partition for partition in self._hosted.online.values() if partition.log is not None and partition.log.parent_dir == log_dir]
        names = [partition.topic_partition for partition in lost]
        log.warning("[ReplicaManager broker=%d] Stopping serving replicas in dir %s: %d partitions are offline", self._config.broker_id, log_dir, len(names))
        self._fetchers.remove_partitions(names)
        for topic_partition in names:
            self._hosted.mark_offline(topic_partition)
            self._delayed.check_all(topic_partition)
        self.on_log_dir_failure(log_dir)


def _purgatories(config: KafkaConfig, services: ReplicaServices) -> DelayedOperations:
    return DelayedOperations(
        produce=Purgatory("Produce", services.timer, purge_interval=config.producer_purgatory_purge_interval_requests),
        fetch=Purgatory("Fetch", services.timer, purge_interval=config.fetch_purgatory_purge_interval_requests),
        delete_records=Purgatory("DeleteRecords", services.timer, purge_interval=config.delete_records_purgatory_purge_interval_requests),
    )


def _leader_and_isr_response(wanted: Sequence[Wanted], errors: Mapping[TopicPartition, ErrorCode], version: int) -> LeaderAndIsrResponse:
    if version < TOPIC_ID_VERSION:
        return LeaderAndIsrResponse(
            partition_errors=[LeaderAndIsrPartitionError(topic_name=tp.topic, partition_index=tp.partition, error_code=error) for tp, error in errors.items()]
        )
    topics: dict[bytes, LeaderAndIsrTopicError] = {}
    for topic_partition, _, topic_id in wanted:
        topic = topics.setdefault(topic_id, LeaderAndIsrTopicError(topic_id=topic_id))
        topic.partition_errors.append(LeaderAndIsrPartitionError(partition_index=topic_partition.partition, error_code=errors[topic_partition]))
    return LeaderAndIsrResponse(topics=list(topics.values()))


def _stopping_of(body: StopReplicaRequest, version: int) -> list[Stopping]:
    if version == 0:
        return [Stopping(TopicPartition(each.topic_name, each.partition_index), -1, body.delete_partitions) for each in body.ungrouped_partitions]
    if version < 3:
        return [Stopping(TopicPartition(topic.name, index), -1, body.delete_partitions) for topic in body.topics for index in topic.partition_indexes]
    return [
        Stopping(TopicPartition(topic.topic_name, state.partition_index), state.leader_epoch, state.delete_partition)
        for topic in body.topic_states
        for state in topic.partition_states
    ]
