"""Becoming the controller, and ceasing to be it.

The steps of a failover, and why in this order (facts/coordination.md 3.2):
 1. /feature: what all brokers have agreed on decides which of them are admitted
 2. watch /admin/preferred_replica_election and /admin/reassign_partitions; the other watches are set by the reads below
 3. drop old notifications: everything is about to be read anyway
 4. read brokers, topics, partition states; open a queue to each broker
 5. read the deletions asked for, and see which cannot go on now
 6. UpdateMetadata without partitions: brokers must know each other's addresses before they are told to follow each other
 7. replica states: every broker is told about all of its replicas; those on dead brokers leave the ISRs
 8. partition states: every partition without a live leader gets one, if it can
 9. reassignments, 10. deletions, 11. preferred elections that were under way go on
12. timers

Source: Kafka's onControllerFailover, initializeControllerContext, onControllerResignation.
"""

from __future__ import annotations

from collections.abc import Iterable

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Timer
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.events import AutoPreferredReplicaLeaderElection
from pykafka_classic.controller.handlers import Handlers

FIRST_REBALANCE_CHECK_MS = 5_000


def _names(things: Iterable[object]) -> str:
    return ", ".join(map(str, things))


class Failover:
    """Takes the office over, and lays it down."""

    def __init__(self, core: ControllerCore, handlers: Handlers) -> None:
        self._core = core
        self._context = core.context
        self._handlers = handlers
        self._rebalance_timer: Timer | None = None

    async def take_over(self) -> None:
        """All steps; the context already holds the epoch that was won."""
        core, handlers = self._core, self._handlers
        await handlers.features.setup()
        core.log.info("Registering handlers")
        await core.notifications.watch_preferred_replica_election()
        await core.notifications.watch_reassignment()
        core.log.info("Deleting log dir event notifications")
        await core.notifications.delete(await core.notifications.log_dir_events())
        core.log.info("Deleting isr change notifications")
        await core.notifications.delete(await core.notifications.isr_changes())
        core.log.info("Initializing controller context")
        await self._initialize_context()
        core.log.info("Fetching topic deletions in progress")
        await self._initialize_deletions()
        core.log.info("Sending update metadata request")
        core.send_update_metadata(self._context.live_or_shutting_down_broker_ids)
        await handlers.replicas.startup()
        await handlers.partitions.startup()
        core.log.info("Ready to serve as the new controller with epoch %d", self._context.epoch)
        await handlers.reassignment.initialize()
        await handlers.deletion.try_topic_deletion()
        await handlers.election.resume_pending()
        core.log.info("Starting the controller scheduler")
        self.schedule_rebalance(FIRST_REBALANCE_CHECK_MS)

    async def _initialize_context(self) -> None:
        core, context = self._core, self._context
        context.add_live_brokers(self._handlers.features.compatible(await core.cluster.brokers_and_epochs()))
        core.log.info("Initialized broker epochs cache: %s", {broker_id: broker.epoch for broker_id, broker in context.live_or_shutting_down_brokers.items()})
        context.all_topics = await core.cluster.topic_names()
        await self._handlers.topics.read_topics(sorted(context.all_topics))
        for partition, assignment in context.all_partitions():
            if assignment.is_being_reassigned:
                context.partitions_being_reassigned[partition] = None
        context.leadership |= await core.states.read_existing([partition for partition, _ in context.all_partitions()])
        core.channels.startup(context.live_or_shutting_down_brokers)
        core.log.info("Currently active brokers in the cluster: {%s}", _names(sorted(context.live_broker_ids)))
        core.log.info("Current list of topics in the cluster: {%s}", _names(sorted(context.all_topics)))

    async def _initialize_deletions(self) -> None:
        marked = await self._core.cluster.topic_deletions()
        ineligible = {partition.topic for partition in self._context.partitions_being_reassigned}
        for partition, assignment in self._context.all_partitions():
            if len(self._context.online_replicas(partition, assignment.replicas)) < len(assignment.replicas):
                ineligible.add(partition.topic)
        await self._handlers.deletion.initialize(marked, ineligible)

    # Timers

    def schedule_rebalance(self, delay_ms: float) -> None:
        """Check the balance of leaders after this time, if the config says so."""
        if self._core.config.auto_leader_rebalance_enable:
            self._rebalance_timer = self._core.clock.call_later(delay_ms, lambda: self._core.put_event(AutoPreferredReplicaLeaderElection()))

    # Laying it down

    def resign(self) -> None:
        """Forget everything and drop all requests not yet answered; the watch on /controller stays."""
        self._core.log.info("Resigning")
        broker_events.emit(broker_events.CONTROLLER_RESIGNED, controller_epoch=self._context.epoch)
        if self._rebalance_timer is not None:
            self._rebalance_timer.cancel()
            self._rebalance_timer = None
        self._core.batch.clear()
        self._core.channels.shutdown()
        self._context.reset()
        self._core.log.info("Resigned")
