"""`KafkaController`: the office. Elects, takes over, resigns, and hands every other event to its subject.

    Startup                    watch /controller, elect
    Reelect                    /controller is gone: perhaps resign, then elect
    ControllerChange           /controller names somebody: perhaps resign
    Expire                     the session has ended: resign at once
    RegisterBrokerAndReelect   a new session: register the broker anew, then as Reelect

Election: whoever creates the ephemeral /controller wins, in one transaction that also raises /controller_epoch. A handler that runs into the fence
("controller moved") looks at /controller again and resigns if it is not its own. Any other failure while taking over gives the office up, so that another
broker can try.
Source: facts/coordination.md 2.3, 3.1, 3.3; Kafka's controller/KafkaController.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import SessionEvent, SessionExpired, WatchEvent, ZooKeeper
from pykafka_classic.controller.broker_request_batch import BrokerRequestBatch, IllegalState
from pykafka_classic.controller.channel_manager import ControllerChannelManager
from pykafka_classic.controller.control_requests import ControlRequests, RequestVersions
from pykafka_classic.controller.controller_context import ControllerContext
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.event_manager import ControllerEventManager
from pykafka_classic.controller.events import (
    ROUTINE,
    AlterIsrReceived,
    ApiPartitionReassignment,
    AutoPreferredReplicaLeaderElection,
    ControlledShutdown,
    ControllerChange,
    ControllerEvent,
    ElectionResults,
    ElectionTrigger,
    ElectionType,
    Expire,
    ListPartitionReassignments,
    PartitionErrors,
    Reassignments,
    Reelect,
    RegisterBrokerAndReelect,
    ReplicaLeaderElection,
    Startup,
    TopicUncleanLeaderElectionEnable,
    UncleanLeaderElectionEnable,
    UpdateFeatures,
    refuse,
)
from pykafka_classic.controller.failover import Failover
from pykafka_classic.controller.handlers import Handlers
from pykafka_classic.controller.logs import StateChangeLog, controller_log
from pykafka_classic.controller.watches import event_of
from pykafka_classic.controller.zk_client import ControllerMoved, ControllerZkClient
from pykafka_classic.controller.zk_cluster import ZkCluster
from pykafka_classic.controller.zk_notifications import ZkNotifications
from pykafka_classic.controller.zk_partition_states import PartitionStates
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrResponse
from pykafka_classic.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from pykafka_classic.protocol.network import Network

NO_CONTROLLER: Final = -1


@dataclass(eq=False)
class KafkaController:
    """One broker's controller module; among all brokers one is active.

    `register_broker` makes /brokers/ids/N again after the session had ended; its promise fails if that is not possible.
    """

    config: KafkaConfig
    broker_id: int
    zk: ZooKeeper
    clock: Clock
    network: Network
    random: Random
    _: KW_ONLY
    register_broker: Callable[[], Promise[Any]]

    def __post_init__(self) -> None:
        self.active_controller_id = NO_CONTROLLER  # as last read from /controller
        self._events = ControllerEventManager(self._process)
        self._core = self._wire()
        self._log = self._core.log
        self._handlers = Handlers(self._core)
        self._failover = Failover(self._core, self._handlers)

    def _wire(self) -> ControllerCore:
        context = ControllerContext()
        zk = ControllerZkClient(self.zk, context)
        channels = ControllerChannelManager(self.config, self.broker_id, self.network, self.clock)
        requests = ControlRequests(
            context,
            self.broker_id,
            versions=RequestVersions.of(self.config.inter_broker_api_version),
            listener_name=self.config.inter_broker_listener,
        )
        return ControllerCore(
            config=self.config,
            controller_id=self.broker_id,
            context=context,
            zk=zk,
            cluster=ZkCluster(zk, self.random),
            states=PartitionStates(zk, context),
            notifications=ZkNotifications(zk),
            channels=channels,
            batch=BrokerRequestBatch(context, requests, channels, put_event=self._events.put),
            clock=self.clock,
            random=self.random,
            put_event=self._events.put,
            log=controller_log(self.broker_id),
            state_change_log=StateChangeLog(context, self.broker_id),
        )

    # What the server sees

    @property
    def is_active(self) -> bool:
        """True while this broker is the controller, as far as it knows; the fence guards against its being wrong."""
        return self.active_controller_id == self.broker_id

    @property
    def epoch(self) -> int:
        """The epoch under which this broker is controller; 0 while it is not."""
        return self._core.context.epoch

    @property
    def context(self) -> ControllerContext:
        """What the active controller knows; for reading only. Empty while not active."""
        return self._core.context

    @property
    def is_idle(self) -> bool:
        """True while no event waits or is handled."""
        return self._events.is_idle

    def is_topic_queued_for_deletion(self, topic: str) -> bool:
        """Whether the active controller has been told to delete this topic."""
        return self._core.context.is_topic_queued_up_for_deletion(topic)

    def topic_name_of(self, topic_id: bytes) -> str | None:
        """The topic with this id, as the active controller knows it."""
        return self._core.context.topic_names.get(topic_id)

    def startup(self) -> None:
        """Begin: the broker is registered and can serve the controller's requests."""
        self._log.info("Starting up.")
        self.zk.add_watch_listener(self.on_watch)
        self.zk.add_session_listener(self.on_session)
        self._events.put(Startup())

    def shutdown(self) -> None:
        """End: handle no more events. /controller goes with the session."""
        self._events.close()
        if self.is_active:
            self._failover.resign()
        self.active_controller_id = NO_CONTROLLER

    def update_config(self, config: KafkaConfig) -> None:
        """Dynamic broker configs changed."""
        enabled = config.unclean_leader_election_enable and not self.config.unclean_leader_election_enable
        self.config = self._core.config = config
        if enabled:
            self.enable_default_unclean_leader_election()

    def enable_default_unclean_leader_election(self) -> None:
        """The broker's default of unclean.leader.election.enable became true."""
        self._events.put(UncleanLeaderElectionEnable())

    def enable_topic_unclean_leader_election(self, topic: str) -> None:
        """The topic's unclean.leader.election.enable became true."""
        if self.is_active:
            self._events.put(TopicUncleanLeaderElectionEnable(topic))

    def alter_isr(self, request: AlterIsrRequest) -> Promise[AlterIsrResponse]:
        """A leader's request; errors are in the response."""
        event = AlterIsrReceived(request)
        answer: Promise[AlterIsrResponse] = Promise()

        def settle(verdict: Promise[AlterIsrResponse]) -> None:
            error = verdict.error()
            code = error.code if isinstance(error, KafkaError) else ErrorCode.UNKNOWN_SERVER_ERROR
            answer.resolve(verdict.result() if error is None else AlterIsrResponse(error_code=code))

        event.answer.when_settled(settle)
        self._events.put(event)
        return answer

    def controlled_shutdown(self, broker_id: int, broker_epoch: int) -> Promise[frozenset[TopicPartition]]:
        """A broker leaves: the partitions that it still leads. Fails with KafkaError: NOT_CONTROLLER, BROKER_NOT_AVAILABLE, STALE_BROKER_EPOCH."""
        event = ControlledShutdown(broker_id, broker_epoch)
        self._events.put(event)
        return event.answer

    def elect_leaders(self, partitions: Iterable[TopicPartition], election_type: ElectionType) -> Promise[ElectionResults]:
        """Elect for these partitions; the new leader or an error for each. Fails with KafkaError NOT_CONTROLLER."""
        event = ReplicaLeaderElection(frozenset(partitions), election_type, ElectionTrigger.ADMIN_CLIENT)
        self._events.put(event)
        return event.answer

    def alter_partition_reassignments(self, reassignments: Mapping[TopicPartition, tuple[int, ...] | None]) -> Promise[PartitionErrors]:
        """Begin moves, or with None cancel them; an error code for each partition. Fails with KafkaError NOT_CONTROLLER."""
        event = ApiPartitionReassignment(reassignments)
        self._events.put(event)
        return event.answer

    def list_partition_reassignments(self, partitions: Iterable[TopicPartition] | None = None) -> Promise[Reassignments]:
        """The moves under way, of these partitions or of all. Fails with KafkaError NOT_CONTROLLER."""
        event = ListPartitionReassignments(None if partitions is None else frozenset(partitions))
        self._events.put(event)
        return event.answer

    def update_features(self, request: UpdateFeaturesRequest) -> Promise[UpdateFeaturesResponse]:
        """Change finalized features. Fails with KafkaError NOT_CONTROLLER."""
        event = UpdateFeatures(request)
        self._events.put(event)
        return event.answer

    # What ZooKeeper tells

    def on_watch(self, event: WatchEvent) -> None:
        """A watch fired: queue what it is about."""
        controller_event = event_of(event)
        if controller_event is not None:
            name = type(controller_event).__name__
            broker_events.emit(broker_events.WATCH_FIRED, path=event.path, watch=event.kind.value, controller_event=name)
            self._events.put(controller_event)

    def on_session(self, event: SessionEvent) -> None:
        """DISCONNECTED is nothing to act on: the session may live on, and the fence guards what is written meanwhile."""
        if event is SessionEvent.EXPIRED:
            self._log.info("The ZooKeeper session has expired: no longer acting as controller")
            self._lose_session()
            self._events.clear_and_put(Expire())
        elif event is SessionEvent.RENEWED:
            self._events.put(RegisterBrokerAndReelect())

    def _lose_session(self) -> None:
        self._core.zk.session_expired()
        self.active_controller_id = NO_CONTROLLER

    # The loop

    async def _process(self, event: ControllerEvent) -> None:
        try:
            await self._handle(event)
        except SessionExpired as error:
            self._log.info("The session ended while processing %s: %s", type(event).__name__, error)
            refuse(event, ErrorCode.NOT_CONTROLLER)
            self._lose_session()
        except ControllerMoved as error:
            self._log.info("Controller moved to another broker when processing %s: %s", type(event).__name__, error)
            refuse(event, ErrorCode.NOT_CONTROLLER)
            await self._look_at_office()
        except KafkaError as error:
            refuse(event, error.code)
        except Exception as error:  # noqa: BLE001 - the loop goes on, and the caller gets an answer
            self._log.exception("Error processing event %s", event)
            refuse(event, ErrorCode.UNKNOWN_SERVER_ERROR)
            if isinstance(error, IllegalState) or not self._core.batch.is_empty:
                self._log.error("Forcing the controller to resign")
                await self._trigger_controller_move()

    async def _handle(self, event: ControllerEvent) -> None:
        match event:
            case Startup():
                await self._elect()
            case ControllerChange():
                await self._look_at_office()
            case Reelect():
                await self._reelect()
            case RegisterBrokerAndReelect():
                await self.register_broker()
                await self._reelect()
            case Expire():
                self._expire()
            case _ if not self.is_active:
                refuse(event, ErrorCode.NOT_CONTROLLER)
            case _ if isinstance(event, ROUTINE):
                await self._handlers.handle(event)
            case AutoPreferredReplicaLeaderElection():
                try:
                    await self._handlers.handle(event)
                finally:
                    self._failover.schedule_rebalance(self._core.config.leader_imbalance_check_interval_seconds * 1000)
            case _:
                broker_events.emit(broker_events.CONTROLLER_EVENT, controller_event=type(event).__name__, controller_epoch=self.epoch)
                await self._handlers.handle(event)

    def _expire(self) -> None:
        self._failover.resign()
        self._core.zk.session_acknowledged()

    # The office

    async def _look_at_office(self) -> None:
        """Perhaps resign. Where nobody holds the office elect: its end may have come between the last watch and the present one, and then no event tells of it.

        Differs from Kafka, which waits for that event: a /controller deleted right after its creation can leave a cluster of 2.8 without controller.
        """
        if not await self._maybe_resign():
            self._events.put(Reelect())

    async def _maybe_resign(self) -> bool:
        """Take note of who is the controller. Returns whether there is a /controller, whose end the watch will tell."""
        was_active = self.is_active
        taken = await self._read_controller_id()
        if was_active and not self.is_active:
            self._failover.resign()
        return taken

    async def _read_controller_id(self) -> bool:
        found = await self._core.zk.controller_id(watch=True)
        # One of ours that this session did not win is left over from an earlier session: that is no office, and it will vanish.
        left_over = found == self.broker_id and not self.epoch
        self.active_controller_id = NO_CONTROLLER if found is None or left_over else found
        return found is not None

    async def _reelect(self) -> None:
        await self._maybe_resign()
        await self._elect()

    async def _elect(self) -> None:
        if await self._read_controller_id():
            self._log.info("Broker %d has been elected as the controller, so stopping the election process.", self.active_controller_id)
            return
        try:
            await self._become_controller()
        except SessionExpired:
            raise
        except ControllerMoved as error:
            await self._look_at_office()
            self._log.info("Broker %d was elected as controller instead of broker %d: %s", self.active_controller_id, self.broker_id, error)
        except Exception:  # noqa: BLE001 - whatever it is, another broker may do better
            self._log.exception("Error while electing or becoming controller on broker %d. Trigger controller movement immediately", self.broker_id)
            await self._trigger_controller_move()

    async def _become_controller(self) -> None:
        context = self._core.context
        context.epoch, context.epoch_zk_version = await self._core.zk.register_controller_and_increment_epoch(self.broker_id, now_ms=self.clock.now_ms())
        self.active_controller_id = self.broker_id
        self._log.info(
            "%d successfully elected as the controller. Epoch incremented to %d and epoch zk version is now %d",
            *(self.broker_id, context.epoch, context.epoch_zk_version),
        )
        broker_events.emit(broker_events.CONTROLLER_ELECTED, controller_epoch=context.epoch, zk_version=context.epoch_zk_version)
        await self._failover.take_over()

    async def _trigger_controller_move(self) -> None:
        """Give the office up for any broker to win, this one included."""
        await self._read_controller_id()
        if not self.is_active:
            self._log.warning("Controller has already moved when trying to trigger controller movement")
            return
        version = self._core.context.epoch_zk_version
        self.active_controller_id = NO_CONTROLLER
        self._failover.resign()
        try:
            await self._core.zk.delete_controller(version)
        except ControllerMoved:
            self._log.warning("Controller has already moved when trying to trigger controller movement")
