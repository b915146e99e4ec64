"""What our consumer reads next, for tests that know how much there is: however long a busy machine takes for it."""

from __future__ import annotations

from typing import Final

from pykafka_classic.clients import Consumer, ConsumerRecord
from pykafka_classic.edges.child_processes import wait_until

DEADLINE_S: Final = 30.0
AFTERWARDS_MS: Final = 300


def read_on(consumer: Consumer, count: int) -> list[ConsumerRecord]:
    """So many records, and what comes within a moment after them; fewer only where the deadline passes."""
    found: list[ConsumerRecord] = []

    def enough() -> bool:
        found.extend(consumer.poll(timeout_ms=100))
        return len(found) >= count

    try:
        wait_until(enough, seconds=DEADLINE_S)
    except TimeoutError:
        return found
    return [*found, *consumer.until_idle(AFTERWARDS_MS)]
