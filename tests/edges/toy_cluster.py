"""The fake cluster of tests/fakes behind real listeners on the test reactor: for what talks to brokers over sockets of its own."""

from __future__ import annotations

from pykafka_classic.edges.broker_protocol import DispatchResult
from pykafka_classic.edges.twisted_server import BrokerListener, ListenerSettings
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.connection import RequestContext
from tests.edges.reactor_thread import ReactorThread
from tests.fakes.clock import FakeClock
from tests.fakes.kafka_network import FakeCluster

APIS = {key: (spec_of(key).min_version, spec_of(key).max_version) for key in ApiKey if spec_of(key).is_zk_broker_api}


class ToyCluster:
    """`fake` is what they serve; `addresses` where."""

    def __init__(self, thread: ReactorThread, *, brokers: int = 2) -> None:
        self.thread = thread
        self.fake = FakeCluster(FakeClock(), brokers=brokers)
        self._listeners = {number: self._listener(number) for number in range(brokers)}
        self.fake.addresses = {number: ("127.0.0.1", thread.call(listener.listen)) for number, listener in self._listeners.items()}
        for listener in self._listeners.values():
            thread.call(listener.start_processing)

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """By broker id."""
        return dict(self.fake.addresses)

    def stop_broker(self, number: int) -> None:
        """It listens no more, and its connections are gone."""
        self.fake.alive.discard(number)
        self.thread.wait(self._listeners.pop(number).stop)

    def stop(self) -> None:
        """All."""
        for number in list(self._listeners):
            self.stop_broker(number)

    def _listener(self, number: int) -> BrokerListener:
        def dispatch(context: RequestContext, client_host: str) -> DispatchResult:
            return self.fake.handle(number, context.body)

        return BrokerListener(self.thread.reactor, ListenerSettings("127.0.0.1", 0), APIS, dispatch)
