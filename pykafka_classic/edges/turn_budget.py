"""How long a listener handles requests before the rest of the broker has its turn.

Everything runs on one thread: while requests are handled, no timer fires, no fetch is answered, no word of ZooKeeper is heard. One turn of the reactor serves
every socket that has something, so a few busy producers alone could keep it for a tenth of a second. Here requests are begun only as long as the turn is young;
connections that have more go on in the next turn, in the order in which they had to stop.

Kafka's counterpart is the operating system, which shares its threads out.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

TURN_S: Final = 0.002  # no request is begun in a turn when they have taken so long: the last one's time comes on top


class Waiting(Protocol):
    """A connection with requests that have not been begun."""

    def go_on(self) -> None:
        """Begin some."""
        ...


class TurnBudget:
    """One listener's.

    Args:
        turn: the number of the reactor's turn that is under way.
        in_next_turn: has the reactor call something in its next turn.

    Invariant: while connections wait, `_next_turn` is due.
    """

    def __init__(
        self,
        turn: Callable[[], int],
        in_next_turn: Callable[[Callable[[], None]], object],
        *,
        seconds: float = TURN_S,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._turn = turn
        self._in_next_turn = in_next_turn
        self._seconds = seconds
        self._now = now
        self._begun = -1  # the last turn in which anything was begun
        self._ends = 0.0  # of that turn
        self._waiting: dict[Waiting, None] = {}

    def is_spent(self) -> bool:
        """Has this turn been long enough? The first to ask begins it."""
        turn = self._turn()
        if turn != self._begun:
            self._begun, self._ends = turn, self._now() + self._seconds
            return False
        return self._now() >= self._ends

    def wait(self, connection: Waiting) -> None:
        """Go on with this connection in the next turn."""
        if not self._waiting:
            self._in_next_turn(self._next_turn)
        self._waiting[connection] = None

    def _next_turn(self) -> None:
        waiting, self._waiting = deque(self._waiting), {}
        while waiting and not self.is_spent():
            waiting.popleft().go_on()
        again = dict.fromkeys(waiting) | self._waiting  # those who had no chance come before those who want another one
        if again and not self._waiting:
            self._in_next_turn(self._next_turn)
        self._waiting = again
