"""A small client that waits, for tools, tests and Spark's tasks: one socket, one request at a time or several pipelined.

It asks the broker for its versions first and then speaks the highest that both know. What a user can get wrong is told in his words: nobody listens there; a
ZooKeeper listens there.
"""

from __future__ import annotations

import select
import socket
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from pykafka_classic.client.bootstrap import DEFAULT_PORT, parse_bootstrap
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.file_records import FileRecords
from pykafka_classic.edges.limits import READ_BYTES, RESPONSE_MAX_BYTES
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.connection import ClientConnection
from pykafka_classic.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, Records, SchemaError

API_VERSIONS_NEWEST: Final = 3

# After so long without an answer to the first request, it is looked who listens there: a ZooKeeper would stay silent for ever.
SUSPICION_S: Final = 1.0
PROBE_S: Final = 0.5  # how long a ZooKeeper may take to say that it is one

SOFTWARE_NAME: Final = "pykafka-classic"
SOFTWARE_VERSION: Final = "1.0"


class NoBroker(Disconnected):
    """Nobody, or nobody who speaks Kafka's protocol, at the address given; the text is for the user."""


class UnsupportedByBroker(Exception):
    """The broker does not serve this API in any version that we know."""


class BlockingClient:
    """One connection to one broker, made at once. Also a context manager.

    Args:
        timeout_ms: for connecting, and for each response.

    Raises:
        NoBroker: from the constructor.
        Disconnected, RequestTimedOut: from all others; the client is of no use then.
    """

    def __init__(self, host: str, port: int, *, client_id: str | None = None, timeout_ms: float = 30_000) -> None:
        self.host = host
        self.port = port
        self._timeout_s = timeout_ms / 1000
        self._connection = ClientConnection(client_id, RESPONSE_MAX_BYTES)
        self._arrived: deque[tuple[int, Message]] = deque()
        self._socket = self._connect()
        self.versions = self._negotiate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def version_of(self, api_key: ApiKey) -> int:
        """The highest version that the broker and we know. UnsupportedByBroker where there is none."""
        served, spec = self.versions.get(api_key), spec_of(api_key)
        if served is None or min(served[1], spec.max_version) < max(served[0], spec.min_version):
            offer = f"v{served[0]} to v{served[1]}" if served else "nothing"
            raise UnsupportedByBroker(f"broker {self} offers {offer} of {api_key.name}, we know v{spec.min_version} to v{spec.max_version}")
        return min(served[1], spec.max_version)

    def send(self, request: Message, version: int | None = None, *, timeout_ms: float | None = None) -> Message:
        """The response; `version` as `version_of` unless given."""
        self.post(request, version)
        return self.receive(timeout_ms=timeout_ms)

    def post(self, request: Message, version: int | None = None, *, expects_response: bool = True) -> None:
        """Send only; `receive` later, in the order of sending. A Produce with acks=0 expects no response."""
        if version is None:
            version = self.version_of(ApiKey(request.API_KEY))
        _, parts = self._connection.send(request, version, expects_response=expects_response)
        try:
            self._socket.settimeout(self._timeout_s)
            self._socket.sendall(b"".join(map(_as_buffer, parts)))
        except OSError as error:
            self.close()
            raise Disconnected(f"{self}: {error}") from error

    def receive(self, *, timeout_ms: float | None = None) -> Message:
        """The next response."""
        try:
            self._socket.settimeout(self._timeout_s if timeout_ms is None else timeout_ms / 1000)
            while not self._arrived:
                data = self._socket.recv(READ_BYTES)
                if not data:
                    self.close()
                    raise Disconnected(f"{self}: closed by the broker")
                self._arrived.extend(self._connection.receive_data(data))
        except TimeoutError as error:
            self.close()
            raise RequestTimedOut(f"{self}: no response in time") from error
        except (OSError, SchemaError) as error:
            self.close()
            raise Disconnected(f"{self}: {error}") from error
        return self._arrived.popleft()[1]

    # inside

    def _connect(self) -> socket.socket:
        try:
            connected = socket.create_connection((self.host, self.port), timeout=self._timeout_s)
        except OSError as error:
            raise NoBroker(f"no broker at {self}: {error.strerror or error}") from error
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected

    def _negotiate(self) -> dict[ApiKey, tuple[int, int]]:
        try:
            response = self._ask_versions(API_VERSIONS_NEWEST)
            if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
                response = self._ask_versions(0)
        except Disconnected as error:
            self.close()
            raise NoBroker(self._why_no_broker(error)) from error
        known = {int(key) for key in ApiKey}
        return {ApiKey(each.api_key): (each.min_version, each.max_version) for each in response.api_keys if each.api_key in known}

    def _ask_versions(self, version: int) -> ApiVersionsResponse:
        self.post(ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION), version)
        if not select.select([self._socket], [], [], min(SUSPICION_S, self._timeout_s))[0] and self._zookeeper_here():
            raise Disconnected("no answer")
        response = self.receive()
        assert isinstance(response, ApiVersionsResponse)
        return response

    def _zookeeper_here(self) -> str | None:
        return zookeeper_at(self.host, self.port, timeout_s=PROBE_S)

    def _why_no_broker(self, error: Disconnected) -> str:
        return self._zookeeper_here() or f"what listens at {self} is no broker, or one older than 0.10: {error}"


def zookeeper_at(host: str, port: int, *, timeout_s: float) -> str | None:
    """A sentence where a ZooKeeper server listens; None for anybody else, and nobody. Takes up to the time-out, twice."""
    with suppress(OSError), socket.create_connection((host, port), timeout=timeout_s) as probe:
        probe.sendall(b"srvr")
        if b"Zookeeper version" in probe.recv(4096):
            return f"{host}:{port} is a ZooKeeper server, not a broker; brokers usually listen on port {DEFAULT_PORT}"
    return None


def connect_any(addresses: Sequence[tuple[str, int]] | str, *, client_id: str | None = None, timeout_ms: float = 30_000) -> BlockingClient:
    """A client of the first broker that answers. NoBroker names all that failed."""
    failures = []
    for host, port in parse_bootstrap(addresses) if isinstance(addresses, str) else addresses:
        try:
            return BlockingClient(host, port, client_id=client_id, timeout_ms=timeout_ms)
        except NoBroker as error:
            failures.append(str(error))
    raise NoBroker("; ".join(failures))


def _as_buffer(part: Records) -> bytes | memoryview:
    return part.read() if isinstance(part, FileRecords) else part
