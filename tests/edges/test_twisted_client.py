"""Channels between brokers, against a toy broker and against peers that misbehave."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.edges.child_processes import free_ports, wait_until
from pykafka_classic.edges.twisted_client import TwistedChannel, TwistedNetwork
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread
from tests.edges.toy_broker import SETTINGS, ToyBroker

TIMEOUT_MS = DEADLINE_S * 1000


@pytest.fixture
def broker(reactor_thread: ReactorThread) -> Iterator[ToyBroker]:
    toy = ToyBroker(reactor_thread)
    yield toy
    toy.stop()


def channel_to(thread: ReactorThread, port: int) -> TwistedChannel:
    return TwistedNetwork(thread.reactor).channel("127.0.0.1", port, client_id="broker-1-fetcher-0")


@pytest.fixture
def channel(reactor_thread: ReactorThread, broker: ToyBroker) -> Iterator[TwistedChannel]:
    made = channel_to(reactor_thread, broker.port)
    yield made
    reactor_thread.call(made.close)


def beat(channel: TwistedChannel, timeout_ms: float = TIMEOUT_MS, generation: int = 0) -> Promise[Message]:
    return channel.send(HeartbeatRequest(group_id="g", generation_id=generation), 3, timeout_ms=timeout_ms)


def test_nothing_is_connected_before_the_first_send(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    assert broker.listener.connection_count == 0
    assert isinstance(reactor_thread.wait(lambda: beat(channel)), HeartbeatResponse)
    assert broker.requests[0].client_id == "broker-1-fetcher-0"


def test_requests_are_pipelined_in_order_on_one_connection(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    reactor_thread.wait(lambda: gather([beat(channel, generation=number) for number in range(100)]))
    bodies = [each.body for each in broker.requests]
    assert [body.generation_id for body in bodies if isinstance(body, HeartbeatRequest)] == list(range(100))
    assert broker.listener.connection_count == 1


def test_records_of_a_large_request_arrive(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    records = bytes(3_000_000)
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[TopicProduceData("t", [PartitionProduceData(0, memoryview(records))])])
    assert isinstance(reactor_thread.wait(lambda: channel.send(request, 8, timeout_ms=TIMEOUT_MS)), ProduceResponse)
    assert broker.requests[0].size > len(records)


def test_produce_without_acks_is_answered_by_an_empty_response(channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    both = reactor_thread.wait(lambda: gather([channel.send(ProduceRequest(acks=0), 8, timeout_ms=TIMEOUT_MS), beat(channel)]))
    assert [type(each) for each in both] == [ProduceResponse, HeartbeatResponse]


def test_refused_connection_is_told_with_the_address(reactor_thread: ReactorThread) -> None:
    port = free_ports(1)[0]
    channel = channel_to(reactor_thread, port)
    for _ in range(2):
        with pytest.raises(Disconnected, match=rf"127.0.0.1:{port}: .*refused"):
            reactor_thread.wait(lambda: beat(channel))


def test_unknown_host_is_told(reactor_thread: ReactorThread) -> None:
    channel = TwistedNetwork(reactor_thread.reactor).channel("no.such.host.invalid", 9092, client_id="t")
    with pytest.raises(Disconnected, match=r"no\.such\.host\.invalid:9092"):
        reactor_thread.wait(lambda: beat(channel))


def test_end_of_the_connection_fails_all_that_is_under_way(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    broker.later = [Promise()]
    both = reactor_thread.call(lambda: [beat(channel), beat(channel)])
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    broker.stop()
    for promise in both:
        with pytest.raises(Disconnected):
            reactor_thread.wait(lambda promise=promise: promise)  # type: ignore[misc]  # mypy cannot infer the default's type


def test_late_answer_is_a_time_out_and_the_next_send_connects_anew(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    broker.later = [Promise()]
    late, behind = reactor_thread.call(lambda: [beat(channel, timeout_ms=50), beat(channel)])
    with pytest.raises(RequestTimedOut, match="no response to HEARTBEAT within 50 ms"):
        reactor_thread.wait(lambda: late)
    with pytest.raises(Disconnected, match="earlier request"):
        reactor_thread.wait(lambda: behind)
    assert isinstance(reactor_thread.wait(lambda: beat(channel)), HeartbeatResponse)


def test_who_is_told_of_a_failure_may_send_again_at_once(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    broker.later = [Promise()]
    again: Promise[Message] = Promise()

    def failed(promise: Promise[Message]) -> None:
        assert isinstance(promise.error(), RequestTimedOut)
        beat(channel).then(again.resolve)

    def start() -> Promise[Message]:
        beat(channel, timeout_ms=50).when_settled(failed)
        return again

    assert isinstance(reactor_thread.wait(start), HeartbeatResponse)


def test_time_out_covers_connecting(reactor_thread: ReactorThread) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)  # accepts into its queue, and never answers
        channel = channel_to(reactor_thread, listener.getsockname()[1])
        with pytest.raises(RequestTimedOut):
            reactor_thread.wait(lambda: beat(channel, timeout_ms=50))


def test_close_fails_what_is_under_way(broker: ToyBroker, channel: TwistedChannel, reactor_thread: ReactorThread) -> None:
    broker.later = [Promise()]
    under_way = reactor_thread.call(lambda: beat(channel))
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    reactor_thread.call(channel.close)
    with pytest.raises(Disconnected, match="closed by us"):
        reactor_thread.wait(lambda: under_way)
    wait_until(lambda: broker.listener.connection_count == 0, seconds=DEADLINE_S)


def test_peer_that_speaks_another_protocol_is_told(reactor_thread: ReactorThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        channel = channel_to(reactor_thread, server.getsockname()[1])
        promise = reactor_thread.call(lambda: beat(channel))
        accepted, _ = server.accept()
        with accepted:
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            with pytest.raises(Disconnected):
                reactor_thread.wait(lambda: promise, seconds=DEADLINE_S)


def test_idle_connection_closed_by_the_broker_is_made_again(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, replace(SETTINGS, max_idle_ms=50))
    channel = channel_to(reactor_thread, broker.port)
    reactor_thread.wait(lambda: beat(channel))
    wait_until(lambda: broker.listener.connection_count == 0, seconds=DEADLINE_S)
    reactor_thread.wait(lambda: beat(channel))
    assert [each.api_key for each in broker.requests] == [ApiKey.HEARTBEAT] * 2
    reactor_thread.call(channel.close)
    broker.stop()
