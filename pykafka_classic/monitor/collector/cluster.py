"""Everything about one cluster: the watch over its ZooKeeper, the rounds to its brokers, and what of both goes to the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pykafka_classic.client.admin.connections import Address
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import ZooKeeper
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.twisted_admin import TwistedAdmin
from pykafka_classic.monitor.alarms import AlarmBook
from pykafka_classic.monitor.collector.broker_events import EventFile
from pykafka_classic.monitor.collector.brokers import SETTINGS, BrokerRounds
from pykafka_classic.monitor.collector.changes import ChangeRows, nodes_of
from pykafka_classic.monitor.collector.lag import EndOffsets
from pykafka_classic.monitor.collector.pulse import Pulse
from pykafka_classic.monitor.collector.vanished import KnownCommits, KnownGroups
from pykafka_classic.monitor.collector.view import ClusterView
from pykafka_classic.monitor.collector.watchman import Watchman
from pykafka_classic.monitor.collector.zookeeper import Seen, ZooKeeperWatch
from pykafka_classic.monitor.settings import ClusterSettings, MonitorKeys
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.monitor.store.rows import KAFKA, ZOOKEEPER, AlarmCleared, AlarmRaised, Batch, ClusterRow, EventPosition, EventRow
from pykafka_classic.monitor.store.writer import StoreWriter
from pykafka_classic.monitor.znodes import Change, Node
from zk_schema import cluster_id
from zk_schema.errors import MalformedZNode

log = logging.getLogger("kafka.monitor.Cluster")

CLIENT_ID: Final = "monitor"
WIDELY_EVERY_MS: Final = 15_000  # how often the logs' starts and sizes are asked for
RECENT_MS: Final = 2 * 3_600_000  # how far back ends of logs are read from the store at the start


class ClusterCollector:
    """Collects one cluster from `start` to `stop`.

    Args:
        reactor: all is called on its thread.
        settings: of the cluster.
        keys: of the monitor.
        writer: of the store.
        reader: of the store, to begin where an earlier life stopped.

    Attributes: admin: to ask and change the cluster's brokers; zk: the session with its ZooKeeper; view: the present state;
    pulse: who does not answer.
    """

    def __init__(self, reactor: Reactor, settings: ClusterSettings, keys: MonitorKeys, writer: StoreWriter, reader: StoreReader) -> None:
        self.settings = settings
        self.view = ClusterView()
        self.rounds = 0
        self._clock = ReactorClock(reactor)
        self._interval_ms = keys.interval_ms
        self.on_alarm: Callable[[AlarmRaised | AlarmCleared], None] = lambda _: None
        self._writer = writer
        self._rows = ChangeRows()
        self._state = "connecting"
        self._kafka_id: str | None = None
        self._widely_at: float = 0
        self._running = False
        self._put_state()
        writer.flush()
        known = nodes_of(reader.tree_at(settings.name))
        self._is_new = not known
        self.view.update(Change(path, None, node) for path, node in known.items())
        self.admin = TwistedAdmin(reactor, [("localhost", 9092)], client_id=CLIENT_ID, settings=SETTINGS)
        self._pulse_admin = TwistedAdmin(reactor, [("localhost", 9092)], client_id=f"{CLIENT_ID}-pulse", settings=SETTINGS)
        self.pulse = Pulse(self._pulse_admin.core.requests, self.view, self._clock, self._pulse_told)
        self._brokers = BrokerRounds(self.admin.core.requests, self.view)
        self._brokers.is_silent = lambda broker: broker in self.pulse.silent
        self._restore(reader)
        book = AlarmBook(settings.name, keys.alarm_clear_after_ms, [(each.rule, each.subject) for each in reader.alarms(settings.name, only_on=True)])
        self._watchman = Watchman(book, self.view, keys, self._clock, self._alarmed)
        positions = reader.event_positions(settings.name)
        self._event_files = [EventFile(broker, path, positions.get(broker), self._clock, self._events_told) for broker, path in sorted(settings.events.items())]
        self.watch = ZooKeeperWatch(reactor, settings.zookeeper, known, self._seen, self._told_state)

    @property
    def zk(self) -> ZooKeeper:
        """The session with ZooKeeper."""
        return self.watch.zk

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The tree as it is now."""
        return self.watch.nodes

    @property
    def state(self) -> str:
        """connected, or what is wrong."""
        return self._state

    def start(self) -> None:
        """Begin to watch and to ask."""
        self._running = True
        self._find_brokers()
        self.watch.start()
        for each in self._event_files:
            each.start()
        self._clock.call_later(0, self._round)

    def stop(self) -> Promise[None]:
        """End; what was seen is with the writer. The promise is kept when the session with ZooKeeper has ended."""
        self._running = False
        self._watchman.stop()
        self.pulse.stop()
        self._pulse_admin.close()
        for each in self._event_files:
            each.stop()
        self.admin.close()
        return self.watch.stop()

    # from ZooKeeper

    def _seen(self, seen: Seen) -> None:
        self.view.update(seen.changes)
        self._find_brokers()
        rows = self._rows.rows(seen.changes, seen.t_ms, found=seen.first and self._is_new)
        self._writer.put(Batch(self.settings.name, seen.t_ms, znodes=rows))
        if seen.first:
            self._kafka_id = self._cluster_id()
            self._put_state()
            self._watchman.start()
            self.pulse.start()

    def _cluster_id(self) -> str | None:
        node = self.nodes.get(cluster_id.PATH)
        try:
            return cluster_id.decode(node.data) if node is not None else None
        except MalformedZNode:
            return None

    def _told_state(self, state: str) -> None:
        if state != self._state:
            self._state = state
            log.info("Cluster %s: %s", self.settings.name, state)
            self._put_state()

    def _put_state(self) -> None:
        settings = self.settings
        self._writer.put(ClusterRow(settings.name, settings.zookeeper, self._kafka_id, self._state, self._clock.now_ms()))

    def _find_brokers(self) -> None:
        """ZooKeeper knows best where brokers are; those that left are no bootstrap addresses any longer."""
        addresses = tuple(Address(*address) for address in self.view.brokers.values() if address is not None)
        if addresses:
            for admin in (self.admin, self._pulse_admin):
                admin.core.requests.bootstrap = addresses

    # from brokers

    def _pulse_told(self, event: EventRow) -> None:
        self._writer.put(Batch(self.settings.name, event.t_ms, events=[event]))

    def _events_told(self, events: Sequence[EventRow], position: EventPosition) -> None:
        self._writer.put(Batch(self.settings.name, self._clock.now_ms(), events=events, event_positions=[position]))

    def _restore(self, reader: StoreReader) -> None:
        """What an earlier life knew: what is gone since must be told as gone."""
        name, known = self.settings.name, self._brokers.known
        known.partitions = {TopicPartition(*each) for each in reader.series_there(name)}
        known.groups = KnownGroups(each.group for each in reader.groups_at(name) if each.store == KAFKA)
        commits = reader.commits_there(name)
        known.kafka, known.zookeeper = (KnownCommits(store, commits.get(store, {})) for store in (KAFKA, ZOOKEEPER))
        self._restore_ends(reader)

    def _restore_ends(self, reader: StoreReader) -> None:
        for topic, partition, t_ms, end in reader.recent_ends(self.settings.name, self._clock.now_ms() - RECENT_MS):
            self._brokers.known.ends.setdefault(TopicPartition(topic, partition), EndOffsets()).add(t_ms, end)

    def _round(self) -> None:
        if not self._running:
            return
        began = self._clock.monotonic_ms()

        def done(outcome: Promise[None]) -> None:
            error = outcome.error()
            if error is not None:
                log.error("A round of questions to cluster %s has failed", self.settings.name, exc_info=error)
            self._clock.call_later(max(0.0, self._interval_ms - (self._clock.monotonic_ms() - began)), self._round)

        spawn(self._look()).when_settled(done)

    async def _look(self) -> None:
        if not self.view.brokers:
            return  # nobody to ask, or not known yet
        now = self._clock.monotonic_ms()
        widely = now >= self._widely_at
        if widely:
            self._widely_at = now + WIDELY_EVERY_MS
        batch = await self._brokers.look(self.settings.name, self._clock.now_ms(), widely=widely)
        self._writer.put(batch)
        self._watchman.round_made(batch)
        self.rounds += 1

    def _alarmed(self, alarm: AlarmRaised | AlarmCleared) -> None:
        self._writer.put(alarm)
        self.on_alarm(alarm)
