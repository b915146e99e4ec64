"""The network of a simulated cluster: connections as TCP gives them, over links that may be cut.

Requests and responses are encoded and decoded as on the wire. On one connection nothing overtakes anything, but delays differ from message to message and from
connection to connection. While a link is cut, what is on its way waits (as TCP's retransmissions do), and whoever has waited too long closes his end. A process
that dies resets its connections. A server handles one request of a connection at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.broker_protocol import Dispatch
from pykafka_classic.protocol import codec
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.connection import RequestContext
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, join_records
from pykafka_classic.server.request import CloseConnection
from tests.simulation.world import Event, Process, World

FIRST_PORT = 9090  # machine n listens at 9090 + n
CUT_RETRY_MS = 50
SLOW_PROBABILITY = 0.02


@dataclass(slots=True)
class Listener:
    """Where a process takes requests."""

    process: Process
    dispatch: Dispatch
    processing: bool = False


class Wires:
    """All links and listeners."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.listeners: dict[int, Listener] = {}  # by port
        self.cut: set[tuple[int, int]] = set()  # pairs of machines, smaller number first
        self._connections: set[Connection] = set()

    def is_cut(self, one: int, other: int) -> bool:
        """Whether nothing gets through between two machines."""
        return (min(one, other), max(one, other)) in self.cut

    def latency_ms(self) -> float:
        """How long the next message takes."""
        chance = self.world.random
        return chance.random() * 200 if chance.random() < SLOW_PROBABILITY else 0.2 + chance.random() * 4

    def register(self, connection: Connection) -> None:
        """Remember an open connection."""
        self._connections.add(connection)

    def forget(self, connection: Connection) -> None:
        """It is closed."""
        self._connections.discard(connection)

    def process_died(self, process: Process) -> None:
        """Its listener and connections are gone; the other ends learn of it."""
        self.listeners = {port: each for port, each in self.listeners.items() if each.process is not process}
        for connection in sorted(self._connections, key=lambda each: each.number):
            if connection.server is process:
                connection.reset_by_server()
            elif connection.client is process:
                self.forget(connection)

    def processing_began(self, process: Process) -> None:
        """Requests that waited are handled."""
        for connection in sorted(self._connections, key=lambda each: each.number):
            if connection.server is process:
                connection.serve_next()


class SimNetwork:
    """The `Network` seam of one process."""

    def __init__(self, wires: Wires, process: Process) -> None:
        self._wires = wires
        self._process = process

    def channel(self, host: str, port: int, *, client_id: str) -> SimChannel:
        """A channel; nothing is connected yet."""
        del host
        return SimChannel(self._wires, self._process, port, client_id)


class SimChannel:
    """The `Channel` seam: at most one connection, made by the first `send`, and again by the first `send` after a failure."""

    def __init__(self, wires: Wires, process: Process, port: int, client_id: str) -> None:
        self._wires = wires
        self._process = process
        self._port = port
        self._client_id = client_id
        self._connection: Connection | None = None

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response, or Disconnected."""
        if self._connection is None or not self._connection.open:
            self._connection = Connection(self._wires, self._process, self._port, self._client_id)
        return self._connection.send(request, version, timeout_ms)

    def close(self) -> None:
        """What is under way fails."""
        if self._connection is not None:
            self._connection.close(Disconnected("closed by us"))


@dataclass(slots=True)
class Waiting:
    """A request without a response."""

    request: Message
    version: int
    promise: Promise[Message]
    timer: Event | None = None


class Pipe:
    """One direction of a connection: messages arrive in their order, each in the process at the other end."""

    def __init__(self, wires: Wires, source: int, target: int) -> None:
        self._wires = wires
        self._ends = (source, target)
        self._messages: deque[tuple[float, Callable[[], None], Process | None]] = deque()
        self._moving = False

    def put(self, arrive: Callable[[], None], owner: Process | None) -> None:
        """Send something on its way."""
        due_ms = self._wires.world.now_ms + self._wires.latency_ms()
        if self._messages:
            due_ms = max(due_ms, self._messages[-1][0])
        self._messages.append((due_ms, arrive, owner))
        self._move()

    def _move(self) -> None:
        if self._messages and not self._moving:
            self._moving = True
            self._wires.world.schedule(self._messages[0][0] - self._wires.world.now_ms, self._arrive)

    def _arrive(self) -> None:
        self._moving = False
        if self._wires.is_cut(*self._ends):
            self._moving = True
            self._wires.world.schedule(CUT_RETRY_MS, self._arrive)
            return
        _, arrive, owner = self._messages.popleft()
        self._wires.world.schedule(0, arrive, owner)
        self._move()


class Connection:
    """One TCP connection, from its client's first request on. Invariant: responses come in the order of `_waiting`."""

    _made = 0

    def __init__(self, wires: Wires, client: Process, port: int, client_id: str) -> None:
        Connection._made += 1
        self.number = Connection._made
        self.open = True
        self.client = client
        self.server: Process | None = None  # once connected
        self._wires = wires
        self._port = port
        self._client_id = client_id
        self._to_server = Pipe(wires, client.node, port - FIRST_PORT)
        self._to_client = Pipe(wires, port - FIRST_PORT, client.node)
        self._waiting: deque[Waiting] = deque()
        self._requests: deque[tuple[RequestContext, int]] = deque()  # at the server, not begun
        self._serving = False
        self._connected = False
        wires.register(self)

    # The client's end

    def send(self, request: Message, version: int, timeout_ms: float) -> Promise[Message]:
        """The promise of a response."""
        assert self.client.alive
        waiting = Waiting(request, version, Promise())
        waiting.timer = self.client.clock.call_later(timeout_ms, lambda: self.close(RequestTimedOut(f"no response within {timeout_ms:g} ms")))
        self._waiting.append(waiting)
        data = join_records(codec.encode_parts(request, version))
        self._to_server.put(lambda: self._request_arrives(spec_of(ApiKey(request.API_KEY)).request, version, data), None)
        return waiting.promise

    def close(self, reason: Disconnected) -> None:
        """The client's end closes. A dead process closes nothing: what is left of its coroutines is swept away, and their `finally` must not act."""
        if not self.open or not self.client.alive:
            return
        self.open = False
        self._wires.forget(self)
        waiting, self._waiting = self._waiting, deque()
        for each in waiting:
            if each.timer is not None:
                each.timer.cancel()
        for each in waiting:
            each.promise.fail(reason)

    def _response_arrives(self, data: bytes) -> None:
        if self.open:
            waiting = self._waiting.popleft()
            if waiting.timer is not None:
                waiting.timer.cancel()
            waiting.promise.resolve(codec.decode(spec_of(ApiKey(waiting.request.API_KEY)).response, waiting.version, data)[0])

    # The server's end

    def reset_by_server(self) -> None:
        """The server's process is gone, or closes."""
        self._requests.clear()
        self._to_client.put(lambda: self.close(Disconnected("connection reset by peer")), self.client)

    def _request_arrives(self, kind: type[Message], version: int, data: bytes) -> None:
        listener = self._wires.listeners.get(self._port)
        if not self._connected:
            self._connected = True
            self.server = listener.process if listener is not None else None
        if listener is None or listener.process is not self.server:
            self.reset_by_server()
            return
        body = codec.decode(kind, version, data)[0]
        self._requests.append((RequestContext(ApiKey(kind.API_KEY), version, 0, self._client_id, body, len(data)), version))
        self.serve_next()

    def serve_next(self) -> None:
        """Begin the next request, in the server's process."""
        listener = self._wires.listeners.get(self._port)
        if self._requests and not self._serving and listener is not None and listener.process is self.server and listener.processing:
            self._serving = True
            self._wires.world.schedule(0, lambda: self._serve(listener), self.server)

    def _serve(self, listener: Listener) -> None:
        if not self._requests:
            self._serving = False
            return
        context, version = self._requests.popleft()
        try:
            result = listener.dispatch(context, "client")
        except CloseConnection:
            self.reset_by_server()
            return
        if isinstance(result, Promise):
            result.when_settled(lambda promise: self._answer(promise.result(), version))
        else:
            self._answer(result, version)

    def _answer(self, response: Message | None, version: int) -> None:
        if response is not None:
            data = join_records(codec.encode_parts(response, version))
            self._to_client.put(lambda: self._response_arrives(data), self.client)
        self._serving = False
        self.serve_next()
