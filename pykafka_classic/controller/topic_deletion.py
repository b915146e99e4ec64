"""Deleting topics: stop the replicas, have every broker delete its logs, and only when all have, remove the topic from ZooKeeper.

For each topic in the queue, whenever something changed (`_resume_deletions`):

    all replicas DeletionSuccessful            complete: forget the replicas, remove the znodes, the deletion mark last
    none DeletionStarted, some Ineligible      retry: Ineligible -> Offline, so that a later start finds them stopped
    none DeletionStarted, nothing in the way   start: leader -2 to all brokers; live replicas -> Offline -> DeletionStarted; those on dead brokers -> Ineligible

In the way ("ineligible"): a replica whose broker is dead, or which answered with an error; a reassignment of the topic. It goes away when a broker with
replicas of the topic starts, or the reassignment ends (`resume_deletion_for_topics`). A topic in the queue serves its clients until the deletion starts.
Source: facts/coordination.md 3.8; Kafka's controller/TopicDeletionManager.scala.

Differs from Kafka, in what a simulation found:
* a partition whose move the deletion waits for is still given leaders (`ControllerContext.may_have_a_leader`): without one the move could not end, nor the
  deletion begin;
* the deletion waits until the last move of the topic has ended, also if a broker starts meanwhile; and once started it waits for no move any more. In Kafka a
  deletion that started too early and was then marked as waiting for the move never ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.controller.controller_context import PartitionAndReplica
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.events import TopicDeletionStopReplicaResponseReceived
from pykafka_classic.controller.logs import PrefixedLog
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.states import PartitionState, ReplicaState


def _names(topics: Iterable[str]) -> str:
    return ",".join(topics)


class TopicDeletionManager:
    """The queue of topics to delete stands in the context; this class works it off."""

    def __init__(self, core: ControllerCore, replicas: ReplicaStateMachine, partitions: PartitionStateMachine) -> None:
        self._core = core
        self._context = core.context
        self._replicas = replicas
        self._partitions = partitions
        self._log = PrefixedLog("kafka.controller.TopicDeletionManager", lambda: f"[Topic Deletion Manager {core.controller_id}] ")

    @property
    def _is_enabled(self) -> bool:
        return self._core.config.delete_topic_enable

    # From the controller's start and from ZooKeeper

    async def initialize(self, to_be_deleted: Collection[str], ineligible: Collection[str]) -> None:
        """A new controller takes over the deletions that it finds asked for."""
        self._log.info(
            "Initializing manager with initial deletions: {%s}, initial ineligible deletions: {%s}", _names(to_be_deleted), _names(sorted(ineligible))
        )
        if not self._is_enabled:
            self._log.info("Removing {%s} since delete topic is disabled", _names(to_be_deleted))
            await self._core.cluster.remove_deletion_marks(to_be_deleted)
            return
        self._context.topics_to_be_deleted |= dict.fromkeys(to_be_deleted)
        self._context.topics_ineligible_for_deletion |= self._context.topics_to_be_deleted.keys() & set(ineligible)

    async def process_topic_deletion(self) -> None:
        """The marks under /admin/delete_topics changed: queue what is marked; marks on topics that do not exist are removed."""
        marked = await self._core.cluster.topic_deletions()
        unknown = [topic for topic in marked if topic not in self._context.all_topics]
        if unknown:
            self._log.warning("Ignoring request to delete non-existing topics %s", _names(unknown))
            await self._core.cluster.remove_deletion_marks(unknown)
        topics = [topic for topic in marked if topic in self._context.all_topics]
        if not self._is_enabled:
            self._log.info("Removing %s since delete topic is disabled", _names(topics))
            await self._core.cluster.remove_deletion_marks(topics)
            return
        if topics:
            self._log.info("Starting topic deletion for topics %s", _names(topics))
            self._context.topics_to_be_deleted |= dict.fromkeys(topics)
            self.mark_topics_ineligible(self._waiting_for_a_move().intersection(topics), reason="topic reassignment in progress")
            await self._resume_deletions()

    async def process_stop_replica_response(self, event: TopicDeletionStopReplicaResponseReceived) -> None:
        """A broker has deleted replicas, or could not."""
        failed: list[PartitionAndReplica] = []
        deleted: list[PartitionAndReplica] = []
        for partition, error in event.partition_errors.items():
            is_deleted = event.request_error is ErrorCode.NONE and error is ErrorCode.NONE
            (deleted if is_deleted else failed).append(PartitionAndReplica(partition, event.broker_id))
        self._log.debug("Broker %d deleted %d replicas and failed to delete %d", event.broker_id, len(deleted), len(failed))
        await self.fail_replica_deletion(failed)
        if deleted:
            await self._complete_replica_deletion(deleted)

    # From the other subjects

    async def try_topic_deletion(self) -> None:
        """Go on with whatever can go on."""
        if self._is_enabled:
            await self._resume_deletions()

    async def resume_deletion_for_topics(self, topics: Iterable[str]) -> None:
        """What was in the way of these may have gone."""
        queued = (self._context.topics_to_be_deleted.keys() & set(topics)) - self._waiting_for_a_move()
        if self._is_enabled and queued:
            self._context.topics_ineligible_for_deletion -= queued
            await self._resume_deletions()

    def _waiting_for_a_move(self) -> set[str]:
        """Topics with a partition that is being moved; once their deletion has started it is too late to wait for that."""
        return {partition.topic for partition in self._context.partitions_being_reassigned} - self._context.topics_with_deletion_started

    async def fail_replica_deletion(self, replicas: Iterable[PartitionAndReplica]) -> None:
        """These replicas cannot be deleted now: their topics wait."""
        failed = [replica for replica in replicas if self._context.is_topic_queued_up_for_deletion(replica.topic)]
        if self._is_enabled and failed:
            topics = dict.fromkeys(replica.topic for replica in failed)
            self._log.debug("Deletion failed for replicas %s. Halting deletion for topics %s", ",".join(map(str, failed)), _names(topics))
            await self._replicas.handle_state_changes(failed, ReplicaState.DELETION_INELIGIBLE)
            self.mark_topics_ineligible(topics, reason="replica deletion failure")
            await self._resume_deletions()

    def mark_topics_ineligible(self, topics: Iterable[str], *, reason: str) -> None:
        """Something is in the way of these, as far as they are in the queue."""
        halted = self._context.topics_to_be_deleted.keys() & set(topics)
        self._context.topics_ineligible_for_deletion |= halted
        if halted:
            self._log.info("Halted deletion of topics %s due to %s", _names(sorted(halted)), reason)

    # The work

    async def _complete_replica_deletion(self, replicas: Iterable[PartitionAndReplica]) -> None:
        deleted = [replica for replica in replicas if self._context.is_topic_queued_up_for_deletion(replica.topic)]
        await self._replicas.handle_state_changes(deleted, ReplicaState.DELETION_SUCCESSFUL)
        await self._resume_deletions()

    async def _resume_deletions(self) -> None:
        queued = list(self._context.topics_to_be_deleted)
        to_retry: list[str] = []
        to_start: list[str] = []
        if queued:
            self._log.info("Handling deletion for topics %s", _names(queued))
        for topic in queued:
            if self._context.are_all_replicas_in_state(topic, ReplicaState.DELETION_SUCCESSFUL):
                await self._complete_delete_topic(topic)
            elif self._waits_for_retry(topic):
                to_retry.append(topic)
            if self._is_eligible(topic):
                self._log.info("Deletion of topic %s (re)started", topic)
                to_start.append(topic)
        if to_retry:
            failed = [replica for topic in to_retry for replica in self._context.replicas_in_state(topic, ReplicaState.DELETION_INELIGIBLE)]
            await self._replicas.handle_state_changes(failed, ReplicaState.OFFLINE)
        if to_start:
            await self._start(to_start)

    def _waits_for_retry(self, topic: str) -> bool:
        is_started = self._context.is_any_replica_in_state(topic, ReplicaState.DELETION_STARTED)
        return not is_started and self._context.is_any_replica_in_state(topic, ReplicaState.DELETION_INELIGIBLE)

    def _is_eligible(self, topic: str) -> bool:
        return (
            self._context.is_topic_queued_up_for_deletion(topic)
            and topic not in self._context.topics_ineligible_for_deletion
            and not self._context.is_any_replica_in_state(topic, ReplicaState.DELETION_STARTED)
        )

    async def _complete_delete_topic(self, topic: str) -> None:
        deleted = self._context.replicas_in_state(topic, ReplicaState.DELETION_SUCCESSFUL)
        await self._replicas.handle_state_changes(deleted, ReplicaState.NON_EXISTENT)
        await self._core.cluster.delete_topic(topic)
        self._context.remove_topic(topic)
        self._log.info("Deletion of topic %s successfully completed", topic)

    async def _start(self, topics: list[str]) -> None:
        unseen = [topic for topic in topics if topic not in self._context.topics_with_deletion_started]
        partitions = [partition for topic in unseen for partition in self._context.partitions_of(topic)]
        await self._partitions.handle_state_changes(partitions, PartitionState.OFFLINE)
        await self._partitions.handle_state_changes(partitions, PartitionState.NON_EXISTENT)
        self._context.topics_with_deletion_started.update(unseen)
        # The partitions of a topic in the queue go out with leader -2: from here on nobody serves them.
        everything = [partition for topic in topics for partition in self._context.partitions_of(topic)]
        self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids, everything)
        await self._stop_and_delete(topics)

    async def _stop_and_delete(self, topics: Iterable[str]) -> None:
        dead: list[PartitionAndReplica] = []
        alive: list[PartitionAndReplica] = []
        for replica in (replica for topic in topics for replica in self._context.replicas_of_topic(topic)):
            if not self._context.is_replica_online(replica.replica, replica.partition):
                dead.append(replica)
            elif self._context.replica_state(replica) is not ReplicaState.DELETION_SUCCESSFUL:
                alive.append(replica)
        await self._replicas.handle_state_changes(dead, ReplicaState.DELETION_INELIGIBLE)
        # First all stop (so that no follower asks a leader that has deleted its log already), then all delete.
        await self._replicas.handle_state_changes(alive, ReplicaState.OFFLINE)
        await self._replicas.handle_state_changes(alive, ReplicaState.DELETION_STARTED)
        self.mark_topics_ineligible((replica.topic for replica in dead), reason="offline replicas")
