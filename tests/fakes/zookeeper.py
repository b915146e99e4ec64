"""A ZooKeeper ensemble in memory, whose every interleaving a test can choose.

`FakeZooKeeperServer` holds the tree, the sessions, their watches, and a log of every change. `FakeZooKeeper` is one client: the seam `ZooKeeper` of
`common/zookeeper.py`.

A request makes two journeys: it waits in the client's `outgoing` queue until the server takes it up, and its answer waits in the `incoming` queue until the
client gets it. Both are first in, first out, and watch events travel in the same incoming queue: so an event always comes before the answer of any later read
that would show the change.
* By default both journeys happen at once: after `submit` returns, everything that could happen has happened.
* With `server.held = True` nothing moves by itself. `server.step()` does one thing (a random one, if given a random); `client.process_one()` and
  `client.receive_one()` choose the client and the journey; `server.deliver()` runs until nothing moves.

Sessions end only by `expire()` or `close()`; a `disconnect()` alone never ends one. What differs from ZooKeeper: watches that fire while their client is
disconnected are queued one by one (ZooKeeper compares zxids at the reconnect, and may merge a deletion and creation into one event); there is one server, so
no client ever reads stale data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import (
    Code,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Request,
    Result,
    SessionEvent,
    SetData,
    Stat,
    WatchEvent,
    WatchKind,
)
from tests.fakes.pending_requests import Batch, PendingRequest, answer_expired
from tests.fakes.znode_tree import Change, Outcome, ZNodeTree, parent_of, paths_below

__all__ = ["Change", "FakeZooKeeper", "FakeZooKeeperServer"]

STEPS_MAX = 10_000_000  # in one `deliver`: more means that clients keep each other busy for ever


@dataclass(slots=True)
class _Session:
    """What the server keeps of a session: the paths that it watches."""

    id: int
    client: FakeZooKeeper
    data_watches: set[str] = field(default_factory=set)  # set by GetData and Exists
    child_watches: set[str] = field(default_factory=set)


class FakeZooKeeperServer:
    """The ensemble: one tree, many sessions."""

    def __init__(self, clock: Clock | None = None, *, held: bool = False) -> None:
        self.held = held
        self.log: list[Change] = []  # every change since the start, in zxid order
        self.clients: list[FakeZooKeeper] = []
        self._clock = clock
        self._tree = ZNodeTree()
        self._sessions: dict[int, _Session] = {}
        self._sessions_made = 0
        self._order = 0
        self._running = False

    def connect(self) -> FakeZooKeeper:
        """A new client with a session of its own."""
        return FakeZooKeeper(self)

    # What tests see of it and do to it

    def exists(self, path: str) -> bool:
        """True where there is such a node."""
        return path in self._tree.nodes

    def data(self, path: str) -> bytes | None:
        """A node's data; KeyError where there is none."""
        return self._tree.nodes[path].data

    def stat(self, path: str) -> Stat:
        """A node's stat; KeyError where there is none."""
        return self._tree.nodes[path].stat()

    def children(self, path: str) -> list[str]:
        """Names of the children, sorted; KeyError where there is no such node."""
        return sorted(self._tree.nodes[path].children)

    def tree(self, path: str = "/") -> dict[str, bytes | None]:
        """Path to data of this node and all below it, but for the root; parents first."""
        return {each: self._tree.nodes[each].data for each in paths_below(path, self._tree.nodes) if each != "/"}

    def put(self, path: str, data: bytes | None = None) -> None:
        """Write as a tool outside of the cluster would (session 0): create with parents, or set."""
        if path in self._tree.nodes:
            self._perform(SetData(path, data), session=0)
        else:
            if parent_of(path) not in self._tree.nodes:
                self.put(parent_of(path))
            self._perform(Create(path, data), session=0)
        self.run_unless_held()

    def remove(self, path: str) -> None:
        """Delete with all below it, as a tool outside of the cluster would."""
        for each in reversed(paths_below(path, self._tree.nodes)):
            self._perform(Delete(each), session=0)
        self.run_unless_held()

    def changes(self, prefix: str = "/") -> list[Change]:
        """The log of what changed at or below a path, without the checks of multis."""
        return [change for change in self.log if change.event != "check" and (change.path + "/").startswith(prefix.rstrip("/") + "/")]

    def watches(self, session: int) -> tuple[frozenset[str], frozenset[str]]:
        """The paths whose data, and whose children, a session watches at present."""
        found = self._sessions[session]
        return frozenset(found.data_watches), frozenset(found.child_watches)

    # Running

    def step(self, random: Random | None = None) -> bool:
        """Move one thing: the one waiting longest, or that of a client drawn from those with something to move. False: nothing moves."""
        moves = [move for client in self.clients for move in client.moves()]
        if not moves:
            return False
        _, move = moves[random.randrange(len(moves))] if random is not None else min(moves, key=lambda each: each[0])
        return move()

    def deliver(self) -> None:
        """Run until nothing moves any more; does nothing where it is running already."""
        if self._running:
            return
        self._running = True
        try:
            for _ in range(STEPS_MAX):
                if not self.step():
                    return
            raise AssertionError("the clients keep each other busy for ever")
        finally:
            self._running = False

    # For FakeZooKeeper

    def next_order(self) -> int:
        """A number for the global order of arrivals."""
        self._order += 1
        return self._order

    def open_session(self, client: FakeZooKeeper) -> int:
        """A new session's id."""
        self._sessions_made += 1
        self._sessions[self._sessions_made] = _Session(self._sessions_made, client)
        return self._sessions_made

    def close_session(self, session: int) -> None:
        """Forget a session: its watches, then its ephemerals. For a client that was killed, this is its session time-out."""
        if self._sessions.pop(session, None) is not None:
            self._publish(self._tree.close_session(session))
            self.run_unless_held()

    def has_session(self, session: int) -> bool:
        """True while a session lives."""
        return session in self._sessions

    def process(self, request: Request, session: int) -> Result:
        """Perform a request of a session, set its watch, fire the watches of others and its own."""
        found = self._sessions.get(session)
        if found is None:
            return Result(Code.SESSION_EXPIRED)
        result = self._perform(request, session=session)
        if isinstance(request, GetData | Exists | GetChildren) and request.watch:
            self._set_watch(found, request, result)
        return result

    def run_unless_held(self) -> None:
        """Let things move after something was put on its way."""
        if not self.held:
            self.deliver()

    def _perform(self, request: Request, *, session: int) -> Result:
        outcome = self._tree.apply(request, session=session, now_ms=self._clock.now_ms() if self._clock is not None else 0)
        self._publish(outcome)
        return outcome.result

    def _publish(self, outcome: Outcome) -> None:
        self.log += outcome.changes
        for trigger in outcome.triggers:
            for session in list(self._sessions.values()):
                self._fire(session, trigger)

    def _fire(self, session: _Session, trigger: WatchEvent) -> None:
        """Tell a session once, and forget the watches that the trigger uses up."""
        used = [session.child_watches] if trigger.kind is WatchKind.CHILDREN else [session.data_watches]
        if trigger.kind is WatchKind.DELETED:
            used.append(session.child_watches)
        if any(trigger.path in watches for watches in used):
            for watches in used:
                watches.discard(trigger.path)
            session.client.enqueue(trigger)

    def _set_watch(self, session: _Session, request: GetData | Exists | GetChildren, result: Result) -> None:
        if isinstance(request, GetChildren):
            if result.ok:
                session.child_watches.add(request.path)
        elif result.ok or (isinstance(request, Exists) and result.code is Code.NO_NODE):
            session.data_watches.add(request.path)


class FakeZooKeeper:
    """One client: the seam `ZooKeeper`."""

    def __init__(self, server: FakeZooKeeperServer) -> None:
        self._server = server
        self._session_id = server.open_session(self)
        self._connected = True
        self._closed = False
        self._outgoing: deque[PendingRequest] = deque()
        self._incoming: deque[tuple[int, WatchEvent | PendingRequest]] = deque()
        self._watch_listeners: list[Callable[[WatchEvent], None]] = []
        self._session_listeners: list[Callable[[SessionEvent], None]] = []
        server.clients.append(self)

    # The seam

    @property
    def session_id(self) -> int:
        """The current session; 0 between an expiry and the next session."""
        return self._session_id

    def submit(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        """Queue all. Between two sessions they wait for the next; after `close` all are answered SESSION_EXPIRED."""
        batch = Batch([None] * len(requests))
        if not requests:
            batch.promise.resolve([])
        pending = [PendingRequest(self._server.next_order(), request, batch, index) for index, request in enumerate(requests)]
        if self._closed:
            answer_expired(pending)
        else:
            self._outgoing.extend(pending)
        self._server.run_unless_held()
        return batch.promise

    def add_watch_listener(self, listener: Callable[[WatchEvent], None]) -> None:
        """Called for every watch that fires."""
        self._watch_listeners.append(listener)

    def add_session_listener(self, listener: Callable[[SessionEvent], None]) -> None:
        """Called for every change of the session."""
        self._session_listeners.append(listener)

    # The two journeys

    @property
    def pending(self) -> tuple[int, int]:
        """How many requests the server has not taken up, and how many answers and events are on their way back."""
        return len(self._outgoing), len(self._incoming)

    @property
    def outgoing(self) -> list[Request]:
        """The requests that the server has not taken up."""
        return [pending.request for pending in self._outgoing]

    @property
    def has_moves(self) -> bool:
        """Whether `moves` has any."""
        return self._connected and bool(self._incoming or (self._session_id and self._outgoing))

    @property
    def is_connected(self) -> bool:
        """False between `disconnect` and `reconnect`."""
        return self._connected

    def moves(self) -> list[tuple[int, Callable[[], bool]]]:
        """What could happen next, each with its place in the global order."""
        moves: list[tuple[int, Callable[[], bool]]] = []
        if self._connected and self._incoming:
            moves.append((self._incoming[0][0], self.receive_one))
        if self._connected and self._session_id and self._outgoing:
            moves.append((self._outgoing[0].order, self.process_one))
        return moves

    def process_one(self) -> bool:
        """The server performs the oldest request; its answer sets out. False: nothing to do."""
        if not (self._connected and self._session_id and self._outgoing):
            return False
        pending = self._outgoing.popleft()
        pending.result = self._server.process(pending.request, self._session_id)
        self._incoming.append((self._server.next_order(), pending))
        return True

    def receive_one(self) -> bool:
        """The client gets the oldest answer or event. False: nothing to do."""
        if not self._connected or not self._incoming:
            return False
        _, message = self._incoming.popleft()
        if isinstance(message, WatchEvent):
            for listener in list(self._watch_listeners):
                listener(message)
        else:
            assert message.result is not None
            message.batch.answer(message.index, message.result)
        return True

    def enqueue(self, event: WatchEvent) -> None:
        """A watch of this session has fired."""
        self._incoming.append((self._server.next_order(), event))

    # What tests do to it

    def disconnect(self) -> None:
        """Cut the connection. Answers on their way are lost: those requests will be sent, and performed, once more."""
        if not self._connected:
            return
        self._connected = False
        lost = [message for _, message in self._incoming if isinstance(message, PendingRequest)]
        self._incoming = deque((order, message) for order, message in self._incoming if isinstance(message, WatchEvent))
        self._outgoing.extendleft(reversed(lost))
        self._tell(SessionEvent.DISCONNECTED)

    def reconnect(self) -> None:
        """The connection stands again: same session, or a new one if it expired meanwhile."""
        if self._connected or self not in self._server.clients:
            return
        self._connected = True
        if self._server.has_session(self._session_id):
            self._tell(SessionEvent.CONNECTED)
        else:
            self._learn_of_expiry()
            self.renew()
        self._server.run_unless_held()

    def expire(self, *, renew: bool = True) -> None:
        """The ensemble drops the session. A connected client learns it now (and has a new session, unless `renew=False`), another one at its `reconnect`.

        As with the real adapter: EXPIRED is told, then all that was outstanding is answered, then RENEWED is told and what was submitted meanwhile is sent.
        """
        self._server.close_session(self._session_id)
        if self._connected:
            self._learn_of_expiry()
            if renew:
                self.renew()
        self._server.run_unless_held()

    def renew(self) -> None:
        """A new session after `expire(renew=False)`."""
        if not self._session_id and self in self._server.clients:
            self._session_id = self._server.open_session(self)
            self._tell(SessionEvent.RENEWED)
            self._server.run_unless_held()

    def close(self) -> Promise[None]:
        """End the session in order: ephemerals go at once, listeners hear nothing, what is outstanding is answered SESSION_EXPIRED."""
        self._closed = True
        outstanding = self._take_outstanding()
        session = self.kill()
        answer_expired(outstanding)
        self._server.close_session(session)
        return Promise.resolved(None)

    def kill(self) -> int:
        """The client's process dies: nothing is answered any more, its session lives on until `server.close_session` of the id returned."""
        session, self._session_id = self._session_id, 0
        self._connected = False
        self._take_outstanding()
        self._watch_listeners.clear()
        self._session_listeners.clear()
        if self in self._server.clients:
            self._server.clients.remove(self)
        return session

    def _learn_of_expiry(self) -> None:
        outstanding = self._take_outstanding()
        self._session_id = 0
        self._tell(SessionEvent.EXPIRED)
        answer_expired(outstanding)

    def _take_outstanding(self) -> list[PendingRequest]:
        taken = [message for _, message in self._incoming if isinstance(message, PendingRequest)] + list(self._outgoing)
        self._incoming.clear()
        self._outgoing.clear()
        return taken

    def _tell(self, event: SessionEvent) -> None:
        for listener in list(self._session_listeners):
            listener(event)
