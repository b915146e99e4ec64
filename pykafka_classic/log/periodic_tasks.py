"""Tasks that are done again and again, on the clock: each with one timer, which is set anew when it has run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pykafka_classic.common.clock import Clock, Timer

INITIAL_DELAY_MS: Final = 30_000  # after the start, whatever the period is: first things first
NEVER_MS: Final = 10 * 365 * 24 * 3_600_000  # longer periods get no timer


class PeriodicTasks:
    """Tasks of one owner, stopped together."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: dict[int, Timer] = {}
        self._stopped = False

    def every(self, period_ms: int, task: Callable[[], object], *, first_ms: int = INITIAL_DELAY_MS) -> None:
        """Run `task` after `first_ms`, then every `period_ms`. Not at all where that is for ever (Kafka's default for some)."""
        if period_ms > NEVER_MS:
            return
        number = len(self._timers)

        def run() -> None:
            if not self._stopped:
                self._timers[number] = self._clock.call_later(max(period_ms, 1), run)
                task()

        self._timers[number] = self._clock.call_later(first_ms, run)

    def stop(self) -> None:
        """No task runs any more."""
        self._stopped = True
        for timer in self._timers.values():
            timer.cancel()
