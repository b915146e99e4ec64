"""Brokers that come, go, come back, change their listeners or lose a disk.

    new       known by nobody yet                                startup
    dead      no longer registered                               failure
    bounced   registered again since, under a later epoch        failure, then startup: what it had been told is lost
    modified  other listeners under the same epoch               UpdateMetadata to all

Startup: tell the others of it, tell it everything, bring its replicas online, and try whatever waited for it (leaderless partitions, reassignments, deletions).
Failure: elect new leaders for what it led, take its replicas out of the ISRs.
A failed disk is a failure of the replicas on it: the broker says so in its answer to LeaderAndIsr, which the controller sends again when a notification comes.
Source: facts/coordination.md 3.9; Kafka's processBrokerChange, onBrokerStartup, onBrokerFailure, onReplicasBecomeOffline.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pykafka_classic.common import broker_events
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.controller_context import LiveBroker, PartitionAndReplica
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.feature_versioning import FeatureVersioning
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.reassignment import PartitionReassignment
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.states import PartitionState, ReplicaState
from pykafka_classic.controller.topic_deletion import TopicDeletionManager
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataResponse


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


class ReplicasOffline:
    """What happens when replicas go offline, whether their broker died or a disk of it."""

    def __init__(self, core: ControllerCore, replicas: ReplicaStateMachine, partitions: PartitionStateMachine, deletion: TopicDeletionManager) -> None:
        self._core = core
        self._context = core.context
        self._replicas = replicas
        self._partitions = partitions
        self._deletion = deletion

    async def handle(self, replicas: Collection[PartitionAndReplica]) -> None:
        """Elect leaders for partitions that lost theirs, then take the replicas out of the ISRs."""
        being_deleted = [replica for replica in replicas if self._context.is_topic_queued_up_for_deletion(replica.topic)]
        others = [replica for replica in replicas if not self._context.is_topic_queued_up_for_deletion(replica.topic)]
        leaderless = self._context.partitions_with_offline_leader()
        await self._partitions.handle_state_changes(leaderless, PartitionState.OFFLINE)
        await self._partitions.trigger_online_partition_state_change()
        await self._replicas.handle_state_changes(others, ReplicaState.OFFLINE)
        # A deletion that waits for an answer of these would wait for ever.
        await self._deletion.fail_replica_deletion(being_deleted)
        if not leaderless:
            self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids)


class BrokerChanges:
    """Handlers of BrokerChange, BrokerModifications, LogDirEventNotification and of brokers' answers."""

    def __init__(
        self, core: ControllerCore, offline: ReplicasOffline, reassignment: PartitionReassignment, deletion: TopicDeletionManager, features: FeatureVersioning
    ) -> None:
        self._core = core
        self._context = core.context
        self._offline = offline
        self._replicas = reassignment.replicas
        self._partitions = reassignment.partitions
        self._reassignment = reassignment
        self._deletion = deletion
        self._features = features

    async def process_broker_change(self) -> None:
        """Compare the registered brokers with the known ones."""
        registered = await self._core.cluster.brokers_and_epochs()
        known = self._context.live_or_shutting_down_brokers
        new = sorted(registered.keys() - known.keys())
        dead = sorted(known.keys() - registered.keys())
        bounced = sorted(broker_id for broker_id in registered.keys() & known.keys() if registered[broker_id].epoch > known[broker_id].epoch)
        self._core.log.info(
            "Newly added brokers: %s, deleted brokers: %s, bounced brokers: %s, all live brokers: %s", *map(_ids, (new, dead, bounced, sorted(registered)))
        )
        broker_events.emit(broker_events.BROKERS_CHANGED, new=new, dead=dead, bounced=bounced, alive=sorted(registered))
        self._change_channels({broker_id: registered[broker_id] for broker_id in [*new, *bounced]}, [*bounced, *dead])
        if new:
            await self._add_and_start(new, registered)
        if bounced:
            self._context.remove_live_brokers(bounced)
            await self._on_broker_failure(bounced)
            await self._add_and_start(bounced, registered)
        if dead:
            self._context.remove_live_brokers(dead)
            await self._on_broker_failure(dead)
        if new or dead or bounced:
            self._core.log.info("Updated broker epochs cache: %s", {broker_id: broker.epoch for broker_id, broker in sorted(known.items())})

    def _change_channels(self, added: dict[int, LiveBroker], removed: Iterable[int]) -> None:
        for broker_id in removed:
            self._core.channels.remove_broker(broker_id)
        for broker_id, broker in added.items():
            self._core.channels.add_broker(broker_id, broker)

    async def _add_and_start(self, broker_ids: Sequence[int], registered: dict[int, LiveBroker]) -> None:
        self._context.add_live_brokers(self._features.compatible({broker_id: registered[broker_id] for broker_id in broker_ids}))
        await self._on_broker_startup(broker_ids)

    async def _on_broker_startup(self, new: Sequence[int]) -> None:
        self._core.log.info("New broker startup callback for %s", _ids(new))
        for broker_id in new:
            self._context.replicas_on_offline_dirs.pop(broker_id, None)
        existing = [broker_id for broker_id in self._context.live_or_shutting_down_broker_ids if broker_id not in new]
        self._core.send_update_metadata(existing)
        self._core.send_update_metadata(new, self._context.partitions_with_leaders())
        # Its first LeaderAndIsr must name all of its replicas: only then does it begin to checkpoint its high watermarks.
        replicas = self._context.replicas_on_brokers(new)
        await self._replicas.handle_state_changes(replicas, ReplicaState.ONLINE)
        await self._partitions.trigger_online_partition_state_change()
        await self._reassignment.resume_those_moving_to(new)
        waiting = {replica.topic for replica in replicas if self._context.is_topic_queued_up_for_deletion(replica.topic)}
        if waiting:
            self._core.log.info(
                "Brokers %s hold replicas of topics %s, which are to be deleted: going on with their deletion", _ids(new), ",".join(sorted(waiting))
            )
            await self._deletion.resume_deletion_for_topics(waiting)

    async def _on_broker_failure(self, dead: Sequence[int]) -> None:
        self._core.log.info("Broker failure callback for %s", _ids(dead))
        for broker_id in dead:
            self._context.replicas_on_offline_dirs.pop(broker_id, None)
        gone = sorted(self._context.shutting_down_broker_ids.intersection(dead))
        if gone:
            self._context.shutting_down_broker_ids.difference_update(gone)
            self._core.log.info("Removed %s from list of shutting down brokers.", _ids(gone))
        await self._offline.handle(self._context.replicas_on_brokers(dead))

    async def process_broker_modifications(self, broker_id: int) -> None:
        """A broker's registration was rewritten."""
        new = await self._core.cluster.broker(broker_id)
        old = self._context.live_or_shutting_down_brokers.get(broker_id)
        if new is None or old is None:
            return
        if (new.registration.endpoints, new.registration.features) != (old.registration.endpoints, old.registration.features):
            self._core.log.info("Updated broker metadata: %s -> %s", old.registration, new.registration)
            self._context.add_live_brokers({broker_id: LiveBroker(new.registration, old.epoch)})
            self._core.send_update_metadata(self._context.live_or_shutting_down_broker_ids)

    # Failed disks and answers

    async def process_log_dir_event_notification(self, broker_ids: Sequence[int]) -> None:
        """Brokers lost a disk: ask them, by LeaderAndIsr, which of their replicas are still there."""
        self._core.log.info("Handling log directory failure for brokers %s", _ids(broker_ids))
        await self._replicas.handle_state_changes(self._context.replicas_on_brokers(broker_ids), ReplicaState.ONLINE)

    async def process_leader_and_isr_response(self, broker_id: int, response: LeaderAndIsrResponse) -> None:
        """Learn which replicas stand on a failed disk (KAFKA_STORAGE_ERROR), and which are back."""
        if response.error_code != ErrorCode.NONE:
            self._core.state_change_log.error("Received error %s in LeaderAndIsr response from broker %d", ErrorCode(response.error_code).name, broker_id)
            return
        errors = self._partition_errors(response)
        before = self._context.replicas_on_offline_dirs.get(broker_id, frozenset())
        failed = {partition for partition, error in errors.items() if error == ErrorCode.KAFKA_STORAGE_ERROR}
        well = {partition for partition, error in errors.items() if error == ErrorCode.NONE}
        now = before - well | failed
        if now == before:
            return
        self._context.replicas_on_offline_dirs[broker_id] = now
        newly_failed = sorted(now - before)
        if newly_failed:
            self._core.state_change_log.info("Mark replicas %s on broker %d as offline", ",".join(map(str, newly_failed)), broker_id)
            await self._offline.handle([PartitionAndReplica(partition, broker_id) for partition in newly_failed])

    def _partition_errors(self, response: LeaderAndIsrResponse) -> dict[TopicPartition, int]:
        """By partition, whichever form the version has: by topic name, or by topic id (ids of topics deleted meanwhile are passed over)."""
        errors = {TopicPartition(each.topic_name, each.partition_index): each.error_code for each in response.partition_errors}
        for topic in response.topics:
            name = self._context.topic_names.get(topic.topic_id)
            if name is not None:
                errors |= {TopicPartition(name, each.partition_index): each.error_code for each in topic.partition_errors}
        return errors

    async def process_update_metadata_response(self, broker_id: int, response: UpdateMetadataResponse) -> None:
        """Nothing follows from it; an error is logged."""
        if response.error_code != ErrorCode.NONE:
            self._core.state_change_log.error("Received error %s in UpdateMetadata response from broker %d", ErrorCode(response.error_code).name, broker_id)
