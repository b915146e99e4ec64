"""Channels to other brokers over Twisted, behind the seam of `protocol/network.py`.

A channel has at most one connection, made by the first `send` and again by the first `send` after a failure; it never tries again by itself. Requests are
pipelined in the order of `send`. When one of them is not answered in time the connection is closed, for on a Kafka connection nothing behind it can be answered
either.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet import protocol
from twisted.python.failure import Failure

from pykafka_classic.common.clock import Timer
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.limits import READ_BYTES, RESPONSE_MAX_BYTES
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.sending import Part, SendingConnector
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.connection import ClientConnection
from pykafka_classic.protocol.messages.produce import ProduceRequest
from pykafka_classic.protocol.network import CannotConnect, Disconnected, RequestTimedOut
from pykafka_classic.protocol.schema import Message, SchemaError

log = logging.getLogger("kafka.network.NetworkClient")

# Kafka's socket.connection.setup.timeout.ms.
CONNECT_TIMEOUT_S: Final = 10.0


@dataclass(slots=True, eq=False)
class _Sent:
    """A request without an answer."""

    request: Message
    version: int
    promise: Promise[Message]
    timer: Timer | None = None

    @property
    def expects_response(self) -> bool:
        return not (isinstance(self.request, ProduceRequest) and self.request.acks == 0)

    def settle(self, outcome: Message | Disconnected) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if isinstance(outcome, Disconnected):
            self.promise.fail(outcome)
        else:
            self.promise.resolve(outcome)


class TwistedNetwork:
    """Implements `protocol.network.Network` over a Twisted reactor."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor

    def channel(self, host: str, port: int, *, client_id: str) -> TwistedChannel:
        """A channel to this address; nothing is connected yet."""
        return TwistedChannel(self._reactor, (host, port), client_id)


class TwistedChannel:
    """Implements `protocol.network.Channel`.

    Invariant: `_unanswered` is in the order of `send`; all of them have been written if `_connection` is there, none if it is not.
    """

    def __init__(self, reactor: Reactor, address: tuple[str, int], client_id: str) -> None:
        self._reactor = reactor
        self._clock = ReactorClock(reactor)
        self._address = address
        self._client_id = client_id
        self._unanswered: deque[_Sent] = deque()
        self._connector: Any = None  # Twisted's, while connecting or connected
        self._connection: _ChannelProtocol | None = None

    def send(self, request: Message, version: int, *, timeout_ms: float) -> Promise[Message]:
        """The response to `request`; fails with `Disconnected` or `RequestTimedOut`. A Produce with acks=0 is answered at once, by an empty response."""
        sent = _Sent(request, version, Promise())
        sent.timer = self._clock.call_later(timeout_ms, lambda: self._timed_out(sent, timeout_ms))
        self._unanswered.append(sent)
        if self._connection is not None:
            self._write(self._connection, [sent])
        elif self._connector is None:
            factory = _ChannelFactory(self)
            self._connector = SendingConnector(*self._address, factory, CONNECT_TIMEOUT_S, None, self._reactor)
            self._connector.connect()
        return sent.promise

    def close(self) -> None:
        """Close; what is under way fails with `Disconnected`. A later `send` connects anew."""
        self._end(Disconnected(f"{self}: closed by us"))

    def __str__(self) -> str:
        return f"{self._address[0]}:{self._address[1]}"

    # what the connection tells

    def connected(self, connection: _ChannelProtocol) -> None:
        """A connection stands: write what waited for it."""
        self._connection = connection
        self._write(connection, list(self._unanswered))

    def received(self, connection: _ChannelProtocol, receive: Callable[[Any], list[tuple[int, Message]]], what: bytes | int) -> None:
        """Bytes came, or so many have been read into their room."""
        try:
            responses = receive(what)
        except SchemaError as error:
            log.warning("Closing connection to %s: %s", self, error)
            self._end(Disconnected(f"{self}: {error}"))
            return
        for _, response in responses:
            if connection is not self._connection:
                return  # closed by who got an earlier response
            self._unanswered.popleft().settle(response)

    def ended(self, connection: _ChannelProtocol | None, reason: Failure) -> None:
        """The connection has ended, or (None) could not be made."""
        if connection is self._connection:
            failure = Disconnected if connection is not None else CannotConnect
            self._end(failure(f"{self}: {reason.getErrorMessage()}"))

    # inside

    def _write(self, connection: _ChannelProtocol, requests: Sequence[_Sent]) -> None:
        parts: list[Part] = []
        for sent in requests:
            parts += connection.protocol_state.send(sent.request, sent.version, expects_response=sent.expects_response)[1]
        connection.transport.send_parts(parts)
        for sent in requests:
            if not sent.expects_response:
                self._unanswered.remove(sent)
                sent.settle(spec_of(ApiKey.PRODUCE).response())

    def _timed_out(self, sent: _Sent, timeout_ms: float) -> None:
        name = ApiKey(sent.request.API_KEY).name
        log.info("No response to %s from %s within %d ms; closing the connection", name, self, timeout_ms)
        self._unanswered.remove(sent)
        sent.timer = None
        others = Disconnected(f"{self}: closed, for an earlier request was not answered in time")
        doomed = self._take_all()
        sent.settle(RequestTimedOut(f"{self}: no response to {name} within {timeout_ms:g} ms"))
        for each in doomed:
            each.settle(others)

    def _end(self, reason: Disconnected) -> None:
        for sent in self._take_all():
            sent.settle(reason)

    def _take_all(self) -> list[_Sent]:
        """Drop the connection and all requests, so that whoever is told of the failure may send again at once, on a new connection."""
        connector, self._connector, connection, self._connection = self._connector, None, self._connection, None
        if connection is not None:
            connection.channel = None
            # Where nothing waits for an answer there may still be a Produce with acks=0 on its way.
            close = connection.transport.abortConnection if self._unanswered else connection.transport.loseConnection
            close()
        elif connector is not None:
            connector.factory.channel = None
            if connector.state == "connecting":
                connector.stopConnecting()
        doomed = list(self._unanswered)
        self._unanswered.clear()
        return doomed


class _ChannelProtocol(protocol.Protocol):
    """One connection of a channel; `channel` is None once the channel has done with it."""

    transport: Any

    def __init__(self, channel: TwistedChannel, client_id: str) -> None:
        self.channel: TwistedChannel | None = channel
        self.protocol_state = ClientConnection(client_id, RESPONSE_MAX_BYTES)

    def connectionMade(self) -> None:
        self.transport.bufferSize = READ_BYTES
        self.transport.setTcpNoDelay(True)
        if self.channel is not None:
            self.channel.connected(self)

    def dataReceived(self, data: bytes) -> None:
        if self.channel is not None:
            self.channel.received(self, self.protocol_state.receive_data, data)

    def room(self) -> memoryview | None:
        return self.protocol_state.room() if self.channel is not None else None

    def received(self, count: int) -> None:
        if self.channel is not None:
            self.channel.received(self, self.protocol_state.received, count)

    def all_sent(self) -> None:
        """Nothing waits for that."""

    def connectionLost(self, reason: Failure = protocol.connectionDone) -> None:
        if self.channel is not None:
            self.channel.ended(self, reason)


class _ChannelFactory(protocol.ClientFactory):
    """Makes the one connection of one attempt."""

    noisy = False

    def __init__(self, channel: TwistedChannel) -> None:
        self.channel: TwistedChannel | None = channel

    def buildProtocol(self, addr: Any) -> _ChannelProtocol | None:  # noqa: ARG002  # Twisted's signature
        return _ChannelProtocol(self.channel, self.channel._client_id) if self.channel is not None else None

    def clientConnectionFailed(self, connector: Any, reason: Failure) -> None:  # noqa: ARG002  # as above
        if self.channel is not None:
            self.channel.ended(None, reason)
