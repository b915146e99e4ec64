"""One ZooKeeper session, held by one kazoo client and never renewed.

kazoo runs one thread, which connects, sends, receives and pings. Whatever it has to tell (answers, watches, changes of state) is handed to the reactor thread
in the order in which it happened (`HandOver`); no decision is made on kazoo's thread, and nothing on the reactor thread waits for it, which rules out the
deadlocks of kazoo's issues 208 and 356.

What kazoo lacks and this module adds:
* kazoo forgets all watches at each disconnection, though the session lives. They are kept, and SetWatches is the first request on the new connection (as the
  Java client does).
* kazoo queues requests while disconnected, so that a later request could overtake one that was lost. Here a gate is shut with the first loss and opened on the
  reactor thread, after SetWatches; requests that find it shut are not taken.
* kazoo opens a new session by itself when one has expired. The next session must not begin before everybody knows that this one has ended: a client whose
  session has ended is refused any further connection.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, KazooException
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.states import EventType, KazooState
from kazoo.retry import KazooRetry, RetryFailedError

from pykafka_classic.common.zookeeper import Code, Exists, GetChildren, GetData, Result, WatchEvent, WatchKind
from pykafka_classic.edges import kazoo_requests, shell_requests
from pykafka_classic.edges.kazoo_plumbing import BufferedSocket, HandOver, select_buffered
from pykafka_classic.edges.kazoo_requests import KazooAnswer
from pykafka_classic.edges.reactor import ReactorLoop
from pykafka_classic.edges.shell_requests import AddAuth, AnyRequest, GetConfig, RemovedWatches, RemoveWatches

log = logging.getLogger("kafka.zookeeper.ZooKeeperClient")

# Pause between two rounds over all servers: short at first, since most outages are an election in the ensemble, then a second.
RECONNECT_FIRST_PAUSE_S: Final = 0.05
RECONNECT_MAX_PAUSE_S: Final = 1.0

# A server that is just starting may take a connection and never answer; without a bound of ours the client would wait for as long as its session lives.
HANDSHAKE_MAX_S: Final = 5.0

# kazoo speaks of each attempt; the lines that matter are ours. Only what it cannot explain (a traceback) passes.
_kazoo_log = logging.getLogger("kafka.zookeeper.ZooKeeperClient.kazoo")
_kazoo_log.setLevel(logging.ERROR)

_WATCH_KINDS: Final = {
    EventType.CREATED: WatchKind.CREATED,
    EventType.DELETED: WatchKind.DELETED,
    EventType.CHANGED: WatchKind.CHANGED,
    EventType.CHILD: WatchKind.CHILDREN,
}


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Whom to connect to. `servers` is "host:port,host:port"; `name` stands in log lines."""

    servers: str
    chroot: str
    session_timeout_ms: int
    name: str


class SessionOwner(Protocol):
    """What a session tells, always on the reactor thread."""

    def session_connected(self) -> None:
        """A connection stands (the first or a later one); `send` works."""
        ...

    def session_disconnected(self) -> None:
        """No connection; what was under way has been answered CONNECTION_LOSS."""
        ...

    def session_ended(self) -> None:
        """The session is over; nothing more comes from it, not even answers."""
        ...

    def session_watch(self, event: WatchEvent) -> None:
        """A watch fired."""
        ...


class KazooSession:
    """One session. All public methods belong to the reactor thread."""

    def __init__(self, settings: SessionSettings, reactor: ReactorLoop, owner: SessionOwner) -> None:
        self._settings = settings
        self._from_kazoo = HandOver(reactor).put
        self._owner = owner
        self._ended = False
        self._session_id = 0
        self._gate = _Gate()
        self._seen_zxid = 0  # of the last answer on the connection that was lost
        self._data_watches: set[str] = set()
        self._exist_watches: set[str] = set()
        self._child_watches: set[str] = set()
        self._last_event: object = None
        self._handler = _Handler(settings, self._from_kazoo)
        self._client = _Client(self._handler, settings)
        self._client.add_listener(self._state_changed)

    @property
    def session_id(self) -> int:
        """0 before the first connection."""
        return self._session_id

    def client_id(self) -> tuple[int, bytes] | None:
        """Session id and password: with them another client could take over (or, in tests, end) the session. None while disconnected."""
        identity: tuple[int, bytes] | None = self._client.client_id
        return identity

    def start(self) -> None:
        """Begin to connect, for ever."""
        self._client.start_async()

    def send(self, request: AnyRequest, on_result: Callable[[Result], None]) -> bool:
        """Hand a request to kazoo; False where there is no connection now.

        `on_result` is called on the reactor thread, in the order of sending, unless the session ends before.
        """
        with self._gate.lock:
            if not self._gate.is_open:
                return False
            answer = _Answer(self, request, on_result)
            # _call is kazoo's one way to send any request; its public methods are wrappers around it.
            self._client._call(shell_requests.any_to_kazoo(request, self._settings.chroot, self._watch_fired), answer)
        return True

    def abandon(self) -> None:
        """From now on nothing comes from it, not even answers."""
        self._ended = True

    def close(self) -> None:
        """End the session at the server and wait for it. Blocks: call it in a thread. Bounded by the session's time-out."""
        try:
            self._client.stop()
            self._client.close()
        except (KazooException, OSError) as error:
            log.warning("%s Closing the session failed, its ephemeral nodes vanish when it times out: %r", self._settings.name, error)

    # On kazoo's thread: everything here hands over and returns.

    def _state_changed(self, state: str) -> None:
        if state == KazooState.CONNECTED:
            self._handler.established()
            self._from_kazoo(self._connected, self._gate.times_shut)
            return
        self._gate.shut()
        self._seen_zxid = self._client.last_zxid
        if state == KazooState.LOST:
            self._handler.refuse_connections()
        self._from_kazoo(self._lost if state == KazooState.LOST else self._disconnected)

    def answered(self, answer: _Answer, value: KazooAnswer, error: Exception | None) -> None:
        """kazoo has the answer to a request."""
        if error is not None and kazoo_requests.code_of(error) is Code.CONNECTION_LOSS:
            self._gate.shut()
        self._from_kazoo(self._deliver, answer, value, error)

    # On the reactor thread.

    def _connected(self, times_shut: int) -> None:
        if self._ended:
            return
        with self._gate.lock:
            if not self._gate.may_open(times_shut):
                return  # that connection is gone again
            self._session_id = (self._client.client_id or (0, b""))[0]
            for request in kazoo_requests.set_watches(self._seen_zxid, self._data_watches, self._exist_watches, self._child_watches):
                self._client._call(request, _Answer(self, None, None))
            self._gate.open()
        self._owner.session_connected()

    def _disconnected(self) -> None:
        if not self._ended:
            self._owner.session_disconnected()

    def _lost(self) -> None:
        if not self._ended:
            self._ended = True
            self._owner.session_ended()

    def _deliver(self, answer: _Answer, value: KazooAnswer, error: Exception | None) -> None:
        request, on_result = answer.request, answer.on_result
        if self._ended or answer.delivered or request is None or on_result is None:
            return
        answer.delivered = True
        on_result(self._result(request, value, error))

    def _result(self, request: AnyRequest, value: KazooAnswer, error: Exception | None) -> Result:
        if isinstance(error, AuthFailedError) and isinstance(request, AddAuth):
            return Result(Code.AUTH_FAILED, request.path)  # for any other request it is a way to say that the session is over
        if error is not None:
            return Result(kazoo_requests.code_of(error), getattr(request, "path", ""))
        result = shell_requests.any_from_kazoo(request, value, self._settings.chroot)
        match request:
            case AddAuth(scheme, auth):
                self._client.auth_data.add((scheme, auth))  # kazoo says it again on every later connection
            case RemoveWatches():
                return self._without_watches(request)
            case GetData() | Exists() | GetChildren() | GetConfig() if request.watch:
                self._note_watch(request, result)
        return result

    def _without_watches(self, request: RemoveWatches) -> RemovedWatches:
        path = kazoo_requests.prefixed(self._settings.chroot, request.path)
        data = request.of_data and path in self._data_watches | self._exist_watches
        child = request.of_children and path in self._child_watches
        if data:
            self._data_watches.discard(path)
            self._exist_watches.discard(path)
            self._client._data_watchers.pop(path, None)
        if child:
            self._child_watches.discard(path)
            self._client._child_watchers.pop(path, None)
        return RemovedWatches(Code.OK, request.path, data_watch=data, child_watch=child)

    def _note_watch(self, request: GetData | Exists | GetChildren | GetConfig, result: Result) -> None:
        path = request.path if isinstance(request, GetConfig) else kazoo_requests.prefixed(self._settings.chroot, request.path)
        if result.ok:
            (self._child_watches if isinstance(request, GetChildren) else self._data_watches).add(path)
        elif isinstance(request, Exists) and result.code is Code.NO_NODE:
            self._exist_watches.add(path)

    def _watch_fired(self, event: Any) -> None:
        # kazoo calls once for the data watch and once for the child watch of a deleted node, with the same event.
        kind = _WATCH_KINDS.get(event.type)
        if self._ended or kind is None or event is self._last_event:
            return
        self._last_event = event
        if kind in (WatchKind.CHILDREN, WatchKind.DELETED):
            self._child_watches.discard(event.path)
        if kind is not WatchKind.CHILDREN:
            self._data_watches.discard(event.path)
            self._exist_watches.discard(event.path)
        self._owner.session_watch(WatchEvent(kind, kazoo_requests.unprefixed(self._settings.chroot, event.path)))


class _Gate:
    """Whether requests may go to kazoo. Shut from kazoo's thread, opened from the reactor's, and not by one who has not heard of the latest shutting."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_open = False
        self.times_shut = 0

    def shut(self) -> None:
        with self.lock:
            self.is_open = False
            self.times_shut += 1

    def may_open(self, times_shut: int) -> bool:
        return times_shut == self.times_shut

    def open(self) -> None:
        self.is_open = True


class _Answer:
    """Where kazoo puts the answer to one request, on its own thread; sometimes twice (when it is being closed), and the first counts."""

    __slots__ = ("_session", "delivered", "on_result", "request")

    def __init__(self, session: KazooSession, request: AnyRequest | None, on_result: Callable[[Result], None] | None) -> None:
        self._session = session
        self.request = request
        self.on_result = on_result
        self.delivered = False

    def set(self, value: KazooAnswer = None) -> None:
        self._session.answered(self, value, None)

    def set_exception(self, error: Exception) -> None:
        self._session.answered(self, None, error)


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]  # the base class is untyped
    """kazoo's link to threads and sockets, without its usual two worker threads: callbacks go straight to the reactor, so that all keep their order."""

    def __init__(self, settings: SessionSettings, hand_over: Callable[..., None]) -> None:
        super().__init__()
        self._settings = settings
        self._hand_over = hand_over
        self._refusing = False
        self._failed_before = False
        self._handshaking = False
        self._share_s = settings.session_timeout_ms / 1000 / (settings.servers.count(",") + 1)
        self._handshake_s = min(HANDSHAKE_MAX_S, self._share_s)

    @property
    def running(self) -> bool:
        return True

    def start(self) -> None:
        """No workers to start."""

    def stop(self) -> None:
        """No workers to stop."""

    def dispatch_callback(self, callback: Any) -> None:
        self._hand_over(callback.func, *callback.args)

    def established(self) -> None:
        self._handshaking = False

    def select(self, readers: Any, writers: Any, others: Any, timeout: float) -> Any:
        limit_s = min(timeout, self._handshake_s) if self._handshaking else timeout
        connection = next((each for each in (*readers, *writers) if isinstance(each, BufferedSocket)), None)
        if connection is None:
            return super().select(readers, writers, others, limit_s)
        return ([], writers, []) if writers else (select_buffered(connection, readers, limit_s), [], [])

    def refuse_connections(self) -> None:
        self._refusing = True

    def sleep_func(self, seconds: float) -> None:
        if self._refusing:
            raise RetryFailedError("the session is over")  # kazoo's loop ends on this
        time.sleep(seconds)

    def create_connection(self, *arguments: Any, **named: Any) -> Any:
        """Connect to one server, allowing it its share of the session's time-out only: one dead machine must not cost the session."""
        if self._refusing:
            raise OSError("the session is over")
        named["timeout"] = self._share_s
        try:
            connection = super().create_connection(*arguments, **named)
        except OSError as error:
            if not self._failed_before:
                log.warning(
                    "%s Cannot connect to ZooKeeper at %s:%s: %s; trying on",
                    self._settings.name,
                    named.get("hostname"),
                    named.get("address", ("", "?"))[1],
                    error,
                )
            self._failed_before = True
            raise
        self._failed_before = False
        self._handshaking = True
        return connection if named.get("use_ssl") else BufferedSocket(connection)


class _Client(KazooClient):  # type: ignore[misc]  # the base class is untyped
    """kazoo's client, for one session."""

    def __init__(self, handler: _Handler, settings: SessionSettings) -> None:
        pauses = KazooRetry(max_tries=-1, delay=RECONNECT_FIRST_PAUSE_S, backoff=2, max_delay=RECONNECT_MAX_PAUSE_S, sleep_func=handler.sleep_func)
        super().__init__(settings.servers, timeout=settings.session_timeout_ms / 1000, handler=handler, connection_retry=pauses, logger=_kazoo_log)

    def _reset_watchers(self) -> None:
        """kazoo forgets its watches at each disconnection; those of this session live as long as it does (see SetWatches)."""
