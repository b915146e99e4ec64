"""What is loaded into the topic: the flights in the order of their departure, with the troubles of real data put in on purpose.

    on time         most flights: one after the other, as they leave
    a little late   every HELD_BACK_EVERY-th flight is sent HELD_BACK_FOR flights after its place (about eight hours later): its day is still open, it counts
    much too late   every FORGOTTEN_EVERY-th flight of the first quarter of the time is sent after all others: its day is closed, it is a dead letter
    broken          after every BROKEN_EVERY-th flight comes a copy of it with one thing wrong: a dead letter, and no flight less

All of it is a function of the data set: the same records in the same order each time, so that a load that was cut off is gone on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from pykafka_classic.demo.flights import ROWS, Flight, read_flights

HELD_BACK_EVERY: Final = 100
HELD_BACK_FOR: Final = 300
FORGOTTEN_EVERY: Final = 250
BROKEN_EVERY: Final = 1000
_CARRIER, _FLIGHT, _ORIGIN, _MONTH, _DELAY, _TIME = 10, 11, 13, 2, 6, 19  # places in a row, the number before it


class Loaded(NamedTuple):
    """One record to be, keyed by the flight's name (`UA1545`)."""

    key: bytes
    value: bytes


def flights_by_departure(limit: int = ROWS) -> list[Flight]:
    """The first `limit` flights of the year. The file has them by month as text: October comes after January. Raises FlightsMissing."""
    return sorted(read_flights(), key=_departure)[:limit]


def records(flights: Sequence[Flight]) -> Iterator[Loaded]:
    """All records, in the order in which they are sent."""
    for place, flight in enumerate(_sent_order(flights)):
        yield _record(flight.value)
        if place % BROKEN_EVERY == BROKEN_EVERY // 2:
            yield _broken(flight.value, place // BROKEN_EVERY)


def broken_count(flights: int) -> int:
    """How many of the records of so many flights are broken ones."""
    return (flights + BROKEN_EVERY // 2 - 1) // BROKEN_EVERY


def _sent_order(flights: Sequence[Flight]) -> list[Flight]:
    def place(item: tuple[int, Flight]) -> tuple[int, int]:
        number = item[0]
        if number < len(flights) // 4 and number % FORGOTTEN_EVERY == FORGOTTEN_EVERY // 2:
            return 2 * len(flights) + HELD_BACK_FOR, number
        return (number + HELD_BACK_FOR if number % HELD_BACK_EVERY == 0 else number), number

    return [flight for _, flight in sorted(enumerate(flights), key=place)]


def _departure(flight: Flight) -> tuple[bytes, int, int]:
    _, minute, hour = flight.value.rsplit(b",", 2)
    return hour, int(minute), flight.number


def _record(value: bytes) -> Loaded:
    row = value.split(b",", _FLIGHT + 1)
    return Loaded(row[_CARRIER] + row[_FLIGHT], value)


def _broken(value: bytes, kind: int) -> Loaded:
    return Loaded(_record(value).key, _DAMAGES[kind % len(_DAMAGES)](value))


def _with(place: int, text: bytes) -> Callable[[bytes], bytes]:
    def damage(value: bytes) -> bytes:
        row = value.split(b",")
        row[place] = text
        return b",".join(row)

    return damage


_DAMAGES: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda value: value[: len(value) // 2],  # cut off
    _with(_DELAY, b"soon"),  # a word for a number
    _with(_CARRIER, b"ZZ"),  # nobody's code
    _with(_ORIGIN, b"N.Y."),
    _with(_MONTH, b"13"),
    _with(_TIME, b"NA"),
    lambda _: b"",
)
