"""A cluster of controllers without brokers behind them: fake ZooKeeper, fake clock, and a network whose far ends answer "done" and remember what they were
told.

Everything happens at once unless a test holds it back: after `cluster.settle()` nothing is under way any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Create, GetData, Multi, SetData
from pykafka_classic.controller.controller import KafkaController
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrRequestPartitionData, AlterIsrRequestTopicData, AlterIsrResponse
from pykafka_classic.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from pykafka_classic.protocol.messages.stop_replica import StopReplicaPartitionError, StopReplicaRequest, StopReplicaResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message
from tests.fakes.clock import FakeClock, SeededRandom
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer
from zk_schema import broker_ids, configs, delete_topics, partition_state, topics
from zk_schema.partition_state import TopicPartitionStateZNode
from zk_schema.topics import ReplicaAssignment, TopicZNode

FIRST_PORT = 9090
TOP_LEVEL_PATHS = (
    *("/consumers", "/brokers/ids", "/brokers/topics", "/config/changes", "/admin/delete_topics", "/brokers/seqid", "/isr_change_notification"),
    *("/latest_producer_id_block", "/log_dir_event_notification", "/config/topics", "/config/clients", "/config/users", "/config/brokers", "/config/ips"),
)

Answer = Callable[[int, Message, int], Message | None]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that reached a broker."""

    broker_id: int
    request: Message
    version: int
    sender: str  # client id: the controller's broker id


class BrokersNetwork:
    """The `Network` seam: brokers at ports 9090 + id. `answer` may be replaced; None is no answer at all (yet)."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.down: set[int] = set()
        self.answer: Answer = answer_done
        self.opened: list[tuple[int, str]] = []
        self._answers: deque[tuple[Promise[Message], Message]] = deque()

    def channel(self, host: str, port: int, *, client_id: str) -> BrokerChannel:
        """A channel to the broker of this port."""
        self.opened.append((port - FIRST_PORT, client_id))
        return BrokerChannel(self, port - FIRST_PORT, client_id)

    def send(self, sent: Sent) -> Promise[Message]:
        """Remember the request and prepare its answer."""
        if sent.broker_id in self.down:
            return Promise.failed(Disconnected("connection refused"))
        self.sent.append(sent)
        promise: Promise[Message] = Promise()
        answer = self.answer(sent.broker_id, sent.request, sent.version)
        if answer is not None:
            self._answers.append((promise, answer))
        return promise

    def deliver(self) -> bool:
        """Let one answer arrive; False: there is none."""
        if not self._answers:
            return False
        promise, answer = self._answers.popleft()
        promise.resolve(answer)
        return True


@dataclass(slots=True)
class BrokerChannel:
    """The `Channel` seam."""

    network: BrokersNetwork
    broker_id: int
    client_id: str
    closed: bool = False

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """Send; `timeout_ms` never passes."""
        return self.network.send(Sent(self.broker_id, request, version, self.client_id))

    def close(self) -> None:
        """Close."""
        self.closed = True


def answer_done(_: int, request: Message, version: int) -> Message:
    """Every partition: no error."""
    return answer_with(request, version, lambda _: ErrorCode.NONE)


def answer_with(request: Message, version: int, error: Callable[[TopicPartition], int]) -> Message:
    """The response in the form of this version, with an error for each partition."""
    match request:
        case LeaderAndIsrRequest():
            if version >= 5:
                return LeaderAndIsrResponse(
                    topics=[
                        LeaderAndIsrTopicError(
                            topic.topic_id,
                            [
                                LeaderAndIsrPartitionError("", each.partition_index, error(TopicPartition(topic.topic_name, each.partition_index)))
                                for each in topic.partition_states
                            ],
                        )
                        for topic in request.topic_states
                    ]
                )
            return LeaderAndIsrResponse(partition_errors=[LeaderAndIsrPartitionError(*each, error(each)) for each in told(request)])
        case StopReplicaRequest():
            return StopReplicaResponse(partition_errors=[StopReplicaPartitionError(*each, error(each)) for each in told(request)])
        case UpdateMetadataRequest():
            return UpdateMetadataResponse()
        case _:
            raise AssertionError(f"the controller does not send {request}")


def told(request: Message) -> dict[TopicPartition, Any]:
    """The partitions of a request, in order, whatever its version, with what it says about each."""
    match request:
        case LeaderAndIsrRequest() | UpdateMetadataRequest():
            flat = {TopicPartition(each.topic_name, each.partition_index): each for each in request.ungrouped_partition_states}
            return flat | {TopicPartition(topic.topic_name, each.partition_index): each for topic in request.topic_states for each in topic.partition_states}
        case StopReplicaRequest():
            by_state = {TopicPartition(topic.topic_name, each.partition_index): each for topic in request.topic_states for each in topic.partition_states}
            by_index = {TopicPartition(topic.name, index): request.delete_partitions for topic in request.topics for index in topic.partition_indexes}
            flat_old = {TopicPartition(each.topic_name, each.partition_index): request.delete_partitions for each in request.ungrouped_partitions}
            return {**by_state, **by_index, **flat_old}
        case _:
            raise AssertionError(f"not a request of the controller: {request}")


@dataclass(slots=True)
class Node:
    """One broker's process, as far as this harness needs it."""

    broker_id: int
    zk: FakeZooKeeper
    controller: KafkaController
    registrations: list[int] = field(default_factory=list)  # czxids


class ControlCluster:
    """ZooKeeper, a network, and brokers that consist of a controller."""

    def __init__(self, properties: Mapping[str, str] | None = None, *, brokers: Iterable[int] = ()) -> None:
        self.clock = FakeClock()
        self.server = FakeZooKeeperServer(self.clock)
        self.network = BrokersNetwork()
        self.properties = dict(properties or {})
        self.nodes: dict[int, Node] = {}
        self._topics_made = 0
        for path in TOP_LEVEL_PATHS:
            self.server.put(path)
        for broker_id in brokers:
            self.start(broker_id)

    # Brokers

    def config(self, broker_id: int) -> KafkaConfig:
        """The config of a broker."""
        return KafkaConfig.from_properties(
            {"broker.id": str(broker_id), "zookeeper.connect": "fake:2181", "listeners": f"PLAINTEXT://b{broker_id}:{FIRST_PORT + broker_id}"} | self.properties
        )

    def start(self, broker_id: int, *, settle: bool = True) -> Node:
        """A broker's process starts: it registers, then its controller starts."""
        zk = self.server.connect()
        node: Node | None = None

        async def register() -> None:
            config = self.config(broker_id)
            data = broker_ids.encode(
                broker_ids.registration(
                    end_points=[("PLAINTEXT", f"b{broker_id}", FIRST_PORT + broker_id, "PLAINTEXT")],
                    rack=config.broker_rack,
                    timestamp_ms=self.clock.now_ms(),
                    ibp=config.inter_broker_api_version,
                )
            )
            path = broker_ids.path(broker_id)
            await zk.submit([Multi((Create(path, None, ephemeral=True), SetData(path, data, 0)))])
            [stored] = await zk.submit([GetData(path)])
            if node is not None and stored.stat is not None:
                node.registrations.append(stored.stat.czxid)

        controller = KafkaController(
            self.config(broker_id), broker_id, zk, self.clock, self.network, SeededRandom(broker_id), register_broker=lambda: spawn(register())
        )
        node = self.nodes[broker_id] = Node(broker_id, zk, controller)
        self.network.down.discard(broker_id)
        spawn(register())
        controller.startup()
        if settle:
            self.settle()
        return node

    def kill(self, broker_id: int, *, expire: bool = True) -> int:
        """The process dies; with `expire` its session ends too. Returns the session."""
        node = self.nodes.pop(broker_id)
        self.network.down.add(broker_id)
        session = node.zk.kill()
        if expire:
            self.server.close_session(session)
            self.settle()
        return session

    def kill_controller(self, successor: int) -> None:
        """The controller's process and session end, and this broker wins the election."""
        session = self.kill(self.active.broker_id, expire=False)
        node = self.nodes[successor]
        self.server.held = True
        self.server.close_session(session)
        while not node.controller.is_active:
            assert node.zk.receive_one() or node.zk.process_one()
        self.server.held = False
        self.settle()

    def alter_isr(self, leader: int, *changes: tuple[TopicPartition, Sequence[int]]) -> Promise[AlterIsrResponse]:
        """A leader asks the active controller for other ISRs, by what that one knows of epochs and versions."""
        answer = self.ask_alter_isr(self.controller, leader, *changes)
        self.settle()
        return answer

    @staticmethod
    def ask_alter_isr(controller: KafkaController, leader: int, *changes: tuple[TopicPartition, Sequence[int]]) -> Promise[AlterIsrResponse]:
        """As `alter_isr`, without waiting for anything."""
        context = controller.context
        epoch = context.broker_epoch(leader)
        topics: dict[str, AlterIsrRequestTopicData] = {}
        for partition, isr in changes:
            current = context.leadership[partition]
            data = AlterIsrRequestPartitionData(partition.partition, current.leader_epoch, list(isr), current.zk_version)
            topics.setdefault(partition.topic, AlterIsrRequestTopicData(partition.topic)).partitions.append(data)
        return controller.alter_isr(AlterIsrRequest(leader, -1 if epoch is None else epoch, list(topics.values())))

    def settle(self) -> None:
        """Run until nothing moves any more; time stands still."""
        while True:
            self.server.deliver()
            if not self.network.deliver():
                return

    def advance(self, ms: float) -> None:
        """Let time pass, then settle."""
        self.clock.advance(ms)
        self.settle()

    @property
    def active(self) -> Node:
        """The one active controller."""
        [node] = [node for node in self.nodes.values() if node.controller.is_active]
        return node

    @property
    def controller(self) -> KafkaController:
        """The active one."""
        return self.active.controller

    # Topics, as tools and clients make them

    def create_topic(self, topic: str, assignment: Sequence[Sequence[int]], *, topic_config: Mapping[str, str] | None = None, with_id: bool = True) -> None:
        """Write a topic's config and assignment, and settle."""
        self.create_topic_unsettled(topic, assignment, topic_config=topic_config, with_id=with_id)
        self.settle()

    def create_topic_unsettled(
        self, topic: str, assignment: Sequence[Sequence[int]], *, topic_config: Mapping[str, str] | None = None, with_id: bool = True
    ) -> None:
        """As `create_topic`, without waiting for anything."""
        self._topics_made += 1
        topic_id = kafka_uuid.to_text(bytes([*b"topic-id-", *self._topics_made.to_bytes(7, "big")])) if with_id else None
        self.server.put(configs.topic_path(topic), configs.encode(topic_config or {}))
        znode = TopicZNode(topic_id, {index: ReplicaAssignment(tuple(replicas)) for index, replicas in enumerate(assignment)})
        self.server.put(topics.path(topic), topics.encode(znode))

    def delete_topic(self, topic: str) -> None:
        """Ask for a topic's deletion."""
        self.server.put(delete_topics.path(topic))
        self.settle()

    def topic(self, topic: str) -> TopicZNode:
        """A topic's znode."""
        return topics.decode(self.server.data(topics.path(topic)))

    def state(self, topic: str, partition: int) -> TopicPartitionStateZNode:
        """A partition's state znode."""
        return partition_state.decode(self.server.data(partition_state.path(topic, partition)))

    def state_version(self, topic: str, partition: int) -> int:
        """The version of a partition's state znode."""
        return self.server.stat(partition_state.path(topic, partition)).version

    def put_state(self, partition: TopicPartition, state: LeaderAndIsr) -> None:
        """Write a state behind the controller's back."""
        znode = TopicPartitionStateZNode(state.leader, state.leader_epoch, state.isr, state.controller_epoch)
        self.server.put(partition_state.path(*partition), partition_state.encode(znode))

    # What was sent

    def sent(self, kind: type[Message] | None = None, *, to: int | None = None) -> list[Message]:
        """The requests that reached brokers since `forget`."""
        return [each.request for each in self.network.sent if (kind is None or isinstance(each.request, kind)) and to in (None, each.broker_id)]

    def forget(self) -> None:
        """Begin a new list of requests, and of ZooKeeper's changes."""
        self.network.sent.clear()
        self.server.log.clear()


def summary(each: Sent) -> str:
    """One line about a request: `LeaderAndIsr to 1: t-0 leader 1 epoch 0 isr 1,2 new`."""
    name = spec_of(ApiKey(each.request.API_KEY)).request.__name__.removesuffix("Request")
    parts = [_summary_of(partition, state) for partition, state in told(each.request).items()]
    return f"{name} to {each.broker_id}: " + ("; ".join(parts) or "no partitions")


def _summary_of(partition: TopicPartition, state: Any) -> str:
    if isinstance(state, bool):
        return f"{partition} delete={state}"
    if hasattr(state, "delete_partition"):
        return f"{partition} epoch {state.leader_epoch}" + (" delete" if state.delete_partition else "")
    text = f"{partition} leader {state.leader} epoch {state.leader_epoch} isr {','.join(map(str, state.isr))}"
    return text + (" new" if getattr(state, "is_new", False) else "")
