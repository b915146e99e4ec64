"""The session that watches a cluster's znodes: every change, as it comes, in ZooKeeper's order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.promise import Promise, bug_told, spawn
from pykafka_classic.common.zookeeper import Request, Result, SessionEvent, WatchEvent
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.reactor import Reactor
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings, ZooKeeperUnavailable
from pykafka_classic.monitor.mirror import ZNodeMirror
from pykafka_classic.monitor.znodes import Change, Node

log = logging.getLogger("kafka.monitor.ZooKeeper")
_log_failure = bug_told(log, "A look at ZooKeeper has failed")

ZOOKEEPERS_OWN: Final = "/zookeeper"
TRY_AGAIN_MS: Final = 3_000
CONNECTION_TIMEOUT_MS: Final = 10_000
SESSION_TIMEOUT_MS: Final = 18_000
MAX_IN_FLIGHT: Final = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """Changes that one look found. `first`: it was the first look of this session's life, at `nodes` of an earlier one."""

    changes: list[Change]
    t_ms: int
    first: bool


class ZooKeeperWatch:
    """Watches all of a cluster's tree, for ever: where nobody answers, it is tried again.

    Args:
        reactor: all is called on its thread.
        connect: zookeeper.connect.
        known: the nodes as they were when somebody last looked; may be empty.
        on_seen: told of changes.
        on_state: told "connected", or what is wrong.
    """

    def __init__(self, reactor: Reactor, connect: str, known: Mapping[str, Node], on_seen: Callable[[Seen], None], on_state: Callable[[str], None]) -> None:
        self._settings = ZooKeeperSettings(
            connect, SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS, MAX_IN_FLIGHT, creates_chroot=False, name=f"[ZooKeeperClient monitor of {connect}]"
        )
        self._reactor = reactor
        self._clock = ReactorClock(reactor)
        self._on_seen = on_seen
        self._on_state = on_state
        self._dirty: set[str] = set()
        self._looking = False
        self._stopped = False
        self.zk = KazooZooKeeper(self._settings, reactor)
        self.mirror = ZNodeMirror(self._submit, wanted=_is_wanted)
        self.mirror.restore(known)

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The tree as it is now."""
        return self.mirror.nodes

    def start(self) -> None:
        """Connect and look."""
        spawn(self._begin()).when_settled(_log_failure)

    def stop(self) -> Promise[None]:
        """End the session."""
        self._stopped = True
        return self.zk.close()

    async def _begin(self) -> None:
        self.zk.add_watch_listener(self._told)
        self.zk.add_session_listener(self._told)
        try:
            await self.zk.connect()
        except ZooKeeperUnavailable as error:
            if not self._stopped:
                self._on_state(f"{error}; trying on")
                self.zk = KazooZooKeeper(self._settings, self._reactor)
                self._clock.call_later(TRY_AGAIN_MS, self.start)
            return
        self._looking = True
        changes = await self.mirror.refresh()
        self._on_seen(Seen(changes, self._clock.now_ms(), first=True))
        self._looking = False
        self._on_state(self._state())
        await self._look()

    def _state(self) -> str:
        if not self.mirror.connected:
            return "the connection to ZooKeeper is lost; trying on"
        return "connected" if self.nodes else f"ZooKeeper has nothing at {self._settings.chroot or '/'}: waiting until it has"

    def _submit(self, requests: Sequence[Request]) -> Promise[list[Result]]:
        return self.zk.submit(requests)  # of whichever session it is by now

    def _told(self, event: WatchEvent | SessionEvent) -> None:
        self._dirty |= self.mirror.concerned(event)
        if isinstance(event, SessionEvent):
            self._on_state(self._state())
        if self._dirty and not self._looking:
            spawn(self._look()).when_settled(_log_failure)

    async def _look(self) -> None:
        self._looking = True
        try:
            while self._dirty and not self._stopped:
                paths, self._dirty = self._dirty, set()
                t_ms = self._clock.now_ms()
                changes = await self.mirror.refresh(paths)
                if changes:
                    self._on_seen(Seen(changes, t_ms, first=False))
                    self._on_state(self._state())
        finally:
            self._looking = False


def _is_wanted(path: str) -> bool:
    return path != ZOOKEEPERS_OWN and not path.startswith(f"{ZOOKEEPERS_OWN}/")
