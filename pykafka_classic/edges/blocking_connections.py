"""The admin client's seam for those who wait: requests go out at once, to several brokers at the same time; answers are read when somebody waits for them.

Promises settle only inside `wait`, on the thread that calls it. No Twisted in here: tools must start fast.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from pykafka_classic.client.admin.connections import Address
from pykafka_classic.client.bootstrap import parse_bootstrap
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.blocking_client import BlockingClient, connect_any
from pykafka_classic.protocol.network import Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, SchemaError

T = TypeVar("T")

# A user who gives a wrong address shall know within five seconds, looking who listens there instead included. Several addresses share the time.
FIRST_CONTACT_MS: Final = 2_500
FIRST_CONTACT_MS_MIN: Final = 1_000
CONNECT_MS: Final = 10_000  # Kafka's socket.connection.setup.timeout.ms


class WaitingTimer:
    """A call for later; implements `common.clock.Timer`."""

    __slots__ = ("call",)

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """Forget it."""
        self.call = None


class WaitingClock:
    """Implements `common.clock.Clock`; timers run while somebody waits."""

    def __init__(self) -> None:
        self._timers: list[tuple[float, int, WaitingTimer]] = []  # a heap by due time
        self._numbers = itertools.count()  # keeps timers of one time in order

    def now_ms(self) -> int:
        """Wall-clock time since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        """Time that never goes back."""
        return time.monotonic() * 1000

    def call_later(self, delay_ms: float, call: Callable[[], None]) -> WaitingTimer:
        """Call once, `delay_ms` from now, if somebody waits then."""
        timer = WaitingTimer(call)
        heapq.heappush(self._timers, (self.monotonic_ms() + delay_ms, next(self._numbers), timer))
        return timer

    def run_next(self) -> bool:
        """Sleep until the next timer is due and run it; False where there is none."""
        if not self._timers:
            return False
        due_ms, _, timer = heapq.heappop(self._timers)
        if timer.call is not None:
            time.sleep(max(0.0, due_ms - self.monotonic_ms()) / 1000)
            timer.call()
        return True


class _Owed(NamedTuple):
    """A response that has not been read yet."""

    address: Address
    client: BlockingClient
    promise: Promise[Message]
    deadline_ms: float


class BlockingConnections:
    """Implements `client.admin.connections.BrokerConnections` over sockets that wait.

    Raises:
        NoBroker, ValueError: from the constructor, which connects to one of the bootstrap addresses. The text is for the user.
    """

    def __init__(self, bootstrap: Sequence[tuple[str, int]] | str, *, client_id: str | None = None, first_contact_ms: float = FIRST_CONTACT_MS) -> None:
        addresses = parse_bootstrap(bootstrap) if isinstance(bootstrap, str) else bootstrap
        self.bootstrap = tuple(Address(*each) for each in addresses)
        self.clock = WaitingClock()
        self._client_id = client_id
        self._owed: deque[_Owed] = deque()  # in the order of sending, so also of each connection's answers
        each_ms = max(min(FIRST_CONTACT_MS_MIN, first_contact_ms), first_contact_ms / len(self.bootstrap))
        first = connect_any(self.bootstrap, client_id=client_id, timeout_ms=each_ms)
        self._clients = {Address(first.host, first.port): first}

    def versions(self, address: Address, *, timeout_ms: float) -> Promise[Mapping[int, tuple[int, int]]]:
        """At once, for it was asked when the connection was made."""
        try:
            return Promise.resolved({int(key): versions for key, versions in self._client(address, timeout_ms).versions.items()})
        except Disconnected as error:
            return Promise.failed(error)

    def send(self, address: Address, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """Send at once; the promise settles in `wait`."""
        try:
            client = self._client(address, timeout_ms)
            client.post(request, version)
        except (Disconnected, SchemaError) as error:
            if isinstance(error, Disconnected):
                self._forget(address)
            return Promise.failed(error)
        promise: Promise[Message] = Promise()
        self._owed.append(_Owed(address, client, promise, self.clock.monotonic_ms() + timeout_ms))
        return promise

    def wait(self, promise: Promise[T]) -> T:
        """Read responses and run timers until the promise is settled; its outcome."""
        while not promise.settled:
            if self._owed:
                self._receive(self._owed.popleft())
            else:
                assert self.clock.run_next(), "a promise that nothing will settle"
        return promise.result()

    def close(self) -> None:
        """Close all connections."""
        for address in list(self._clients):
            self._forget(address)

    def _client(self, address: Address, timeout_ms: float) -> BlockingClient:
        found = self._clients.get(address)
        if found is None:
            found = self._clients[address] = BlockingClient(*address, client_id=self._client_id, timeout_ms=min(timeout_ms, CONNECT_MS))
        return found

    def _receive(self, owed: _Owed) -> None:
        left_ms = owed.deadline_ms - self.clock.monotonic_ms()
        try:
            if left_ms <= 0:
                raise RequestTimedOut(f"{owed.address}: no response in time")
            response = owed.client.receive(timeout_ms=left_ms)
        except Disconnected as error:
            # What else is owed on this connection fails as it is read: the socket is closed.
            if self._clients.get(owed.address) is owed.client:
                self._forget(owed.address)
            owed.promise.fail(error)
        else:
            owed.promise.resolve(response)

    def _forget(self, address: Address) -> None:
        client = self._clients.pop(address, None)
        if client is not None:
            client.close()
