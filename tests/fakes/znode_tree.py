"""ZooKeeper's tree of nodes as a pure state machine: what a leader does with one request.

`ZNodeTree.apply` takes a request and gives the answer, the watch triggers and the changes for the log. It knows no clients and no watches; `zookeeper.py`
beside it does.

Rules kept (ZooKeeper 3.5's DataTree and PrepRequestProcessor):
* each write takes a zxid, a failed one too; a multi takes one for all its operations;
* `version` counts changes of the data, from 0; a sequential node's suffix is the number of children ever created under the parent, sequential or not;
* `cversion` counts creations and deletions of children;
* a multi is tried on the tree as its earlier operations left it; if one fails, earlier ones are answered OK but undone, later ones RUNTIME_INCONSISTENCY.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pykafka_classic.common.zookeeper import (
    ANY_VERSION,
    Check,
    Code,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Request,
    Result,
    SetData,
    Stat,
    WatchEvent,
    WatchKind,
)


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the transaction log, as /golden/znodes' watch.jsonl has it."""

    event: str  # create, change, delete or check
    path: str
    data: bytes | None  # None for delete and check, too
    version: int  # of the data after it; of the node deleted or checked
    session: int
    zxid: int  # equal for all operations of one multi
    multi: bool = False
    closed: bool = False  # an ephemeral removed by the end of its session
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """One node; replaced, never changed."""

    data: bytes | None
    czxid: int
    mzxid: int
    ctime_ms: int
    mtime_ms: int
    version: int = 0
    owner: int = 0  # session of an ephemeral
    created_children: int = 0
    children: frozenset[str] = frozenset()

    def stat(self) -> Stat:
        """What a client sees of it."""
        cversion = 2 * self.created_children - len(self.children)  # creations plus deletions
        length = 0 if self.data is None else len(self.data)
        return Stat(self.czxid, self.mzxid, self.ctime_ms, self.mtime_ms, self.version, cversion, self.owner, length, len(self.children))


@dataclass(slots=True)
class Outcome:
    """What one request led to."""

    result: Result
    changes: list[Change] = field(default_factory=list)
    triggers: list[WatchEvent] = field(default_factory=list)  # in ZooKeeper's order; CHILDREN and DELETED concern child watches too


class _RefusedError(Exception):
    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def parent_of(path: str) -> str:
    """The path of the parent; "/" for a top-level node."""
    return path.rpartition("/")[0] or "/"


def _check_path(path: str) -> None:
    if path != "/" and (not path.startswith("/") or not all(part not in ("", ".", "..") for part in path[1:].split("/"))):
        raise _RefusedError(Code.BAD_ARGUMENTS)


class ZNodeTree:
    """All nodes by path; the root is always there."""

    def __init__(self) -> None:
        self.zxid = 0
        self.nodes: dict[str, Node] = {"/": Node(b"", 0, 0, 0, 0)}
        self._undo: list[tuple[str, Node | None]] = []

    def apply(self, request: Request, *, session: int, now_ms: int) -> Outcome:
        """Perform a request; never raises."""
        try:
            if isinstance(request, GetData | Exists | GetChildren):
                return Outcome(self._read(request))
            self.zxid += 1
            if isinstance(request, Multi):
                return self._multi(request, session, now_ms)
            return self._write(request, session, now_ms)
        except _RefusedError as failure:
            return Outcome(Result(failure.code, request.path if not isinstance(request, Multi) else ""))

    def close_session(self, session: int) -> Outcome:
        """Delete a session's ephemerals, in one transaction."""
        self.zxid += 1
        outcome = Outcome(Result(Code.OK))
        for path in sorted(path for path, node in self.nodes.items() if session and node.owner == session):
            removed = self._delete(Delete(path), session)
            outcome.changes += [replace(change, closed=True) for change in removed.changes]
            outcome.triggers += removed.triggers
        self._undo.clear()
        return outcome

    def _read(self, request: GetData | Exists | GetChildren) -> Result:
        _check_path(request.path)
        node = self._node(request.path)
        match request:
            case GetData():
                return Result(Code.OK, request.path, data=node.data, stat=node.stat())
            case Exists():
                return Result(Code.OK, request.path, stat=node.stat())
            case GetChildren():
                return Result(Code.OK, request.path, children=tuple(sorted(node.children)))  # no stat: the real client gives none

    def _multi(self, multi: Multi, session: int, now_ms: int) -> Outcome:
        outcomes: list[Outcome] = []
        for index, operation in enumerate(multi.operations):
            try:
                outcomes.append(self._try(operation, session, now_ms))
            except _RefusedError as failure:
                return Outcome(self._rolled_back(multi, index, failure.code))
        self._undo.clear()
        result = Result(Code.OK, results=tuple(outcome.result for outcome in outcomes))
        changes = [replace(change, multi=True) for outcome in outcomes for change in outcome.changes]
        return Outcome(result, changes, [trigger for outcome in outcomes for trigger in outcome.triggers])

    def _rolled_back(self, multi: Multi, failed: int, code: Code) -> Result:
        for path, node in reversed(self._undo):
            if node is None:
                del self.nodes[path]
            else:
                self.nodes[path] = node
        self._undo.clear()
        codes = [Code.OK] * failed + [code] + [Code.RUNTIME_INCONSISTENCY] * (len(multi.operations) - failed - 1)
        return Result(code, results=tuple(Result(each, operation.path) for each, operation in zip(codes, multi.operations, strict=True)))

    def _write(self, operation: Create | SetData | Delete | Check, session: int, now_ms: int) -> Outcome:
        outcome = self._try(operation, session, now_ms)
        self._undo.clear()
        return outcome

    def _try(self, operation: Create | SetData | Delete | Check, session: int, now_ms: int) -> Outcome:
        match operation:
            case Create():
                return self._create(operation, session, now_ms)
            case SetData():
                return self._set_data(operation, session, now_ms)
            case Delete():
                return self._delete(operation, session)
            case Check():
                node = self._node_at(operation.path, operation.version)
                return Outcome(Result(Code.OK, operation.path), [Change("check", operation.path, None, node.version, session, self.zxid)])

    def _create(self, create: Create, session: int, now_ms: int) -> Outcome:
        _check_path(f"{create.path}0" if create.sequential else create.path)
        parent_path = parent_of(create.path)
        parent = self._node(parent_path)
        path = f"{create.path}{parent.created_children:010d}" if create.sequential else create.path
        if path in self.nodes:
            raise _RefusedError(Code.NODE_EXISTS)
        if parent.owner:
            raise _RefusedError(Code.NO_CHILDREN_FOR_EPHEMERALS)
        node = Node(create.data, self.zxid, self.zxid, now_ms, now_ms, owner=session if create.ephemeral else 0)
        self._put(path, node)
        name = path.rpartition("/")[2]
        self._put(parent_path, replace(parent, created_children=parent.created_children + 1, children=parent.children | {name}))
        change = Change("create", path, create.data, 0, session, self.zxid, ephemeral=create.ephemeral)
        triggers = [WatchEvent(WatchKind.CREATED, path), WatchEvent(WatchKind.CHILDREN, parent_path)]
        return Outcome(Result(Code.OK, path), [change], triggers)  # nor here

    def _set_data(self, request: SetData, session: int, now_ms: int) -> Outcome:
        old = self._node_at(request.path, request.version)
        node = replace(old, data=request.data, version=old.version + 1, mzxid=self.zxid, mtime_ms=now_ms)
        self._put(request.path, node)
        change = Change("change", request.path, request.data, node.version, session, self.zxid, ephemeral=bool(node.owner))
        return Outcome(Result(Code.OK, request.path, stat=node.stat()), [change], [WatchEvent(WatchKind.CHANGED, request.path)])

    def _delete(self, request: Delete, session: int) -> Outcome:
        if request.path == "/":
            raise _RefusedError(Code.BAD_ARGUMENTS)
        node = self._node_at(request.path, request.version)
        if node.children:
            raise _RefusedError(Code.NOT_EMPTY)
        parent_path, _, name = request.path.rpartition("/")
        parent_path = parent_path or "/"
        self._undo.append((request.path, node))
        del self.nodes[request.path]
        parent = self.nodes[parent_path]
        self._put(parent_path, replace(parent, children=parent.children - {name}))
        change = Change("delete", request.path, None, node.version, session, self.zxid, ephemeral=bool(node.owner))
        triggers = [WatchEvent(WatchKind.DELETED, request.path), WatchEvent(WatchKind.CHILDREN, parent_path)]
        return Outcome(Result(Code.OK, request.path), [change], triggers)

    def _node(self, path: str) -> Node:
        node = self.nodes.get(path)
        if node is None:
            raise _RefusedError(Code.NO_NODE)
        return node

    def _node_at(self, path: str, version: int) -> Node:
        _check_path(path)
        node = self._node(path)
        if version not in (ANY_VERSION, node.version):
            raise _RefusedError(Code.BAD_VERSION)
        return node

    def _put(self, path: str, node: Node) -> None:
        self._undo.append((path, self.nodes.get(path)))
        self.nodes[path] = node


def paths_below(path: str, paths: Iterable[str]) -> list[str]:
    """`path` and all paths beneath it, parents first."""
    prefix = path.rstrip("/") + "/"
    return sorted(other for other in paths if other == path or other.startswith(prefix))
