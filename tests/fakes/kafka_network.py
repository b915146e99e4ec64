"""A Kafka cluster behind the `Network` seam, small enough to be read: one log for each partition, shared by all brokers; leaders move when the test says so.

Requests of a connection are handled one after the other; each takes some time of the `FakeClock`. A broker checks sequence numbers as Kafka's do
(facts/storage.md, producer state): a batch that is one of the last five is answered with its old offset, one that does not follow the last is refused.
Faults are the test's: `cut` breaks a broker's connections, with whatever was handled or not; `refuse` makes answers errors; `before` may hold a request.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol import codec
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchableTopicResponse, FetchRequest, FetchResponse
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorResponse
from pykafka_classic.protocol.messages.init_producer_id import InitProducerIdResponse
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopicResponse
from pykafka_classic.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from pykafka_classic.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse, OffsetCommitResponsePartition, OffsetCommitResponseTopic
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse, OffsetFetchResponsePartition, OffsetFetchResponseTopic
from pykafka_classic.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from pykafka_classic.protocol.messages.produce import PartitionProduceResponse, ProduceRequest, ProduceResponse, TopicProduceResponse
from pykafka_classic.protocol.network import CannotConnect, Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, join_records
from pykafka_classic.records.record_batch import RecordBatch, stamp_base_offset, stamp_partition_leader_epoch
from tests.fakes.clock import FakeClock

FIRST_PORT = 9100  # broker n listens at 9100 + n
REMEMBERED = 5


@dataclass
class ProducerEntry:
    """What a leader knows of a producer."""

    epoch: int = -1
    last_sequence: int = -1
    recent: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))  # first and last sequence, offset


@dataclass
class FakePartition:
    """One log; `batches` as a consumer gets them."""

    leader: int
    epoch: int = 0
    batches: list[bytes] = field(default_factory=list)
    start: int = 0
    end: int = 0
    producers: dict[int, ProducerEntry] = field(default_factory=lambda: defaultdict(ProducerEntry))

    def values(self) -> list[bytes | None]:
        """All values, in order."""
        return [record.value for batch in self.batches for record in RecordBatch(memoryview(batch)).records()]

    def append(self, data: bytes) -> tuple[ErrorCode, int]:
        """Error and offset."""
        batch = RecordBatch(memoryview(data))
        batch.ensure_valid()
        if batch.producer_id >= 0:
            entry = self.producers[batch.producer_id]
            for first, last, offset in entry.recent:
                if batch.producer_epoch == entry.epoch and (first, last) == (batch.base_sequence, batch.last_sequence):
                    return ErrorCode.NONE, offset
            if batch.producer_epoch < entry.epoch:
                return ErrorCode.INVALID_PRODUCER_EPOCH, -1
            if batch.producer_epoch > entry.epoch:
                if batch.base_sequence and entry.epoch >= 0:
                    return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
                entry.recent.clear()
            elif batch.base_sequence != entry.last_sequence + 1:
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
            entry.epoch, entry.last_sequence = batch.producer_epoch, batch.last_sequence
            entry.recent.append((batch.base_sequence, batch.last_sequence, self.end))
        stamped = bytearray(data)
        stamp_base_offset(stamped, self.end)
        stamp_partition_leader_epoch(stamped, self.epoch)
        self.batches.append(bytes(stamped))
        offset, self.end = self.end, self.end + batch.records_count
        return ErrorCode.NONE, offset

    def read(self, offset: int) -> bytes:
        """Whole batches, from the one that holds the offset."""
        return b"".join(batch for batch in self.batches if RecordBatch(memoryview(batch)).next_offset > offset)

    def truncate(self, offset: int) -> None:
        """Forget what comes behind, as after an unclean election."""
        self.batches = [batch for batch in self.batches if RecordBatch(memoryview(batch)).next_offset <= offset]
        self.end = offset


class FakeCluster:
    """Implements `protocol.network.Network`. `latency_ms` is asked for each step of each request."""

    def __init__(self, clock: FakeClock, *, brokers: int = 2, latency_ms: Callable[[], float] = lambda: 1.0) -> None:
        self.clock = clock
        self.alive = set(range(brokers))
        self.topics: dict[str, dict[int, FakePartition]] = {}
        self.versions: dict[ApiKey, int] = {}  # lower than what we know
        self.requests: list[tuple[int, Message]] = []  # as they are handled: broker, request
        self.refuse: Callable[[int, TopicPartition, Message], ErrorCode | None] = lambda *_: None
        self.before: Callable[[int, Message], Promise[None] | None] = lambda *_: None
        self.delegate: Callable[[int, Message, int], Message | Promise[Message] | None] = lambda *_: None  # answers in place of what stands below
        self.latency_ms = latency_ms
        self.sessions: dict[int, dict[TopicPartition, Any]] = {}
        self.answers_sessions = False
        self.long_polls = False  # a Fetch without anything to read waits for its max_wait_ms
        self.next_producer_id = 1000
        self.addresses: dict[int, tuple[str, int]] = {}  # where they are not fakes
        self.coordinator = 0
        self.committed: dict[tuple[str, TopicPartition], int] = {}
        self._channels: list[FakeChannel] = []

    def make_topic(self, name: str, leaders: list[int]) -> None:
        """A partition for each leader."""
        self.topics[name] = {number: FakePartition(leader) for number, leader in enumerate(leaders)}

    def partition(self, name: TopicPartition) -> FakePartition:
        """One."""
        return self.topics[name.topic][name.partition]

    def move_leader(self, name: TopicPartition, leader: int) -> None:
        """A new epoch."""
        partition = self.partition(name)
        partition.leader, partition.epoch = leader, partition.epoch + 1

    def channel(self, host: str, port: int, *, client_id: str) -> FakeChannel:
        """See `Network`."""
        channel = FakeChannel(self, port - FIRST_PORT)
        self._channels.append(channel)
        return channel

    def cut(self, broker: int) -> None:
        """Break all connections to a broker, which goes on living."""
        for channel in self._channels:
            if channel.broker == broker:
                channel.close()

    def kill(self, broker: int) -> None:
        """And it does not."""
        self.alive.discard(broker)
        self.cut(broker)

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return ",".join(f"fake:{FIRST_PORT + number}" for number in sorted(self.alive))

    def address_of(self, broker: int) -> tuple[str, int]:
        """Host and port."""
        return self.addresses.get(broker, ("fake", FIRST_PORT + broker))

    # What brokers do

    def handle(self, broker: int, request: Message, version: int = 0) -> Message | Promise[Message]:
        """The answer."""
        self.requests.append((broker, request))
        delegated = self.delegate(broker, request, version)
        if delegated is not None:
            return delegated
        name = ApiKey(request.API_KEY).name.lower()
        answer: Message | Promise[Message] = getattr(self, f"_{name}")(broker, request)
        return answer

    def _api_versions(self, broker: int, request: Message) -> Message:
        keys = [ApiVersion(key, spec_of(key).min_version, self.versions.get(key, spec_of(key).max_version)) for key in ApiKey if spec_of(key).is_zk_broker_api]
        return ApiVersionsResponse(api_keys=keys)

    def _metadata(self, broker: int, request: Message) -> Message:
        assert isinstance(request, MetadataRequest)
        wanted = list(self.topics) if request.topics is None else [each.name or "" for each in request.topics]
        topics = []
        for name in wanted:
            if name not in self.topics:
                topics.append(MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name))
                continue
            partitions = [
                MetadataResponsePartition(
                    error_code=ErrorCode.NONE,
                    partition_index=number,
                    leader_id=each.leader if each.leader in self.alive else -1,
                    leader_epoch=each.epoch,
                    replica_nodes=sorted(self.alive),
                    isr_nodes=sorted(self.alive),
                )
                for number, each in self.topics[name].items()
            ]
            topics.append(MetadataResponseTopic(error_code=ErrorCode.NONE, name=name, partitions=partitions))
        brokers = [MetadataResponseBroker(number, *self.address_of(number)) for number in sorted(self.alive)]
        return MetadataResponse(brokers=brokers, cluster_id="fake", controller_id=0, topics=topics)

    def _init_producer_id(self, broker: int, request: Message) -> Message:
        self.next_producer_id += 1
        return InitProducerIdResponse(error_code=0, producer_id=self.next_producer_id, producer_epoch=0, throttle_time_ms=0)

    def _produce(self, broker: int, request: Message) -> Message:
        assert isinstance(request, ProduceRequest)
        responses = []
        for topic in request.topic_data:
            answers = []
            for each in topic.partition_data:
                name = TopicPartition(topic.name, each.index)
                error, offset = self._error(broker, name, request), -1
                if error is ErrorCode.NONE:
                    error, offset = self.partition(name).append(join_records([each.records or b""]))
                answers.append(PartitionProduceResponse(index=each.index, error_code=error, base_offset=offset))
            responses.append(TopicProduceResponse(topic.name, answers))
        return ProduceResponse(responses=responses, throttle_time_ms=0)

    def _list_offsets(self, broker: int, request: Message) -> Message:
        assert isinstance(request, ListOffsetsRequest)
        topics = []
        for topic in request.topics:
            answers = []
            for each in topic.partitions:
                name = TopicPartition(topic.name, each.partition_index)
                error, partition = self._error(broker, name, request), self.partition(name)
                answers.append(
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index,
                        error_code=error,
                        timestamp=-1,
                        offset={-2: partition.start, -1: partition.end}[each.timestamp] if error is ErrorCode.NONE else -1,
                        leader_epoch=partition.epoch,
                    )
                )
            topics.append(ListOffsetsTopicResponse(topic.name, answers))
        return ListOffsetsResponse(topics=topics)

    def _fetch(self, broker: int, request: Message) -> Message | Promise[Message]:
        assert isinstance(request, FetchRequest)
        answer = self._fetch_now(broker, request)
        if not self.long_polls or any(each.record_set or each.error_code for topic in answer.responses for each in topic.partition_responses):
            return answer
        return after(self.clock, request.max_wait_ms).then(lambda _: self._fetch_now(broker, request))

    def _fetch_now(self, broker: int, request: FetchRequest) -> FetchResponse:
        asked = {TopicPartition(topic.topic, each.partition): each for topic in request.topics for each in topic.partitions}
        session_id = 0
        if self.answers_sessions:
            session_id = request.session_id or len(self.sessions) + 1
            if request.session_epoch == 0:
                self.sessions[session_id] = {}
            elif session_id not in self.sessions:
                return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, session_id=0)
            session = self.sessions[session_id]
            session.update(asked)
            for topic in request.forgotten_topics_data:
                for number in topic.partitions:
                    session.pop(TopicPartition(topic.topic, number), None)
            asked = dict(session)
        topics: dict[str, list[FetchablePartitionResponse]] = {}
        incremental = self.answers_sessions and request.session_epoch > 0
        for name, each in asked.items():
            answer = self._fetch_partition(broker, name, each.fetch_offset, request)
            if not incremental or answer.record_set or answer.error_code:
                topics.setdefault(name.topic, []).append(answer)
        return FetchResponse(session_id=session_id, responses=[FetchableTopicResponse(*each) for each in topics.items()])

    def _fetch_partition(self, broker: int, name: TopicPartition, offset: int, request: Message) -> FetchablePartitionResponse:
        partition = self.partition(name)
        error = self._error(broker, name, request)
        if error is ErrorCode.NONE and not partition.start <= offset <= partition.end:
            error = ErrorCode.OFFSET_OUT_OF_RANGE
        data = partition.read(offset) if error is ErrorCode.NONE else b""
        return FetchablePartitionResponse(
            partition=name.partition,
            error_code=error,
            high_watermark=partition.end,
            last_stable_offset=partition.end,
            log_start_offset=partition.start,
            record_set=data,
        )

    def _offset_for_leader_epoch(self, broker: int, request: Message) -> Message:
        assert isinstance(request, OffsetForLeaderEpochRequest)
        topics = []
        for topic in request.topics:
            answers = []
            for each in topic.partitions:
                partition = self.topics[topic.topic][each.partition]
                if broker != partition.leader:
                    answers.append(EpochEndOffset(ErrorCode.NOT_LEADER_OR_FOLLOWER, each.partition))
                    continue
                batches = [RecordBatch(memoryview(batch)) for batch in partition.batches]
                ends = [batch.next_offset for batch in batches if batch.partition_leader_epoch <= each.leader_epoch]
                answers.append(EpochEndOffset(ErrorCode.NONE, each.partition, each.leader_epoch, max(ends, default=partition.start)))
            topics.append(OffsetForLeaderTopicResult(topic.topic, answers))
        return OffsetForLeaderEpochResponse(topics=topics)

    def _find_coordinator(self, broker: int, request: Message) -> Message:
        host, port = self.address_of(self.coordinator)
        return FindCoordinatorResponse(node_id=self.coordinator, host=host, port=port, error_message=None, error_code=0)

    def _offset_commit(self, broker: int, request: Message) -> Message:
        assert isinstance(request, OffsetCommitRequest)
        topics = []
        for topic in request.topics:
            answers = []
            for each in topic.partitions:
                name = TopicPartition(topic.name, each.partition_index)
                error = self._coordinators_error(broker, name, request)
                if error is ErrorCode.NONE:
                    self.committed[request.group_id, name] = each.committed_offset
                answers.append(OffsetCommitResponsePartition(each.partition_index, error))
            topics.append(OffsetCommitResponseTopic(topic.name, answers))
        return OffsetCommitResponse(topics=topics)

    def _offset_fetch(self, broker: int, request: Message) -> Message:
        assert isinstance(request, OffsetFetchRequest)
        topics = []
        for topic in request.topics or ():
            answers = []
            for number in topic.partition_indexes:
                name = TopicPartition(topic.name, number)
                offset = self.committed.get((request.group_id, name), -1)
                answers.append(OffsetFetchResponsePartition(number, offset, metadata="", error_code=self._coordinators_error(broker, name, request)))
            topics.append(OffsetFetchResponseTopic(topic.name, answers))
        return OffsetFetchResponse(topics=topics)

    def _coordinators_error(self, broker: int, name: TopicPartition, request: Message) -> ErrorCode:
        if broker != self.coordinator:
            return ErrorCode.NOT_COORDINATOR
        return self.refuse(broker, name, request) or ErrorCode.NONE

    def _error(self, broker: int, name: TopicPartition, request: Message) -> ErrorCode:
        if name.topic not in self.topics or name.partition not in self.topics[name.topic]:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self.partition(name).leader != broker:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return self.refuse(broker, name, request) or ErrorCode.NONE


@dataclass(eq=False)
class Waiting:
    """A request without an answer."""

    request: Message
    version: int
    promise: Promise[Message]
    timer: Any = None


class FakeChannel:
    """Implements `Channel`: each request goes over the wire's encoding, both ways."""

    def __init__(self, cluster: FakeCluster, broker: int) -> None:
        self.broker = broker
        self._cluster = cluster
        self._waiting: deque[Waiting] = deque()
        self._busy = False
        self._connection = 0

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """See `Channel`."""
        if self.broker not in self._cluster.alive:
            return Promise.failed(CannotConnect(f"fake:{FIRST_PORT + self.broker}: connection refused"))
        decoded = codec.decode(type(request), version, codec.encode(request, version))[0]
        waiting = Waiting(decoded, version, Promise())
        waiting.timer = self._cluster.clock.call_later(timeout_ms, lambda: self._end(RequestTimedOut(f"no answer within {timeout_ms:g} ms")))
        self._waiting.append(waiting)
        if isinstance(request, ProduceRequest) and request.acks == 0:
            waiting.promise.resolve(ProduceResponse())
        self._next()
        return waiting.promise

    def close(self) -> None:
        """See `Channel`."""
        self._end(Disconnected(f"fake:{FIRST_PORT + self.broker}: connection lost"))

    def _next(self) -> None:
        if not self._busy and self._waiting:
            self._busy = True
            self._later(self._arrive, self._waiting[0])

    def _later(self, step: Callable[..., None], *arguments: Any) -> None:
        """After a while; not, where the connection is another one by then."""
        connection = self._connection
        self._cluster.clock.call_later(self._cluster.latency_ms(), lambda: step(*arguments) if connection == self._connection else None)

    def _arrive(self, waiting: Waiting) -> None:
        held = self._cluster.before(self.broker, waiting.request)
        if held is None:
            self._handle(waiting)
        else:
            held.when_settled(lambda _: self._handle(waiting))

    def _handle(self, waiting: Waiting) -> None:
        if waiting not in self._waiting:
            return
        answer = self._cluster.handle(self.broker, waiting.request, waiting.version)
        if not isinstance(answer, Promise):
            self._later(self._answered, waiting, answer)
        else:
            answer.when_settled(lambda later: self._later(self._answered, waiting, later.result()) if waiting in self._waiting else None)

    def _answered(self, waiting: Waiting, answer: Message) -> None:
        self._waiting.popleft()
        self._busy = False
        waiting.timer.cancel()
        if not waiting.promise.settled:
            waiting.promise.resolve(codec.decode(type(answer), waiting.version, codec.encode(answer, waiting.version))[0])
        self._next()

    def _end(self, reason: Disconnected) -> None:
        self._connection += 1
        self._busy = False
        waiting, self._waiting = self._waiting, deque()
        for each in waiting:
            each.timer.cancel()
            if not each.promise.settled:
                each.promise.fail(reason)
