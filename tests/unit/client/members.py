"""A ZooKeeper group in memory: members over the fake ensemble, with readers that read as many records as a test says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pykafka_classic.client.consumer_settings import ConsumerSettings, name_consumer
from pykafka_classic.client.offset_storage import OffsetStorage, ZooKeeperOffsets
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.client.zookeeper_consumer_connector import ConnectorSeams, ConsumerRebalanceFailed, ZooKeeperConsumerConnector
from pykafka_classic.common.topic_partition import TopicPartition
from tests.fakes.clock import FakeClock
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer
from zk_schema import broker_ids, consumers, topics
from zk_schema.broker_ids import BrokerIdZNode, EndPoint, SecurityProtocol
from zk_schema.topics import ReplicaAssignment, TopicZNode

SETTINGS = ConsumerSettings("g")


class FakeReaders:
    """The seam `PartitionReaders`: hands out `read` records at a time."""

    def __init__(self) -> None:
        self.at: dict[TopicPartition, int] = {}
        self.started: list[tuple[TopicPartition, int | None]] = []
        self.brokers: Mapping[int, tuple[str, int]] = {}

    def set_brokers(self, brokers: Mapping[int, tuple[str, int]]) -> None:
        self.brokers = brokers

    def start(self, positions: Mapping[TopicPartition, int | None]) -> None:
        assert not self.at.keys() & positions.keys(), "started twice"
        self.started += positions.items()
        self.at |= {partition: offset or 0 for partition, offset in positions.items()}

    def stop(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {partition: self.at.pop(partition) for partition in list(partitions) if partition in self.at}

    def positions(self) -> dict[TopicPartition, int]:
        return dict(self.at)

    def read(self, count: int) -> None:
        for partition in self.at:
            self.at[partition] += count


class Member:
    """One consumer process."""

    def __init__(self, world: World, name: str | None, subscription: Subscription, settings: ConsumerSettings, storage: OffsetStorage | None) -> None:
        settings = replace(settings, consumer_id=name)
        self.zk: FakeZooKeeper = world.server.connect()
        self.readers = FakeReaders()
        self.failures: list[ConsumerRebalanceFailed] = []
        self.id = name_consumer(settings, host="host", now_ms=world.clock.now_ms(), random_bits=len(world.members))
        seams = ConnectorSeams(self.zk, world.clock, self.readers, storage or ZooKeeperOffsets(settings.group_id), self.failures.append)
        self.connector = ZooKeeperConsumerConnector(self.id, subscription, settings, seams)
        self.alive = True
        self.started = self.connector.start()
        self.started.when_settled(lambda _: None)  # tests that care look themselves

    @property
    def reads(self) -> set[TopicPartition]:
        return set(self.readers.at)

    def kill(self) -> int:
        """SIGKILL; its session lives on until `server.close_session` of the id returned."""
        self.alive = False
        self.readers.at.clear()
        return self.zk.kill()


class World:
    """An ensemble, a broker, topics, members."""

    def __init__(self, counts: Mapping[str, int], *, held: bool = False) -> None:
        self.clock = FakeClock()
        self.server = FakeZooKeeperServer(self.clock)
        self.members: list[Member] = []
        self.server.put("/consumers")
        self.server.put("/brokers/topics")
        self.add_broker()
        for topic, count in counts.items():
            self.set_partitions(topic, count)
        self.server.held = held

    def add_broker(self) -> None:
        endpoint = EndPoint("PLAINTEXT", "localhost", 9092, SecurityProtocol.PLAINTEXT)
        self.server.put(broker_ids.path(0), broker_ids.encode(BrokerIdZNode((endpoint,))))

    def set_partitions(self, topic: str, count: int) -> None:
        self.server.put(topics.path(topic), topics.encode(TopicZNode(None, {number: ReplicaAssignment((0,)) for number in range(count)})))

    def join(
        self,
        name: str | None,
        subscription: Subscription | None = None,
        settings: ConsumerSettings = SETTINGS,
        storage: OffsetStorage | None = None,
    ) -> Member:
        member = Member(self, name, subscription or Subscription.of_topics(["t"]), settings, storage)
        self.members.append(member)
        return member

    def settle(self, ms: int = 60_000) -> None:
        """Everything delivered, and time for all retries."""
        self.server.held = False
        self.server.deliver()
        self.clock.advance(ms)

    def owners(self, topic: str = "t", group: str = "g") -> dict[int, str]:
        """By partition, what its owner node says."""
        path = consumers.owners_path(group, topic)
        names = self.server.children(path) if self.server.exists(path) else []
        return {int(name): consumers.decode_owner(self.server.data(f"{path}/{name}")) for name in names}

    def committed(self, topic: str = "t", group: str = "g") -> dict[int, int]:
        path = consumers.offsets_path(group, topic)
        names = self.server.children(path) if self.server.exists(path) else []
        return {int(name): consumers.decode_offset(self.server.data(f"{path}/{name}")) for name in names}
