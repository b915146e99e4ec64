"""The broker's own reactor: a connection's error stays its own, turns are counted, the portable form does the same."""

from __future__ import annotations

import select
import socket
from typing import Any

import pytest
from twisted.internet import protocol
from twisted.python import log

from pykafka_classic.edges.sending import Part, SendingPort, SocketBuffers
from pykafka_classic.protocol.framing import FrameBuffer
from tests.edges.reactor_thread import ReactorThread

DEADLINE_S = 20.0


class _Echo(protocol.Protocol):
    """Sends back each frame's length and its last byte; "die" raises."""

    transport: Any

    def __init__(self, reactor: Any) -> None:
        self.reactor = reactor
        self.frames = FrameBuffer()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802  # Twisted's
        self.take(self.frames.feed(data))

    def room(self) -> memoryview | None:
        return self.frames.room()

    def received(self, count: int) -> None:
        self.take(self.frames.filled(count))

    def take(self, frames: list[memoryview]) -> None:
        for frame in frames:
            if bytes(frame) == b"die":
                raise RuntimeError("as asked")
            answer = len(frame).to_bytes(4, "big") + bytes(frame[-1:])
            parts: list[Part] = [answer] if self.reactor.turns else []
            self.transport.send_parts(parts)

    def all_sent(self) -> None:
        """Nothing waits for that."""


class _Factory(protocol.Factory):
    noisy = False

    def __init__(self, reactor: Any) -> None:
        self.reactor = reactor

    def buildProtocol(self, addr: Any) -> _Echo:  # noqa: N802  # Twisted's
        return _Echo(self.reactor)


class Server:
    """An echo on a port."""

    def __init__(self, thread: ReactorThread) -> None:
        self.thread = thread
        self.port: int = thread.call(self._listen)

    def _listen(self) -> int:
        reactor = self.thread.reactor
        self._port = SendingPort(0, _Factory(reactor), interface="127.0.0.1", reactor=reactor, buffers=SocketBuffers(receive=65536))
        self._port.startListening()
        port: int = self._port.getHost().port  # type: ignore[no-untyped-call]
        return port

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def answer(connection: socket.socket) -> bytes:
    return connection.recv(5, socket.MSG_WAITALL)


@pytest.fixture(params=["epoll", "portable"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "portable":
        monkeypatch.delattr(select, "epoll")
    thread = ReactorThread()
    monkeypatch.undo()
    yield Server(thread)
    thread.stop()


def test_an_error_ends_its_own_connection_and_is_logged(server: Server) -> None:
    told: list[str] = []

    def observe(event: Any) -> None:
        if event["isError"]:
            told.append(event["failure"].getErrorMessage())

    log.addObserver(observe)
    try:
        with server.connect() as doomed, server.connect() as other:
            doomed.sendall(framed(b"die"))
            assert doomed.recv(1) == b""
            other.sendall(framed(b"hello"))
            assert answer(other) == b"\0\0\0\5o"
    finally:
        log.removeObserver(observe)
    assert told == ["as asked"]


def test_turns_are_counted(server: Server) -> None:
    reactor: Any = server.thread.reactor
    before = server.thread.call(lambda: reactor.turns)
    assert server.thread.call(lambda: reactor.turns) > before


def test_a_large_frame_and_what_follows_it_arrive_whole(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(framed(bytes(3_000_000) + b"x") + framed(b"y"))
        assert answer(connection) == (3_000_001).to_bytes(4, "big") + b"x"
        assert answer(connection) == b"\0\0\0\1y"


def test_a_peer_that_goes_in_the_middle_of_a_large_frame_is_forgotten(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(framed(bytes(3_000_000))[:1_000_000])
    with server.connect() as other:
        other.sendall(framed(b"z"))
        assert answer(other) == b"\0\0\0\1z"
