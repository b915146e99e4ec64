"""What a workload is: a name, a cluster, a function that runs it once, and the rows that it fills."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from comparison.sides import Side


class Row(NamedTuple):
    """A line of the table. `bar`: the ratio that is aimed at (1: as good as the peer)."""

    title: str
    unit: str
    more_is_better: bool = True
    bar: float = 1.0


@dataclass(slots=True)
class Load:
    """How much of it. `seconds`: of one run."""

    seconds: float
    quick: bool


@dataclass(frozen=True)
class Workload:
    """`run` is called once a round for each side and gives the values of `rows` by their keys.

    Attributes:
        brokers: of the cluster that it needs; 0: it starts its own (`side` then only says whose brokers).
    """

    name: str
    brokers: int
    run: Callable[[Side, Load], Mapping[str, float]]
    rows: Mapping[str, Row]
    rounds_max: int = 99


@dataclass(slots=True)
class Meter:
    """Wall clock and the brokers' processor time between `begin` and `end`."""

    side: Side
    seconds: float = 0.0
    processor_s: float = 0.0
    _began: tuple[float, float] = field(default=(0.0, 0.0))

    def __enter__(self) -> Meter:
        self._began = (time.perf_counter(), self.side.processor_s())
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began[0]
        self.processor_s = self.side.processor_s() - self._began[1]

    def per_gigabyte(self, size: int) -> Mapping[str, float]:
        """Processor seconds per 10^9 bytes; nothing where the processes are not ours to see."""
        return {"cpu": self.processor_s / (size / 1e9)} if self.side.pids else {}

    def per_request(self, count: int) -> Mapping[str, float]:
        """Processor microseconds per request; nothing where the processes are not ours to see."""
        return {"cpu": self.processor_s / count * 1e6} if self.side.pids else {}
