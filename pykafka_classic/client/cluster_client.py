"""A client's view of a whole cluster: finds it from a few addresses, keeps its metadata fresh, hands out brokers.

Metadata is asked anew when it is too old, when a topic is wanted that it lacks, and when an answer showed that it is wrong; requests that come while one is
under way share it, and two follow each other no faster than `retry_backoff_ms`.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/{NetworkClient,Metadata}.java.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from pykafka_classic.client.broker_node import BrokerNode, ClientSeams
from pykafka_classic.client.client_errors import ClientClosed, ClientTimeout, NoBrokers
from pykafka_classic.client.client_settings import ClientSettings
from pykafka_classic.client.cluster_metadata import ClusterMetadata, TopicInfo
from pykafka_classic.common.clock import Timer, after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import CoordinatorType
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from pykafka_classic.protocol.network import Disconnected

T = TypeVar("T")

log = logging.getLogger("kafka.clients.Metadata")

GROUP = "group"  # purposes of channels: a request that waits at the broker must not hold up others
FETCH = "fetch"
MISSING_TOPIC_RETRY_MS = 500  # a topic that is wanted, and not there, may be created


class ClusterClient:
    """See the module. `topics`: what metadata is kept for; None: all topics. Invariant: `_nodes` holds one node for each address and purpose in use."""

    def __init__(self, settings: ClientSettings, seams: ClientSeams, *, allow_auto_topic_creation: bool = True) -> None:
        self.settings = settings
        self.seams = seams
        self.metadata = ClusterMetadata()
        self.topics: frozenset[str] | None = frozenset()
        self.closed = False
        self._lost = False  # nobody could be asked, and that was told
        self._allow_auto_topic_creation = allow_auto_topic_creation
        self._nodes: dict[tuple[str, int, str], BrokerNode] = {}
        self._update: Promise[None] | None = None
        self._last_update_ms = float("-inf")
        self._hurry = False  # topics are wanted that the last answer could not have
        self._refresh_timer: Timer | None = None
        self._listeners: list[Callable[[ClusterMetadata], None]] = []

    # Metadata

    def when_updated(self, listener: Callable[[ClusterMetadata], None]) -> None:
        """Call after each update, with what is known then."""
        self._listeners.append(listener)

    def want(self, topics: Iterable[str] | None) -> None:
        """What metadata is kept for from now on; None: all topics."""
        self.topics = frozenset(topics) if topics is not None else None
        self._hurry = True

    def want_also(self, topics: Iterable[str]) -> None:
        """These too."""
        if self.topics is not None and not self.topics.issuperset(topics):
            self.want(self.topics.union(topics))

    def update(self) -> Promise[None]:
        """Ask anew (or join the asking under way). NoBrokers where nobody answers."""
        if self._update is None:
            update = self._update = spawn(self._perform_update())
            update.when_settled(self._update_ended)
            return update
        return self._update

    def update_soon(self) -> None:
        """Ask anew; nobody waits, and a failure is logged."""
        if not self.closed:
            self.update().when_settled(self._log_failure)

    async def topic(self, name: str, *, timeout_ms: float) -> TopicInfo:
        """A topic with its partitions, waiting until it is there. KafkaError where it stays away, or must not be seen; NoBrokers."""
        deadline_ms = self.seams.clock.monotonic_ms() + timeout_ms
        self.want_also([name])
        while True:
            found = self.metadata.topics.get(name)
            if found is not None and found.error is ErrorCode.NONE:
                return found
            if found is not None and not found.error.retriable:
                raise KafkaError(found.error, f"topic {name!r}: {found.error.message}")
            if self.seams.clock.monotonic_ms() > deadline_ms:
                error = found.error if found is not None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                raise KafkaError(error, f"topic {name!r} is not there after {timeout_ms:g} ms: {error.message}")
            await self.update()

    async def partitions_exist(self, partitions: Iterable[TopicPartition], *, timeout_ms: float, patient: bool = False) -> None:
        """KafkaError (UNKNOWN_TOPIC_OR_PARTITION) where one does not. `patient`: a topic that is there may get the partition in that time."""
        deadline_ms = self.seams.clock.monotonic_ms() + timeout_ms
        for each in partitions:
            topic = await self.topic(each.topic, timeout_ms=timeout_ms)
            while each.partition not in topic.partitions:
                if not patient or self.seams.clock.monotonic_ms() >= deadline_ms:
                    text = f"there is no partition {each}: {each.topic} has {topic.partition_count}"
                    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
                await self.update()
                topic = await self.topic(each.topic, timeout_ms=timeout_ms)

    # Brokers

    def node(self, node_id: int, purpose: str = "") -> BrokerNode:
        """The broker with this id. Disconnected where it is not known to be alive."""
        address = self.metadata.brokers.get(node_id)
        if address is None:
            raise Disconnected(f"broker {node_id} is not known to be alive")
        return self.node_at(address.host, address.port, purpose)

    def node_at(self, host: str, port: int, purpose: str = "") -> BrokerNode:
        """The broker at an address."""
        if self.closed:
            raise ClientClosed("the client has been closed")
        key = (host, port, purpose)
        if key not in self._nodes:
            self._nodes[key] = BrokerNode(self.seams, self.settings, host, port)
        return self._nodes[key]

    def leader(self, partition: TopicPartition, purpose: str = "") -> BrokerNode | None:
        """The partition's leader, where there is one that is alive."""
        leader = self.metadata.leader_of(partition)
        return None if leader is None else self.node(leader, purpose)

    def candidates(self) -> list[BrokerNode]:
        """Brokers to ask what any of them can answer: those known to be alive from a random one on, then the addresses given at the start."""
        known = [self.node(node_id) for node_id in self.metadata.brokers]
        if known:
            first = self.seams.random.randrange(len(known))
            known = known[first:] + known[:first]
            known.sort(key=lambda node: node.is_blocked)
        given = [self.node_at(host, port) for host, port in self.settings.bootstrap]
        return known + [node for node in given if node not in known]

    async def coordinator(self, key: str, *, key_type: CoordinatorType = CoordinatorType.GROUP) -> BrokerNode:
        """The coordinator of a group or of a transactional id. KafkaError, where it is retriable too; NoBrokers, Disconnected."""
        response = await self.ask_any(lambda node: self._find_coordinator(node, key, key_type))
        if response.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(response.error_code), response.error_message or "")
        return self.node_at(response.host, response.port, GROUP)

    async def ask_any(self, ask: Callable[[BrokerNode], Promise[T]]) -> T:
        """What the first broker answers that can be reached. NoBrokers says what each failed of."""
        failures = []
        for node in self.candidates():
            try:
                return await ask(node)
            except Disconnected as error:
                if self.closed:
                    raise ClientClosed("the client has been closed") from error
                failures.append(str(error))
        raise NoBrokers("no broker can be reached: " + "; ".join(dict.fromkeys(failures)))

    def close(self) -> None:
        """Close all connections; what is under way fails."""
        self.closed = True
        if self._refresh_timer is not None:
            self._refresh_timer.cancel()
        for node in self._nodes.values():
            node.close()

    # inside

    @staticmethod
    def _find_coordinator(node: BrokerNode, key: str, key_type: CoordinatorType) -> Promise[FindCoordinatorResponse]:
        async def find() -> FindCoordinatorResponse:
            response = await node.send(FindCoordinatorRequest(key=key, key_type=key_type))
            assert isinstance(response, FindCoordinatorResponse)
            return response

        return spawn(find())

    async def _perform_update(self) -> None:
        clock = self.seams.clock
        wait_ms = self._last_update_ms + self.settings.retry_backoff_ms - clock.monotonic_ms()
        if wait_ms > 0 and not self._hurry:
            await after(clock, wait_ms)
        self._hurry = False
        wanted = self.topics
        try:
            response = await self.ask_any(lambda node: spawn(self._ask_metadata(node, wanted)))
        finally:
            self._last_update_ms = clock.monotonic_ms()
            self._set_refresh_timer()
        if self._lost:
            self._lost = False
            log.warning("The brokers answer again")
        self.metadata = self.metadata.updated(response, is_all=wanted is None)
        self._drop_nodes()
        if any(topic.error.invalid_metadata for topic in self.metadata.topics.values()):
            clock.call_later(MISSING_TOPIC_RETRY_MS, self.update_soon)
        for listener in list(self._listeners):
            listener(self.metadata)

    async def _ask_metadata(self, node: BrokerNode, wanted: frozenset[str] | None) -> MetadataResponse:
        topics = None if wanted is None else [MetadataRequestTopic(name=name) for name in sorted(wanted)]
        # Which brokers that cannot be told not to create a topic (before v4) create it: as with Java's client.
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=self._allow_auto_topic_creation or wanted is None)
        response = await node.send(request)
        assert isinstance(response, MetadataResponse)
        if not response.brokers:
            raise Disconnected(f"{node} knows of no broker yet")
        return response

    def _set_refresh_timer(self) -> None:
        if self._refresh_timer is not None:
            self._refresh_timer.cancel()
        if not self.closed:
            self._refresh_timer = self.seams.clock.call_later(self.settings.metadata_max_age_ms, self.update_soon)

    def _log_failure(self, update: Promise[None]) -> None:
        error = update.error()
        if error is not None and not self.closed and not self._lost:  # what was under way when the client was closed concerns nobody
            self._lost = True  # told once, however often it is tried
            log.warning("Metadata cannot be had: %s", error)

    def _update_ended(self, _: Promise[None]) -> None:
        self._update = None

    def _drop_nodes(self) -> None:
        """Close connections to brokers that are gone, or have moved."""
        alive = {(each.host, each.port) for each in self.metadata.brokers.values()} | set(self.settings.bootstrap)
        for key in [key for key, node in self._nodes.items() if key[:2] not in alive and not node.requests_in_flight]:
            self._nodes.pop(key).close()


async def with_deadline(cluster: ClusterClient, deadline_ms: float, what: str, attempt: Callable[[], Promise[T]]) -> T:
    """Try again after errors that pass, until the deadline (`monotonic_ms`). ClientTimeout names `what`, and the last error."""
    clock = cluster.seams.clock
    while True:
        try:
            return await attempt()
        except (Disconnected, KafkaError) as error:
            if isinstance(error, KafkaError) and not error.code.retriable:
                raise
            if clock.monotonic_ms() + cluster.settings.retry_backoff_ms >= deadline_ms:
                raise ClientTimeout(f"{what}: no success in the time given; the last error: {error}") from error
            if isinstance(error, Disconnected) or error.code.invalid_metadata:
                cluster.update_soon()
        await after(clock, cluster.settings.retry_backoff_ms)
