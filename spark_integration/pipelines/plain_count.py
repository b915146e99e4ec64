"""The same statistics by a plain loop over the CSV file, without Spark: what the pipeline's totals must equal, to the last flight."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, TypeAlias

from pykafka_classic.demo.flights import Flight

MISSING: Final = "NA"
_DEP_DELAY, _CARRIER, _ORIGIN, _MINUTE, _TIME = 6, 10, 13, 18, 19
_ON_TIME: Final = 15


@dataclass(slots=True)
class Delays:
    """Of one day, carrier and origin; or of several. The columns of `delay_statistics.delays`."""

    flights: int = 0
    departed: int = 0
    delay_minutes: int = 0
    delayed: int = 0
    worst_delay: int | None = None

    def count(self, delay: str) -> None:
        """One flight more, as the file has its delay."""
        self.flights += 1
        if delay == MISSING:
            return
        minutes = int(delay)
        self.departed += 1
        self.delay_minutes += minutes
        self.delayed += minutes >= _ON_TIME
        self.worst_delay = minutes if self.worst_delay is None else max(minutes, self.worst_delay)


def summed(parts: Iterable[Delays]) -> Delays:
    """Several as one."""
    known = list(parts)
    worst = [part.worst_delay for part in known if part.worst_delay is not None]
    flights, departed, minutes, delayed = (
        sum(counts) for counts in zip(*((each.flights, each.departed, each.delay_minutes, each.delayed) for each in (Delays(), *known)), strict=True)
    )
    return Delays(flights, departed, minutes, delayed, max(worst, default=None))


Counted: TypeAlias = dict[tuple[date, str, str], Delays]  # by day of UTC, carrier and origin


def count_plainly(flights: Iterable[Flight]) -> Counted:
    """All of them."""
    counted: Counted = {}
    for row in csv.reader(flight.value.decode() for flight in flights):
        departure = datetime.fromisoformat(row[_TIME]) + timedelta(minutes=int(row[_MINUTE]))
        counted.setdefault((departure.date(), row[_CARRIER], row[_ORIGIN]), Delays()).count(row[_DEP_DELAY])
    return counted


def differences(found: Mapping[tuple[date, str, str], Delays], expected: Mapping[tuple[date, str, str], Delays]) -> Iterator[str]:
    """What is otherwise than it must be, a sentence each; nothing where all is well."""
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            yield f"{key[0]} {key[1]} {key[2]}: {found.get(key)}, expected {expected.get(key)}"
