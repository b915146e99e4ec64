"""One broker: wires the parts, starts them in Kafka's order, stops them in Kafka's order.

Start (facts/coordination.md 2.1): ZooKeeper, cluster id, `meta.properties`, logs, sockets (bound, not served yet), registration in /brokers/ids, controller,
coordinators, and only then requests. Stop (2.5): controlled shutdown, sockets, coordinators, replica manager, logs, controller, and the ZooKeeper session
last: its end removes the ephemeral znodes.
"""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from pykafka_classic.broker_parts import BrokerBuilder, BrokerParts, Seams
from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Random
from pykafka_classic.common.config import ConfigError, KafkaConfig
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.listeners import EndPoint
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Create, SessionEvent, session_name
from pykafka_classic.edges.broker_edges import BrokerEdges, advertised
from pykafka_classic.edges.broker_protocol import Dispatch
from pykafka_classic.edges.broker_reactor import install_broker_reactor
from pykafka_classic.edges.log_files import has_terminal, reopen_all
from pykafka_classic.edges.logging_setup import name_broker
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.service_manager import READY, STOPPING, notify
from pykafka_classic.edges.twisted_server import CannotListen
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable
from pykafka_classic.log.log_directory import LogDirectoryError
from pykafka_classic.log.meta_properties import InvalidMetaProperties, MetaProperties
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.server.broker_registration import RegistrationFailed
from pykafka_classic.server.dispatcher import Dispatcher
from pykafka_classic.server.identity import InconsistentIdentity, check_cluster_id, get_or_create_cluster_id, read_all_meta_properties, resolve_broker_id
from pykafka_classic.server.zk_operations import children_or_none, create_persistent_paths, data_or_none, submit_one, through_sessions
from zk_schema import PERSISTENT_PATHS, broker_ids, log_dir_event_notification, topics
from zk_schema.broker_ids import BrokerIdZNode
from zk_schema.log_dir_event_notification import LogDirEventZNode

log = logging.getLogger("kafka.server.KafkaServer")

OFFSETS_TOPIC = "__consumer_offsets"


class Edges(Seams, Protocol):
    """The world as one broker's process needs it. Real: `edges/broker_edges.py`; the simulation has its own, so that it runs this very start and stop."""

    @property
    def random(self) -> Random:
        """Chance."""
        ...

    async def connect_zookeeper(self) -> None:
        """A session, or an exception that says why there is none."""
        ...

    def listen(self, end_point: EndPoint, apis: Mapping[ApiKey, tuple[int, int]], dispatch: Dispatch) -> int:
        """Bind one listener; its requests wait for `start_processing`. The port."""
        ...

    def start_processing(self) -> None:
        """Serve requests, on listeners that were bound since too."""
        ...

    async def stop_listener(self, name: str) -> None:
        """Close one listener and its connections."""
        ...

    def update_config(self, config: KafkaConfig) -> None:
        """The broker's own configuration has changed: limits of connections and threads."""
        ...

    async def stop_listening(self) -> None:
        """Close the listeners and their connections."""
        ...

    async def close(self) -> None:
        """End the ZooKeeper session."""
        ...


class KafkaServer:
    """A broker's life: `startup`, then `shutdown`, once each.

    Invariant: `_parts` is None before the start has come to the logs.
    """

    def __init__(self, config: KafkaConfig, edges: Edges, *, on_fatal: Callable[[str], None]) -> None:
        self._on_fatal = on_fatal  # the broker must not go on; the text says why
        self._config = config
        self._edges = edges
        self._random = edges.random
        self._parts: BrokerParts | None = None
        self._end_points: tuple[EndPoint, ...] = ()  # what others are told
        self._bound: dict[str, int] = {}  # ports by listener
        self._moving_listeners = False
        self._serving = False
        self._session_id = 0  # with ZooKeeper: the latest that stood

    @property
    def prefix(self) -> str:
        """What this broker's log lines begin with."""
        return f"[KafkaServer id={self._config.broker_id}]"

    # start

    async def startup(self) -> None:
        """Come up and serve; raises what prevents it, after which only `shutdown` may be called."""
        log.info("%s starting", self.prefix)
        zk = self._edges.zk
        await self._edges.connect_zookeeper()
        cluster_id = await through_sessions(self._cluster_id, "the start")
        log.info("Cluster ID = %s", cluster_id)
        stored = read_all_meta_properties(self._edges.file_system, self._config.log_directories)
        check_cluster_id(stored, cluster_id)
        self._config = replace(self._config, broker_id=await through_sessions(lambda: resolve_broker_id(self._config, stored, zk), "the start"))
        name_broker(self._config.broker_id)
        parts = self._parts = BrokerBuilder(self._config, self._edges, self._random, cluster_id).build(self._registration_info)
        await self._load_logs(parts)
        self._bind()
        parts.services.dynamic_config.on_change.append(self._config_changed)
        await through_sessions(self._check_end_points, "the start")
        await self._register(parts)
        parts.log_manager.write_meta_properties(MetaProperties(broker_id=self._config.broker_id, cluster_id=cluster_id))
        parts.replica_manager.on_log_dir_failure = self._log_dir_failed
        parts.replica_manager.startup()
        parts.controller.startup()
        await parts.services.producer_ids.claim_block()
        await through_sessions(lambda: self._start_coordinators(parts), "the start")
        parts.topic_configs.scan()
        self._session_id = zk.session_id
        zk.add_session_listener(self._on_session)
        self._edges.start_processing()
        self._serving = True
        self._follow_listeners()  # they may have changed during the start
        log.info("%s started", self.prefix)
        broker_events.emit(broker_events.BROKER_STARTED, session=session_name(zk.session_id))

    async def _cluster_id(self) -> str:
        await create_persistent_paths(self._edges.zk, PERSISTENT_PATHS)
        return await get_or_create_cluster_id(self._edges.zk, self._random)

    async def _load_logs(self, parts: BrokerParts) -> None:
        for topic, overrides in (await parts.topic_configs.load_all()).items():
            parts.replica_manager.update_topic_config(topic, overrides)
        await parts.topic_configs.reload_broker(self._config.broker_id)
        self._config = parts.services.config
        self._edges.update_config(self._config)
        await parts.services.feature_cache.refresh()
        await parts.log_manager.load()
        parts.log_manager.start()

    def _bind(self) -> None:
        """Listen on all listeners; connections are accepted, their requests wait."""
        for end_point in self._config.listener_end_points:
            self._listen(end_point)
        self._end_points = self._advertised()

    def _listen(self, end_point: EndPoint) -> None:
        assert self._parts is not None
        services = self._parts.services
        dispatcher = Dispatcher(services, end_point.listener_name)
        self._bound[end_point.listener_name] = self._edges.listen(end_point, services.served_apis, dispatcher.dispatch)

    def _advertised(self) -> tuple[EndPoint, ...]:
        """The addresses for others, with real ports, of what is bound."""
        return tuple(
            advertised(end_point, self._bound[end_point.listener_name])
            for end_point in self._config.advertised_end_points
            if end_point.listener_name in self._bound
        )

    # listeners that come and go (KIP-226)

    def _config_changed(self, before: KafkaConfig, after: KafkaConfig) -> None:
        if after.originals == before.originals:
            return
        self._config = after
        self._edges.update_config(after)
        self._follow_listeners()

    def _follow_listeners(self) -> None:
        if not self._moving_listeners:
            self._moving_listeners = True
            spawn(self._move_listeners()).when_settled(self._listeners_moved)

    async def _move_listeners(self) -> None:
        """Close what is not wanted any more, open what is new, tell others; again, if that has changed meanwhile."""
        assert self._parts is not None
        while self._serving:
            wanted = {each.listener_name: each for each in self._config.listener_end_points}
            for name in [name for name in self._bound if name not in wanted]:
                log.info("%s Removing listener %s", self.prefix, name)
                del self._bound[name]
                await self._edges.stop_listener(name)
            for end_point in [each for name, each in wanted.items() if name not in self._bound]:
                self._open(end_point)
            if self._advertised() == self._end_points:
                return
            self._end_points = self._advertised()
            await self._parts.registration.update(self._registration_info())

    def _open(self, end_point: EndPoint) -> None:
        try:
            self._listen(end_point)
        except CannotListen as error:
            log.error("%s Listener %s is not added: %s", self.prefix, end_point.listener_name, error)
        else:
            self._edges.start_processing()
            log.info("%s Added listener %s", self.prefix, end_point.connection_string)

    def _listeners_moved(self, outcome: Promise[None]) -> None:
        self._moving_listeners = False
        error = outcome.error()
        if error is not None:
            log.error("%s Listeners could not be changed", self.prefix, exc_info=error)

    async def _check_end_points(self) -> None:
        """Two brokers must not tell clients the same address."""
        zk = self._edges.zk
        mine = {(end_point.host, end_point.port) for end_point in self._end_points}
        for child in await children_or_none(zk, broker_ids.PATH):
            other = await data_or_none(zk, broker_ids.path(int(child))) if int(child) != self._config.broker_id else None
            taken = mine & {(end_point.host, end_point.port) for end_point in broker_ids.decode(other.data).endpoints} if other and other.data else None
            if taken:
                raise RegistrationFailed(f"Configured end points {sorted(taken)} in advertised listeners are already registered by broker {child}")

    def _registration_info(self) -> BrokerIdZNode:
        return broker_ids.registration(
            end_points=[(end_point.listener_name, end_point.host, end_point.port, end_point.security_protocol) for end_point in self._end_points],
            rack=self._config.broker_rack,
            timestamp_ms=self._edges.clock.now_ms(),
            ibp=self._config.inter_broker_api_version,
        )

    async def _register(self, parts: BrokerParts) -> None:
        parts.services.broker_epoch = await parts.registration.register(self._registration_info())

    async def _start_coordinators(self, parts: BrokerParts) -> None:
        for topic in parts.internal_topics:
            stored = await data_or_none(self._edges.zk, topics.path(topic.name))
            if stored is not None:
                topic.stored_partition_count = len(topics.decode(stored.data or b"").assignment)
        parts.services.groups.start()
        parts.services.transactions.start()

    def _on_session(self, event: SessionEvent) -> None:
        assert self._parts is not None
        if event is SessionEvent.EXPIRED:
            log.warning(
                "%s ZooKeeper session expired: /brokers/ids/%d is gone until it is registered again; produce and fetch go on",
                self.prefix,
                self._config.broker_id,
            )
            broker_events.emit(broker_events.SESSION_EXPIRED, session=session_name(self._session_id))
        elif event is SessionEvent.RENEWED:
            self._session_id = self._edges.zk.session_id
            broker_events.emit(broker_events.SESSION_RENEWED, session=session_name(self._session_id))

    def _log_dir_failed(self, log_dir: str) -> None:
        """Tell the controller, which moves the leaderships away; without any directory there is nothing left to serve."""
        assert self._parts is not None
        if not self._parts.log_manager.online_log_dirs:
            self._on_fatal(f"Shutdown broker because all log dirs in {', '.join(self._config.log_directories)} have failed")
            return
        log.warning("%s Log dir %s has failed: its partitions are offline here", self.prefix, log_dir)
        broker_events.emit(broker_events.LOG_DIR_FAILED, log_dir=log_dir)
        data = log_dir_event_notification.encode(LogDirEventZNode(self._config.broker_id))
        spawn(submit_one(self._edges.zk, Create(log_dir_event_notification.CREATE_PATH, data, sequential=True)))

    # stop

    async def shutdown(self) -> None:
        """Stop cleanly, from whatever point the start has reached."""
        log.info("%s shutting down", self.prefix)
        broker_events.emit(broker_events.BROKER_STOPPING, session=session_name(self._session_id))
        parts = self._parts
        if parts is not None and self._serving and self._config.controlled_shutdown_enable:
            log.info("%s Starting controlled shutdown", self.prefix)
            await parts.controlled_shutdown.run(self._config.broker_id, parts.services.broker_epoch)
        await self._edges.stop_listening()
        if parts is not None:
            parts.services.groups.shutdown()
            parts.services.transactions.shutdown()
            await parts.replica_manager.shutdown()
            await parts.log_manager.shutdown()
            parts.controller.shutdown()
        await self._edges.close()
        log.info("%s shut down completed", self.prefix)


# What may prevent a start and is no bug: the text says what to do, and a stack trace would only hide it.
START_FAILURES = (
    ZooKeeperUnavailable,
    RegistrationFailed,
    InconsistentIdentity,
    InvalidMetaProperties,
    LogDirectoryError,
    CannotListen,
    ConfigError,
    KafkaError,
)


class BrokerProcess:
    """One broker as a process: starts it, turns SIGTERM and SIGINT into a clean stop, ends the reactor, and has the exit status.

    Invariant: the reactor is stopped exactly once, after `shutdown` has come to its end.
    """

    def __init__(self, config: KafkaConfig, reactor: Reactor) -> None:
        self.exit_status = 0
        self._reactor = reactor
        self._server = KafkaServer(config, BrokerEdges(config, reactor), on_fatal=self._fatal)
        self._started: Promise[None] | None = None
        self._stopping = False

    def start(self) -> None:
        """To be called once the reactor runs."""
        self._started = spawn(self._server.startup())
        self._started.when_settled(self._started_or_not)

    def stop(self) -> None:
        """Stop cleanly, once the start has come to its end; a second signal changes nothing."""
        if self._stopping or self._started is None:
            return
        self._stopping = True
        notify(STOPPING, "stopping")
        self._started.when_settled(lambda _: spawn(self._server.shutdown()).when_settled(self._stopped))

    def _started_or_not(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is None:
            gc.collect()
            gc.freeze()  # what the start made lives as long as the broker: no collection need look at it again
            if not self._stopping:
                notify(READY, "serving")
            return
        self.exit_status = 1
        expected = isinstance(error, START_FAILURES)
        log.critical("%s Fatal error during startup: %s", self._server.prefix, error, exc_info=None if expected else error)
        self.stop()

    def _fatal(self, reason: str) -> None:
        log.critical("%s %s", self._server.prefix, reason)
        self.exit_status = 1
        self.stop()

    def _stopped(self, outcome: Promise[None]) -> None:
        error = outcome.error()
        if error is not None:
            self.exit_status = 1
            log.error("%s Fatal error during shutdown", self._server.prefix, exc_info=error)
        self._reactor.stop()


def run(config: KafkaConfig) -> int:
    """Run a broker until it is told to stop; the exit status of the process.

    SIGTERM and SIGINT: a clean stop. SIGHUP: log files are opened anew; where there is a terminal, it says that this has gone: a clean stop, as with Java.
    """
    reactor = install_broker_reactor()
    process = BrokerProcess(config, reactor)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reactor.callFromThread(process.stop))
    on_hangup = process.stop if has_terminal() else reopen_all
    signal.signal(signal.SIGHUP, lambda *_: reactor.callFromThread(on_hangup))
    reactor.callWhenRunning(process.start)
    reactor.run(installSignalHandlers=False)
    return process.exit_status
