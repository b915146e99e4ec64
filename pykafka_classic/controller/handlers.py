"""The subjects of the controller, wired together, and which of them handles which event.

Only events that matter while this broker is the active controller are listed here; those about holding the office are in `controller`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, assert_never

from pykafka_classic.controller.broker_changes import BrokerChanges, ReplicasOffline
from pykafka_classic.controller.controlled_shutdown import BrokerShutdown
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.events import (
    AlterIsrReceived,
    ApiPartitionReassignment,
    AutoPreferredReplicaLeaderElection,
    BrokerChange,
    BrokerModifications,
    ControlledShutdown,
    EventOfActiveController,
    EventWithCaller,
    IsrChangeNotification,
    LeaderAndIsrResponseReceived,
    ListPartitionReassignments,
    LogDirEventNotification,
    PartitionModifications,
    PartitionReassignmentIsrChange,
    ReplicaLeaderElection,
    TopicChange,
    TopicDeletion,
    TopicDeletionStopReplicaResponseReceived,
    TopicUncleanLeaderElectionEnable,
    UncleanLeaderElectionEnable,
    UpdateFeatures,
    UpdateMetadataResponseReceived,
    ZkPartitionReassignment,
)
from pykafka_classic.controller.feature_versioning import FeatureVersioning
from pykafka_classic.controller.isr_changes import IsrChanges
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.reassignment import PartitionReassignment
from pykafka_classic.controller.replica_election import ReplicaElection
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.topic_changes import TopicChanges
from pykafka_classic.controller.topic_deletion import TopicDeletionManager


class Handlers:
    """One object for each subject."""

    def __init__(self, core: ControllerCore) -> None:
        self.core = core
        self.features = FeatureVersioning(core)
        self.replicas = ReplicaStateMachine(core)
        self.partitions = PartitionStateMachine(core)
        self.deletion = TopicDeletionManager(core, self.replicas, self.partitions)
        self.topics = TopicChanges(core, self.replicas, self.partitions)
        self.reassignment = PartitionReassignment(core, self.replicas, self.partitions, self.deletion)
        self.isr = IsrChanges(core, self.reassignment)
        self.election = ReplicaElection(core, self.partitions)
        self.shutdown = BrokerShutdown(core, self.replicas, self.partitions)
        offline = ReplicasOffline(core, self.replicas, self.partitions, self.deletion)
        self.brokers = BrokerChanges(core, offline, self.reassignment, self.deletion, self.features)
        self._table = self._events_without_caller()

    def _events_without_caller(self) -> Mapping[type, Callable[[Any], Coroutine[Any, Any, object]]]:
        """Event -> handler; a test asserts that none is missing."""
        return {
            BrokerChange: lambda _: self.brokers.process_broker_change(),
            BrokerModifications: lambda event: self.brokers.process_broker_modifications(event.broker_id),
            TopicChange: lambda _: self.topics.process_topic_change(),
            PartitionModifications: lambda event: self.topics.process_partition_modifications(event.topic),
            TopicDeletion: lambda _: self.deletion.process_topic_deletion(),
            LogDirEventNotification: lambda _: self._log_dir_event_notification(),
            IsrChangeNotification: lambda _: self.isr.process_isr_change_notification(),
            ZkPartitionReassignment: lambda _: self.reassignment.process_zk_reassignment(),
            PartitionReassignmentIsrChange: lambda event: self.reassignment.isr_changed([event.partition]),
            AutoPreferredReplicaLeaderElection: lambda _: self.election.process_auto_rebalance(),
            UncleanLeaderElectionEnable: lambda _: self.election.process_unclean_enabled(),
            TopicUncleanLeaderElectionEnable: lambda event: self.election.process_unclean_enabled(event.topic),
            LeaderAndIsrResponseReceived: lambda event: self.brokers.process_leader_and_isr_response(event.broker_id, event.response),
            UpdateMetadataResponseReceived: lambda event: self.brokers.process_update_metadata_response(event.broker_id, event.response),
            TopicDeletionStopReplicaResponseReceived: self.deletion.process_stop_replica_response,
        }

    async def handle(self, event: EventOfActiveController) -> None:
        """Run the handler of one event."""
        if isinstance(event, EventWithCaller):
            await self._answer(event)
        else:
            await self._table[type(event)](event)

    async def _answer(self, event: EventWithCaller) -> None:
        match event:
            case AlterIsrReceived():
                response = await self.isr.process_alter_isr(event.request)
                event.answer.resolve(response)
                await self.isr.altered(response)
            case ControlledShutdown():
                event.answer.resolve(await self.shutdown.process(event.broker_id, event.broker_epoch))
            case ReplicaLeaderElection():
                event.answer.resolve(await self.election.process(event))
            case ApiPartitionReassignment():
                event.answer.resolve(await self.reassignment.process_api_reassignment(event.reassignments))
            case ListPartitionReassignments():
                event.answer.resolve(self.reassignment.list_reassignments(event.partitions))
            case UpdateFeatures():
                event.answer.resolve(self.features.update(event.request))
            case _:
                assert_never(event)

    async def _log_dir_event_notification(self) -> None:
        notifications = self.core.notifications
        paths = await notifications.log_dir_events()
        broker_ids = await notifications.brokers_of_log_dir_events(paths)
        if broker_ids:
            await self.brokers.process_log_dir_event_notification(broker_ids)
        await notifications.delete(paths)
