"""One accepted connection: bytes to requests, requests to the dispatcher, responses back in order.

A broker handles one request of a connection at a time; the next waits until the response has been handed over. Produce requests alone may overlap: as long as
nothing but Produce is in progress, further ones are begun at once, so that the wait for followers (acks=all) does not add up; their responses still leave in
order. (Kafka would take the next Produce only after the response to the last; a client cannot tell the difference, since the appends happen in order too.)

| bound | how |
|---|---|
| a peer that sends faster than we answer | reading stops while a request waits for its turn; the kernel's buffers fill up and stop the peer |
| a peer that does not read its answers | no request is begun while more than UNSENT_MAX_BYTES of answers are unsent |
| Produce requests in progress | PIPELINED_PRODUCE_MAX |
| time that requests take in one turn of the reactor | turn_budget.py |

Source: facts/protocol.md 2, 2.8:core/src/main/scala/kafka/network/SocketServer.scala.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from twisted.internet import protocol
from twisted.python.failure import Failure

from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.limits import READ_BYTES
from pykafka_classic.edges.sending import Part, SendingTransport
from pykafka_classic.edges.turn_budget import TurnBudget
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.connection import Answer, CloseConnection, RequestContext, ServerConnection, ServerEvent
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.request import CloseConnection as CloseAsked

log = logging.getLogger("kafka.network.SocketServer")

UNSENT_MAX_BYTES: Final = 1024 * 1024
PIPELINED_PRODUCE_MAX: Final = 100

# Answers to requests that came together leave together, unless there is much of them.
COLLECTED_MAX_BYTES: Final = 64 * 1024

# What a dispatcher may answer: a response, a response later, or none (Produce with acks=0), at once or later.
DispatchResult: TypeAlias = "Message | Promise[Message] | None"
Dispatch: TypeAlias = Callable[[RequestContext, str], DispatchResult]


class ConnectionOwner(Protocol):
    """What a connection asks of its listener."""

    @property
    def apis(self) -> Mapping[ApiKey, tuple[int, int]]:
        """What is served, with versions."""
        ...

    @property
    def dispatch(self) -> Dispatch:
        """Called with each request and the peer's address; may raise `server.request.CloseConnection`."""
        ...

    @property
    def request_max_bytes(self) -> int:
        """socket.request.max.bytes."""
        ...

    @property
    def processing(self) -> bool:
        """False while the broker starts: connections are accepted, requests wait."""
        ...

    @property
    def prefix(self) -> str:
        """What log lines begin with."""
        ...

    @property
    def turn(self) -> TurnBudget:
        """Time for requests in this turn of the reactor."""
        ...

    def connected(self, connection: BrokerProtocol) -> None:
        """A connection has been accepted."""
        ...

    def disconnected(self, connection: BrokerProtocol) -> None:
        """A connection has ended."""
        ...


@dataclass(slots=True, eq=False)
class _InProgress:
    """A request that has been begun, and its answer once it is there; `close` means that the connection ends in the answer's place."""

    is_produce: bool
    parts: list[Part] | None = None
    close: bool = False


class BrokerProtocol(protocol.Protocol):
    """A broker's end of one connection.

    Invariant: more than one request is in progress only if all are Produce.
    """

    transport: SendingTransport  # type: ignore[assignment]  # what SendingPort makes

    def __init__(self, owner: ConnectionOwner) -> None:
        self._owner = owner
        self._connection = ServerConnection(owner.apis, owner.request_max_bytes)
        self._waiting: deque[ServerEvent] = deque()
        self._in_progress: deque[_InProgress] = deque()
        self._answers: list[Part] = []  # in order, to be sent in one go at the end of this turn
        self._answers_size = 0
        self._reading = True
        self._going_on = False
        self._closing = False  # an answer has been "close"
        self._open = False
        self.id = ""
        self.client_host = ""
        self.last_active_s = time.monotonic()

    @property
    def idle(self) -> bool:
        """Nothing in progress, nothing to send."""
        return not self._in_progress and not self._waiting and not self.transport.unsent

    # what the transport calls; the names are Twisted's

    def connectionMade(self) -> None:
        """A client is there."""
        here, peer = self.transport.getHost(), self.transport.getPeer()  # type: ignore[no-untyped-call]
        self.id = f"{here.host}:{here.port}-{peer.host}:{peer.port}-{self.transport.sessionno}"
        self.client_host = peer.host
        self.transport.bufferSize = READ_BYTES
        self.transport.setTcpNoDelay(True)
        self.transport.setTcpKeepAlive(True)
        self._open = True
        self._owner.connected(self)

    def dataReceived(self, data: bytes) -> None:
        """Bytes came."""
        self._serve(self._connection.receive_data, data)

    def room(self) -> memoryview | None:
        """Where the next bytes belong."""
        return self._connection.room() if self._open and self._reading else None

    def received(self, count: int) -> None:
        """So many bytes have been read into `room`."""
        self._serve(self._connection.received, count)

    def _serve(self, receive: Callable[[Any], list[ServerEvent]], what: bytes | int) -> None:
        self.last_active_s = time.monotonic()
        try:
            events = receive(what)
            if len(events) == 1 and self._is_free() and isinstance(events[0], RequestContext):
                self._handle_alone(events[0])
            elif events:
                self._waiting.extend(events)
                self.go_on()
        except Exception:
            log.exception("%s Closing connection %s because of an error of ours", self._owner.prefix, self.id)
            self.abort()

    def all_sent(self) -> None:
        """The peer has taken all that there was to send."""
        self.last_active_s = time.monotonic()
        self.go_on()

    def connectionLost(self, reason: Failure = protocol.connectionDone) -> None:
        """The connection has ended, by whomever; what is in progress goes on, its answers are dropped."""
        self._open = False
        self._waiting.clear()
        self._in_progress.clear()
        log.debug("%s Connection %s ended: %s", self._owner.prefix, self.id, reason.getErrorMessage())
        self._owner.disconnected(self)

    # what the listener calls

    def close(self) -> None:
        """Close when what there is to send has been sent."""
        if self._open:
            self._open = False
            self._waiting.clear()
            self.transport.loseConnection()  # type: ignore[no-untyped-call]

    def abort(self) -> None:
        """Close now."""
        self._open = False
        self._waiting.clear()
        self.transport.abortConnection()  # type: ignore[no-untyped-call]

    def go_on(self) -> None:
        """Begin what may be begun, send what may be sent, read or stop reading."""
        if self._going_on:
            return  # an answer came at once, inside `_begin`: the loop below sees it
        self._going_on = True
        try:
            self._collect_answers()
            while self._waiting and self._may_begin(self._waiting[0]):
                if self._owner.turn.is_spent():
                    self._owner.turn.wait(self)
                    break
                self._begin(self._waiting.popleft())
                self._collect_answers()
        finally:
            self._going_on = False
        self._send_answers()
        self._pause_or_resume()

    # inside

    def _is_free(self) -> bool:
        """May a request be answered at once, because nothing is before it?"""
        if self._waiting or self._in_progress or self._closing or not self._reading:
            return False
        owner = self._owner
        return owner.processing and self.transport.unsent <= UNSENT_MAX_BYTES and not owner.turn.is_spent()

    def _handle_alone(self, context: RequestContext) -> None:
        """The usual case of `go_on`, without its queues: one request has come, and mostly it is answered at once."""
        try:
            result = self._owner.dispatch(context, self.client_host)
            if result is None:
                return
            if not isinstance(result, Promise):
                parts = self._connection.encode_response(context, result)
                self.transport.send_parts(parts)
                return
        except Exception as error:  # noqa: BLE001  # as in `_handle`
            request = self._new_in_progress(context)
            self._failed(request, context, error)
            self.go_on()
            return
        request = self._new_in_progress(context)
        result.when_settled(lambda promise: self._settled(request, context, promise))

    def _new_in_progress(self, context: RequestContext) -> _InProgress:
        request = _InProgress(is_produce=context.api_key is ApiKey.PRODUCE)
        self._in_progress.append(request)
        return request

    def _may_begin(self, event: ServerEvent) -> bool:
        if not self._owner.processing or self._closing or self.transport.unsent > UNSENT_MAX_BYTES:
            return False
        if not self._in_progress:
            return True
        follows_produce = self._in_progress[-1].is_produce and len(self._in_progress) < PIPELINED_PRODUCE_MAX
        return follows_produce and isinstance(event, RequestContext) and event.api_key is ApiKey.PRODUCE

    def _begin(self, event: ServerEvent) -> None:
        if isinstance(event, RequestContext):
            self._handle(event)
        elif isinstance(event, Answer):
            self._in_progress.append(_InProgress(is_produce=False, parts=list(event.parts)))
        else:
            assert isinstance(event, CloseConnection)
            log.warning("%s Closing connection %s: %s", self._owner.prefix, self.id, event.reason)
            self._in_progress.append(_InProgress(is_produce=False, parts=[], close=True))

    def _handle(self, context: RequestContext) -> None:
        request = self._new_in_progress(context)
        try:
            result = self._owner.dispatch(context, self.client_host)
        except Exception as error:  # noqa: BLE001  # a handler's bug ends its connection, not the broker
            self._failed(request, context, error)
            return
        if isinstance(result, Promise):
            result.when_settled(lambda promise: self._settled(request, context, promise))
        else:
            self._answer(request, context, result)

    def _settled(self, request: _InProgress, context: RequestContext, promise: Promise[Message]) -> None:
        error = promise.error()
        if isinstance(error, Exception):
            self._failed(request, context, error)
        else:
            self._answer(request, context, promise.result())
        if self._open:
            self.go_on()

    def _answer(self, request: _InProgress, context: RequestContext, response: Message | None) -> None:
        if not self._open:
            return
        try:
            request.parts = list(self._connection.encode_response(context, response)) if response is not None else []
        except Exception as error:  # noqa: BLE001  # as above: a response that its version cannot carry is a bug
            self._failed(request, context, error)

    def _failed(self, request: _InProgress, context: RequestContext, error: Exception) -> None:
        if isinstance(error, CloseAsked):
            log.info("%s Closing connection %s: %s", self._owner.prefix, self.id, error)
        else:
            name, version = context.api_key.name, context.api_version
            log.error("%s Error when handling %s v%d of %s from connection %s", self._owner.prefix, name, version, context.client_id, self.id, exc_info=error)
        request.parts, request.close = [], True

    def _collect_answers(self) -> None:
        while self._in_progress and self._in_progress[0].parts is not None and not self._closing:
            answered = self._in_progress.popleft()
            self._answers += answered.parts or ()
            self._answers_size += sum(map(len, answered.parts or ()))
            self._closing = answered.close
        if self._answers_size >= COLLECTED_MAX_BYTES:
            self._send_answers()

    def _send_answers(self) -> None:
        answers, self._answers, self._answers_size = self._answers, [], 0
        if answers and self._open:
            self.transport.send_parts(answers)
        if self._closing:
            self.close()

    def _pause_or_resume(self) -> None:
        should_read = not self._waiting
        if should_read != self._reading and self._open:
            self._reading = should_read
            (self.transport.resumeProducing if should_read else self.transport.pauseProducing)()  # type: ignore[no-untyped-call]
