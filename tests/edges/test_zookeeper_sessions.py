"""The ZooKeeper adapter when connections and sessions are lost, against a real server that is stopped, killed and started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from zope.interface import implementer

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Code, Create, Delete, Exists, GetChildren, GetData, Result, SessionEvent, SetData, WatchEvent, WatchKind
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.processes import ZooKeeperEnsemble, ZooKeeperProcess
from pykafka_classic.edges.zookeeper import ZooKeeperSettings
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread
from tests.edges.zookeeper_client import Client

Connect = Callable[..., Client]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ZooKeeperProcess]:
    process = ZooKeeperProcess(tmp_path, {"tickTime": "200", "maxSessionTimeout": "60000"})
    process.start()
    process.wait_serving()
    yield process
    process.kill()


@pytest.fixture
def connect(server: ZooKeeperProcess, reactor_thread: ReactorThread) -> Iterator[Connect]:
    clients: list[Client] = []

    def make(session_timeout_ms: int = 1000, max_in_flight: int = 10) -> Client:
        clients.append(Client(reactor_thread, ZooKeeperSettings(server.address, session_timeout_ms=session_timeout_ms, max_in_flight=max_in_flight)).connect())
        return clients[-1]

    yield make
    server.resume()
    for client in clients:
        client.close()


def test_expiry_is_told_then_renewed(connect: Connect) -> None:
    client, witness = connect(), connect()
    first = client.zk.session_id
    client.one(Create("/e", ephemeral=True))
    client.expire()
    assert witness.one(Exists("/e")).code is Code.NO_NODE
    wait_until(lambda: SessionEvent.RENEWED in client.told, seconds=DEADLINE_S)
    assert client.told == [SessionEvent.DISCONNECTED, SessionEvent.EXPIRED, SessionEvent.RENEWED]
    assert client.zk.session_id not in (0, first)
    assert client.one(Create("/e", ephemeral=True)).ok


def test_watches_die_with_their_session(connect: Connect) -> None:
    client, witness = connect(), connect()
    client.submit(Create("/a"), GetData("/a", watch=True), GetChildren("/", watch=True), Exists("/new", watch=True))
    client.expire()
    wait_until(lambda: SessionEvent.RENEWED in client.told, seconds=DEADLINE_S)
    witness.submit(SetData("/a", b"1"), Create("/new"))
    client.one(Exists("/a"))
    client.wait_told(SessionEvent.DISCONNECTED, SessionEvent.EXPIRED, SessionEvent.RENEWED)


def test_requests_of_the_dead_session_are_answered_expired_and_later_ones_are_carried_out(connect: Connect) -> None:
    """The session is dead, the client does not know: some requests are sent, most still wait. One made on hearing EXPIRED is of the new session."""
    client, witness = connect(max_in_flight=5), connect()
    witness.one(Create("/p"))
    answers_of_new: list[Result] = []

    def on_event(event: SessionEvent) -> None:
        if event is SessionEvent.EXPIRED:
            client.zk.submit([Create("/p/new", ephemeral=True), GetData("/p/new")]).then(answers_of_new.extend)

    def ask_when_dead() -> Promise[list[Result]]:
        client.expire_now()  # on the reactor's thread: what kazoo says of it is only heard later
        return client.zk.submit([Create(f"/p/dead{number}") for number in range(30)])

    client.zk.add_session_listener(on_event)
    results = client.finish(client.thread.call(ask_when_dead))
    assert {answer.code for answer in results} == {Code.SESSION_EXPIRED}
    wait_until(lambda: len(answers_of_new) == 2, seconds=DEADLINE_S)
    stat = answers_of_new[1].stat
    assert stat is not None and stat.ephemeral_owner == client.zk.session_id
    assert witness.one(GetChildren("/p")).children == ("new",)
    assert [event for event in client.told if event in (SessionEvent.EXPIRED, SessionEvent.RENEWED)] == [SessionEvent.EXPIRED, SessionEvent.RENEWED]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_death_of_kazoos_thread_is_the_end_of_the_session_and_not_of_the_broker(connect: Connect) -> None:
    """As where ZooKeeper answers with a code that kazoo does not know: its thread ends, and would leave all requests unanswered."""
    client = connect()
    session = client.zk._session
    assert session is not None
    client.thread.call(lambda: session._client._call("no request", None))
    wait_until(lambda: SessionEvent.RENEWED in client.told, seconds=DEADLINE_S)
    assert client.told == [SessionEvent.EXPIRED, SessionEvent.RENEWED]
    assert client.one(Create("/a")).ok


def test_lost_requests_are_sent_again_in_order(connect: Connect, server: ZooKeeperProcess) -> None:
    client = connect(session_timeout_ms=30_000)
    session = client.zk.session_id
    client.one(Create("/p"))
    server.pause()
    promise = client.start([Create("/p/a"), *(Create(f"/p/a/{number}") for number in range(30)), SetData("/p", b"done")])
    server.kill()
    server.start()
    results = client.finish(promise)
    assert {answer.code for answer in results} <= {Code.OK, Code.NODE_EXISTS}  # carried out before the kill: the seam's rule
    assert len(client.one(GetChildren("/p/a")).children) == 30
    assert client.one(GetData("/p")).data == b"done"
    assert client.zk.session_id == session
    client.wait_told(SessionEvent.DISCONNECTED, SessionEvent.CONNECTED)


def test_ephemeral_nodes_outlive_a_disconnection(connect: Connect, server: ZooKeeperProcess) -> None:
    client = connect(session_timeout_ms=30_000)
    client.one(Create("/e", ephemeral=True))
    server.kill()
    server.start()
    client.wait_told(SessionEvent.DISCONNECTED, SessionEvent.CONNECTED)
    assert client.one(Exists("/e")).ok


def test_watches_outlive_a_disconnection_and_tell_what_was_missed(connect: Connect, server: ZooKeeperProcess) -> None:
    """kazoo alone forgets them. The client is kept away by a pause while another one changes things."""
    client, other = connect(session_timeout_ms=3000), connect(session_timeout_ms=60_000)
    client.submit(Create("/changed"), Create("/deleted"), Create("/kept"), Create("/p"))
    client.submit(
        GetData("/changed", watch=True),
        GetData("/deleted", watch=True),
        GetData("/kept", watch=True),
        Exists("/made", watch=True),
        GetChildren("/p", watch=True),
    )
    server.pause()
    missed = other.start([SetData("/changed", b"1"), Delete("/deleted"), Create("/made"), Create("/p/child")])
    wait_until(lambda: client.told == [SessionEvent.DISCONNECTED], seconds=DEADLINE_S)
    server.resume()
    other.finish(missed)
    wait_until(lambda: len(client.told) >= 6, seconds=DEADLINE_S)
    assert SessionEvent.EXPIRED not in client.told
    expected = [(WatchKind.CHANGED, "/changed"), (WatchKind.DELETED, "/deleted"), (WatchKind.CREATED, "/made"), (WatchKind.CHILDREN, "/p")]
    assert sorted((event.kind.value, event.path) for event in client.told if isinstance(event, WatchEvent)) == sorted(
        (kind.value, path) for kind, path in expected
    )
    other.one(SetData("/kept", b"1"))
    wait_until(lambda: client.told[-1] == WatchEvent(WatchKind.CHANGED, "/kept"), seconds=DEADLINE_S)


def test_many_watches_are_set_again_in_pieces(connect: Connect, server: ZooKeeperProcess) -> None:
    client = connect(session_timeout_ms=30_000, max_in_flight=100)
    paths = [f"/{'long' * 50}{number}" for number in range(1500)]
    client.submit(*(Exists(path, watch=True) for path in paths))
    server.kill()
    server.start()
    client.wait_told(SessionEvent.DISCONNECTED, SessionEvent.CONNECTED)
    client.submit(*(Create(path) for path in (paths[0], paths[-1])))
    assert client.told[2:] == [WatchEvent(WatchKind.CREATED, paths[0]), WatchEvent(WatchKind.CREATED, paths[-1])]


def test_session_survives_the_death_of_one_server_of_an_ensemble(tmp_path: Path, reactor_thread: ReactorThread) -> None:
    ensemble = ZooKeeperEnsemble(tmp_path / "ensemble", {"tickTime": "200", "syncLimit": "10", "maxSessionTimeout": "60000"})
    ensemble.start()
    ensemble.wait_serving()
    client = Client(reactor_thread, ZooKeeperSettings(ensemble.address, session_timeout_ms=30_000)).connect()
    session = client.zk.session_id
    client.one(Create("/e", b"mine", ephemeral=True))
    ensemble.leader().kill()
    assert client.one(GetData("/e")).data == b"mine"
    assert client.one(Create("/more")).code in (Code.OK, Code.NODE_EXISTS)
    assert client.zk.session_id == session
    client.close()
    ensemble.stop()


def test_close_while_the_server_is_gone_ends_soon(server: ZooKeeperProcess, reactor_thread: ReactorThread) -> None:
    client = Client(reactor_thread, ZooKeeperSettings(server.address, session_timeout_ms=1000)).connect()
    server.kill()
    waiting = client.start([Create("/a")])
    client.close()
    assert [answer.code for answer in client.finish(waiting)] == [Code.SESSION_EXPIRED]


def test_answers_that_come_while_closing_disturb_nobody(server: ZooKeeperProcess, reactor_thread: ReactorThread) -> None:
    failures: list[LogEvent] = []

    @implementer(ILogObserver)  # type: ignore[untyped-decorator]  # zope has no types
    def observe(event: LogEvent) -> None:
        if event.get("log_failure"):
            failures.append(event)

    def ask_and_close(client: Client) -> Promise[None]:
        for _ in range(10):
            client.zk.submit([GetData("/")] * 10)
        return client.zk.close()

    globalLogPublisher.addObserver(observe)
    try:
        for _ in range(10):
            client = Client(reactor_thread, ZooKeeperSettings(server.address, max_in_flight=100)).connect()
            reactor_thread.wait(partial(ask_and_close, client))
    finally:
        globalLogPublisher.removeObserver(observe)
    assert failures == []
