"""A copy of a part of ZooKeeper's tree, kept up to date by watches.

Every node of the part is watched for its data and for its children. A watch is a hint: the node is read again (which sets the watch again), new children are
read, what is gone is dropped with all below it. So no change is missed but those that were undone before the next look. When the session is renewed all is read
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from pykafka_classic.cli.pkc.znode_tree import ROOT, Change, Node, change_of, child_path, in_order, parent_of
from pykafka_classic.common.zookeeper import Code, Exists, GetChildren, GetData, Request, Result, SessionEvent, WatchEvent

AT_ONCE: Final = 500  # paths read in one go


class WaitingSession(Protocol):
    """What the mirror needs of a session with ZooKeeper (`edges.blocking_zookeeper.BlockingZooKeeper`)."""

    def submit(self, *requests: Request) -> list[Result]:
        """All answers."""
        ...

    def next_event(self, *, seconds: float | None = None) -> WatchEvent | SessionEvent | None:
        """The next event; None where none comes in time."""
        ...


class ZNodeMirror:
    """The nodes below `root` that are `wanted`, by path; wanted nodes have wanted parents.

    Args:
        session: to ZooKeeper; its events belong to the mirror.
        root: the top; it may be missing, and come later.
        wanted: says of a path whether it is looked at.
        watching: False: read once, set no watches.
    """

    def __init__(self, session: WaitingSession, root: str = ROOT, *, wanted: Callable[[str], bool] | None = None, watching: bool = True) -> None:
        self.nodes: dict[str, Node] = {}
        self.connected = True
        self._session = session
        self._root = root
        self._wanted = wanted or (lambda _: True)
        self._watching = watching
        self._children: dict[str, set[str]] = {}

    def read(self) -> None:
        """Read everything for the first time."""
        self._refresh([self._root])

    def next_changes(self, *, seconds: float | None = None) -> list[Change]:
        """What has changed since the last look, as soon as something has; nothing where time is up, or a look found all as it was."""
        event = self._session.next_event(seconds=seconds)
        paths: set[str] = set()
        while event is not None:
            paths |= self._concerned(event)
            event = self._session.next_event(seconds=0)
        return self._refresh(paths)

    def _concerned(self, event: WatchEvent | SessionEvent) -> set[str]:
        if isinstance(event, WatchEvent):
            return {event.path}
        self.connected = event in (SessionEvent.CONNECTED, SessionEvent.RENEWED)
        return {self._root, *self.nodes} if event is SessionEvent.RENEWED else set()

    def _refresh(self, paths: Iterable[str]) -> list[Change]:
        before: dict[str, Node | None] = {}
        frontier = sorted(path for path in paths if path == self._root or self._wanted(path))
        while frontier:
            now, frontier = frontier[:AT_ONCE], frontier[AT_ONCE:]
            frontier += self._read(now, before)
        changes = (change_of(path, old, self.nodes.get(path)) for path, old in before.items())
        return in_order(change for change in changes if change is not None)

    def _read(self, paths: Sequence[str], before: dict[str, Node | None]) -> list[str]:
        """Read these nodes; the paths of children that are new."""
        answers = self._session.submit(*(request for path in paths for request in (GetData(path, self._watching), GetChildren(path, self._watching))))
        found: list[str] = []
        for path, data, children in zip(paths, answers[::2], answers[1::2], strict=True):
            if Code.NO_NODE in (data.code, children.code):
                self._drop(path, before)
                found += [path] if self._has_come(path) else []
            elif data.ok and children.ok:  # else: no right to see it, or a session that has ended, after whose renewal all is read again
                found += self._take(path, data, children, before)
        return found

    def _take(self, path: str, data: Result, children: Result, before: dict[str, Node | None]) -> list[str]:
        assert data.stat is not None
        stat = data.stat
        before.setdefault(path, self.nodes.get(path))
        self.nodes[path] = Node(data.data, bool(stat.ephemeral_owner), stat.czxid, stat.mzxid, stat.version)
        now = {child for child in (child_path(path, name) for name in children.children) if self._wanted(child)}
        known = self._children.get(path, set())
        for gone in known - now:
            self._drop(gone, before)
        self._children[path] = now
        return sorted(child for child in now if child not in self.nodes)

    def _drop(self, path: str, before: dict[str, Node | None]) -> None:
        for child in self._children.pop(path, set()):
            self._drop(child, before)
        self._children.get(parent_of(path), set()).discard(path)
        if path in self.nodes:
            before.setdefault(path, self.nodes.pop(path))

    def _has_come(self, path: str) -> bool:
        """Watch for the root that is missing; True where it has come between the two looks, so that no watch will tell."""
        return path == self._root and self._watching and self._session.submit(Exists(path, watch=True))[0].ok
