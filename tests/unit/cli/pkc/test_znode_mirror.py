"""A copy of ZooKeeper's tree that watches keep up to date."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from pykafka_classic.cli.pkc.znode_mirror import WaitingMirror
from pykafka_classic.common.zookeeper import Request, Result, SessionEvent, WatchEvent
from tests.fakes.zookeeper import FakeZooKeeperServer


class Session:
    """A session that never waits: what has happened is there, or nothing is."""

    def __init__(self, server: FakeZooKeeperServer) -> None:
        self.client = server.connect()
        self._events: deque[WatchEvent | SessionEvent] = deque()
        self.client.add_watch_listener(self._events.append)
        self.client.add_session_listener(self._events.append)

    def submit(self, *requests: Request) -> list[Result]:
        return self.client.submit(requests).result()

    def next_event(self, *, seconds: float | None = None) -> WatchEvent | SessionEvent | None:
        return self._events.popleft() if self._events else None


def mirror_of(server: FakeZooKeeperServer, root: str = "/") -> WaitingMirror:
    mirror = WaitingMirror(Session(server), root)
    mirror.read()
    return mirror


def told(mirror: WaitingMirror) -> list[tuple[str, str]]:
    return [(change.mark.value, change.path) for change in mirror.next_changes()]


def test_changes_are_told_once() -> None:
    server = FakeZooKeeperServer()
    server.put("/a/b", b"1")
    mirror = mirror_of(server)
    assert told(mirror) == []
    server.put("/a/b", b"2")
    server.put("/a/c/d", b"3")
    assert told(mirror) == [("~", "/a/b"), ("+", "/a/c"), ("+", "/a/c/d")]
    server.remove("/a/c")
    assert told(mirror) == [("-", "/a/c/d"), ("-", "/a/c")]
    assert told(mirror) == []


def test_a_root_that_is_missing_is_waited_for_and_may_go_and_come_again() -> None:
    server = FakeZooKeeperServer()
    mirror = mirror_of(server, "/a/b")
    assert mirror.nodes == {}
    server.put("/a/b", b"1")
    assert told(mirror) == [("+", "/a/b")]
    server.remove("/a/b")
    assert told(mirror) == [("-", "/a/b")]
    server.put("/a/b", b"2")
    assert told(mirror) == [("+", "/a/b")]


def test_what_is_not_wanted_is_neither_read_nor_told() -> None:
    server = FakeZooKeeperServer()
    server.put("/secret/x", b"1")
    server.put("/open", b"1")
    mirror = WaitingMirror(Session(server), wanted=lambda path: not path.startswith("/secret"))
    mirror.read()
    server.put("/secret/y", b"1")
    server.put("/other", b"1")
    assert told(mirror) == [("+", "/other")]
    assert set(mirror.nodes) == {"/", "/open", "/other"}


def test_what_happened_between_two_sessions_is_told_after_the_renewal() -> None:
    server = FakeZooKeeperServer()
    server.put("/a", b"1")
    session = Session(server)
    mirror = WaitingMirror(session)
    mirror.read()
    session.client.expire(renew=False)
    assert (told(mirror), mirror.connected) == ([], False)
    server.put("/a", b"2")
    server.put("/b", b"1")
    session.client.renew()
    assert (told(mirror), mirror.connected) == ([("~", "/a"), ("+", "/b")], True)
    server.put("/a", b"3")
    assert told(mirror) == [("~", "/a")]


def test_reading_once_sets_no_watch() -> None:
    server = FakeZooKeeperServer()
    server.put("/a", b"1")
    session = Session(server)
    WaitingMirror(session, watching=False).read()
    assert server.watches(session.client.session_id) == (frozenset(), frozenset())


def without_root(mirror: WaitingMirror) -> dict[str, bytes | None]:
    return {path: node.data for path, node in mirror.nodes.items() if path != "/"}


PATHS = st.sampled_from(["/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f"])


@given(st.lists(st.lists(st.tuples(PATHS, st.none() | st.binary(max_size=1)), max_size=4), max_size=8))
def test_after_any_changes_the_copy_is_the_tree(steps: list[list[tuple[str, bytes | None]]]) -> None:
    """None: remove the path with all below it; else write it, with its parents."""
    server = FakeZooKeeperServer()
    mirror = mirror_of(server)
    for step in steps:
        before = without_root(mirror)
        for path, data in step:
            if data is not None:
                server.put(path, data)
            elif server.exists(path):
                server.remove(path)
        changes = mirror.next_changes()
        now = without_root(mirror)
        assert now == server.tree()
        assert {change.path for change in changes if change.after is None} == before.keys() - now.keys()
        assert {change.path for change in changes if change.before is None} == now.keys() - before.keys()
        assert {change.path for change in changes} >= {path for path in before.keys() & now.keys() if before[path] != now[path]}
