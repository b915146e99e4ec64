"""Changes of znodes as rows of the store, and the store's rows as nodes to begin with. Pure.

The time of a creation or a write is ZooKeeper's own; of a removal ZooKeeper keeps none: it is when we heard of it. Where the two clocks differ, a node's
changes must not change places: no change of a node is earlier than the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pykafka_classic.monitor.secrets import masked
from pykafka_classic.monitor.store.answers import ZNode
from pykafka_classic.monitor.store.rows import ChangeKind, ZNodeRow
from pykafka_classic.monitor.znodes import Change, Node

REMEMBERED: Final = 10_000  # removed paths whose time is kept


class ChangeRows:
    """Makes rows; remembers when nodes were removed."""

    def __init__(self) -> None:
        self._removed_ms: dict[str, int] = {}

    def rows(self, changes: Iterable[Change], seen_ms: int, *, found: bool = False) -> list[ZNodeRow]:
        """For the store. `found`: this is the first look of all, and tells nothing of when things happened."""
        return [self._row(change, seen_ms, found=found) for change in changes if not _is_the_same(change)]

    def _row(self, change: Change, seen_ms: int, *, found: bool) -> ZNodeRow:
        path, before, after = change.path, change.before, change.after
        if after is None:
            assert before is not None
            t_ms = self._removed_ms[path] = max(seen_ms, before.mtime_ms)
            if len(self._removed_ms) > REMEMBERED:
                del self._removed_ms[next(iter(self._removed_ms))]
            return ZNodeRow(
                path, ChangeKind.REMOVED, t_ms, seen_ms, change.zxid, before.version, before.ephemeral_owner, before.czxid, masked(path, before.data)
            )
        t_ms = max(after.mtime_ms, self._removed_ms.pop(path, 0))
        kind = ChangeKind.FOUND if found else ChangeKind.CREATED if before is None or before.czxid != after.czxid else ChangeKind.WRITTEN
        return ZNodeRow(path, kind, t_ms, seen_ms, after.mzxid, after.version, after.ephemeral_owner, after.czxid, masked(path, after.data))


def _is_the_same(change: Change) -> bool:
    """Nothing was written: only that the store has it without its secrets."""
    before, after = change.before, change.after
    return before is not None and after is not None and after.mzxid != 0 and (before.czxid, before.mzxid) == (after.czxid, after.mzxid)


def nodes_of(stored: Iterable[ZNode]) -> dict[str, Node]:
    """The tree as the store has it, for the mirror to compare the first look with."""
    return {each.path: Node(each.data, each.owner, each.czxid, each.mzxid, each.version, 0, each.t_ms, each.t_ms) for each in stored}
