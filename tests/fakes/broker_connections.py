"""A cluster for clients: brokers that answer as the test scripts them, behind the seam of `client/admin/connections.py`.

Requests and responses go through the real codec, so what a version cannot carry fails as it would on a wire. Time is a FakeClock's; `run` moves it on while
somebody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, TypeVar

from pykafka_classic.client.admin.connections import Address
from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.api_keys import ApiKey, spec_of, zk_broker_apis
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages.find_coordinator import FindCoordinatorResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponseTopic
from pykafka_classic.protocol.network import Disconnected
from pykafka_classic.protocol.schema import Message, SchemaError
from tests.fakes.clock import FakeClock

T = TypeVar("T")
M = TypeVar("M", bound=Message)

Handler = Callable[[int, Any], Message | Exception]  # broker id, request

BOOTSTRAP: Final = Address("bootstrap", 9092)


class FakeBrokers:
    """Brokers 0 .. n-1 at `broker-N:9092`; the bootstrap address leads to broker 0.

    Attributes:
        sent: what was asked, in order: broker id, request, version.
        dead: ids of brokers to which no connection can be made.
        on: what brokers answer, by API; Metadata and FindCoordinator are there already.
    """

    def __init__(self, count: int = 3, *, serve: Mapping[ApiKey, tuple[int, int]] | None = None) -> None:
        self.clock = FakeClock()
        self.bootstrap = (BOOTSTRAP,)
        self.count = count
        self.controller = 0
        self.coordinator = 0
        self.dead: set[int] = set()
        self.topics: list[MetadataResponseTopic] = []
        self.sent: list[tuple[int, Message, int]] = []
        self.on: dict[ApiKey, Handler] = {ApiKey.METADATA: self._metadata, ApiKey.FIND_COORDINATOR: self._find_coordinator}
        self._serve = {**zk_broker_apis(), **(serve or {})}

    def versions(self, address: Address, *, timeout_ms: float) -> Promise[Mapping[int, tuple[int, int]]]:
        assert timeout_ms > 0
        if self._broker(address) in self.dead:
            return Promise.failed(Disconnected(f"{address}: nobody there"))
        return Promise.resolved({int(key): versions for key, versions in self._serve.items()})

    def send(self, address: Address, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        assert timeout_ms > 0
        broker, spec = self._broker(address), spec_of(ApiKey(request.API_KEY))
        try:
            arrived = decode(spec.request, version, encode(request, version))[0]
        except SchemaError as error:
            return Promise.failed(error)
        self.sent.append((broker, arrived, version))
        answer = self.on[spec.key](broker, arrived)
        if isinstance(answer, Exception):
            return Promise.failed(answer)
        return Promise.resolved(decode(spec.response, version, encode(answer, version))[0])

    def admin(self, settings: AdminSettings | None = None) -> AdminCore:
        """An admin client of this cluster."""
        return AdminCore(self, settings, draw_salt=lambda: b"salt")

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Its outcome; timers run one after the other until it is there."""
        promise = spawn(coroutine)
        while not promise.settled:
            assert self.clock.advance_to_next(), "it waits for nothing"
        return promise.result()

    def asked(self, api_key: ApiKey) -> list[int]:
        """Which brokers were asked, in order."""
        return [broker for broker, request, _ in self.sent if api_key == request.API_KEY]

    def requests(self, kind: type[M]) -> list[M]:
        """What was asked of one kind, as it arrived."""
        return [request for _, request, _ in self.sent if isinstance(request, kind)]

    def _broker(self, address: Address) -> int:
        return 0 if address == BOOTSTRAP else int(address.host.removeprefix("broker-"))

    def _metadata(self, _: int, request: MetadataRequest) -> Message:
        brokers = [MetadataResponseBroker(number, f"broker-{number}", 9092) for number in range(self.count) if number not in self.dead]
        names = None if request.topics is None else {each.name for each in request.topics}
        topics = [each for each in self.topics if names is None or each.name in names]
        return MetadataResponse(brokers=brokers, cluster_id="fake", controller_id=self.controller, topics=topics)

    def _find_coordinator(self, _: int, __: Message) -> Message:
        return FindCoordinatorResponse(node_id=self.coordinator, host=f"broker-{self.coordinator}", port=9092)


def versions_up_to(api_key: ApiKey, version: int) -> dict[ApiKey, tuple[int, int]]:
    """An older broker, in one API."""
    return {api_key: (0, version)}
