"""A simulated cluster: machines with disks, on which whole brokers run (`KafkaServer`, as in a real process), and one ZooKeeper.

What a broker touches is the world's: clock, background, disk, ZooKeeper session, network. ZooKeeper's messages arrive in any order between clients, in their
order within one. Sessions end when their client has not been heard of for SESSION_TIMEOUT_MS.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from pykafka_classic.broker_parts import BrokerParts
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.listeners import EndPoint
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.broker_protocol import Dispatch
from pykafka_classic.kafka_server import KafkaServer
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.server.zk_operations import SessionEnded
from tests.fakes.file_system import FakeFileSystem
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer
from tests.simulation.network import FIRST_PORT, Listener, SimNetwork, Wires
from tests.simulation.world import START_MS, Process, World
from zk_schema import partition_state, topics
from zk_schema.partition_state import TopicPartitionStateZNode

SESSION_TIMEOUT_MS = 6000
PROPERTIES = {
    "replica.lag.time.max.ms": "4000",
    "min.insync.replicas": "2",
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "replica.fetch.wait.max.ms": "1000",
    "replica.socket.timeout.ms": "5000",
    "request.timeout.ms": "5000",
    "controller.socket.timeout.ms": "5000",
    "controlled.shutdown.retry.backoff.ms": "1000",
    "log.retention.ms": "-1",
    "log.cleaner.enable": "false",
    "log.segment.bytes": "700",
    "log.flush.offset.checkpoint.interval.ms": "5000",
    "leader.imbalance.check.interval.seconds": "15",
    "auto.create.topics.enable": "false",
    "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
}


class SimEdges:
    """The edges of one broker process: what `KafkaServer` is given instead of sockets and disks."""

    def __init__(self, cluster: SimCluster, process: Process, file_system: FakeFileSystem, seed: int) -> None:
        self.clock = process.clock
        self.background = process.background
        self.file_system = file_system
        self.network = SimNetwork(cluster.wires, process)
        self.zk = cluster.zookeeper.connect()
        self.random = random.Random(seed)
        self._cluster = cluster
        self._process = process

    async def connect_zookeeper(self) -> None:
        """It is connected from the start."""

    def listen(self, end_point: EndPoint, apis: Mapping[ApiKey, tuple[int, int]], dispatch: Dispatch) -> int:
        """Take requests; they wait."""
        del apis
        self._cluster.wires.listeners[end_point.port] = Listener(self._process, dispatch)
        return end_point.port

    def start_processing(self) -> None:
        """Serve them."""
        for listener in self._cluster.wires.listeners.values():
            if listener.process is self._process:
                listener.processing = True
        self._cluster.wires.processing_began(self._process)

    async def stop_listener(self, name: str) -> None:
        """There is one listener, and it stays."""
        raise AssertionError(name)

    def update_config(self, config: KafkaConfig) -> None:
        """No limits here."""

    async def stop_listening(self) -> None:
        """Serve no more."""
        self._cluster.wires.process_died(self._process)

    async def close(self) -> None:
        """The session ends."""
        await self.zk.close()


class SimBroker:
    """One broker process."""

    def __init__(self, cluster: SimCluster, broker_id: int, file_system: FakeFileSystem) -> None:
        cluster.incarnations += 1
        self.id = broker_id
        self.incarnation = cluster.incarnations
        self.process = Process(cluster.world, broker_id, f"broker {broker_id}")
        self.file_system = file_system
        file_system.now_ms = START_MS + int(cluster.world.now_ms)
        self.edges = SimEdges(cluster, self.process, file_system, cluster.world.random.randrange(1 << 30))
        self.config = cluster.config(broker_id)
        self.started = False
        self.server = KafkaServer(self.config, self.edges, on_fatal=self._fatal)

    @property
    def zk(self) -> FakeZooKeeper:
        """Its session."""
        return self.edges.zk

    @property
    def parts(self) -> BrokerParts | None:
        """What it is made of, once it has come so far."""
        return self.server._parts

    def _fatal(self, reason: str) -> None:
        raise AssertionError(f"broker {self.id} gave up: {reason}")


class SimCluster:
    """All machines. `brokers` has the processes that live."""

    def __init__(self, world: World, machines: int, properties: Mapping[str, str] | None = None) -> None:
        self.world = world
        self.wires = Wires(world)
        self.zookeeper = FakeZooKeeperServer(_WallClock(world), held=True)
        self.machines = tuple(range(1, machines + 1))
        self.incarnations = 0
        self.brokers: dict[int, SimBroker] = {}
        self.disks = {machine: FakeFileSystem() for machine in self.machines}
        self.failures: list[BaseException] = []
        self._properties = PROPERTIES | dict(properties or {})
        self._pumping = False

    def config(self, broker_id: int) -> KafkaConfig:
        """One broker's configuration."""
        own = {
            "broker.id": str(broker_id),
            "zookeeper.connect": "fake:2181",
            "listeners": f"PLAINTEXT://b{broker_id}:{FIRST_PORT + broker_id}",
            "log.dirs": "/data",
        }
        return KafkaConfig.from_properties(own | self._properties)

    # ZooKeeper

    def pump(self) -> None:
        """See to it that ZooKeeper's messages move."""
        if not self._pumping and any(broker.zk.has_moves and not broker.process.paused for broker in self.brokers.values()):
            self._pumping = True
            self.world.schedule(self.world.random.random(), self._move_zookeeper)

    def _move_zookeeper(self) -> None:
        self._pumping = False
        for _ in range(self.world.random.randrange(1, 16)):
            moving = [broker.zk for broker in self.brokers.values() if broker.zk.has_moves and not broker.process.paused]
            if not moving:
                return
            moves = moving[self.world.random.randrange(len(moving))].moves()
            moves[self.world.random.randrange(len(moves))][1]()

    def cut_from_zookeeper(self, broker: SimBroker) -> None:
        """The connection breaks; the session ends if that lasts."""
        broker.zk.disconnect()
        self.watch_session(broker, lambda: not broker.zk.is_connected)

    def watch_session(self, broker: SimBroker, still_away: Callable[[], bool]) -> None:
        """End a session unless its client is back by then."""
        session = broker.zk.session_id

        def end() -> None:
            if still_away():
                self.zookeeper.close_session(session)

        self.world.schedule(SESSION_TIMEOUT_MS, end)

    # Processes

    def start(self, broker_id: int) -> SimBroker:
        """A process starts on a machine's disk."""
        broker = self.brokers[broker_id] = SimBroker(self, broker_id, self.disks[broker_id])

        def begin() -> None:
            spawn(broker.server.startup()).when_settled(started)

        def started(outcome: Promise[None]) -> None:
            error = outcome.error()
            if error is None:
                broker.started = True
            elif isinstance(error, SessionEnded):  # it was stopped before it had started, or lost one session after the other
                self.kill(broker_id)
            else:
                self.failures.append(error)

        self.world.schedule(0, begin, broker.process)
        return broker

    def kill(self, broker_id: int) -> None:
        """SIGKILL: the process is gone, its session ends later, its files stay."""
        broker = self.brokers.pop(broker_id)
        session = self._end(broker)
        self.world.schedule(SESSION_TIMEOUT_MS, lambda: self.zookeeper.close_session(session))

    def _end(self, broker: SimBroker) -> int:
        broker.process.alive = False
        broker.file_system.kill()
        self.wires.process_died(broker.process)
        return broker.zk.kill()

    def stop(self, broker_id: int) -> None:
        """SIGTERM: controlled shutdown, then the end of the process."""
        broker = self.brokers[broker_id]

        def stopped(outcome: Promise[None]) -> None:
            error = outcome.error()
            if error is not None:
                self.failures.append(error)
            if self.brokers.get(broker_id) is broker:
                del self.brokers[broker_id]
                session = self._end(broker)
                self.zookeeper.close_session(session)

        spawn(broker.server.shutdown()).when_settled(stopped)

    def pause(self, broker_id: int) -> None:
        """SIGSTOP."""
        broker = self.brokers[broker_id]
        broker.process.paused = True
        self.watch_session(broker, lambda: broker.process.alive and broker.process.paused)

    def resume(self, broker_id: int) -> None:
        """SIGCONT; if the session has ended, the client finds its connection closed."""
        broker = self.brokers[broker_id]
        self.world.resume(broker.process)
        if broker.zk.session_id and not self.zookeeper.has_session(broker.zk.session_id):
            broker.zk.disconnect()
            broker.zk.reconnect()

    # What ZooKeeper says

    def topics(self) -> list[str]:
        """All topics."""
        return self.zookeeper.children("/brokers/topics") if self.zookeeper.exists("/brokers/topics") else []

    def assignment(self, topic_partition: TopicPartition) -> tuple[int, ...]:
        """The replicas."""
        return topics.decode(self.zookeeper.data(topics.path(topic_partition.topic))).assignment[topic_partition.partition].replicas

    def partitions(self) -> list[TopicPartition]:
        """All partitions that have been assigned."""
        return [TopicPartition(topic, index) for topic in self.topics() for index in sorted(topics.decode(self.zookeeper.data(topics.path(topic))).assignment)]

    def state(self, topic_partition: TopicPartition) -> TopicPartitionStateZNode | None:
        """A partition's state, if it has one."""
        path = partition_state.path(*topic_partition)
        return partition_state.decode(self.zookeeper.data(path)) if self.zookeeper.exists(path) else None


class _WallClock:
    """What ZooKeeper stamps its znodes with."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now_ms(self) -> int:
        """Since 1970."""
        return START_MS + int(self._world.now_ms)

    def monotonic_ms(self) -> float:
        """Since the start."""
        return self._world.now_ms

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> Any:
        """ZooKeeper sets no timers here."""
        raise AssertionError(f"{call} in {delay_ms} ms")
