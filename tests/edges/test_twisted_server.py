"""A broker's listener over real sockets: order, pipelining, back pressure, bad input, limits, the end."""

from __future__ import annotations

import errno
import logging
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.connection_quota import BrokerLimits, ConnectionQuota, Rate
from pykafka_classic.edges.disk import DiskFileSystem
from pykafka_classic.edges.sending import READ_MAX_BYTES
from pykafka_classic.edges.twisted_server import BrokerListener, CannotListen, ListenerSettings
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.connection import RequestContext
from pykafka_classic.protocol.messages.heartbeat import HeartbeatResponse
from pykafka_classic.protocol.messages.produce import ProduceRequest, ProduceResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.request import CloseConnection
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread
from tests.edges.toy_broker import SETTINGS, Peer, ToyBroker, fetch, heartbeat, produce, request

# A Fetch v0 response of one partition before its records, correlation id included.
FETCH_RESPONSE_HEAD = 33


@pytest.fixture
def broker(reactor_thread: ReactorThread) -> Iterator[ToyBroker]:
    toy = ToyBroker(reactor_thread)
    yield toy
    toy.stop()


@pytest.fixture
def peer(broker: ToyBroker) -> Peer:
    return broker.connect()


class MemoryFile:
    """A file without descriptor, on a disk that fails behind `readable` bytes."""

    def __init__(self, content: bytes, *, readable: int | None = None) -> None:
        self.content = content
        self.readable = len(content) if readable is None else readable
        self.reported: list[OSError] = []

    def read_at(self, position: int, length: int) -> bytes:
        if position + length > self.readable:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self.content[position : position + length]

    def fileno(self) -> int:
        return -1

    def unreadable(self, error: OSError) -> None:
        self.reported.append(error)


@contextmanager
def resident_memory_grows_by_at_most(size: int) -> Iterator[None]:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    yield
    assert resident() - before <= size


def test_requests_in_one_piece_are_answered_in_order(peer: Peer) -> None:
    peer.send(b"".join(heartbeat(number) for number in range(100)))
    assert [peer.correlation_id() for _ in range(100)] == list(range(100))


def test_request_byte_by_byte_is_answered(peer: Peer) -> None:
    for byte in heartbeat(7):
        peer.send(bytes((byte,)))
    assert peer.frame() == struct.pack(">ih", 7, 0)


def test_one_request_at_a_time(broker: ToyBroker, peer: Peer) -> None:
    first: Promise[Message] = Promise()
    broker.later = [first]
    peer.send(heartbeat(1) + fetch(2) + produce(3))
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    broker.thread.call(lambda: None)
    assert [each.correlation_id for each in broker.requests] == [1]
    broker.settle(first, HeartbeatResponse())
    assert [peer.correlation_id() for _ in range(3)] == [1, 2, 3]


def test_produce_requests_overlap_and_are_answered_in_order(broker: ToyBroker, peer: Peer) -> None:
    promises: list[Promise[Message]] = [Promise() for _ in range(3)]
    broker.later = list(promises)
    peer.send(produce(1) + produce(2) + produce(3) + heartbeat(4))
    wait_until(lambda: len(broker.requests) == 3, seconds=DEADLINE_S)
    for promise in reversed(promises):
        assert len(broker.requests) == 3, "the heartbeat waits for all of them"
        broker.settle(promise, ProduceResponse())
    assert [peer.correlation_id() for _ in range(4)] == [1, 2, 3, 4]


def test_produce_waits_behind_another_request(broker: ToyBroker, peer: Peer) -> None:
    first: Promise[Message] = Promise()
    broker.later = [first]
    peer.send(heartbeat(1) + produce(2))
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    broker.settle(first, HeartbeatResponse())
    assert [peer.correlation_id() for _ in range(2)] == [1, 2]


def test_produce_without_acks_is_not_answered(peer: Peer) -> None:
    peer.send(produce(1, acks=0) + produce(2, acks=0) + heartbeat(3))
    assert peer.correlation_id() == 3


def test_records_of_a_large_request_arrive_whole(broker: ToyBroker, peer: Peer) -> None:
    records = os.urandom(5_000_000)
    peer.send(produce(1, records=records))
    assert peer.correlation_id() == 1
    body = broker.requests[0].body
    assert isinstance(body, ProduceRequest)
    assert bytes(body.topic_data[0].partition_data[0].records or b"") == records  # type: ignore[arg-type]  # a decoded request holds no FileRecords


@pytest.mark.parametrize("size", [0, 1, READ_MAX_BYTES, 70_000, 9_000_000])
def test_stretch_of_a_file_is_sent(broker: ToyBroker, peer: Peer, tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([b"before", content, b"after"])
    broker.records = FileRecords(file, 6, size)
    peer.send(fetch(1) + heartbeat(2))
    assert peer.frame()[FETCH_RESPONSE_HEAD:] == content
    assert peer.correlation_id() == 2


def test_a_short_stretch_of_a_file_leaves_with_the_answer_around_it(broker: ToyBroker, peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([b"before", b"records", b"after"])
    broker.records = FileRecords(file, 6, 7)
    monkeypatch.delattr(os, "sendfile")
    peer.send(fetch(1))
    assert peer.frame()[FETCH_RESPONSE_HEAD:] == b"records"


def test_file_in_memory_is_sent_in_chunks(broker: ToyBroker, peer: Peer) -> None:
    content = os.urandom(1_000_000)
    broker.records = FileRecords(MemoryFile(content), 0, len(content))
    peer.send(fetch(1))
    assert peer.frame()[FETCH_RESPONSE_HEAD:] == content


@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_a_disk_that_fails_in_the_middle_of_an_answer_is_reported_and_the_connection_ends(broker: ToyBroker, peer: Peer, size: int) -> None:
    file = MemoryFile(os.urandom(size), readable=size // 2)
    broker.records = FileRecords(file, 0, size)
    peer.send(fetch(1))
    while not peer.at_end():
        continue
    assert file.reported
    assert {error.errno for error in file.reported} == {errno.EIO}


def test_file_deleted_while_a_slow_consumer_reads_is_sent_to_its_end(broker: ToyBroker, tmp_path: Path) -> None:
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    content = os.urandom(20_000_000)
    file.append([content])
    broker.records = FileRecords(file, 0, len(content))
    slow = broker.connect(receive_buffer=4096)
    slow.send(fetch(1))
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    file.close()
    os.remove(f"{tmp_path}/log")
    broker.records, file = b"", None  # type: ignore[assignment]  # the queue of the connection holds it now
    assert slow.frame()[FETCH_RESPONSE_HEAD:] == content


def test_file_cut_short_ends_the_connection(broker: ToyBroker, tmp_path: Path) -> None:
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([bytes(20_000_000)])
    broker.records = FileRecords(file, 0, 20_000_000)
    slow = broker.connect(receive_buffer=4096)
    slow.send(fetch(1))
    slow.exactly(100)
    broker.thread.call(lambda: file.truncate(1000))
    with pytest.raises((AssertionError, ConnectionResetError), match=r"closed after|reset"):
        slow.exactly(20_000_000)


def test_a_short_file_that_is_cut_shorter_ends_the_connection(broker: ToyBroker, peer: Peer, tmp_path: Path) -> None:
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([bytes(500)])
    broker.records = FileRecords(file, 0, 1_000)
    peer.send(fetch(1))
    with pytest.raises((AssertionError, ConnectionResetError), match=r"closed after|reset"):
        peer.exactly(1_000)


def test_slow_consumers_cost_no_memory(broker: ToyBroker, tmp_path: Path) -> None:
    """Each asks 20 times for 5 MB and reads nothing: 2 GB in all."""
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([bytes(5_000_000)])
    broker.records = FileRecords(file, 0, 5_000_000)
    slow = [broker.connect(receive_buffer=4096) for _ in range(20)]
    with resident_memory_grows_by_at_most(20_000_000):
        for each in slow:
            each.send(b"".join(fetch(number) for number in range(20)))
        wait_until(lambda: len(broker.requests) >= 20, seconds=DEADLINE_S)
        broker.thread.call(lambda: None)
        assert len(broker.requests) == 20, "nothing is begun while the answer before it is unsent"


def test_sender_is_stopped_while_a_request_waits(broker: ToyBroker, peer: Peer) -> None:
    first: Promise[Message] = Promise()
    broker.later = [first]
    peer.send(heartbeat(1))
    peer.socket.setblocking(False)
    chunk = heartbeat(2) * 10_000
    sent = 0
    with pytest.raises(BlockingIOError):
        while sent < 200_000_000:
            sent += peer.socket.send(chunk)
            broker.thread.call(lambda: None)
    peer.socket.setblocking(True)
    assert sent < 50_000_000
    broker.settle(first, HeartbeatResponse())
    assert peer.correlation_id() == 1


BAD_INPUT = {
    "a frame of length 0": bytes(4),
    "a negative length": struct.pack(">i", -5),
    "a length over socket.request.max.bytes": struct.pack(">i", 104857601),
    "a ZooKeeper word": b"ruok",
    "HTTP": b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
    "an unknown API": struct.pack(">ihhih", 10, 999, 0, 1, -1),
    "an API not served": request(ApiKey.METADATA, 0, 1, bytes(4)),
    "an unknown version": request(ApiKey.HEARTBEAT, 99, 1),
    "a request cut short": request(ApiKey.HEARTBEAT, 0, 1, b"\0\1g"),
}


@pytest.mark.parametrize("data", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_closes_the_connection_with_one_line(broker: ToyBroker, peer: Peer, caplog: pytest.LogCaptureFixture, data: bytes) -> None:
    peer.send(heartbeat(1) + data + heartbeat(2))
    assert peer.correlation_id() == 1
    assert peer.at_end()
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert warnings[0].exc_info is None
    port = peer.socket.getsockname()[1]
    assert warnings[0].getMessage().startswith(f"[SocketServer listener=PLAINTEXT, nodeId=-1] Closing connection 127.0.0.1:{broker.port}-127.0.0.1:{port}-0: ")


def test_unknown_version_of_api_versions_is_answered_in_version_0(peer: Peer) -> None:
    header = struct.pack(">hhih", ApiKey.API_VERSIONS, 99, 5, 1) + b"t\0"
    peer.send(struct.pack(">i", len(header)) + header)
    assert peer.frame()[:6] == struct.pack(">ih", 5, 35)


def raise_bug() -> HeartbeatResponse:
    raise ZeroDivisionError("a bug")


def raise_close() -> HeartbeatResponse:
    raise CloseConnection("error in produce with acks=0")


@pytest.mark.parametrize("delay", [False, True])
def test_error_of_a_handler_is_logged_once_and_ends_its_connection(broker: ToyBroker, caplog: pytest.LogCaptureFixture, *, delay: bool) -> None:
    first, other = broker.connect(), broker.connect()
    broker.on_heartbeat = (lambda: Promise.failed(ZeroDivisionError("a bug"))) if delay else raise_bug
    first.send(heartbeat(1) + heartbeat(2))
    assert first.at_end()
    errors = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(errors) == 1
    assert errors[0].exc_info is not None and "HEARTBEAT v0 of t" in errors[0].getMessage()
    other.send(fetch(1))
    assert other.correlation_id() == 1


def test_handler_may_ask_for_the_end_and_earlier_answers_still_leave(broker: ToyBroker, peer: Peer, caplog: pytest.LogCaptureFixture) -> None:
    broker.on_heartbeat = raise_close
    peer.send(fetch(1) + heartbeat(2) + fetch(3))
    assert peer.correlation_id() == 1
    assert peer.at_end()
    assert "error in produce with acks=0" in caplog.text or not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_response_that_its_version_cannot_carry_ends_the_connection(broker: ToyBroker, peer: Peer, caplog: pytest.LogCaptureFixture) -> None:
    broker.on_heartbeat = lambda: HeartbeatResponse(error_code=1 << 40)
    peer.send(heartbeat(1))
    assert peer.at_end()
    assert "Error when handling HEARTBEAT" in caplog.text


def test_answer_to_a_peer_that_has_gone_is_dropped(broker: ToyBroker, peer: Peer) -> None:
    later: Promise[Message] = Promise()
    broker.later = [later]
    peer.send(heartbeat(1))
    wait_until(lambda: len(broker.requests) == 1, seconds=DEADLINE_S)
    peer.close()
    wait_until(lambda: broker.listener.connection_count == 0, seconds=DEADLINE_S)
    broker.settle(later, HeartbeatResponse())


def test_requests_wait_until_processing_starts(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, processing=False)
    peer = broker.connect()
    peer.send(heartbeat(1))
    wait_until(lambda: broker.listener.connection_count == 1, seconds=DEADLINE_S)
    assert broker.requests == []
    reactor_thread.call(broker.listener.start_processing)
    assert peer.correlation_id() == 1
    broker.stop()


def test_idle_connections_are_closed_and_waiting_ones_are_not(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, replace(SETTINGS, max_idle_ms=100))
    later: Promise[Message] = Promise()
    broker.later = [later]
    waiting, idle = broker.connect(), broker.connect()
    waiting.send(heartbeat(1))
    assert idle.at_end()
    broker.settle(later, HeartbeatResponse())
    assert waiting.correlation_id() == 1
    assert waiting.at_end()
    broker.stop()


def test_connections_over_the_limit_of_an_address_are_refused(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, limits=BrokerLimits(per_ip=9, per_ip_overrides={"127.0.0.1": 2}))
    allowed = [broker.connect() for _ in range(2)]
    wait_until(lambda: broker.listener.connection_count == 2, seconds=DEADLINE_S)
    refused = broker.connect()
    assert refused.at_end()
    allowed.pop().close()
    wait_until(lambda: broker.listener.connection_count == 1, seconds=DEADLINE_S)
    allowed.append(broker.connect())
    allowed[1].send(heartbeat(1))
    assert allowed[1].correlation_id() == 1
    broker.stop()


def test_connections_over_the_limit_of_the_listener_wait(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, replace(SETTINGS, max_connections=1))
    first = broker.connect()
    first.send(heartbeat(1))
    assert first.correlation_id() == 1
    second = broker.connect()
    second.send(heartbeat(2))
    first.close()
    assert second.correlation_id() == 2
    broker.stop()


def test_listeners_share_the_limit_of_the_broker_and_that_of_the_brokers_is_spared(reactor_thread: ReactorThread) -> None:
    quota = ConnectionQuota(BrokerLimits(connections=1))
    clients, brokers = (ToyBroker(reactor_thread, replace(SETTINGS, is_protected=each), quota=quota) for each in (False, True))
    first = brokers.connect()
    first.send(heartbeat(1))
    assert first.correlation_id() == 1
    waiting, spared = clients.connect(), brokers.connect()
    waiting.send(heartbeat(2))
    spared.send(heartbeat(3))
    assert spared.correlation_id() == 3
    assert clients.listener.connection_count == 0
    reactor_thread.call(lambda: quota.change(BrokerLimits(connections=3)))
    assert waiting.correlation_id() == 2
    for each in (clients, brokers):
        each.stop()


def test_a_limit_that_is_lowered_holds_for_new_connections_and_leaves_the_old_ones(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread)
    first = broker.connect()
    wait_until(lambda: broker.listener.connection_count == 1, seconds=DEADLINE_S)
    reactor_thread.call(lambda: broker.quota.change(BrokerLimits(per_ip=1)))
    assert broker.connect().at_end()
    first.send(heartbeat(1))
    assert first.correlation_id() == 1
    broker.stop()


def test_connections_that_come_too_fast_wait_for_their_turn(reactor_thread: ReactorThread) -> None:
    broker = ToyBroker(reactor_thread, limits=BrokerLimits(creation_rate=10))
    started_s = time.monotonic()
    peers = [broker.connect() for _ in range(15)]
    for number, peer in enumerate(peers):
        peer.send(heartbeat(number))
        assert peer.correlation_id() == number
    assert time.monotonic() - started_s > 0.3  # ten at once, then one each tenth of a second; the system's queue may let a few through together
    broker.stop()


def test_a_rate_lets_through_what_a_second_holds_and_then_one_after_the_other() -> None:
    rate = Rate(2)
    assert [rate.take(now_s) for now_s in (0.0, 0.0, 0.5, 10.0)] == [0.0, 0.5, 0.5, 0.0]
    rate.change(1)
    assert rate.take(10.0) == 1.0


def test_stop_closes_all_connections_even_of_peers_that_do_not_read(reactor_thread: ReactorThread, tmp_path: Path) -> None:
    broker = ToyBroker(reactor_thread)
    file = DiskFileSystem().open(f"{tmp_path}/log", create=True)
    file.append([bytes(20_000_000)])
    broker.records = FileRecords(file, 0, 20_000_000)
    silent, slow = broker.connect(), broker.connect(receive_buffer=4096)
    slow.send(fetch(1))
    wait_until(lambda: broker.listener.connection_count == 2 and len(broker.requests) == 1, seconds=DEADLINE_S)
    reactor_thread.wait(broker.listener.stop)
    assert silent.at_end()
    with pytest.raises(ConnectionRefusedError):
        broker.connect()
    for each in (silent, slow):
        each.close()


def test_taken_port_is_told_in_a_sentence(reactor_thread: ReactorThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        listener = BrokerListener(reactor_thread.reactor, replace(SETTINGS, port=port), {}, never)
        with pytest.raises(CannotListen, match=rf"Listener PLAINTEXT cannot listen on 127.0.0.1:{port}. Port {port} of 127.0.0.1 is taken by "):
            reactor_thread.call(listener.listen)


def never(_context: RequestContext, _client_host: str) -> None:
    raise AssertionError("nothing is served")


@pytest.mark.parametrize(
    ("properties", "sizes"), [({}, (102400, -1)), ({"socket.send.buffer.bytes": "-1"}, (-1, -1)), ({"socket.receive.buffer.bytes": "5"}, (102400, 5))]
)
def test_the_buffer_for_receiving_is_the_systems_unless_it_is_set(properties: dict[str, str], sizes: tuple[int, int]) -> None:
    config = KafkaConfig.from_properties({"zookeeper.connect": "none:1", "broker.id": "0", **properties})
    settings = ListenerSettings.from_config(config, config.listener_end_points[0])
    assert (settings.send_buffer, settings.receive_buffer) == sizes
