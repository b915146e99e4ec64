"""A listener on the test reactor with a dispatcher that the test scripts, and raw sockets to talk to it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.broker_protocol import DispatchResult
from pykafka_classic.edges.connection_quota import BrokerLimits, ConnectionQuota
from pykafka_classic.edges.twisted_server import BrokerListener, ListenerSettings
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.connection import RequestContext
from pykafka_classic.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchableTopicResponse, FetchResponse
from pykafka_classic.protocol.messages.heartbeat import HeartbeatResponse
from pykafka_classic.protocol.messages.produce import ProduceRequest, ProduceResponse
from pykafka_classic.protocol.schema import Message, Records
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread

APIS: Final[Mapping[ApiKey, tuple[int, int]]] = {ApiKey.API_VERSIONS: (0, 3), ApiKey.PRODUCE: (0, 9), ApiKey.FETCH: (0, 12), ApiKey.HEARTBEAT: (0, 4)}
SETTINGS: Final = ListenerSettings("127.0.0.1", 0)


class ToyBroker:
    """Answers ApiVersions, Fetch with `records`, Produce and Heartbeat at once.

    A promise put into `later` answers the next Produce or Heartbeat when the test settles it.
    """

    def __init__(
        self,
        thread: ReactorThread,
        settings: ListenerSettings = SETTINGS,
        *,
        processing: bool = True,
        limits: BrokerLimits | None = None,
        quota: ConnectionQuota | None = None,
    ) -> None:
        self.thread = thread
        self.requests: list[RequestContext] = []
        self.later: list[Promise[Message]] = []
        self.peers: list[Peer] = []
        self.records: Records = b""
        self.on_heartbeat: Callable[[], DispatchResult] = HeartbeatResponse
        self.quota = quota or ConnectionQuota(limits)
        self.listener = BrokerListener(thread.reactor, replace(settings), APIS, self.dispatch, self.quota)
        self.port = thread.call(self.listener.listen)
        if processing:
            thread.call(self.listener.start_processing)

    def dispatch(self, context: RequestContext, client_host: str) -> DispatchResult:
        assert client_host == "127.0.0.1"
        self.requests.append(context)
        match context.api_key:
            case ApiKey.API_VERSIONS:
                return ApiVersionsResponse(api_keys=[ApiVersion(int(key), *versions) for key, versions in APIS.items()])
            case ApiKey.FETCH:
                return FetchResponse(responses=[FetchableTopicResponse("t", [FetchablePartitionResponse(0, record_set=self.records)])])
            case ApiKey.PRODUCE if isinstance(context.body, ProduceRequest) and context.body.acks == 0:
                return None
        if self.later:
            return self.later.pop(0)
        return ProduceResponse() if context.api_key is ApiKey.PRODUCE else self.on_heartbeat()

    def settle(self, promise: Promise[Message], outcome: Message | Exception) -> None:
        self.thread.call(lambda: promise.fail(outcome) if isinstance(outcome, Exception) else promise.resolve(outcome))

    def connect(self, *, receive_buffer: int | None = None) -> Peer:
        """A peer, closed by `stop` at the latest."""
        self.peers.append(Peer(self.port, receive_buffer=receive_buffer))
        return self.peers[-1]

    def stop(self) -> None:
        self.thread.wait(self.listener.stop)
        while self.peers:
            self.peers.pop().close()


class Peer:
    """A raw socket."""

    def __init__(self, port: int, *, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE_S)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def frame(self) -> bytes:
        """The next frame, without its length."""
        (size,) = struct.unpack(">i", self.exactly(4))
        return self.exactly(size)

    def exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        assert len(data) == size, f"closed after {len(data)} of {size} bytes"
        return data

    def correlation_id(self) -> int:
        """Of the next response."""
        return int.from_bytes(self.frame()[:4], "big")

    def at_end(self) -> bool:
        """Wait for the broker to close; False where bytes come instead."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._file.close()
        self.socket.close()


def request(key: ApiKey, version: int, correlation_id: int, body: bytes = b"") -> bytes:
    """A frame with header v1 and client id "t"."""
    payload = struct.pack(">hhih", key, version, correlation_id, 1) + b"t" + body
    return struct.pack(">i", len(payload)) + payload


def heartbeat(correlation_id: int) -> bytes:
    return request(ApiKey.HEARTBEAT, 0, correlation_id, b"\0\1g" + bytes(4) + b"\0\1m")


def produce(correlation_id: int, *, acks: int = 1, records: bytes = b"r" * 10) -> bytes:
    partition = struct.pack(">ii", 0, len(records)) + records
    return request(ApiKey.PRODUCE, 0, correlation_id, struct.pack(">hii", acks, 1000, 1) + b"\0\1t" + struct.pack(">i", 1) + partition)


def fetch(correlation_id: int) -> bytes:
    return request(ApiKey.FETCH, 0, correlation_id, struct.pack(">iiii", -1, 0, 0, 0))
