"""A producer, a consumer and an administrator, as far as the cluster can tell: they ask for metadata, follow the leaders, and may believe in old ones."""

from __future__ import annotations

from collections.abc import Callable

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic
from pykafka_classic.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from pykafka_classic.protocol.messages.delete_topics import DeleteTopicsRequest
from pykafka_classic.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message
from tests.simulation.checkers import NOT_KEPT, Expectations
from tests.simulation.cluster import SimCluster
from tests.simulation.network import FIRST_PORT, SimChannel, SimNetwork
from tests.simulation.world import Process
from tests.unit.log.helpers import batch

PRODUCE_VERSION = 8
FETCH_VERSION = 11
METADATA_VERSION = 9
TIMEOUT_MS = 3000


class Client:
    """What all clients do: find the leader, and look again after an error."""

    def __init__(self, cluster: SimCluster, node: int, name: str) -> None:
        self.cluster = cluster
        self.process = Process(cluster.world, node, name)
        self.leaders: dict[TopicPartition, int] = {}
        self.controller_id = -1
        self.stopped = False
        self._network = SimNetwork(cluster.wires, self.process)
        self._channels: dict[int, SimChannel] = {}

    async def ask(self, broker_id: int, request: Message, version: int, timeout_ms: float = TIMEOUT_MS + 1000) -> Message | None:
        """The response, or None where the connection failed."""
        if broker_id not in self._channels:
            self._channels[broker_id] = self._network.channel("", FIRST_PORT + broker_id, client_id=self.process.name)
        try:
            return await self._channels[broker_id].send(request, version, timeout_ms=timeout_ms)
        except Disconnected:
            return None

    async def refresh(self) -> None:
        """Ask any broker who leads."""
        answer = await self.ask(self.cluster.world.random.choice(self.cluster.machines), MetadataRequest(topics=None), METADATA_VERSION)
        if isinstance(answer, MetadataResponse):
            self.controller_id = answer.controller_id
            for topic in answer.topics:
                for partition in topic.partitions:
                    self.leaders[TopicPartition(topic.name or "", partition.partition_index)] = partition.leader_id

    def every(self, mean_ms: float, task: Callable[[], Promise[None]]) -> None:
        """Do something again and again, each after the last has ended."""

        def run() -> None:
            if not self.stopped:
                task().when_settled(again)

        def again(outcome: Promise[None]) -> None:
            outcome.result()
            self.process.clock.call_later(self.cluster.world.random.random() * 2 * mean_ms, run)

        run()


class Producer(Client):
    """Writes batches, each unlike all others, and tells the checker which were acknowledged."""

    def __init__(self, cluster: SimCluster, name: str, expectations: Expectations) -> None:
        super().__init__(cluster, 0, name)
        self.sent = 0
        self.acknowledged = 0
        self._expectations = expectations

    def start(self, mean_ms: float) -> None:
        """Begin."""
        self.every(mean_ms, lambda: spawn(self._produce()))

    async def _produce(self) -> None:
        chance = self.cluster.world.random
        if not self.leaders or chance.random() < 0.02:
            await self.refresh()
        led = sorted(each for each, leader in self.leaders.items() if leader >= 0 and each.topic not in NOT_KEPT)
        if not led:
            await self.refresh()
            return
        topic_partition = chance.choice(led)
        self.sent += 1
        records = [(None, b"%s %d.%d" % (self.process.name.encode(), self.sent, index)) for index in range(chance.randint(1, 3))]
        data = batch(records, timestamp=self.process.clock.now_ms())
        acks = -1 if chance.random() < 0.9 else 1
        partition = PartitionProduceData(topic_partition.partition, memoryview(data))
        request = ProduceRequest(acks=acks, timeout_ms=TIMEOUT_MS, topic_data=[TopicProduceData(topic_partition.topic, [partition])])
        answer = await self.ask(self.leaders[topic_partition], request, PRODUCE_VERSION)
        if not isinstance(answer, ProduceResponse):
            await self.refresh()
            return
        result = answer.responses[0].partition_responses[0]
        if result.error_code:
            await self.refresh()
        elif acks == -1:
            self.acknowledged += 1
            [header] = iterate_headers(memoryview(data))
            self._expectations.expect(topic_partition, result.base_offset, header.crc, "acknowledged")


class Consumer(Client):
    """Reads every partition from its begin, and tells the checker what it saw."""

    def __init__(self, cluster: SimCluster, name: str, expectations: Expectations) -> None:
        super().__init__(cluster, 0, name)
        self.offsets: dict[TopicPartition, int] = {}
        self._expectations = expectations

    def start(self, mean_ms: float) -> None:
        """Begin."""
        self.every(mean_ms, lambda: spawn(self._consume()))

    async def _consume(self) -> None:
        chance = self.cluster.world.random
        led = sorted(each for each, leader in self.leaders.items() if leader >= 0 and each.topic not in NOT_KEPT)
        if not led or chance.random() < 0.05:
            await self.refresh()
            return
        topic_partition = chance.choice(led)
        offset = self.offsets.get(topic_partition, 0)
        partition = FetchPartition(partition=topic_partition.partition, fetch_offset=offset, partition_max_bytes=1 << 16)
        topic = FetchTopic(topic=topic_partition.topic, partitions=[partition])
        request = FetchRequest(replica_id=-1, max_wait_ms=100, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=[topic])
        answer = await self.ask(self.leaders[topic_partition], request, FETCH_VERSION)
        if not isinstance(answer, FetchResponse):
            await self.refresh()
            return
        data = answer.responses[0].partition_responses[0]
        if data.error_code and data.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
            await self.refresh()
        elif isinstance(data.record_set, bytes | memoryview):
            for header in iterate_headers(memoryview(data.record_set)):
                self._expectations.expect(topic_partition, header.base_offset, header.crc, "consumed")
                self.offsets[topic_partition] = header.last_offset + 1


class Administrator(Client):
    """Creates and deletes topics, moves replicas, elects preferred leaders; asks whom it takes for the controller."""

    def __init__(self, cluster: SimCluster) -> None:
        super().__init__(cluster, 0, "administrator")

    async def create(self, topic: str, assignment: list[list[int]]) -> bool:
        """Create a topic; whether the controller said yes."""
        await self.refresh()
        assignments = [CreatableReplicaAssignment(index, replicas) for index, replicas in enumerate(assignment)]
        wanted = CreatableTopic(name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments)
        await self.ask(self.controller_id, CreateTopicsRequest(topics=[wanted], timeout_ms=TIMEOUT_MS), 5)
        return topic in self.cluster.topics()

    async def delete(self, topic: str) -> None:
        """Ask for a topic's deletion."""
        await self.refresh()
        await self.ask(self.controller_id, DeleteTopicsRequest(topic_names=[topic], timeout_ms=TIMEOUT_MS), 4)

    async def move(self, topic_partition: TopicPartition, replicas: list[int] | None) -> None:
        """Begin a move, or cancel one."""
        await self.refresh()
        topic = ReassignableTopic(topic_partition.topic, [ReassignablePartition(topic_partition.partition, replicas)])
        await self.ask(self.controller_id, AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=[topic]), 0)

    async def elect(self, topic_partition: TopicPartition) -> None:
        """Elect the preferred leader."""
        await self.refresh()
        partitions = [TopicPartitions(topic_partition.topic, [topic_partition.partition])]
        await self.ask(self.controller_id, ElectLeadersRequest(election_type=0, topic_partitions=partitions, timeout_ms=TIMEOUT_MS), 2)
