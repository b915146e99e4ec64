"""Something that happens once: when its condition holds, or when its time is over.

| method | who writes it | what it does |
|---|---|---|
| `try_complete` | the operation | looks whether the condition holds; if so, returns `force_complete()` |
| `try_complete_key` | the operation, if it can | the same, knowing that only this key has changed |
| `on_complete` | the operation | the work itself, for example sending the response: called exactly once |
| `on_expiration` | the operation | called after `on_complete` where it was the time-out that completed it: metrics |
| `force_complete` | here | completes now, unless it has been before |

Mirrors kafka.server.DelayedOperation.
"""

from __future__ import annotations

from collections.abc import Hashable

from pykafka_classic.purgatory.timing_wheel import TimerTask, TimingWheel


class DelayedOperation:
    """Base of all operations that wait. Invariant: `on_complete` runs exactly once, and `completed` is set before it does."""

    __slots__ = ("_timeout", "completed", "delay_ms")

    def __init__(self, delay_ms: float) -> None:
        self.delay_ms = delay_ms  # how long it may wait once it is watched
        self.completed = False
        self._timeout: TimerTask | None = None

    def try_complete(self) -> bool:
        """Complete if the condition holds; True if this very call completed it."""
        raise NotImplementedError

    def try_complete_key(self, key: Hashable) -> bool:
        """Something changed at `key`: complete if that makes the condition hold."""
        del key
        return self.try_complete()

    def on_complete(self) -> None:
        """What there is to do once the wait is over, for whatever reason."""
        raise NotImplementedError

    def on_expiration(self) -> None:
        """The time-out ended the wait; `on_complete` has run."""

    def force_complete(self) -> bool:
        """Complete now; False where that has happened before."""
        if self.completed:
            return False
        self.completed = True
        self.cancel_timeout()
        self.on_complete()
        return True

    def start_timeout(self, timer: TimingWheel) -> None:
        """Expire `delay_ms` from now."""
        self._timeout = timer.add(self.delay_ms, self._expire)

    def cancel_timeout(self) -> None:
        """Do not expire."""
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None

    def _expire(self) -> None:
        if self.force_complete():
            self.on_expiration()
