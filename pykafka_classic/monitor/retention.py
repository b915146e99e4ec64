"""What of the store is thinned, and what removed, when. Pure.

    now ......... full ......... minutes .................... all
     every sample | one a minute | one in ten minutes          | nothing but what still holds

Ages are rounded to whole buckets, so that a bucket is thinned once, when all of it is old enough. What still holds: the latest change of each znode, the latest
state of each group and config; and samples that are as old come back with the next round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.monitor.settings import MonitorKeys

MINUTE_MS: Final = 60_000
TEN_MINUTES_MS: Final = 10 * MINUTE_MS
EVERY_MS: Final = 5 * MINUTE_MS  # between two times of tidying


@dataclass(frozen=True, slots=True)
class Thinning:
    """Of samples from `from_ms` on, before `to_ms`, the last of each bucket stays."""

    from_ms: int
    to_ms: int
    bucket_ms: int


class Retention:
    """Tells what is due; remembers up to where it has been done in this life."""

    def __init__(self, keys: MonitorKeys) -> None:
        self._levels = ((keys.retention_full_ms, MINUTE_MS), (keys.retention_minutes_ms, TEN_MINUTES_MS))
        self._all_ms = keys.retention_ms
        self._done_ms = [0 for _ in self._levels]

    def thinnings(self, now_ms: int) -> list[Thinning]:
        """Those due now."""
        found = []
        for level, (age_ms, bucket_ms) in enumerate(self._levels):
            to_ms = (now_ms - age_ms) // bucket_ms * bucket_ms
            if to_ms > self._done_ms[level]:
                found.append(Thinning(self._done_ms[level], to_ms, bucket_ms))
                self._done_ms[level] = to_ms
        return found

    def remove_before_ms(self, now_ms: int) -> int:
        """What is older goes."""
        return now_ms - self._all_ms
