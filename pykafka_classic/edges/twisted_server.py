"""A broker's listeners: sockets bound at once, connections accepted and counted, requests served when the broker is ready, silent connections closed.

`BrokerListener` is Kafka's acceptor and processors for one listener; what happens on a connection is in `broker_protocol.py`.

Limits on connections: `connection_quota.py`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from twisted.internet import protocol
from twisted.internet.error import CannotListenError

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.listeners import EndPoint
from pykafka_classic.common.promise import Promise
from pykafka_classic.edges.broker_protocol import BrokerProtocol, Dispatch
from pykafka_classic.edges.child_processes import port_taken
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.connection_quota import UNLIMITED, ConnectionQuota, Rate
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.sending import SendingPort, SocketBuffers
from pykafka_classic.edges.turn_budget import TurnBudget
from pykafka_classic.protocol.api_keys import ApiKey

log = logging.getLogger("kafka.network.SocketServer")

IDLE_CHECKS_PER_PERIOD: Final = 10

# At the stop: how long a peer may take to read what has been answered.
CLOSE_PATIENCE_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    """One listener's address and limits (Kafka's keys in brackets). Sizes in bytes.

    Attributes:
        host: empty for every interface.
        port: 0 for any free one.
        is_protected: the brokers' own listener beside others: max.connections of the broker does not hold for it.
    """

    host: str
    port: int
    name: str = "PLAINTEXT"
    broker_id: int = -1
    request_max_bytes: int = 104857600  # socket.request.max.bytes
    send_buffer: int = -1  # socket.send.buffer.bytes
    receive_buffer: int = -1  # socket.receive.buffer.bytes
    max_idle_ms: int = 600_000  # connections.max.idle.ms
    max_connections: int = UNLIMITED  # listener.name.NAME.max.connections
    creation_rate: int = UNLIMITED  # listener.name.NAME.max.connection.creation.rate
    is_protected: bool = False

    @staticmethod
    def from_config(config: KafkaConfig, end_point: EndPoint) -> ListenerSettings:
        """A broker's listener."""
        name = end_point.listener_name
        connections, rate = config.of_listener(name, "max.connections"), config.of_listener(name, "max.connection.creation.rate")
        return ListenerSettings(
            host=end_point.host,
            port=end_point.port,
            name=name,
            broker_id=config.broker_id,
            request_max_bytes=config.socket_request_max_bytes,
            send_buffer=config.socket_send_buffer_bytes,
            receive_buffer=_receive_buffer(config),
            max_idle_ms=config.connections_max_idle_ms,
            max_connections=UNLIMITED if connections is None else connections,
            creation_rate=UNLIMITED if rate is None else rate,
            is_protected=name == config.inter_broker_listener and len(config.listener_end_points) > 1,
        )


def _receive_buffer(config: KafkaConfig) -> int:
    """A size that somebody has chosen; Kafka's default of 100 KB is none.

    A size that is set ends the kernel's own tuning, which gives a busy connection megabytes: with it, large requests cost up to a third less CPU. For sending
    it is the other way round: with megabytes under way at once, answers cost half as much again.
    """
    return config.socket_receive_buffer_bytes if "socket.receive.buffer.bytes" in config.originals else -1


class CannotListen(Exception):
    """The address cannot be bound; the text says why."""


class BrokerListener(protocol.Factory):
    """One listening socket with its connections. Implements `broker_protocol.ConnectionOwner`.

    Args:
        apis: what is served, with versions.
        dispatch: called with each request and the peer's address.
        quota: of the broker, shared by its listeners; none: no limits but the listener's own.
    """

    noisy = False  # Twisted's own lines about start and stop

    def __init__(
        self, reactor: Reactor, settings: ListenerSettings, apis: Mapping[ApiKey, tuple[int, int]], dispatch: Dispatch, quota: ConnectionQuota | None = None
    ) -> None:
        self._reactor = reactor
        self._settings = settings
        self._quota = quota or ConnectionQuota()
        self._rate = Rate(settings.creation_rate)
        self._paused = False  # too many connections came at once
        self.apis = apis
        self.dispatch = dispatch
        self.processing = False
        self.turn = TurnBudget(lambda: reactor.turns, lambda call: reactor.callLater(0, call))
        self._port: SendingPort | None = None
        self._accepting = True
        self._connections: set[BrokerProtocol] = set()
        self._stopped: Promise[None] | None = None

    @property
    def prefix(self) -> str:
        """What log lines begin with."""
        return f"[SocketServer listener={self._settings.name}, nodeId={self._settings.broker_id}]"

    @property
    def request_max_bytes(self) -> int:
        """socket.request.max.bytes."""
        return self._settings.request_max_bytes

    @property
    def connection_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    def listen(self) -> int:
        """Bind and accept; requests wait for `start_processing`. The port, which was perhaps any. Raises CannotListen."""
        host = self._settings.host
        port = SendingPort(
            self._settings.port,
            self,
            interface="" if host == "0.0.0.0" else host,
            reactor=self._reactor,
            buffers=SocketBuffers(self._settings.send_buffer, self._settings.receive_buffer),
        )
        try:
            port.startListening()
        except CannotListenError as error:
            why = port_taken(self._settings.port, host or "0.0.0.0") if self._settings.port else None
            raise CannotListen(f"Listener {self._settings.name} cannot listen on {host or '*'}:{self._settings.port}. {why or error.socketError}") from error
        self._port = port
        self._quota.on_change.append(self._accept_or_not)
        bound: int = port.getHost().port  # type: ignore[no-untyped-call]  # Twisted is typed in parts only
        log.info("%s Awaiting socket connections on %s:%d.", self.prefix, host or "0.0.0.0", bound)
        if self._settings.max_idle_ms >= 0:
            self._check_idle()
        return bound

    def update(self, settings: ListenerSettings) -> None:
        """Other limits from now on; the address stays, and so do connections."""
        self._settings = settings
        self._rate.change(settings.creation_rate)
        self._accept_or_not()

    def start_processing(self) -> None:
        """Serve requests from now on, those that wait first."""
        if self.processing:
            return
        self.processing = True
        for connection in list(self._connections):
            connection.go_on()
        log.info("%s Started processing requests.", self.prefix)

    def stop(self) -> Promise[None]:
        """Accept and serve nothing any more; kept when all connections are closed. What is in progress is not answered."""
        self._stopped = Promise()
        self.processing = False
        if self._port is not None:
            if self._accept_or_not in self._quota.on_change:
                self._quota.on_change.remove(self._accept_or_not)
            self._port.stopListening()  # type: ignore[no-untyped-call]
        for connection in list(self._connections):
            connection.close()
        # A peer that reads nothing would keep its connection open for as long as it likes.
        ReactorClock(self._reactor).call_later(CLOSE_PATIENCE_MS, self._abort_all)
        self._tell_stopped()
        return self._stopped

    def _abort_all(self) -> None:
        for connection in list(self._connections):
            connection.abort()

    def _tell_stopped(self) -> None:
        if self._stopped is not None and not self._stopped.settled and not self._connections:
            log.info("%s Stopped socket server.", self.prefix)
            self._stopped.resolve(None)

    # what the port and the connections call

    def buildProtocol(self, addr: Any) -> BrokerProtocol | None:
        """A connection comes in; None refuses it."""
        limit = self._quota.limit_of(addr.host)
        if limit is not None:
            log.info("%s Rejected connection from %s, address already has the configured maximum of %d connections.", self.prefix, addr.host, limit)
            return None
        return BrokerProtocol(self)

    def connected(self, connection: BrokerProtocol) -> None:
        """A connection has been accepted."""
        self._connections.add(connection)
        self._pause_for(max(self._rate.take(time.monotonic()), self._quota.rate.take(time.monotonic())))
        self._quota.added(connection.client_host)
        self._accept_or_not()

    def disconnected(self, connection: BrokerProtocol) -> None:
        """A connection has ended."""
        self._connections.discard(connection)
        self._quota.removed(connection.client_host)
        self._accept_or_not()
        self._tell_stopped()

    def _pause_for(self, seconds: float) -> None:
        """Accept nothing for a while, so that connections do not come faster than they may."""

        def resume() -> None:
            self._paused = False
            self._accept_or_not()

        if seconds > 0 and not self._paused:
            self._paused = True
            ReactorClock(self._reactor).call_later(seconds * 1000, resume)

    def _accept_or_not(self) -> None:
        limit = self._settings.max_connections
        is_full = len(self._connections) >= limit or not (self._quota.has_room or self._settings.is_protected)
        accept = not is_full and not self._paused
        if self._port is None or self._stopped is not None or accept == self._accepting:
            return
        self._accepting = accept
        if accept:
            self._port.startReading()  # type: ignore[no-untyped-call]
        else:
            if is_full:
                log.warning("%s No more connections are accepted: max.connections=%d are open.", self.prefix, min(limit, self._quota.limit))
            self._port.stopReading()  # type: ignore[no-untyped-call]

    def _check_idle(self) -> None:
        if self._stopped is not None:
            return
        oldest = time.monotonic() - self._settings.max_idle_ms / 1000
        for connection in [each for each in self._connections if each.idle and each.last_active_s < oldest]:
            log.debug("%s Closing connection %s, idle for connections.max.idle.ms=%d.", self.prefix, connection.id, self._settings.max_idle_ms)
            connection.close()
        ReactorClock(self._reactor).call_later(max(10.0, self._settings.max_idle_ms / IDLE_CHECKS_PER_PERIOD), self._check_idle)
