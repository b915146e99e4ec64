"""Where delayed operations wait, listed under each of their keys.

An operation that waits for a thousand partitions stands in a thousand lists. When one key completes it, it stays in the others as a dead entry until these are
looked at, or until a sweep, which comes when dead entries outnumber both `purge_interval` and the live ones.

Mirrors kafka.server.DelayedOperationPurgatory.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.purgatory.timing_wheel import TimingWheel


class Purgatory:
    """Operations of one kind.

    Invariants: no list in `watchers` is empty; `_entries` is the number of entries in all lists, dead ones too; an operation is in `_waiting` (with the
    number of its entries when it was watched) until a sweep or a check finds it completed.
    """

    def __init__(self, name: str, timer: TimingWheel, *, purge_interval: int = 1000) -> None:
        self.name = name
        self._timer = timer
        self._purge_interval = purge_interval
        self.watchers: dict[Hashable, dict[DelayedOperation, None]] = {}
        self._waiting: dict[DelayedOperation, int] = {}
        self._entries = 0
        self._added_since_purge = 0

    @property
    def delayed_count(self) -> int:
        """Operations that wait."""
        return sum(not operation.completed for operation in self._waiting)

    @property
    def watched_count(self) -> int:
        """Entries in all lists, of completed operations too."""
        return self._entries

    def is_watching(self, key: Hashable) -> bool:
        """Whether anybody may wait for `key`."""
        return key in self.watchers

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Sequence[Hashable]) -> bool:
        """Complete at once if the condition holds (True); otherwise wait for one of `keys`, or for the time-out."""
        assert keys, "an operation needs a key to be found by"
        if operation.try_complete():
            return True
        if operation.completed:
            return False
        self._watch(operation, keys)
        operation.start_timeout(self._timer)
        return False

    def check_and_complete(self, key: Hashable) -> int:
        """Look again at those who wait for `key`; how many of them that completed."""
        watchers = self.watchers.get(key)
        if watchers is None:
            return 0
        completed = 0
        for operation in list(watchers):
            if not operation.completed and operation.try_complete_key(key):
                completed += 1
            if operation.completed and watchers.pop(operation, self) is None:
                self._entries -= 1
        if not watchers and self.watchers.get(key) is watchers:
            del self.watchers[key]
        return completed

    def shutdown(self) -> None:
        """Forget all who wait, without completing them."""
        for operation in self._waiting:
            operation.cancel_timeout()
        self.watchers.clear()
        self._waiting.clear()
        self._entries = self._added_since_purge = 0

    def _watch(self, operation: DelayedOperation, keys: Sequence[Hashable]) -> None:
        entries = 0
        for key in keys:
            watchers = self.watchers.get(key)
            if watchers is None:
                self.watchers[key] = {operation: None}
                entries += 1
            elif operation not in watchers:
                watchers[operation] = None
                entries += 1
        self._waiting[operation] = entries
        self._entries += entries
        self._added_since_purge += entries
        if self._added_since_purge > self._purge_interval:
            self._maybe_purge()

    def _maybe_purge(self) -> None:
        """Sweep if it is worth it. A look at the operations (not at their entries) tells."""
        self._added_since_purge = 0
        self._waiting = {operation: entries for operation, entries in self._waiting.items() if not operation.completed}
        live = sum(self._waiting.values())
        if self._entries - live > max(self._purge_interval, live):
            self._purge()

    def _purge(self) -> None:
        # In place: a check of one of these lists may be under way further up the stack.
        for key, watchers in list(self.watchers.items()):
            dead = [operation for operation in watchers if operation.completed]
            for operation in dead:
                del watchers[operation]
            self._entries -= len(dead)
            if not watchers:
                del self.watchers[key]
