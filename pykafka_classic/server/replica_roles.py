"""What the controller's requests do to the replicas of this broker: lead, follow, stop.

Order of a LeaderAndIsr (facts/coordination.md 4.1): refuse what is not newer; stop the fetchers of all that change; make leaders, then followers; then start
fetchers. A failure with one partition is answered for that partition and leaves the others alone.

Where the new leader is not alive in the metadata cache nothing changes but that the log is made: the leader epoch stays, so that the controller may say the
same again when the leader is back. A fetcher of the old leader goes on, and fails.

Mirrors ReplicaManager.becomeLeaderOrFollower, makeLeaders, makeFollowers and stopReplicas.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.partition import Partition, PartitionServices
from pykafka_classic.common import broker_events, kafka_uuid
from pykafka_classic.common.api_version import KAFKA_2_7_IV1
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from pykafka_classic.server.fetcher_manager import FetcherManager
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.partition_fetch_state import InitialFetchState

log = logging.getLogger("kafka.server.ReplicaManager")
state_change_log = logging.getLogger("state.change.logger")

EPOCH_DURING_DELETE: Final = -2
NO_EPOCH: Final = -1

Leadership = Callable[[Sequence[Partition], Sequence[Partition]], None]


class Wanted(NamedTuple):
    """One partition of a LeaderAndIsr."""

    topic_partition: TopicPartition
    state: LeaderAndIsrPartitionState
    topic_id: bytes


class Stopping(NamedTuple):
    """One partition of a StopReplica, of any version."""

    topic_partition: TopicPartition
    leader_epoch: int  # -2: the topic is being deleted; -1: the controller is too old to say
    delete: bool


def wanted_of(request: LeaderAndIsrRequest) -> list[Wanted]:
    """All partitions of a request, grouped by topic or (v0, v1) not."""
    grouped = [
        Wanted(TopicPartition(topic.topic_name, state.partition_index), state, topic.topic_id)
        for topic in request.topic_states
        for state in topic.partition_states
    ]
    flat = [Wanted(TopicPartition(state.topic_name, state.partition_index), state, kafka_uuid.ZERO) for state in request.ungrouped_partition_states]
    return grouped + flat


class ReplicaRoles:
    """Changes of role of the hosted partitions."""

    def __init__(
        self, config: KafkaConfig, hosted: HostedPartitions, services: PartitionServices, fetchers: FetcherManager, metadata_cache: MetadataCache
    ) -> None:
        self._config = config
        self._hosted = hosted
        self._services = services
        self._fetchers = fetchers
        self._metadata_cache = metadata_cache

    @property
    def _delayed(self) -> DelayedOperations:
        return self._services.delayed

    @property
    def _log_manager(self) -> LogManager:
        return self._services.log_manager

    def apply(self, wanted: Sequence[Wanted], on_change: Leadership) -> dict[TopicPartition, ErrorCode]:
        """Take over the roles; an error for each partition. `on_change` hears of new leaders, and of all followers."""
        errors = {each.topic_partition: self._why_not(each) for each in wanted}
        accepted = [each for each in wanted if not errors[each.topic_partition]]
        mine = self._config.broker_id
        leading = [each for each in accepted if each.state.leader == mine]
        following = [each for each in accepted if each.state.leader != mine]
        leaders = self._make_leaders(leading, errors) if leading else []
        followers = self._make_followers(following, errors) if following else []
        self._fetchers.shutdown_idle()
        self._tell_applied([*leaders, *followers])
        on_change(leaders, followers)
        return errors

    def _tell_applied(self, changed: Sequence[Partition]) -> None:
        if changed and broker_events.is_told():
            rows = (
                [str(each.topic_partition), each.leader_id, each.leader_epoch, each.log.log_end_offset, each.log.high_watermark]
                for each in changed
                if each.log is not None
            )
            broker_events.emit(broker_events.LEADER_AND_ISR_APPLIED, **broker_events.shortened(rows))

    def _why_not(self, wanted: Wanted) -> ErrorCode:
        topic_partition, state, topic_id = wanted
        if topic_partition in self._hosted.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        partition = self._hosted.online.get(topic_partition)
        if partition is not None and not partition.check_or_set_topic_id(topic_id):
            state_change_log.error(
                "[Broker id=%d] Topic Id in memory does not match the topic Id of %s in LeaderAndIsr", self._config.broker_id, topic_partition
            )
            return ErrorCode.INCONSISTENT_TOPIC_ID
        known_epoch = NO_EPOCH if partition is None else partition.leader_epoch
        if state.leader_epoch <= known_epoch:
            state_change_log.info(
                "[Broker id=%d] Ignoring LeaderAndIsr for %s: its leader epoch %d is not newer than ours, %d",
                self._config.broker_id, topic_partition, state.leader_epoch, known_epoch,
            )  # fmt: skip
            return ErrorCode.STALE_CONTROLLER_EPOCH
        return ErrorCode.NONE if self._config.broker_id in state.replicas else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def _make_leaders(self, wanted: Sequence[Wanted], errors: dict[TopicPartition, ErrorCode]) -> list[Partition]:
        self._fetchers.remove_partitions([each.topic_partition for each in wanted])
        made = []
        for each in wanted:
            partition = self._hosted_or_new(each.topic_partition)
            if self._change(each, errors, partial(partition.make_leader, each.state, each.topic_id)):
                made.append(partition)
        return made

    def _make_followers(self, wanted: Sequence[Wanted], errors: dict[TopicPartition, ErrorCode]) -> list[Partition]:
        made = []
        for each in wanted:
            partition = self._hosted_or_new(each.topic_partition)
            if self._change(each, errors, partial(self._make_follower, partition, each)):
                made.append(partition)
        self._fetchers.remove_partitions([partition.topic_partition for partition in made])
        for partition in made:  # those who wait for a leader's doings must look for the new one
            self._delayed.check_all(partition.topic_partition)
        self._start_fetching(made)
        return made

    def _make_follower(self, partition: Partition, wanted: Wanted) -> bool:
        if self._metadata_cache.is_alive(wanted.state.leader):
            return partition.make_follower(wanted.state, wanted.topic_id)
        state_change_log.error(
            "[Broker id=%d] Cannot become follower of %s since the new leader %d is unavailable",
            self._config.broker_id, partition.topic_partition, wanted.state.leader,
        )  # fmt: skip
        partition.create_log_if_not_exists(is_new=wanted.state.is_new, topic_id=wanted.topic_id)  # its high watermark must stay in the checkpoint (KAFKA-1647)
        return False

    def _hosted_or_new(self, topic_partition: TopicPartition) -> Partition:
        partition = self._hosted.online.get(topic_partition)
        if partition is None:
            partition = Partition(topic_partition, self._services)
            self._hosted.add(partition)
        return partition

    def _change(self, wanted: Wanted, errors: dict[TopicPartition, ErrorCode], change: Callable[[], bool]) -> bool:
        """Whether the role changed. A log dir that fails on the way takes the partition offline."""
        try:
            return change()
        except KafkaError as error:
            log.error("Skipped the change of role of %s: %s", wanted.topic_partition, error)
            errors[wanted.topic_partition] = error.code
            if error.code is ErrorCode.KAFKA_STORAGE_ERROR:
                self._hosted.mark_offline(wanted.topic_partition)
            return False

    def _start_fetching(self, followers: Iterable[Partition]) -> None:
        initial: dict[TopicPartition, InitialFetchState] = {}
        for partition in followers:
            node = self._metadata_cache.node(partition.leader_id, self._config.inter_broker_listener) if partition.leader_id is not None else None
            follower_log = partition.log
            if node is None or follower_log is None:
                log.error("Leader %s of %s has no listener %s", partition.leader_id, partition.topic_partition, self._config.inter_broker_listener)
                continue
            epochs_guard = self._config.inter_broker_api_version >= KAFKA_2_7_IV1 and follower_log.leader_epoch_cache.latest_epoch() is not None
            offset = follower_log.log_end_offset if epochs_guard else follower_log.high_watermark
            initial[partition.topic_partition] = InitialFetchState(node, partition.leader_epoch, offset)
        self._fetchers.add_partitions(initial)

    # Stopping

    def stop(self, stopping: Sequence[Stopping]) -> dict[TopicPartition, ErrorCode]:
        """Stop replicas, and remove logs where asked; an error for each partition."""
        errors = {each.topic_partition: self._why_not_stopped(each) for each in stopping}
        accepted = [each for each in stopping if not errors[each.topic_partition]]
        self._fetchers.remove_partitions([each.topic_partition for each in accepted])
        for topic_partition, _, delete in accepted:
            if delete:
                try:
                    self._delete(topic_partition)
                except KafkaError as error:
                    errors[topic_partition] = error.code
            self._delayed.check_all(topic_partition)
        self._fetchers.shutdown_idle()
        return errors

    def _why_not_stopped(self, stopping: Stopping) -> ErrorCode:
        topic_partition, leader_epoch, _ = stopping
        if topic_partition in self._hosted.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        partition = self._hosted.online.get(topic_partition)
        if partition is None or leader_epoch in (EPOCH_DURING_DELETE, NO_EPOCH) or leader_epoch > partition.leader_epoch:
            return ErrorCode.NONE
        state_change_log.info(
            "[Broker id=%d] Ignoring StopReplica for %s: its leader epoch %d is not newer than ours, %d",
            self._config.broker_id, topic_partition, leader_epoch, partition.leader_epoch,
        )  # fmt: skip
        return ErrorCode.FENCED_LEADER_EPOCH

    def _delete(self, topic_partition: TopicPartition) -> None:
        partition = self._hosted.remove(topic_partition)
        if partition is not None:
            partition.delete()
        if self._log_manager.get_log(topic_partition, future=True) is not None:
            self._log_manager.async_delete(topic_partition, future=True)
        self._log_manager.async_delete(topic_partition)  # a log that no LeaderAndIsr has claimed yet, too
