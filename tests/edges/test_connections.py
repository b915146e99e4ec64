"""Both ways to implement the admin client's seam, against toy brokers: several requests at once, connections that end, brokers that are silent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pykafka_classic.client.admin.connections import Address
from pykafka_classic.common.clock import after
from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.edges.blocking_connections import BlockingConnections
from pykafka_classic.edges.twisted_connections import TwistedConnections
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, UnsupportedVersion
from tests.edges.reactor_thread import ReactorThread
from tests.edges.toy_broker import APIS, ToyBroker

TIMEOUT_MS = 10_000.0
SERVED = {int(key): versions for key, versions in APIS.items()}


@pytest.fixture
def brokers(reactor_thread: ReactorThread) -> Iterator[list[ToyBroker]]:
    toys = [ToyBroker(reactor_thread), ToyBroker(reactor_thread)]
    yield toys
    for toy in toys:
        toy.stop()


@pytest.fixture
def waiting(brokers: list[ToyBroker]) -> Iterator[BlockingConnections]:
    made = BlockingConnections([("127.0.0.1", toy.port) for toy in brokers], client_id="tool")
    yield made
    made.close()


@pytest.fixture
def twisted(brokers: list[ToyBroker], reactor_thread: ReactorThread) -> Iterator[TwistedConnections]:
    made = TwistedConnections(reactor_thread.reactor, [("127.0.0.1", toy.port) for toy in brokers], client_id="tool")
    yield made
    reactor_thread.call(made.close)


def beat(connections: BlockingConnections | TwistedConnections, toy: ToyBroker, *, timeout_ms: float = TIMEOUT_MS, version: int = 3) -> Promise[Message]:
    request = HeartbeatRequest(group_id="g", group_instance_id="i" if version < 3 else None)
    return connections.send(Address("127.0.0.1", toy.port), request, version, timeout_ms=timeout_ms)


def test_requests_to_several_brokers_are_under_way_at_the_same_time(brokers: list[ToyBroker], waiting: BlockingConnections) -> None:
    """The first broker answers only when the second has: one after the other they would never be answered."""
    first, second = brokers
    late: Promise[Message] = Promise()
    first.later.append(late)

    def answer_both() -> HeartbeatResponse:
        late.resolve(HeartbeatResponse())
        return HeartbeatResponse()

    second.on_heartbeat = answer_both
    answers = waiting.wait(gather([beat(waiting, first), beat(waiting, second)]))
    assert answers == [HeartbeatResponse(), HeartbeatResponse()]
    assert waiting.wait(waiting.versions(Address("127.0.0.1", second.port), timeout_ms=TIMEOUT_MS)) == SERVED


def test_who_waits_is_told_of_a_silent_broker_and_connects_anew(brokers: list[ToyBroker], waiting: BlockingConnections) -> None:
    toy = brokers[0]
    toy.later.append(Promise())
    silent, behind = beat(waiting, toy, timeout_ms=100), beat(waiting, toy)
    with pytest.raises(RequestTimedOut):
        waiting.wait(silent)
    with pytest.raises(Disconnected):
        waiting.wait(behind)
    assert waiting.wait(beat(waiting, toy)) == HeartbeatResponse()


def test_timers_run_while_somebody_waits(waiting: BlockingConnections) -> None:
    began = waiting.clock.monotonic_ms()
    order: list[int] = []
    waiting.clock.call_later(20, lambda: order.append(2))
    cancelled = waiting.clock.call_later(10, lambda: order.append(1))
    cancelled.cancel()
    waiting.wait(after(waiting.clock, 30))
    assert order == [2]
    assert waiting.clock.monotonic_ms() - began >= 30


def test_what_a_version_cannot_carry_fails_and_the_connection_lives(brokers: list[ToyBroker], waiting: BlockingConnections) -> None:
    with pytest.raises(UnsupportedVersion):
        waiting.wait(beat(waiting, brokers[0], version=0))
    assert waiting.wait(beat(waiting, brokers[0])) == HeartbeatResponse()


def test_on_a_reactor_versions_are_asked_once_and_again_after_a_failure(
    brokers: list[ToyBroker], twisted: TwistedConnections, reactor_thread: ReactorThread
) -> None:
    toy = brokers[0]
    where = Address("127.0.0.1", toy.port)
    for _ in range(2):
        assert reactor_thread.wait(lambda: twisted.versions(where, timeout_ms=TIMEOUT_MS)) == SERVED
    assert [each.api_key for each in toy.requests] == [ApiKey.API_VERSIONS]
    toy.later.append(Promise())
    with pytest.raises(RequestTimedOut):
        reactor_thread.wait(lambda: beat(twisted, toy, timeout_ms=100))
    assert reactor_thread.wait(lambda: twisted.versions(where, timeout_ms=TIMEOUT_MS)) == SERVED
    assert [each.api_key for each in toy.requests].count(ApiKey.API_VERSIONS) == 2


def test_on_a_reactor_what_a_version_cannot_carry_fails_and_the_connection_lives(
    brokers: list[ToyBroker], twisted: TwistedConnections, reactor_thread: ReactorThread
) -> None:
    with pytest.raises(UnsupportedVersion):
        reactor_thread.wait(lambda: beat(twisted, brokers[0], version=0))
    assert reactor_thread.wait(lambda: beat(twisted, brokers[0])) == HeartbeatResponse()
