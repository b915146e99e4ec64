"""Cheaper pipes for kazoo, which spends most of a request's cost on system calls: ten of them, and a wake-up of each side for each request.

* `BufferedSocket` reads ahead, and collects what is sent in one go;
* `select_buffered` is what kazoo waits by: it knows of what was read ahead, and sends what was collected when there is nothing more to collect;
* `HandOver` wakes the reactor once for many answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from select import POLLIN, POLLOUT, poll
from typing import Any, Final

from pykafka_classic.edges.reactor import ReactorLoop

READ_AHEAD_BYTES: Final = 64 * 1024


class BufferedSocket:
    """A connected, non-blocking socket. kazoo reads each answer in two small pieces, and asks `select` before each; here both come out of a buffer.

    `pending` is what kazoo asks of TLS sockets, which have the same need: bytes that `select` does not know of. What is not sent yet is bounded by the number
    of requests in flight.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._buffer = memoryview(b"")
        self.unsent = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def pending(self) -> int:
        """Bytes that have been read ahead."""
        return len(self._buffer)

    def recv(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end of the stream."""
        if not self._buffer:
            self._buffer = memoryview(self._connection.recv(max(size, READ_AHEAD_BYTES)))
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return bytes(taken)

    def send(self, data: bytes | memoryview) -> int:
        """Keep until `flush`."""
        self.unsent += data
        return len(data)

    def flush(self) -> None:
        """Send what was kept, as far as the kernel takes it."""
        while self.unsent:
            try:
                sent = self._connection.send(self.unsent)
            except BlockingIOError:
                return
            del self.unsent[:sent]


def select_buffered(connection: BufferedSocket, readers: Sequence[Any], timeout_s: float) -> list[Any]:
    """Those of `readers` (the connection, and the pipe that says that there is a request to send) that have something; none when the time is up."""
    if connection.pending():
        return [connection]
    requests = _poll([each for each in readers if each is not connection], None, 0)
    if requests:
        return list(requests)
    connection.flush()
    while connection.unsent:
        found = _poll(readers, connection, timeout_s)
        ready = [each for each, events in found.items() if events & ~POLLOUT]
        if ready or not found:
            return ready
        connection.flush()
    return list(_poll(readers, None, timeout_s))


def _poll(readers: Sequence[Any], writer: Any, timeout_s: float) -> dict[Any, int]:
    """What there is to read (hang-ups and errors count as such), and whether `writer` takes more: events by socket."""
    waiting, sockets = poll(), {each.fileno(): each for each in readers}
    for number, each in sockets.items():
        waiting.register(number, POLLIN | (POLLOUT if each is writer else 0))
    return {sockets[number]: events for number, events in waiting.poll(timeout_s * 1000)}


class HandOver:
    """Calls from one other thread to the reactor's, in their order. Calls that come while others wait share their wake-up."""

    def __init__(self, reactor: ReactorLoop) -> None:
        self._reactor = reactor
        self._calls: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._awaited = False

    def put(self, call: Callable[..., None], *arguments: Any) -> None:
        """From the other thread."""
        self._calls.append((call, arguments))
        if not self._awaited:
            self._awaited = True
            self._reactor.callFromThread(self._run)

    def _run(self) -> None:
        self._awaited = False  # first: what is put from now on wakes the reactor again, even if it is found below
        try:
            for _ in range(len(self._calls)):
                call, arguments = self._calls.popleft()
                call(*arguments)
        finally:
            if self._calls and not self._awaited:  # one of them failed, and the reactor logs that: the others are not to wait for the next answer
                self._awaited = True
                self._reactor.callFromThread(self._run)
