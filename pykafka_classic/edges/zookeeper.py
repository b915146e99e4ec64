"""ZooKeeper for the deciders: one session after another, behind the seam of `common/zookeeper.py`.

Requests wait in one queue; at most `zookeeper.max.in.flight.requests` of them are under way. What a lost connection left unanswered goes back to the head of
the queue in its old order. When a session ends, in this order: EXPIRED is told, every request made until then is answered SESSION_EXPIRED, a new session is
begun (and begun again, for ever); RENEWED is told; and only then requests made since EXPIRED are sent.

`ReactorLoop` is the reactor, or for tools without one `blocking_zookeeper.QueueLoop`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from kazoo.client import KazooClient
from kazoo.retry import KazooRetry

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Code, Create, Result, SessionEvent, WatchEvent
from pykafka_classic.edges import kazoo_requests
from pykafka_classic.edges.kazoo_session import KazooSession, SessionSettings
from pykafka_classic.edges.reactor import ReactorLoop
from pykafka_classic.edges.shell_requests import AnyRequest
from pykafka_classic.edges.signals import signals_held_back

if TYPE_CHECKING:  # a tool that speaks to ZooKeeper needs no broker's keys, and they take time to load
    from pykafka_classic.common.config import KafkaConfig

log = logging.getLogger("kafka.zookeeper.ZooKeeperClient")

# More in flight gain nothing, and kazoo's wake-up pipe (one byte a request) must never fill up.
MAX_IN_FLIGHT: Final = 100

# Pause before another session is tried where one ended without ever having stood (Kafka: 1 s).
RENEWAL_PAUSE_S: Final = 1.0


class ZooKeeperUnavailable(Exception):
    """No connection within `zookeeper.connection.timeout.ms`."""


@dataclass(frozen=True, slots=True)
class ZooKeeperSettings:
    """Where ZooKeeper is and how patient to be.

    Attributes: connect: Kafka's `zookeeper.connect`: host:port,host:port[/chroot]. max_request_bytes: ZooKeeper's `jute.maxbuffer`; a larger request is
    answered BAD_ARGUMENTS here, since the server would drop the connection each time it came. name: stands in log lines, as Kafka's client names do.
    """

    connect: str
    session_timeout_ms: int = 18_000
    connection_timeout_ms: int = 18_000
    max_in_flight: int = 10
    max_request_bytes: int = 0xFFFFF
    creates_chroot: bool = True  # a broker makes its chroot; a tool that is given a wrong one must not
    name: str = "[ZooKeeperClient Kafka server]"

    @staticmethod
    def from_config(config: KafkaConfig) -> ZooKeeperSettings:
        """A broker's."""
        assert config.zookeeper_connect is not None
        return ZooKeeperSettings(
            connect=config.zookeeper_connect,
            session_timeout_ms=config.zookeeper_session_timeout_ms,
            connection_timeout_ms=config.zookeeper_connection_timeout_ms_resolved,
            max_in_flight=config.zookeeper_max_in_flight_requests,
        )

    @property
    def servers(self) -> str:
        """host:port,host:port."""
        return self.connect.partition("/")[0]

    @property
    def chroot(self) -> str:
        """/path without a slash at the end, or the empty string."""
        _, slash, path = self.connect.partition("/")
        return (slash + path).rstrip("/")


@dataclass(slots=True)
class _Batch:
    """The requests of one `submit`."""

    promise: Promise[list[Result]]
    results: list[Result | None]
    missing: int


@dataclass(slots=True, eq=False)
class _Pending:
    """One request on its way."""

    request: AnyRequest
    batch: _Batch
    index: int

    def settle(self, result: Result) -> None:
        batch = self.batch
        batch.results[self.index] = result
        batch.missing -= 1
        if not batch.missing:
            batch.promise.resolve([each for each in batch.results if each is not None])


@dataclass(slots=True)
class _Requests:
    """Where the requests are. Each is in one place; `sent` and `lost` keep the order of sending."""

    waiting: deque[_Pending] = field(default_factory=deque)
    sent: deque[_Pending] = field(default_factory=deque)
    lost: list[_Pending] = field(default_factory=list)

    def put_back_lost(self) -> None:
        self.waiting.extendleft(reversed(self.lost))
        self.lost.clear()

    def take_all(self) -> list[_Pending]:
        taken = [*self.lost, *self.sent, *self.waiting]
        self.waiting.clear()
        self.sent.clear()
        self.lost.clear()
        return taken


class KazooZooKeeper:
    """Implements `common.zookeeper.ZooKeeper` over kazoo. All methods belong to the reactor thread; listeners and promises are called on it."""

    def __init__(self, settings: ZooKeeperSettings, reactor: ReactorLoop) -> None:
        self._settings = settings
        self._reactor = reactor
        self._max_in_flight = min(settings.max_in_flight, MAX_IN_FLIGHT)
        self._requests = _Requests()
        self._session: KazooSession | None = None
        self._connected = False
        self._expired = False  # told EXPIRED, not yet RENEWED
        self._closing = False
        self._ready: Promise[None] = Promise()  # the first connection
        self._watch_listeners: list[Callable[[WatchEvent], None]] = []
        self._session_listeners: list[Callable[[SessionEvent], None]] = []

    @property
    def session_id(self) -> int:
        """The id of the current session; 0 while there is none."""
        return self._session.session_id if self._session else 0

    def client_id(self) -> tuple[int, bytes] | None:
        """Session id and password, for `expire_session`; None while disconnected."""
        return self._session.client_id() if self._session else None

    def add_watch_listener(self, listener: Callable[[WatchEvent], None]) -> None:
        """Tell of every watch that fires, in ZooKeeper's order."""
        self._watch_listeners.append(listener)

    def add_session_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Tell of session changes; the first connection is not one."""
        self._session_listeners.append(listener)

    def connect(self) -> Promise[None]:
        """Begin the first session, and create the chroot if there is one. Fails with ZooKeeperUnavailable after `connection_timeout_ms`."""
        return spawn(self._connect())

    async def _connect(self) -> None:
        if self._settings.chroot and self._settings.creates_chroot:
            await self._create_chroot()
        self._begin_session()
        log.info("%s Waiting until connected.", self._settings.name)
        give_up = self._reactor.callLater(self._settings.connection_timeout_ms / 1000, self._give_up)
        await self._ready
        give_up.cancel()
        log.info("%s Connected.", self._settings.name)

    def _give_up(self) -> None:
        message = f"no answer from ZooKeeper at {self._settings.servers} within {self._settings.connection_timeout_ms} ms (zookeeper.connection.timeout.ms)"
        self.close()
        self._ready.fail(ZooKeeperUnavailable(message))

    async def _create_chroot(self) -> None:
        # By a connection of its own without chroot (facts 2.1): below a chroot that is not there nothing can be created.
        rootless = KazooZooKeeper(replace(self._settings, connect=self._settings.servers), self._reactor)
        await rootless.connect()
        steps = self._settings.chroot.split("/")[1:]
        paths = ["/" + "/".join(steps[: depth + 1]) for depth in range(len(steps))]
        results = await rootless.submit([Create(path) for path in paths])
        await rootless.close()
        if results[-1].code not in (Code.OK, Code.NODE_EXISTS):
            raise ZooKeeperUnavailable(f"cannot create the chroot {self._settings.chroot}: {results[-1].code.name}")

    def close(self) -> Promise[None]:
        """End the session: its ephemeral nodes are gone when the promise is kept. Requests under way are answered SESSION_EXPIRED."""
        closed: Promise[None] = Promise()
        session, self._session = self._session, None
        self._closing, self._connected = True, False
        log.info("%s Closing.", self._settings.name)
        if session is not None:
            session.abandon()
        self._answer_expired(self._requests.take_all())
        self._reactor.callInThread(self._close_in_thread, session, closed)
        return closed

    def _close_in_thread(self, session: KazooSession | None, closed: Promise[None] | None) -> None:
        if session is not None:
            session.close()
        if closed is not None:
            log.info("%s Closed.", self._settings.name)
            self._reactor.callFromThread(closed.resolve, None)

    # requests

    def submit(self, requests: Sequence[AnyRequest]) -> Promise[list[Result]]:
        """Send all, pipelined; answers in the order of the requests."""
        if not requests:
            return Promise.resolved([])
        batch = _Batch(Promise(), [None] * len(requests), len(requests))
        pending = [_Pending(request, batch, index) for index, request in enumerate(requests)]
        if self._closing:
            self._answer_expired(pending)
        for each in pending if not self._closing else ():
            fault = kazoo_requests.check_request(each.request, self._settings.max_request_bytes)
            if fault is None:
                self._requests.waiting.append(each)
            else:
                log.error("%s Request refused: %s", self._settings.name, fault)
                each.settle(Result(Code.BAD_ARGUMENTS, getattr(each.request, "path", "")))
        self._send_waiting()
        return batch.promise

    def _send_waiting(self) -> None:
        waiting, sent, session = self._requests.waiting, self._requests.sent, self._session
        if session is None or not self._connected or not waiting:
            return
        with signals_held_back():  # kazoo takes whatever is raised while it wakes its thread for a lost connection: a tool's KeyboardInterrupt too
            while waiting and len(sent) < self._max_in_flight:
                if not session.send(waiting[0].request, self._answered):
                    return  # the connection has just gone; we shall hear of it
                sent.append(waiting.popleft())

    def _answered(self, result: Result) -> None:
        # kazoo answers in the order of sending, so this is for the oldest.
        pending = self._requests.sent.popleft()
        if result.code is Code.CONNECTION_LOSS:
            self._requests.lost.append(pending)
            return
        self._send_waiting()
        pending.settle(result)

    def _answer_expired(self, doomed: Sequence[_Pending]) -> None:
        for pending in doomed:
            pending.settle(Result(Code.SESSION_EXPIRED, getattr(pending.request, "path", "")))

    # what the session tells

    def session_connected(self) -> None:
        """A connection stands: go on where the last one stopped."""
        self._connected = True
        # Nothing can be in `sent` and `lost` at once: with the first loss the session's gate was shut. So putting back what was lost restores the order.
        self._requests.put_back_lost()
        if not self._ready.settled:
            self._ready.resolve(None)
        elif self._expired:
            self._expired = False
            log.info("%s Connected: new session 0x%x.", self._settings.name, self.session_id & 0xFFFFFFFFFFFFFFFF)
            self._tell(SessionEvent.RENEWED)
        else:
            log.info("%s Connected again, same session.", self._settings.name)
            self._tell(SessionEvent.CONNECTED)
        self._send_waiting()

    def session_disconnected(self) -> None:
        """No connection: requests wait."""
        self._connected = False
        log.warning(
            "%s Disconnected; %d requests wait.", self._settings.name, len(self._requests.lost) + len(self._requests.sent) + len(self._requests.waiting)
        )
        self._tell(SessionEvent.DISCONNECTED)

    def session_ended(self) -> None:
        """The session has expired (or kazoo's thread has died, which comes to the same): begin another."""
        if self._closing:
            return
        ended, self._session = self._session, None
        self._connected = False
        self._reactor.callInThread(self._close_in_thread, ended, None)
        doomed = self._requests.take_all()
        if self._expired or not self._ready.settled:  # one that never stood: nobody knows of it
            self._requests.waiting.extend(doomed)
            self._reactor.callLater(RENEWAL_PAUSE_S, self._begin_session)
            return
        log.warning("%s Session expired.", self._settings.name)
        self._expired = True
        self._tell(SessionEvent.EXPIRED)
        self._answer_expired(doomed)
        self._begin_session()

    def session_watch(self, event: WatchEvent) -> None:
        """A watch fired."""
        for listener in list(self._watch_listeners):
            listener(event)

    def _tell(self, event: SessionEvent) -> None:
        for listener in list(self._session_listeners):
            listener(event)

    def _begin_session(self) -> None:
        if self._closing:
            return
        log.info("%s Initializing a new session to %s.", self._settings.name, self._settings.servers)
        self._session = KazooSession(
            SessionSettings(self._settings.servers, self._settings.chroot, self._settings.session_timeout_ms, self._settings.name), self._reactor, self
        )
        self._session.start()


def expire_session(servers: str, client_id: tuple[int, bytes]) -> None:
    """For tests and drills: end somebody's session from outside, by a second client that takes it over with id and password and closes it. Blocks.

    The owner connects again at once and takes it back, so it may need more than one attempt. Raises KazooTimeoutError after several.
    """
    pauses = KazooRetry(max_tries=-1, delay=0.01, max_delay=0.05)
    usurper = KazooClient(servers, client_id=client_id, connection_retry=pauses)
    try:
        usurper.start(timeout=30)
    finally:
        usurper.stop()
        usurper.close()
