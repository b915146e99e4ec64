"""The copy of ZooKeeper's tree (`monitor.mirror`) for commands that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.zookeeper import Request, Result, SessionEvent, WatchEvent
from pykafka_classic.monitor.mirror import ZNodeMirror
from pykafka_classic.monitor.znodes import ROOT, Change, Node


class WaitingSession(Protocol):
    """What the mirror needs of a session with ZooKeeper (`edges.blocking_zookeeper.BlockingZooKeeper`)."""

    def submit(self, *requests: Request) -> list[Result]:
        """All answers."""
        ...

    def next_event(self, *, seconds: float | None = None) -> WatchEvent | SessionEvent | None:
        """The next event; None where none comes in time."""
        ...


class WaitingMirror:
    """A mirror whose reads wait. Arguments as those of the mirror; the session's events belong to it."""

    def __init__(self, session: WaitingSession, root: str = ROOT, *, wanted: Callable[[str], bool] | None = None, watching: bool = True) -> None:
        self._session = session
        self._mirror = ZNodeMirror(lambda requests: Promise.resolved(session.submit(*requests)), root, wanted=wanted, watching=watching)

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes, by path."""
        return self._mirror.nodes

    @property
    def connected(self) -> bool:
        """False while there is no connection."""
        return self._mirror.connected

    def read(self) -> None:
        """Read everything for the first time."""
        self._refresh(None)

    def next_changes(self, *, seconds: float | None = None) -> list[Change]:
        """What has changed since the last look, as soon as something has; nothing where time is up, or a look found all as it was."""
        event = self._session.next_event(seconds=seconds)
        paths: set[str] = set()
        while event is not None:
            paths |= self._mirror.concerned(event)
            event = self._session.next_event(seconds=0)
        return self._refresh(paths)

    def _refresh(self, paths: Iterable[str] | None) -> list[Change]:
        return [change for change in spawn(self._mirror.refresh(paths)).result() if change.is_visible]
