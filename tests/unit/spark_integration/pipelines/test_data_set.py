"""The records that are loaded, and the plain count of the flights in them."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from pykafka_classic.demo.flights import ROWS, Flight, number_of
from spark_integration.pipelines.data_set import BROKEN_EVERY, HELD_BACK_FOR, broken_count, flights_by_departure, records
from spark_integration.pipelines.plain_count import Delays, count_plainly, differences, summed

WANTED = 3_000


@pytest.fixture(scope="module")
def year() -> list[Flight]:
    return flights_by_departure()


def test_flights_are_in_the_order_of_their_departure_though_the_file_is_not(year: list[Flight]) -> None:
    assert len(year) == ROWS
    times = [(flight.value[-20:], int(flight.value.rsplit(b",", 2)[1])) for flight in year]
    assert times == sorted(times)
    assert times[0][0] == b"2013-01-01T10:00:00Z"
    assert times[-1][0] == b"2014-01-01T04:00:00Z"


def test_each_flight_is_sent_once_and_broken_copies_besides(year: list[Flight]) -> None:
    flights = year[:WANTED]
    sent = list(records(flights))
    known = {flight.value for flight in flights}
    assert Counter(record.value for record in sent if record.value in known) == Counter(known)
    broken = [record for record in sent if record.value not in known]
    assert len(broken) == broken_count(WANTED) == WANTED // BROKEN_EVERY
    assert sent == list(records(flights_by_departure(WANTED)))  # the same each time


def test_keys_are_the_names_of_flights(year: list[Flight]) -> None:
    [first, *_] = records(year[:1])
    assert first.key == b"UA1545"


def test_some_flights_come_hours_after_their_place_and_some_after_all_others(year: list[Flight]) -> None:
    flights = year[:WANTED]
    place = {number_of(flight.value): at for at, flight in enumerate(flights)}
    known = {flight.value for flight in flights}
    delays = Counter(
        place_sent - place[number_of(value)] for place_sent, value in enumerate(record.value for record in records(flights) if record.value in known)
    )
    held_back = sum(count for places, count in delays.items() if HELD_BACK_FOR - 10 < places <= HELD_BACK_FOR)
    forgotten = sum(count for places, count in delays.items() if places > WANTED // 2)
    # Every hundredth, but for the last two, which so many flights do not follow; and every 250th of the first quarter.
    assert (held_back, forgotten) == (30 - 2, 3)


@pytest.mark.parametrize("flights", [0, 1, 500, 501, 1500, 1501])
def test_broken_records_are_counted_without_making_them(year: list[Flight], flights: int) -> None:
    assert len(list(records(year[:flights]))) - flights == broken_count(flights)


def test_plain_count_of_the_whole_file(year: list[Flight]) -> None:
    # 328,521 departures and their delays of 4,152,200 minutes: the file's column 6, summed by awk.
    total = summed(count_plainly(year).values())
    assert (total.flights, total.departed, total.delay_minutes) == (ROWS, 328_521, 4_152_200)


def test_plain_count_by_day_of_utc(year: list[Flight]) -> None:
    [united, american] = [
        "0,2013,1,1,533,515,18,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z",
        "3,2013,1,1,NA,1930,NA,2100,2110,-10,AA,301,N619AA,LGA,ORD,150,733,19,30,2013-01-02T00:00:00Z",
    ]
    flights = [flight._replace(value=text.encode()) for flight, text in zip(year, (united, american), strict=False)]
    assert count_plainly(flights) == {(date(2013, 1, 1), "UA", "EWR"): Delays(1, 1, 18, 1, 18), (date(2013, 1, 2), "AA", "LGA"): Delays(1, 0, 0, 0, None)}


def test_parts_are_summed_and_the_worst_is_the_greatest() -> None:
    parts = [Delays(2, 1, -3, 0, -3), Delays(1, 0, 0, 0, None), Delays(3, 3, 40, 1, 30)]
    assert summed(parts) == Delays(6, 4, 37, 1, 30)
    assert summed([]) == Delays(0, 0, 0, 0, None)


def test_differences_are_told_key_by_key() -> None:
    key, other = (date(2013, 1, 1), "UA", "EWR"), (date(2013, 1, 1), "AA", "LGA")
    same, more = Delays(1, 1, 5, 0, 5), Delays(2, 1, 5, 0, 5)
    assert list(differences({key: same}, {key: same})) == []
    told = list(differences({key: more, other: same}, {key: same}))
    assert [sentence.split(":")[0] for sentence in told] == ["2013-01-01 AA LGA", "2013-01-01 UA EWR"]
