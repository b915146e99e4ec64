"""How a poll waits for "something happened": an answer, a heartbeat's bad news, a wake-up."""

from __future__ import annotations

from pykafka_classic.common.clock import Clock
from pykafka_classic.common.promise import Promise


class Bell:
    """Rung by whatever happens; heard by at most one who waits. A ring that nobody waits for is kept."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rung = False
        self._waiting: Promise[None] | None = None

    def ring(self) -> None:
        """Something happened."""
        self._rung = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.resolve(None)

    async def wait(self, until_ms: float) -> None:
        """Until somebody rings, or has rung since the last wait; `until_ms` (`monotonic_ms`) at the latest."""
        remaining_ms = until_ms - self._clock.monotonic_ms()
        if not self._rung and remaining_ms > 0:
            assert self._waiting is None, "one waits at a time"
            waiting = self._waiting = Promise()
            timer = self._clock.call_later(remaining_ms, self.ring)
            await waiting
            timer.cancel()
        self._rung = False
