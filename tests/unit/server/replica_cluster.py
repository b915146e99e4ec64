"""Brokers' data paths joined by a network in memory: real replica managers, fetchers, sessions, logs; the controller is played by the test.

Everything runs on one `FakeClock`: nothing happens between two `advance`s. Requests and responses are encoded and decoded as on the wire, and take
`LATENCY_MS` each way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Final, cast

from pykafka_classic.cluster.isr_state import LeaderAndIsr
from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_services import LogSeams
from pykafka_classic.protocol import codec, ibp
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.alter_isr import (
    AlterIsrRequest,
    AlterIsrRequestPartitionData,
    AlterIsrResponse,
    AlterIsrResponsePartitionData,
    AlterIsrResponseTopicData,
)
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from pykafka_classic.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, join_records
from pykafka_classic.purgatory.timing_wheel import TimingWheel
from pykafka_classic.server.append_values import AppendParams, PartitionAppendResult
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.fetch_session import FetchManager
from pykafka_classic.server.handlers import fetch, list_offsets, offset_for_leader_epoch
from pykafka_classic.server.isr_manager import IsrManagerServices, make_isr_manager
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.replica_manager import ReplicaManager
from pykafka_classic.server.replica_services import ReplicaServices
from pykafka_classic.server.request import Request
from tests.fakes.clock import FakeBackground, FakeClock, SeededRandom
from tests.fakes.file_system import FakeFileSystem
from tests.fakes.zookeeper import FakeZooKeeperServer
from tests.unit.log.helpers import batch

LATENCY_MS: Final = 1
LISTENER: Final = "PLAINTEXT"
LOG_DIRS: Final = ("/data",)
TP: Final = TopicPartition("flights", 0)

Produced = dict[TopicPartition, PartitionAppendResult]


@dataclass(slots=True)
class Sent:
    """A request that went over the network."""

    source: int
    target: int
    request: Message
    version: int


class ClusterNetwork:
    """The `Network` seam of one broker. Brokers listen at port 9000 + id."""

    def __init__(self, cluster: ReplicaCluster, source: int) -> None:
        self.cluster = cluster
        self.source = source

    def channel(self, host: str, port: int, *, client_id: str) -> ClusterChannel:
        """A connection to another broker."""
        del host, client_id
        return ClusterChannel(self, port - 9000)


class ClusterChannel:
    """One connection: encodes, waits, decodes. A broker that is cut off or dead does not answer, and the time-out closes the connection."""

    def __init__(self, network: ClusterNetwork, target: int) -> None:
        self._network = network
        self._target = target
        self._under_way: list[Promise[Message]] = []

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response, one latency after the other side had it."""
        cluster, source, target = self._network.cluster, self._network.source, self._target
        promise: Promise[Message] = Promise()
        self._under_way.append(promise)
        cluster.sent.append(Sent(source, target, request, version))
        data = codec.encode(request, version)

        def arrive() -> None:
            if cluster.is_connected(source, target):
                cluster.serve(target, codec.decode(type(request), version, data)[0], version).when_settled(answered)
            else:
                self._fail(promise, Disconnected(f"broker {target} can't be reached"))

        def answered(outcome: Promise[Message]) -> None:
            response = outcome.result()
            parts = join_records(codec.encode_parts(response, version))
            cluster.clock.call_later(LATENCY_MS, lambda: deliver(type(response), parts))

        def deliver(kind: type[Message], data: bytes) -> None:
            if promise in self._under_way and cluster.is_connected(source, target):
                self._under_way.remove(promise)
                promise.resolve(codec.decode(kind, version, data)[0])

        cluster.clock.call_later(LATENCY_MS, arrive)
        cluster.clock.call_later(timeout_ms, lambda: self._fail(promise, RequestTimedOut("no answer")))
        return promise

    def _fail(self, promise: Promise[Message], error: Disconnected) -> None:
        if promise in self._under_way:
            self._under_way.remove(promise)
            promise.fail(error)

    def close(self) -> None:
        """What is under way fails."""
        for promise in list(self._under_way):
            self._fail(promise, Disconnected("closed"))


class TestBroker:
    """One broker's data path."""

    __test__ = False

    def __init__(self, cluster: ReplicaCluster, broker_id: int, file_system: FakeFileSystem) -> None:
        self.id = broker_id
        self.cluster = cluster
        self.file_system = file_system
        self.config = cluster.config_of(broker_id)
        clock, background, random = cluster.clock, FakeBackground(), SeededRandom(broker_id)
        network = ClusterNetwork(cluster, broker_id)
        self.log_manager = LogManager(self.config.log_directories, LogSeams(file_system, clock, background, random), self.config, cluster.topic_configs)
        self.metadata_cache = MetadataCache(broker_id)
        self.timer = TimingWheel(clock)
        isr_services = IsrManagerServices(clock, network, cluster.zk, self.metadata_cache, lambda: 100 + broker_id)
        services = ReplicaServices(clock, background, file_system, network, self.timer)
        isr_manager = make_isr_manager(self.config, isr_services)
        self.replica_manager = ReplicaManager(self.config, services, self.log_manager, self.metadata_cache, isr_manager)
        self.fetch_manager = FetchManager(clock, random, slots=self.config.max_incremental_fetch_session_cache_slots)
        self.leadership: list[tuple[list[TopicPartition], list[TopicPartition]]] = []
        self.replica_manager.on_leadership_change = lambda leaders, followers: self.leadership.append(
            ([each.topic_partition for each in leaders], [each.topic_partition for each in followers])
        )
        self.background = background
        parts = {
            "config": self.config,
            "background": background,
            "replica_manager": self.replica_manager,
            "metadata_cache": self.metadata_cache,
            "fetch_manager": self.fetch_manager,
        }
        self._handlers = cast(BrokerServices, SimpleNamespace(**parts))  # all that these handlers look at
        self.log_manager.load().result()
        self.log_manager.start()
        self.replica_manager.startup()

    def serve(self, request: Message, version: int) -> Message | Promise[Message] | None:
        """What the broker answers."""
        handlers: dict[int, Callable[[BrokerServices, Request], Any]] = {
            ApiKey.FETCH: fetch.handle,
            ApiKey.LIST_OFFSETS: list_offsets.handle,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch.handle,
        }
        if isinstance(request, AlterIsrRequest):
            return self.cluster.alter_isr(request)
        answer: Message | Promise[Message] | None = handlers[request.API_KEY](self._handlers, Request(request, version, "test", LISTENER, "127.0.0.1"))
        return answer

    def partition(self, topic_partition: TopicPartition = TP) -> Partition:
        """A hosted partition."""
        return self.replica_manager.partition(topic_partition)

    def log(self, topic_partition: TopicPartition = TP) -> Log:
        """Its log."""
        return self.partition(topic_partition).local_log()

    def isr(self, topic_partition: TopicPartition = TP) -> tuple[int, ...]:
        """The ISR as this leader holds it."""
        return self.partition(topic_partition).in_sync.state.isr

    def produce(
        self, *values: bytes, topic_partition: TopicPartition = TP, acks: int = 1, timeout_ms: int = 30_000
    ) -> PartitionAppendResult | Promise[PartitionAppendResult]:
        """Append one batch; the outcome, or the promise of it."""
        records = memoryview(batch([(None, value) for value in values], timestamp=self.cluster.clock.now_ms()))
        outcome = self.replica_manager.append_records(AppendParams(required_acks=acks, timeout_ms=timeout_ms), [(topic_partition, records)])
        if isinstance(outcome, Promise):
            return outcome.then(lambda results: results[topic_partition])
        return outcome[topic_partition]

    def consume(self, offset: int, topic_partition: TopicPartition = TP, **fields: Any) -> FetchResponse | Promise[Message]:
        """A consumer's Fetch; `fields`: of the request, or version=, partition_max_bytes=, current_leader_epoch=, last_fetched_epoch=."""
        version = fields.pop("version", 11)
        named = ("partition_max_bytes", "current_leader_epoch", "last_fetched_epoch", "log_start_offset")
        of_partition = {"partition_max_bytes": 1 << 20} | {name: fields.pop(name) for name in named if name in fields}
        partition = FetchPartition(partition=topic_partition.partition, fetch_offset=offset, **of_partition)
        of_request = {"replica_id": -1, "max_bytes": 1 << 20, "session_epoch": -1} | fields
        request = FetchRequest(topics=[FetchTopic(topic=topic_partition.topic, partitions=[partition])], **of_request)
        answer = self.serve(request, version)
        assert isinstance(answer, FetchResponse | Promise)
        return answer

    def bytes_of(self, topic_partition: TopicPartition = TP) -> bytes:
        """All records in the log's files."""
        names = [name for name in self.file_system.list(f"{self.log(topic_partition).directory}") if name.endswith(".log")]
        return b"".join(self.file_system.read(f"{self.log(topic_partition).directory}/{name}") for name in names)


class ReplicaCluster:
    """See the module. `states` is what the controller's znodes would say."""

    def __init__(
        self, ids: Sequence[int] = (0, 1, 2), properties: Mapping[str, str] | None = None, topic_configs: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self.clock = FakeClock()
        self.zk_server = FakeZooKeeperServer()
        self.zk = self.zk_server.connect()
        self.properties = dict(properties or {})
        self.topic_configs = dict(topic_configs or {})
        self.sent: list[Sent] = []
        self.cut: set[frozenset[int]] = set()
        self.deaf: set[int] = set()  # brokers that the controller can't reach
        self.controller_id = ids[0]
        self.controller_epoch = 1
        self.states: dict[TopicPartition, LeaderAndIsr] = {}
        self.assignments: dict[TopicPartition, list[int]] = {}
        self.topic_ids: dict[str, bytes] = {}
        self.alter_isr_override: Callable[[AlterIsrRequest], AlterIsrResponse | None] = lambda _: None
        self.brokers: dict[int, TestBroker] = {}
        for broker_id in ids:
            self.brokers[broker_id] = TestBroker(self, broker_id, FakeFileSystem())
        self.update_metadata()

    def __getitem__(self, broker_id: int) -> TestBroker:
        return self.brokers[broker_id]

    def config_of(self, broker_id: int) -> KafkaConfig:
        """One broker's configuration."""
        properties = {"zookeeper.connect": "zk:2181", "broker.id": str(broker_id), "log.dirs": ",".join(LOG_DIRS), "log.retention.ms": "-1"}
        return KafkaConfig.from_properties({**properties, **self.properties})

    # The network

    def is_connected(self, one: int, other: int) -> bool:
        """Whether packets get through."""
        return one in self.brokers and other in self.brokers and frozenset({one, other}) not in self.cut

    def serve(self, target: int, request: Message, version: int) -> Promise[Message]:
        """What the broker at the other end answers."""
        answer = self.brokers[target].serve(request, version)
        assert answer is not None
        return answer if isinstance(answer, Promise) else Promise.resolved(answer)

    def requests(self, kind: type[Message], *, source: int | None = None) -> list[Message]:
        """Requests of this kind that went over the network."""
        return [sent.request for sent in self.sent if isinstance(sent.request, kind) and source in (None, sent.source)]

    def advance(self, ms: float = 100) -> None:
        """Let time pass for all."""
        self.clock.advance(ms)

    def isolate(self, broker_id: int, *, from_controller: bool = False) -> None:
        """Cut a broker off from all others; it goes on running."""
        if from_controller:
            self.deaf.add(broker_id)
        self.cut |= {frozenset({broker_id, other}) for other in self.brokers if other != broker_id}

    def reconnect(self, broker_id: int) -> None:
        """Undo `isolate`."""
        self.cut = {pair for pair in self.cut if broker_id not in pair}
        self.deaf.discard(broker_id)

    def kill(self, broker_id: int) -> FakeFileSystem:
        """SIGKILL: its files stay as they are."""
        broker = self.brokers.pop(broker_id)
        broker.replica_manager._stopped = True  # nothing of it may run on
        broker.replica_manager._fetchers.shutdown()
        broker.log_manager.shutdown()
        broker.file_system.kill()
        return broker.file_system

    def restart(self, broker_id: int, file_system: FakeFileSystem) -> TestBroker:
        """A new process on the same disk; it is told nothing yet but who lives."""
        self.brokers[broker_id] = TestBroker(self, broker_id, file_system)
        self.update_metadata()
        return self.brokers[broker_id]

    # The controller

    def create(self, replicas: Sequence[int], topic_partition: TopicPartition = TP, *, isr: Sequence[int] | None = None) -> None:
        """A new partition led by the first replica."""
        self.topic_ids.setdefault(topic_partition.topic, kafka_uuid.random_uuid(SeededRandom(len(self.topic_ids))))
        self.assignments[topic_partition] = list(replicas)
        self.states[topic_partition] = LeaderAndIsr(replicas[0], 0, tuple(isr or replicas), 0)
        self.tell(topic_partition, is_new=True)

    def elect(self, leader: int, topic_partition: TopicPartition = TP, *, isr: Sequence[int] | None = None) -> None:
        """A new leader epoch."""
        old = self.states[topic_partition]
        new_isr = tuple(old.isr if isr is None else isr)
        self.states[topic_partition] = LeaderAndIsr(leader, old.leader_epoch + 1, new_isr, old.zk_version + 1)
        self.tell(topic_partition)

    def tell(self, topic_partition: TopicPartition = TP, *, is_new: bool = False) -> dict[int, ErrorCode]:
        """LeaderAndIsr to the partition's replicas that live, then UpdateMetadata to all; the errors that they answered."""
        answers = {}
        for broker_id in self.assignments[topic_partition]:
            if broker_id in self.brokers and broker_id not in self.deaf:
                request = self.leader_and_isr(topic_partition, is_new=is_new)
                answers[broker_id] = error_of(self[broker_id].replica_manager.become_leader_or_follower(request, version=5))
        self.update_metadata(topic_partition)
        return answers

    def leader_and_isr(self, topic_partition: TopicPartition = TP, *, is_new: bool = False, **changes: Any) -> LeaderAndIsrRequest:
        """The request that tells a partition's state; `changes`: fields of the partition state."""
        state, replicas = self.states[topic_partition], self.assignments[topic_partition]
        told = LeaderAndIsrPartitionState(
            partition_index=topic_partition.partition,
            controller_epoch=self.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=list(state.isr),
            zk_version=state.zk_version,
            replicas=list(replicas),
            is_new=is_new,
        )
        topic = LeaderAndIsrTopicState(topic_partition.topic, self.topic_ids[topic_partition.topic], [replace(told, **changes)])
        return LeaderAndIsrRequest(controller_id=self.controller_id, controller_epoch=self.controller_epoch, topic_states=[topic])

    def update_metadata(self, *topic_partitions: TopicPartition) -> None:
        """UpdateMetadata to all brokers that live."""
        alive = [UpdateMetadataBroker(id=each, endpoints=[UpdateMetadataEndpoint(9000 + each, f"host{each}", LISTENER, 0)]) for each in self.brokers]
        topics = [
            UpdateMetadataTopicState(
                topic_partition.topic,
                self.topic_ids[topic_partition.topic],
                [
                    UpdateMetadataPartitionState(
                        partition_index=topic_partition.partition,
                        controller_epoch=self.controller_epoch,
                        leader=self.states[topic_partition].leader,
                        leader_epoch=self.states[topic_partition].leader_epoch,
                        isr=list(self.states[topic_partition].isr),
                        zk_version=self.states[topic_partition].zk_version,
                        replicas=list(self.assignments[topic_partition]),
                    )
                ],
            )
            for topic_partition in topic_partitions or self.states
        ]
        for broker in [self.brokers[each] for each in self.brokers if each not in self.deaf]:
            request = UpdateMetadataRequest(controller_id=self.controller_id, controller_epoch=self.controller_epoch, topic_states=topics, live_brokers=alive)
            broker.replica_manager.maybe_update_metadata_cache(request, version=7)

    def alter_isr(self, request: AlterIsrRequest) -> AlterIsrResponse:
        """Compare and set, as the controller does."""
        override = self.alter_isr_override(request)
        if override is not None:
            return override
        topics = []
        for topic in request.topics:
            verdicts = [self._verdict(TopicPartition(topic.name, each.partition_index), each, request.broker_id) for each in topic.partitions]
            topics.append(AlterIsrResponseTopicData(topic.name, verdicts))
        return AlterIsrResponse(topics=topics)

    def _verdict(self, topic_partition: TopicPartition, wanted: AlterIsrRequestPartitionData, leader: int) -> AlterIsrResponsePartitionData:
        state = self.states[topic_partition]
        if wanted.leader_epoch < state.leader_epoch:
            return AlterIsrResponsePartitionData(wanted.partition_index, ErrorCode.FENCED_LEADER_EPOCH)
        if wanted.current_isr_version != state.zk_version:
            return AlterIsrResponsePartitionData(wanted.partition_index, ErrorCode.INVALID_UPDATE_VERSION)
        new = self.states[topic_partition] = LeaderAndIsr(leader, state.leader_epoch, tuple(wanted.new_isr), state.zk_version + 1)
        return AlterIsrResponsePartitionData(wanted.partition_index, 0, new.leader, new.leader_epoch, list(new.isr), new.zk_version)


def error_of(response: LeaderAndIsrResponse) -> ErrorCode:
    """The one partition's error, or the request's."""
    if response.error_code:
        return ErrorCode(response.error_code)
    return ErrorCode(response.topics[0].partition_errors[0].error_code)


def settled(outcome: PartitionAppendResult | Promise[PartitionAppendResult]) -> PartitionAppendResult:
    """The outcome, which must be there by now."""
    return outcome.result() if isinstance(outcome, Promise) else outcome


def fetch_version(properties: Mapping[str, str]) -> int:
    """The version of Fetch that a cluster with these properties speaks."""
    config = KafkaConfig.from_properties({"zookeeper.connect": "zk:2181", **properties})
    return ibp.version_to_send(ApiKey.FETCH, config.inter_broker_api_version)


assert spec_of(ApiKey.FETCH).response is FetchResponse
