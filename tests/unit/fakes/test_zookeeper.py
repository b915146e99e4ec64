"""The fake ensemble's sessions, watches and interleavings."""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.zookeeper import (
    Code,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Request,
    Result,
    SessionEvent,
    SetData,
    WatchEvent,
    WatchKind,
    ZooKeeper,
)
from tests.fakes.clock import FakeClock, SeededRandom
from tests.fakes.zookeeper import FakeZooKeeper, FakeZooKeeperServer


class _Client:
    """A client and all it heard, in order."""

    def __init__(self, server: FakeZooKeeperServer) -> None:
        self.zookeeper: FakeZooKeeper = server.connect()
        self.heard: list[object] = []
        seam: ZooKeeper = self.zookeeper
        seam.add_watch_listener(self.heard.append)
        seam.add_session_listener(self.heard.append)

    def ask(self, *requests: Request) -> list[Result]:
        return self.zookeeper.submit(requests).result()

    def start(self, *requests: Request) -> None:
        """Send; the answers' codes go to `heard`."""
        self.zookeeper.submit(requests).when_settled(lambda settled: self.heard.append([result.code for result in settled.result()]))


def _two() -> tuple[FakeZooKeeperServer, _Client, _Client]:
    server = FakeZooKeeperServer()
    return server, _Client(server), _Client(server)


def _kinds(heard: Sequence[object]) -> list[tuple[WatchKind, str]]:
    return [(event.kind, event.path) for event in heard if isinstance(event, WatchEvent)]


def test_requests_are_answered_in_order() -> None:
    _, client, _ = _two()
    assert [result.code for result in client.ask(Create("/a"), Create("/a"), GetData("/a"), GetData("/b"))] == [
        Code.OK,
        Code.NODE_EXISTS,
        Code.OK,
        Code.NO_NODE,
    ]
    assert client.ask() == []


def test_a_data_watch_fires_once() -> None:
    _, one, two = _two()
    one.ask(Create("/a"), GetData("/a", watch=True), GetData("/a", watch=True))
    two.ask(SetData("/a", b"1"), SetData("/a", b"2"))
    assert _kinds(one.heard) == [(WatchKind.CHANGED, "/a")]


def test_exists_watches_for_a_creation_and_get_data_does_not() -> None:
    _, one, two = _two()
    one.ask(Exists("/a", watch=True), GetData("/b", watch=True), GetChildren("/c", watch=True))
    two.ask(Create("/a"), Create("/b"), Create("/c"))
    assert _kinds(one.heard) == [(WatchKind.CREATED, "/a")]


def test_a_child_watch_sees_children_come_and_go_but_not_their_data() -> None:
    _, one, two = _two()
    two.ask(Create("/a"), Create("/a/1"))
    one.ask(GetChildren("/a", watch=True))
    two.ask(SetData("/a/1", b"x"), SetData("/a", b"x"))
    assert one.heard == []
    two.ask(Delete("/a/1"))
    assert _kinds(one.heard) == [(WatchKind.CHILDREN, "/a")]
    one.ask(GetChildren("/a", watch=True))
    two.ask(Create("/a/2"))
    assert _kinds(one.heard) == [(WatchKind.CHILDREN, "/a")] * 2


def test_a_deletion_uses_up_both_watches_of_a_node_and_is_told_once() -> None:
    server, one, two = _two()
    two.ask(Create("/a"))
    one.ask(GetData("/a", watch=True), GetChildren("/a", watch=True))
    assert server.watches(one.zookeeper.session_id) == (frozenset({"/a"}), frozenset({"/a"}))
    two.ask(Delete("/a"))
    assert _kinds(one.heard) == [(WatchKind.DELETED, "/a")]
    assert server.watches(one.zookeeper.session_id) == (frozenset(), frozenset())


def test_a_client_hears_of_its_own_change_before_the_answer() -> None:
    _, one, _ = _two()
    one.ask(Create("/a"), GetData("/a", watch=True))
    one.start(SetData("/a", b"x"))
    assert one.heard == [WatchEvent(WatchKind.CHANGED, "/a"), [Code.OK]]


def test_an_event_comes_before_the_answer_that_shows_the_change() -> None:
    server, one, two = _two()
    one.ask(Create("/a"), GetData("/a", watch=True))
    server.held = True
    two.start(SetData("/a", b"x"))
    two.zookeeper.process_one()
    one.start(GetData("/a"))
    one.zookeeper.process_one()
    assert one.heard == []
    server.deliver()
    assert one.heard == [WatchEvent(WatchKind.CHANGED, "/a"), [Code.OK]]


def test_a_failed_write_fires_no_watch() -> None:
    _, one, two = _two()
    one.ask(Create("/a"), GetData("/a", watch=True))
    two.ask(SetData("/a", b"x", 5), Multi((SetData("/a", b"y"), Create("/a"))))
    assert one.heard == []


def test_held_requests_wait_until_they_are_stepped() -> None:
    server, one, two = _two()
    server.held = True
    one.start(Create("/a", b"one"))
    two.start(Create("/a", b"two"))
    assert (one.zookeeper.outgoing, one.zookeeper.pending) == ([Create("/a", b"one")], (1, 0))
    assert two.zookeeper.process_one()
    assert server.data("/a") == b"two"
    assert two.heard == []
    server.deliver()
    assert (one.heard, two.heard) == ([[Code.NODE_EXISTS]], [[Code.OK]])
    assert not server.step()


def test_a_seed_draws_an_interleaving() -> None:
    def winner(seed: int) -> bytes | None:
        server, one, two = _two()
        server.held = True
        random = SeededRandom(seed)
        one.start(Create("/a", b"one"))
        two.start(Create("/a", b"two"))
        while server.step(random):
            pass
        return server.data("/a")

    assert {winner(seed) for seed in range(20)} == {b"one", b"two"}
    assert [winner(seed) for seed in range(20)] == [winner(seed) for seed in range(20)]


def test_an_expired_session_loses_its_ephemerals_and_watches_and_gets_a_new_id() -> None:
    server, one, two = _two()
    one.ask(Create("/e", ephemeral=True), Create("/p"), GetData("/p", watch=True))
    two.ask(Exists("/e", watch=True))
    old = one.zookeeper.session_id
    one.zookeeper.expire()
    assert one.heard == [SessionEvent.EXPIRED, SessionEvent.RENEWED]
    assert one.zookeeper.session_id not in (0, old)
    assert _kinds(two.heard) == [(WatchKind.DELETED, "/e")]
    two.ask(SetData("/p", b"x"))
    assert _kinds(one.heard) == []
    assert (server.exists("/e"), server.exists("/p")) == (False, True)


def test_expiry_answers_whatever_is_outstanding() -> None:
    server, one, _ = _two()
    server.held = True
    one.start(Create("/a"), Create("/b"))
    one.zookeeper.process_one()
    one.zookeeper.expire()
    assert one.heard == [SessionEvent.EXPIRED, [Code.SESSION_EXPIRED] * 2, SessionEvent.RENEWED]
    assert (server.exists("/a"), server.exists("/b")) == (True, False)


def test_what_is_submitted_between_two_sessions_waits_for_the_next() -> None:
    _, one, _ = _two()
    one.zookeeper.expire(renew=False)
    assert one.zookeeper.session_id == 0
    one.start(Create("/a"))
    assert one.heard == [SessionEvent.EXPIRED]
    one.zookeeper.renew()
    assert one.heard == [SessionEvent.EXPIRED, SessionEvent.RENEWED, [Code.OK]]


def test_a_listener_may_submit_when_told_of_the_expiry() -> None:
    _, one, _ = _two()
    one.zookeeper.add_session_listener(lambda event: one.start(Create("/a")) if event is SessionEvent.EXPIRED else None)
    one.zookeeper.expire()
    assert one.heard == [SessionEvent.EXPIRED, SessionEvent.RENEWED, [Code.OK]]


def test_disconnection_holds_requests_and_events_back_until_the_reconnect() -> None:
    server, one, two = _two()
    one.ask(Create("/a"), GetData("/a", watch=True), Create("/e", ephemeral=True))
    one.zookeeper.disconnect()
    one.start(GetData("/a"))
    two.ask(SetData("/a", b"x"))
    assert (one.heard, server.exists("/e")) == ([SessionEvent.DISCONNECTED], True)
    one.zookeeper.reconnect()
    assert one.heard == [SessionEvent.DISCONNECTED, SessionEvent.CONNECTED, WatchEvent(WatchKind.CHANGED, "/a"), [Code.OK]]


def test_a_request_whose_answer_was_lost_is_performed_twice() -> None:
    server, one, _ = _two()
    server.held = True
    one.start(Create("/a"), Create("/b"))
    one.zookeeper.process_one()
    one.zookeeper.disconnect()
    one.zookeeper.reconnect()
    server.deliver()
    assert one.heard[-1] == [Code.NODE_EXISTS, Code.OK]


def test_an_expiry_while_disconnected_is_learnt_at_the_reconnect() -> None:
    server, one, _ = _two()
    one.ask(Create("/e", ephemeral=True))
    one.zookeeper.disconnect()
    one.start(Create("/a"))
    one.zookeeper.expire()
    assert (one.heard, server.exists("/e")) == ([SessionEvent.DISCONNECTED], False)
    one.zookeeper.reconnect()
    assert one.heard[1:] == [SessionEvent.EXPIRED, [Code.SESSION_EXPIRED], SessionEvent.RENEWED]
    assert one.ask(Create("/e", ephemeral=True))[0].ok


def test_closing_removes_ephemerals_at_once() -> None:
    server, one, two = _two()
    one.ask(Create("/e", ephemeral=True))
    assert one.zookeeper.close().settled
    assert (server.exists("/e"), one.heard) == (False, [])
    assert two.ask(Exists("/e"))[0].code is Code.NO_NODE


def test_a_closed_client_answers_session_expired() -> None:
    server, one, _ = _two()
    server.held = True
    one.start(Create("/a"))
    one.zookeeper.close()
    one.start(Create("/b"))
    one.zookeeper.reconnect()
    assert one.heard == [[Code.SESSION_EXPIRED], [Code.SESSION_EXPIRED]]


def test_a_killed_client_hears_nothing_and_its_ephemerals_wait_for_the_session_timeout() -> None:
    server, one, two = _two()
    one.ask(Create("/e", ephemeral=True), Create("/p"), GetData("/p", watch=True))
    session = one.zookeeper.kill()
    two.ask(SetData("/p", b"x"), Exists("/e", watch=True))
    assert (server.exists("/e"), one.heard) == (True, [])
    one.start(GetData("/p"))
    assert one.heard == []
    server.close_session(session)
    assert _kinds(two.heard) == [(WatchKind.DELETED, "/e")]
    assert not server.has_session(session)


def test_a_listener_may_submit_and_is_answered_after_what_was_sent_before() -> None:
    _, one, _ = _two()
    one.ask(Create("/a"), GetData("/a", watch=True))
    seen: list[bytes | None] = []
    one.zookeeper.add_watch_listener(lambda event: one.zookeeper.submit([GetData(event.path)]).when_settled(lambda done: seen.append(done.result()[0].data)))
    one.ask(SetData("/a", b"1"), SetData("/a", b"2"))
    assert seen == [b"2"]


def test_the_log_tells_every_change_with_its_writer() -> None:
    server, one, two = _two()
    one.ask(Create("/a", b"0"))
    two.ask(Multi((SetData("/a", b"1", 0), Create("/a/b", ephemeral=True))), SetData("/a", b"x", 9))
    two.zookeeper.close()
    rows = [(change.event, change.path, change.data, change.version, change.session, change.multi, change.closed) for change in server.changes()]
    assert rows == [
        ("create", "/a", b"0", 0, 1, False, False),
        ("change", "/a", b"1", 1, 2, True, False),
        ("create", "/a/b", None, 0, 2, True, False),
        ("delete", "/a/b", None, 0, 2, False, True),
    ]
    assert [change.path for change in server.changes("/a/b")] == ["/a/b"] * 2


def test_outside_writes_create_parents_and_fire_watches() -> None:
    server, one, _ = _two()
    server.put("/a/b/c", b"1")
    one.ask(GetData("/a/b/c", watch=True), GetChildren("/a/b", watch=True))
    server.put("/a/b/c", b"2")
    assert server.tree("/a") == {"/a": None, "/a/b": None, "/a/b/c": b"2"}
    server.remove("/a/b")
    assert _kinds(one.heard) == [(WatchKind.CHANGED, "/a/b/c"), (WatchKind.CHILDREN, "/a/b")]
    assert (server.tree(), server.children("/")) == ({"/a": None}, ["a"])


def test_times_come_from_the_clock() -> None:
    clock = FakeClock(now_ms=100)
    server = FakeZooKeeperServer(clock)
    server.put("/a", b"1")
    clock.advance(5)
    server.put("/a", b"2")
    assert (server.stat("/a").ctime_ms, server.stat("/a").mtime_ms) == (100, 105)
