"""How responses leave: a queue of parts per connection, and a Twisted transport that writes from it.

A response is a list of parts: bytes, and `FileRecords` that stand for stretches of log files. Twisted's own transport would want all of it as bytes, copy them
together and hold them until the peer has read them; here parts stay what they are. Neighbouring bytes leave in one `sendmsg`, stretches of files by `sendfile`
without passing through this process, so that a slow consumer costs no memory but a queue entry (and keeps the file open: see `disk.py`). Short stretches for a
peer that keeps up are read, and leave with the bytes around them: one system call instead of three, and a peer that wakes up once.

A response is tried at once and only then, if the socket is full, left to the reactor: most leave with one system call and never touch epoll.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from twisted.internet import main, tcp
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure

from pykafka_classic.common.file_records import FileRecords

Part: TypeAlias = bytes | bytearray | memoryview | FileRecords

# Buffers in one sendmsg, and bytes for one connection before the reactor looks at the others.
BUFFERS_PER_SEND: Final = 64
BYTES_PER_TURN: Final = 4 * 1024 * 1024

# Stretches of files up to this size are read rather than sent by the kernel, and so much of one response at most.
READ_MAX_BYTES: Final = 32 * 1024
READ_IN_ALL_MAX_BYTES: Final = 1024 * 1024

# Read at once from a file that has no descriptor (a file in memory).
READ_CHUNK: Final = 64 * 1024

# Reads of one large frame before the reactor looks at other connections.
READS_PER_TURN: Final = 16

# Connections that may wait to be accepted. With Kafka's 50, clients that come together by the hundred wait for TCP to try again, a second and more.
BACKLOG: Final = 1024

# Linux: hold back a packet that is not full, for a file follows at once.
_MORE: Final = getattr(socket, "MSG_MORE", 0)


class FileCutShort(OSError):
    """A file got shorter (log truncation) while a stretch of it was being sent; the peer has been promised bytes that are no more."""


class Outgoing:
    """What one connection still has to send, in order.

    Invariant: `unsent` is the number of bytes behind `_parts`, those of files included.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._parts: deque[Part] = deque()
        self._file_sent = 0  # of the FileRecords at the head
        self.unsent = 0

    def extend(self, parts: Iterable[Part]) -> None:
        """Queue parts; empty ones are dropped."""
        for part in parts if self.unsent else _short_files_read(parts):  # for a peer that is behind nothing is kept in memory
            if size := len(part):
                self._parts.append(part)
                self.unsent += size

    def clear(self) -> None:
        """Drop all: files are closed when nobody else holds them."""
        self._parts.clear()
        self._file_sent = self.unsent = 0

    def send(self) -> None:
        """Send until the socket is full, all is sent, or others should have their turn. Raises OSError where the connection is of no use any more."""
        budget = BYTES_PER_TURN
        while self._parts and budget > 0:
            head = self._parts[0]
            try:
                sent = self._send_file(head, budget) if isinstance(head, FileRecords) else self._send_buffers(head)
            except BlockingIOError:
                return
            self.unsent -= sent
            budget -= sent
            if self._file_sent:
                return  # the socket is full: one more call would say no more than that

    def _send_buffers(self, head: bytes | bytearray | memoryview) -> int:
        buffers: list[bytes | bytearray | memoryview] = [head]
        flags = 0
        for part in self._parts if len(self._parts) > 1 else ():
            if part is head:
                continue
            if isinstance(part, FileRecords):
                flags = _MORE
                break
            buffers.append(part)
            if len(buffers) == BUFFERS_PER_SEND:
                break
        sent = self._socket.sendmsg(buffers, (), flags)
        self._drop(buffers, sent)
        return sent

    def _drop(self, buffers: list[bytes | bytearray | memoryview], sent: int) -> None:
        for buffer in buffers:
            if sent < len(buffer):
                self._parts[0] = memoryview(buffer)[sent:]
                return
            sent -= len(buffer)
            self._parts.popleft()

    def _send_file(self, records: FileRecords, budget: int) -> int:
        position, left = records.position + self._file_sent, records.length - self._file_sent
        descriptor = records.file.fileno()
        try:
            if descriptor < 0:
                sent = self._socket.send(records.file.read_at(position, min(left, READ_CHUNK)))
            else:
                sent = os.sendfile(self._socket.fileno(), descriptor, position, min(left, budget))
        except OSError as error:
            if error.errno == errno.EIO:  # never a socket's: the connection ends with it, and the log dir goes offline
                records.file.unreadable(error)
            raise
        if not sent:
            raise FileCutShort(f"file ends before position {position}, {left} bytes of a response missing")
        self._file_sent += sent
        if sent == left:
            self._parts.popleft()
            self._file_sent = 0
        return sent


def _short_files_read(parts: Iterable[Part]) -> Iterator[Part]:
    left = READ_IN_ALL_MAX_BYTES
    for part in parts:
        if isinstance(part, FileRecords) and part.length <= READ_MAX_BYTES and part.length <= left:
            left -= part.length
            yield _as_bytes(part)
        else:
            yield part


def _as_bytes(records: FileRecords) -> Part:
    try:
        data = records.read()
    except OSError:
        return records  # the kernel meets the same when it is to send it, and that ends the connection
    return data if len(data) == records.length else records


class _Transport:
    """What both transports have in common, mixed in before Twisted's. Their protocols use `send_parts` instead of `write`.

    They have besides Twisted's methods: `all_sent()`, for when the peer has taken all that there was to send; and `room()`, where the next bytes belong, or
    None: `received(count)` is then called in place of `dataReceived`.
    """

    _outgoing: Outgoing
    _full = False  # left to the reactor

    @property
    def unsent(self) -> int:
        """Bytes still to be sent."""
        return self._outgoing.unsent

    def doRead(self) -> ConnectionLost | ConnectionDone | None:
        """There is something to read; a large frame is read on as long as there is more of it. What the protocol raises ends the connection."""
        transport: Any = self
        protocol = transport.protocol
        room = protocol.room()
        for _ in range(READS_PER_TURN):
            try:
                data = transport.socket.recv(transport.bufferSize) if room is None else b""
                count = len(data) if room is None else transport.socket.recv_into(room)
            except BlockingIOError:
                return None
            except OSError:
                return main.CONNECTION_LOST
            if not count:
                return main.CONNECTION_DONE
            if room is None:
                protocol.dataReceived(data)
            else:
                protocol.received(count)
            room = protocol.room()
            if room is None:
                break
        return None

    def send_parts(self, parts: Sequence[Part]) -> None:
        """Send now what the socket takes; the rest follows, and then the protocol's `all_sent` is called."""
        transport: Any = self
        if not transport.connected or transport.disconnecting:
            return
        if len(parts) == 1 and not self._outgoing.unsent and isinstance(parts[0], bytes) and self._sent_at_once(parts[0]):
            return
        self._outgoing.extend(parts)
        if self._full:
            return
        try:
            self._outgoing.send()
        except OSError:
            self._full = True  # the reactor will find the same error and end the connection properly
        if self._full or self._outgoing.unsent:
            self._full = True
            transport.startWriting()

    def _sent_at_once(self, part: bytes) -> bool:
        """A short message on a connection without debts: one system call, no queue. False where nothing of it was sent."""
        transport: Any = self
        try:
            sent = transport.socket.send(part)
        except OSError:
            return False  # full, or broken: the way with the queue finds out
        if sent < len(part):
            self._outgoing.extend([memoryview(part)[sent:]])
            self._full = True
            transport.startWriting()
        return True

    def doWrite(self) -> ConnectionLost | ConnectionDone | None:
        """The reactor found room in the socket."""
        transport: Any = self
        try:
            self._outgoing.send()
        except OSError:
            return main.CONNECTION_LOST
        if self._outgoing.unsent:
            return None
        self._full = False
        if transport.disconnecting:
            return super().doWrite()  # type: ignore[misc,no-any-return]  # Twisted's, which then closes
        transport.stopWriting()
        transport.protocol.all_sent()
        return None


class SendingTransport(_Transport, tcp.Server):  # type: ignore[misc]  # what doRead returns: the supertype says None, its own code returns these
    """The transport of an accepted connection."""

    def __init__(self, skt: socket.socket, *arguments: Any) -> None:
        super().__init__(skt, *arguments)
        self._outgoing = Outgoing(skt)

    def connectionLost(self, reason: Failure) -> None:
        """The connection has ended."""
        self._outgoing.clear()
        super().connectionLost(reason)


class SendingClient(_Transport, tcp.Client):  # type: ignore[misc]  # as above
    """The transport of a connection that we make."""

    def _connectDone(self) -> None:
        self._outgoing = Outgoing(self.socket)
        super()._connectDone()  # type: ignore[no-untyped-call]


class SendingConnector(tcp.Connector):
    """Makes a connection whose transport is a `SendingClient`."""

    def _makeTransport(self) -> SendingClient:
        return SendingClient(self.host, self.port, self.bindAddress, self, self.reactor)  # type: ignore[no-untyped-call]


class SocketBuffers(NamedTuple):
    """Sizes in bytes; -1 leaves them to the system."""

    send: int = -1
    receive: int = -1


class SendingPort(tcp.Port):
    """A listening socket whose connections are `SendingTransport`s."""

    transport = SendingTransport  # type: ignore[assignment]  # replaceable by Twisted's documentation, if not by its annotation

    def __init__(self, port: int, factory: Any, *, interface: str, reactor: Any, buffers: SocketBuffers) -> None:
        super().__init__(port, factory, BACKLOG, interface, reactor)
        self._buffers = {socket.SO_SNDBUF: buffers.send, socket.SO_RCVBUF: buffers.receive}

    def doRead(self) -> None:
        """Accept one connection; the reactor comes again for the next, unless its owner has stopped accepting meanwhile."""
        self.numberAccepts = 1
        super().doRead()  # type: ignore[no-untyped-call]

    def createInternetSocket(self) -> socket.socket:
        """Accepted sockets inherit the sizes; set before the bind, as the window's scale is settled in the handshake."""
        created: socket.socket = super().createInternetSocket()  # type: ignore[no-untyped-call]
        for option, size in self._buffers.items():
            if size >= 0:
                created.setsockopt(socket.SOL_SOCKET, option, size)
        return created
