"""A copy of a part of ZooKeeper's tree, kept up to date by watches: what decides, without a session of its own.

Every node of the part is watched for its data and for its children. A watch is a hint: the node is read again (which sets the watch again), new children are
read, what is gone is dropped with all below it. So no change is missed but those that were undone, or written over, before the next look. When the session is
renewed all is read again.

Of a removal ZooKeeper keeps no trace but the parent's pzxid (the transaction of the latest change among its children): so the parent is read too, and the
removal is put there in the order of transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.zookeeper import Code, Exists, GetChildren, GetData, Request, Result, SessionEvent, WatchEvent
from pykafka_classic.monitor.znodes import ROOT, Change, Node, change_of, child_path, in_order, parent_of

AT_ONCE: Final = 500  # paths read in one go


class ZNodeMirror:
    """The nodes below `root` that are `wanted`, by path; wanted nodes have wanted parents.

    Args:
        submit: sends requests to ZooKeeper.
        root: the top; it may be missing, and come later.
        wanted: says of a path whether it is looked at.
        watching: False: read once, set no watches.
    """

    def __init__(
        self,
        submit: Callable[[Sequence[Request]], Promise[list[Result]]],
        root: str = ROOT,
        *,
        wanted: Callable[[str], bool] | None = None,
        watching: bool = True,
    ) -> None:
        self.nodes: dict[str, Node] = {}
        self.connected = True
        self._submit = submit
        self._root = root
        self._wanted = wanted or (lambda _: True)
        self._watching = watching
        self._children: dict[str, set[str]] = {}

    def children_of(self, path: str) -> set[str]:
        """The paths of a node's children."""
        return set(self._children.get(path, ()))

    def restore(self, nodes: Mapping[str, Node]) -> None:
        """Begin with what was known in an earlier life; `refresh(None)` then tells what has changed since."""
        self.nodes = dict(nodes)
        for path in nodes:
            self._children.setdefault(path, set())
            if path != ROOT:
                self._children.setdefault(parent_of(path), set()).add(path)

    def concerned(self, event: WatchEvent | SessionEvent) -> set[str]:
        """The paths that are to be read again."""
        if isinstance(event, WatchEvent):
            return {event.path}
        self.connected = event in (SessionEvent.CONNECTED, SessionEvent.RENEWED)
        return {self._root, *self.nodes} if event is SessionEvent.RENEWED else set()

    async def refresh(self, paths: Iterable[str] | None = None) -> list[Change]:
        """Read these (None: everything), and what is new below them; what has changed, in order."""
        before: dict[str, Node | None] = {}
        wanted = {self._root, *self.nodes} if paths is None else paths
        frontier = sorted(path for path in wanted if path == self._root or self._wanted(path))
        read: set[str] = set()
        while frontier:
            now, frontier = frontier[:AT_ONCE], frontier[AT_ONCE:]
            read.update(now)
            frontier += await self._read(now, before)
            if not frontier:
                frontier = sorted(self._parents_of_gone(before) - read)
        changes = (change_of(path, old, self.nodes.get(path), self._removed_zxid(path)) for path, old in before.items())
        return in_order(change for change in changes if change is not None)

    async def _read(self, paths: Sequence[str], before: dict[str, Node | None]) -> list[str]:
        """Read these nodes; the paths of children that are new."""
        answers = await self._submit([request for path in paths for request in (GetData(path, self._watching), GetChildren(path, self._watching))])
        found: list[str] = []
        for path, data, children in zip(paths, answers[::2], answers[1::2], strict=True):
            if Code.NO_NODE in (data.code, children.code):
                self._drop(path, before)
                found += [path] if path == self._root and await self._has_come(path) else []
            elif data.ok and children.ok:  # else: no right to see it, or a session that has ended, after whose renewal all is read again
                found += self._take(path, data, children, before)
        return found

    def _take(self, path: str, data: Result, children: Result, before: dict[str, Node | None]) -> list[str]:
        before.setdefault(path, self.nodes.get(path))
        self.nodes[path] = Node.of(data)
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

    async def _has_come(self, path: str) -> bool:
        """Watch for the root that is missing; True where it has come between the two looks, so that no watch will tell."""
        return self._watching and (await self._submit([Exists(path, watch=True)]))[0].ok

    def _parents_of_gone(self, before: Iterable[str]) -> set[str]:
        return {parent for parent in (parent_of(path) for path in before if path not in self.nodes and path != self._root) if parent in self.nodes}

    def _removed_zxid(self, path: str) -> int:
        """Where the node is gone: the latest transaction that can have removed it, as its nearest living ancestor tells."""
        if path in self.nodes:
            return 0
        while path not in (self._root, ROOT):
            path = parent_of(path)
            if path in self.nodes:
                return self.nodes[path].pzxid
        return 0
