"""The adapter under test with everything it told, and blocking calls for the tests' thread."""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Request, Result, SessionEvent, WatchEvent
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings, expire_session
from tests.edges.reactor_thread import DEADLINE_S, ReactorThread


class Client:
    """One KazooZooKeeper on the test reactor. `told` holds watch and session events in the order in which they came."""

    def __init__(self, thread: ReactorThread, settings: ZooKeeperSettings) -> None:
        self.thread = thread
        self.settings = settings
        self.told: list[WatchEvent | SessionEvent] = []
        self.zk: KazooZooKeeper = thread.call(lambda: KazooZooKeeper(settings, thread.reactor))
        self.zk.add_watch_listener(self.told.append)
        self.zk.add_session_listener(self.told.append)

    def connect(self) -> Client:
        self.thread.wait(self.zk.connect)
        return self

    def submit(self, *requests: Request) -> list[Result]:
        return self.thread.wait(lambda: self.zk.submit(requests))

    def one(self, request: Request) -> Result:
        return self.submit(request)[0]

    def start(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        """Submit without waiting for the answers."""
        return self.thread.call(lambda: self.zk.submit(requests))

    def finish(self, promise: Promise[list[Result]]) -> list[Result]:
        return self.thread.wait(lambda: promise)

    def wait_told(self, *events: WatchEvent | SessionEvent) -> None:
        """Wait until exactly these were told, in this order."""
        try:
            wait_until(lambda: len(self.told) >= len(events), seconds=DEADLINE_S)
        except TimeoutError:
            raise AssertionError(f"told {self.told} only") from None
        assert self.told == list(events)

    def expire(self) -> None:
        """End the session from outside, and let the server notice that we are still there."""
        identity = self.thread.call(self.zk.client_id)
        assert identity is not None
        expire_session(self.settings.servers, identity)

    def expire_now(self) -> None:
        """The same, called on the reactor's thread, which hears nothing of it before this returns."""
        identity = self.zk.client_id()
        assert identity is not None
        expire_session(self.settings.servers, identity)

    def close(self) -> None:
        self.thread.wait(self.zk.close)
