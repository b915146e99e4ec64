"""The client for tools, and what it tells a user who gave the wrong address."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.blocking_client import BlockingClient, NoBroker, UnsupportedByBroker, connect_any
from pykafka_classic.edges.child_processes import free_ports
from pykafka_classic.edges.processes import ZooKeeperProcess
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.metadata import MetadataRequest
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from tests.edges.reactor_thread import ReactorThread
from tests.edges.toy_broker import ToyBroker


@pytest.fixture
def broker(reactor_thread: ReactorThread) -> Iterator[ToyBroker]:
    toy = ToyBroker(reactor_thread)
    yield toy
    toy.stop()


@pytest.fixture
def client(broker: ToyBroker) -> Iterator[BlockingClient]:
    with BlockingClient("127.0.0.1", broker.port, client_id="tool", timeout_ms=10_000) as connected:
        yield connected


@contextmanager
def old_broker(*answers: bytes) -> Iterator[int]:
    """A server that answers the n-th request with the n-th of these frames, then closes."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            for answer in answers:
                (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                connection.recv(size, socket.MSG_WAITALL)
                connection.sendall(struct.pack(">i", len(answer)) + answer)
            connection.recv(65536)

    thread = threading.Thread(target=serve)
    thread.start()
    with server:
        yield server.getsockname()[1]
        thread.join()


def test_highest_common_version_is_spoken(broker: ToyBroker, client: BlockingClient) -> None:
    assert client.versions[ApiKey.HEARTBEAT] == (0, 4)
    assert client.send(HeartbeatRequest(group_id="g")) == HeartbeatResponse()
    assert (broker.requests[-1].api_version, broker.requests[-1].client_id) == (4, "tool")


def test_version_may_be_given(broker: ToyBroker, client: BlockingClient) -> None:
    client.send(HeartbeatRequest(group_id="g"), 1)
    assert broker.requests[-1].api_version == 1


def test_api_that_the_broker_does_not_serve_is_told(client: BlockingClient) -> None:
    with pytest.raises(UnsupportedByBroker, match="offers nothing of METADATA"):
        client.send(MetadataRequest())


def test_requests_may_be_pipelined(client: BlockingClient) -> None:
    for _ in range(50):
        client.post(HeartbeatRequest(group_id="g"))
    client.post(ProduceRequest(acks=0), expects_response=False)
    assert [client.receive() for _ in range(50)] == [HeartbeatResponse()] * 50


def test_silent_broker_is_a_time_out(broker: ToyBroker, client: BlockingClient) -> None:
    broker.later = [Promise()]
    with pytest.raises(RequestTimedOut):
        client.send(HeartbeatRequest(group_id="g"), timeout_ms=50)


def test_broker_that_goes_is_told(broker: ToyBroker, client: BlockingClient) -> None:
    broker.stop()
    with pytest.raises(Disconnected, match=r"closed by the broker|reset"):
        client.send(HeartbeatRequest(group_id="g"))
    assert client._socket.fileno() == -1, "it is of no use any more, and holds no socket"


def test_broker_that_knows_only_old_versions_is_asked_again() -> None:
    refusal = struct.pack(">ihihhh", 0, 35, 1, 18, 0, 0)
    answer = struct.pack(">ihihhh", 1, 0, 1, 12, 0, 2)
    with old_broker(refusal, answer) as port, BlockingClient("127.0.0.1", port, timeout_ms=10_000) as client:
        assert client.versions == {ApiKey.HEARTBEAT: (0, 2)}
        assert client.version_of(ApiKey.HEARTBEAT) == 2


def test_nobody_at_the_address_is_told() -> None:
    port = free_ports(1)[0]
    with pytest.raises(NoBroker, match=f"^no broker at 127.0.0.1:{port}: Connection refused$"):
        BlockingClient("127.0.0.1", port)


def test_address_of_a_zookeeper_is_told(tmp_path: Path) -> None:
    server = ZooKeeperProcess(tmp_path, {"tickTime": "200"})
    server.start()
    server.wait_serving()
    with pytest.raises(NoBroker, match=f"{server.address} is a ZooKeeper server, not a broker"):
        BlockingClient(server.host, server.port, timeout_ms=2000)
    server.kill()


def test_first_broker_that_answers_is_taken(broker: ToyBroker) -> None:
    dead = free_ports(2)
    with connect_any(f"127.0.0.1:{dead[0]},127.0.0.1:{broker.port}") as client:
        assert client.port == broker.port
    with pytest.raises(NoBroker, match=f"no broker at 127.0.0.1:{dead[0]}: .*; no broker at 127.0.0.1:{dead[1]}"):
        connect_any([("127.0.0.1", port) for port in dead])


def test_bootstrap_addresses() -> None:
    assert parse_bootstrap("a:1, b ,[::1]:2,[fe80::1]") == [("a", 1), ("b", 9092), ("::1", 2), ("fe80::1", 9092)]


@pytest.mark.parametrize("text", ["", " , ", "a:port"])
def test_bootstrap_addresses_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="wanted"):
        parse_bootstrap(text)
