"""How responses leave: a queue of parts per connection, and a Twisted transport that writes from it.

A response is a list of parts: bytes, and `FileRecords` that stand for stretches of log files. Twisted's own transport would want all of it as bytes, copy them
together and hold them until the peer has read them; here parts stay what they are. Neighbouring bytes leave in one `sendmsg`, stretches of files by `sendfile`
without passing through this process, so that a slow consumer costs no memory but a queue entry (and keeps the file open: see `disk.py`).

A response is tried at once and only then, if the socket is full, left to the reactor: most leave with one system call and never touch epoll.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from twisted.internet import main, tcp
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure

from pykafka_classic.common.file_records import FileRecords

Part: TypeAlias = bytes | bytearray | memoryview | FileRecords

# Buffers in one sendmsg, and bytes for one connection before the reactor looks at the others.
BUFFERS_PER_SEND: Final = 64
BYTES_PER_TURN: Final = 4 * 1024 * 1024

# Read at once from a file that has no descriptor (a file in memory).
READ_CHUNK: Final = 64 * 1024

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
        for part in parts:
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


class SendingTransport(tcp.Server):
    """The transport of an accepted connection. Its protocol uses `send_parts` instead of `write`, and has a method `all_sent`."""

    def __init__(self, skt: socket.socket, *arguments: Any) -> None:
        super().__init__(skt, *arguments)
        self._outgoing = Outgoing(skt)
        self._full = False  # left to the reactor

    @property
    def unsent(self) -> int:
        """Bytes still to be sent."""
        return self._outgoing.unsent

    def doRead(self) -> ConnectionLost | ConnectionDone | None:  # type: ignore[override]  # as doWrite
        """There is something to read; what the protocol raises ends the connection."""
        try:
            data = self.socket.recv(self.bufferSize)
        except BlockingIOError:
            return None
        except OSError:
            return main.CONNECTION_LOST
        if not data:
            return main.CONNECTION_DONE
        self.protocol.dataReceived(data)  # type: ignore[call-arg, misc]  # zope describes it without its arguments
        return None

    def send_parts(self, parts: Sequence[Part]) -> None:
        """Send now what the socket takes; the rest follows, and then the protocol's `all_sent` is called."""
        if not self.connected or self.disconnecting:
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
            self.startWriting()  # type: ignore[no-untyped-call]  # Twisted is typed in parts only, here and below

    def _sent_at_once(self, part: bytes) -> bool:
        """A short answer on a connection without debts: one system call, no queue. False where nothing of it was sent."""
        try:
            sent = self.socket.send(part)
        except OSError:
            return False  # full, or broken: the way with the queue finds out
        if sent < len(part):
            self._outgoing.extend([memoryview(part)[sent:]])
            self._full = True
            self.startWriting()  # type: ignore[no-untyped-call]
        return True

    def doWrite(self) -> ConnectionLost | ConnectionDone | None:  # type: ignore[override]  # the supertype says None, its own code returns these
        """The reactor found room in the socket."""
        try:
            self._outgoing.send()
        except OSError:
            return main.CONNECTION_LOST
        if self._outgoing.unsent:
            return None
        self._full = False
        if self.disconnecting:
            return super().doWrite()  # type: ignore[no-untyped-call,no-any-return]
        self.stopWriting()  # type: ignore[no-untyped-call]
        self.protocol.all_sent()
        return None

    def connectionLost(self, reason: Failure) -> None:
        """The connection has ended."""
        self._outgoing.clear()
        super().connectionLost(reason)


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
