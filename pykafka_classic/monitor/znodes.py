"""ZooKeeper's nodes as values, and what has changed between two looks at them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pykafka_classic.common.zookeeper import Result

ROOT: Final = "/"


class Mark(Enum):
    """What became of a node."""

    ADDED = "+"
    REMOVED = "-"
    CHANGED = "~"


@dataclass(frozen=True, slots=True)
class Node:
    """A node.

    Attributes: ephemeral_owner: the id of the session that it lives as long as; 0: persistent. czxid: of the transaction that made it: tells a node that was
    made anew from one that was written. mzxid: of the latest write: orders changes. version: counts writes. pzxid: of the latest change among the children.
    ctime_ms, mtime_ms: when made and written, by ZooKeeper's clock.
    """

    data: bytes | None
    ephemeral_owner: int = 0
    czxid: int = 0
    mzxid: int = 0
    version: int = 0
    pzxid: int = 0
    ctime_ms: int = 0
    mtime_ms: int = 0

    @property
    def ephemeral(self) -> bool:
        """True where it lives as long as a session."""
        return self.ephemeral_owner != 0

    @staticmethod
    def of(result: Result) -> Node:
        """From the answer to GetData."""
        stat = result.stat
        assert stat is not None
        return Node(result.data, stat.ephemeral_owner, stat.czxid, stat.mzxid, stat.version, stat.pzxid, stat.ctime_ms, stat.mtime_ms)


@dataclass(frozen=True, slots=True)
class Change:
    """A node before and after; None: it was not there. `zxid`: of the transaction, as far as it is known; of a removal: not after this one."""

    path: str
    before: Node | None
    after: Node | None
    zxid: int = 0

    @property
    def mark(self) -> Mark:
        """What became of it."""
        if self.before is None:
            return Mark.ADDED
        return Mark.REMOVED if self.after is None else Mark.CHANGED

    @property
    def is_visible(self) -> bool:
        """False for a node that was written with the data it had."""
        before, after = self.before, self.after
        return before is None or after is None or (before.data, before.czxid, before.ephemeral) != (after.data, after.czxid, after.ephemeral)


def change_of(path: str, before: Node | None, after: Node | None, removed_zxid: int = 0) -> Change | None:
    """The change between two looks; None where there is none."""
    if before is None and after is None:
        return None
    if after is None:
        return Change(path, before, None, removed_zxid)
    if before is not None and (before.data, before.czxid, before.mzxid) == (after.data, after.czxid, after.mzxid):
        return None
    return Change(path, before, after, after.mzxid)


def in_order(changes: Iterable[Change]) -> list[Change]:
    """As ZooKeeper did it; where that is not known, what is gone first, and the deepest of it first."""
    return sorted(changes, key=_order)


def _order(change: Change) -> tuple[int, int, int, tuple[tuple[int, int, str], ...]]:
    gone = change.after is None
    return (change.zxid, 0 if gone else 1, -change.path.count("/") if gone else change.path.count("/"), sort_key(change.path))


def parent_of(path: str) -> str:
    """The path above; of the root: the root."""
    return path.rpartition("/")[0] or ROOT


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2] or ROOT


def child_path(path: str, name: str) -> str:
    """The path of a child."""
    return f"{path.rstrip('/')}/{name}"


def sort_key(path: str) -> tuple[tuple[int, int, str], ...]:
    """Names by the alphabet, numbers by their value before them."""
    return tuple((0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in path.split("/"))


def plain(data: bytes | None) -> str | None:
    """Data as text; what is no UTF-8 is escaped."""
    return None if data is None else data.decode("utf-8", "backslashreplace")
