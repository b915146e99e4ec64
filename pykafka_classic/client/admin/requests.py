"""`ClusterRequests`: a request finds the broker that it is for, and is sent again as long as that may help.

| place | found by | found anew after |
|---|---|---|
| any broker | the next of those known, else of the bootstrap addresses | a failed connection |
| the controller | Metadata | NOT_CONTROLLER, a failed connection |
| a broker by id | Metadata | a failed connection |
| a partition's leader | Metadata, for each try | NOT_LEADER_OR_FOLLOWER, a failed connection |
| a group's coordinator | FindCoordinator | NOT_COORDINATOR, a failed connection |

A call has one deadline (`default.api.timeout.ms` from its first try), each try another (`request.timeout.ms`); between two tries lies `retry.backoff.ms`.
Tried again: failed connections, and retriable errors that the caller of `ask` finds in the response. COORDINATOR_LOAD_IN_PROGRESS is waited out so.

A request that was lost with its connection may have been carried out: as with Kafka's AdminClient, the next may then be answered TOPIC_ALREADY_EXISTS.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/admin/KafkaAdminClient.java (Call, NodeProvider).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from pykafka_classic.client.admin.connections import Address, BrokerConnections
from pykafka_classic.client.admin.outcomes import error_of
from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, SchemaError, UnsupportedVersion

R = TypeVar("R", bound=Message)

NO_NODE: Final = -1

# A topic that metadata does not know may have been created a moment ago, by way of another broker: so long it is looked for again.
UNKNOWN_TOPIC_PATIENCE_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """Kafka's keys of the same names, in ms."""

    request_timeout_ms: int = 30_000  # one try
    default_api_timeout_ms: int = 60_000  # all tries of a call
    retry_backoff_ms: int = 100  # between two tries


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """One kind of request.

    Attributes:
        name: Kafka's name of the call, for texts of errors.
        response: the class of its answer, which also names the API.
        build: the request in a version; raises UnsupportedVersion where that cannot say what is meant.
        errors: codes in a response for which the whole call is to be tried again.
    """

    name: str
    response: type[R]
    build: Callable[[int], Message]
    errors: Callable[[R], Iterable[int]] = lambda _: ()


class Place(Protocol):
    """Which broker a request is for."""

    async def address(self, requests: ClusterRequests) -> Address:
        """Where to send. KafkaError where nobody can be named: tried again if it is retriable."""
        ...

    def forget(self) -> None:
        """What was found is no longer true."""
        ...


class AnyBroker:
    """The brokers in turn."""

    def __init__(self) -> None:
        self._tried = 0

    async def address(self, requests: ClusterRequests) -> Address:
        """The next."""
        candidates = [*(Address.of(node) for node in requests.nodes.values()), *requests.bootstrap]
        return candidates[self._tried % len(candidates)]

    def forget(self) -> None:
        """Take another."""
        self._tried += 1


class Controller:
    """Whoever is the controller."""

    def __init__(self) -> None:
        self._is_known = True  # until proved otherwise

    async def address(self, requests: ClusterRequests) -> Address:
        """As known, else by fresh metadata. NOT_CONTROLLER while there is none."""
        if not self._is_known or requests.controller_id not in requests.nodes:
            await requests.refresh()
            self._is_known = True
        node = requests.nodes.get(requests.controller_id)
        if node is None:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "The cluster has no controller at present.")
        return Address.of(node)

    def forget(self) -> None:
        """Look into fresh metadata."""
        self._is_known = False


class Broker:
    """A broker by its id."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    async def address(self, requests: ClusterRequests) -> Address:
        """As known, else by fresh metadata."""
        if self._node_id not in requests.nodes:
            await requests.refresh()
        node = requests.nodes.get(self._node_id)
        if node is None:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"Broker {self._node_id} is not available.")
        return Address.of(node)

    def forget(self) -> None:
        """Its address may be another by now; `ask` asks anew after each failure."""


class Coordinator:
    """The coordinator of a group."""

    def __init__(self, group: str) -> None:
        self._group = group
        self.found: Node | None = None

    async def address(self, requests: ClusterRequests) -> Address:
        """By FindCoordinator."""
        if self.found is None:
            self.found = await requests.find_coordinator(self._group)
        return Address.of(self.found)

    def forget(self) -> None:
        """Ask again."""
        self.found = None


class Leader:
    """The leader of a partition."""

    def __init__(self, partition: TopicPartition) -> None:
        self._partition = partition

    async def address(self, requests: ClusterRequests) -> Address:
        """By fresh metadata. UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE."""
        told = await requests.refresh([self._partition.topic])
        topic = next((each for each in told.topics if each.name == self._partition.topic), None)
        raise_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else topic.error_code)
        assert topic is not None
        leader = next((each.leader_id for each in topic.partitions if each.partition_index == self._partition.partition), None)
        if leader is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if leader not in requests.nodes:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
        return Address.of(requests.nodes[leader])

    def forget(self) -> None:
        """Nothing was kept."""


class ClusterRequests:
    """Requests to the brokers of one cluster."""

    def __init__(self, connections: BrokerConnections, settings: AdminSettings | None = None) -> None:
        self._connections = connections
        self._clock = connections.clock
        self.settings = settings or AdminSettings()
        self.bootstrap = connections.bootstrap
        self.nodes: dict[int, Node] = {}  # as the latest metadata told
        self.controller_id = NO_NODE
        self.cluster_id: str | None = None

    # deadlines and tries

    def now_ms(self) -> int:
        """Wall-clock time."""
        return self._clock.now_ms()

    def deadline(self, timeout_ms: float | None = None) -> float:
        """When a call that begins now must be done, in monotonic ms."""
        return self._clock.monotonic_ms() + (self.settings.default_api_timeout_ms if timeout_ms is None else timeout_ms)

    def left_ms(self, deadline: float) -> int:
        """Time until then; not below 0."""
        return max(0, int(deadline - self._clock.monotonic_ms()))

    async def pause(self, deadline: float, failure: KafkaError, *, delay_ms: float | None = None) -> None:
        """Wait before the next try. KafkaError (REQUEST_TIMED_OUT) where there is no time for one."""
        delay_ms = self.settings.retry_backoff_ms if delay_ms is None else delay_ms
        if self._clock.monotonic_ms() + delay_ms >= deadline:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"Timed out; the last try failed: {failure}") from failure
        await after(self._clock, delay_ms)

    async def ask(self, place: Place, call: Call[R], *, deadline: float | None = None) -> R:
        """The response of the broker that `place` says, from the first try that needs no other.

        Raises:
            KafkaError: REQUEST_TIMED_OUT where no try succeeded in time, UNSUPPORTED_VERSION where the broker cannot do it, and what no second try can help.
        """
        deadline = self.deadline() if deadline is None else deadline
        while True:
            failure = None
            try:
                response = await self._once(await place.address(self), call, deadline)
            except KafkaError as error:
                if not may_pass(error):
                    raise
                failure = error
            else:
                failure = next((error for error in map(error_of, call.errors(response)) if error.code.retriable), None)
                if failure is None:
                    return response
            place.forget()
            await self.pause(deadline, failure)

    async def ask_once(self, place: Place, call: Call[R], *, deadline: float) -> R:
        """One try. KafkaError: whether another may help, its code tells."""
        return await self._once(await place.address(self), call, deadline)

    async def _once(self, address: Address, call: Call[R], deadline: float) -> R:
        timeout_ms = max(1, min(self.settings.request_timeout_ms, self.left_ms(deadline)))
        try:
            served = await self._connections.versions(address, timeout_ms=timeout_ms)
            version = _version(ApiKey(call.response.API_KEY), served, address)
            response = await self._connections.send(address, call.build(version), version, timeout_ms=timeout_ms)
        except RequestTimedOut as error:
            self._lost(address)
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, str(error)) from error
        except Disconnected as error:
            self._lost(address)
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION, str(error)) from error
        except UnsupportedVersion as error:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, str(error)) from error
        except SchemaError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
        assert isinstance(response, call.response)
        return response

    def _lost(self, address: Address) -> None:
        """Whoever was there may be elsewhere now, or gone."""
        self.nodes = {number: node for number, node in self.nodes.items() if Address.of(node) != address}

    # what requests must know of the cluster

    async def refresh(self, topics: Sequence[str] | None = ()) -> MetadataResponse:
        """Fresh metadata: brokers, controller, and these topics (None: all). One broker after the other is asked, each once; then NETWORK_EXCEPTION."""
        response = await self._from_some_broker(Call("metadata", MetadataResponse, lambda version: _metadata_request(version, topics)))
        self.nodes = {each.node_id: Node(each.node_id, each.host, each.port, each.rack) for each in response.brokers}
        self.controller_id = response.controller_id
        self.cluster_id = response.cluster_id
        return response

    async def metadata(self, topics: Sequence[str] | None, *, deadline: float | None = None) -> MetadataResponse:
        """As `refresh`, again until the deadline while no broker answers."""
        deadline = self.deadline() if deadline is None else deadline
        while True:
            try:
                return await self.refresh(topics)
            except KafkaError as error:
                if not error.code.retriable:
                    raise
                await self.pause(deadline, error)

    async def find_coordinator(self, group: str) -> Node:
        """One try. KafkaError with the broker's code: COORDINATOR_NOT_AVAILABLE while __consumer_offsets is being made."""
        call = Call("findCoordinator", FindCoordinatorResponse, lambda _: FindCoordinatorRequest(key=group))
        response = await self._from_some_broker(call)
        raise_error(response.error_code)
        return Node(response.node_id, response.host, response.port)

    async def _from_some_broker(self, call: Call[R]) -> R:
        place = AnyBroker()
        failure = None
        for _ in range(len(self.nodes) + len(self.bootstrap)):
            try:
                return await self._once(await place.address(self), call, self.deadline())
            except KafkaError as error:
                if not error.code.retriable:
                    raise
                failure = error
            place.forget()
        assert failure is not None
        raise failure


def may_pass(error: KafkaError) -> bool:
    """True where another try may help. A broker that is not there may come back, though Kafka's table does not call that retriable."""
    return error.code.retriable or error.code is ErrorCode.BROKER_NOT_AVAILABLE


def raise_error(code: int, message: str | None = None) -> None:
    """Raise KafkaError unless the code is NONE."""
    if code != ErrorCode.NONE:
        raise error_of(code, message)


def _version(api_key: ApiKey, served: Mapping[int, tuple[int, int]], address: Address) -> int:
    spec = spec_of(api_key)
    low, high = served.get(api_key, (0, -1))
    version = min(high, spec.max_version)
    if version < max(low, spec.min_version):
        raise UnsupportedVersion(f"The broker at {address} does not support {api_key.name}")
    return version


def _metadata_request(version: int, topics: Sequence[str] | None) -> MetadataRequest:
    if version == 0:
        return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics or ()])  # an empty list means all there
    wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
    if version < 4 and wanted:
        return MetadataRequest(topics=None)  # asked by name it would create them: so it is asked for all
    return MetadataRequest(topics=wanted, allow_auto_topic_creation=version < 4)
