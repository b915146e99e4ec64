"""Medians of rounds, ratios, and the forms in which they are kept: a table in Markdown, JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comparison.workloads import Row, Workload


@dataclass(slots=True)
class Result:
    """A row with the values of all rounds. `peer` is empty where nothing is compared."""

    key: str
    row: Row
    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """How much better ours is: 2 is twice the peer's rate, or half its time. None without both, or where one is nothing."""
        if not self.ours or not self.peer:
            return None
        ours, peer = statistics.median(self.ours), statistics.median(self.peer)
        if not ours or not peer:
            return None
        return ours / peer if self.row.more_is_better else peer / ours

    def as_json(self) -> dict[str, Any]:
        """All that is known."""
        return {
            "key": self.key,
            "title": self.row.title,
            "unit": self.row.unit,
            "more_is_better": self.row.more_is_better,
            "bar": self.row.bar,
            "ours": self.ours,
            "peer": self.peer,
            "ratio": self.ratio,
        }


class Results:
    """All rows of a run, in the order of the workloads."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.about = dict(about)
        self.rows: dict[str, Result] = {}
        self.failures: list[str] = []

    def add(self, workload: Workload, *, is_ours: bool, values: Mapping[str, float]) -> None:
        """The values of one run."""
        for key, row in workload.rows.items():
            if key in values:
                name = f"{workload.name}.{key}"
                result = self.rows.setdefault(name, Result(name, row))
                (result.ours if is_ours else result.peer).append(values[key])

    def table(self) -> str:
        """Markdown."""
        peer = self.about["peer"]
        head = [f"| workload | unit | ours | {peer} | ratio | bar |", "|---|---|---|---|---|---|"]
        return "\n".join(head + [_line(result) for result in self.rows.values()]) + "\n"

    def write(self, directory: Path, name: str) -> None:
        """NAME.json and NAME.md."""
        directory.mkdir(parents=True, exist_ok=True)
        content = {**self.about, "failures": self.failures, "rows": [result.as_json() for result in self.rows.values()]}
        (directory / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
        about = ", ".join(f"{key} {value}" for key, value in self.about.items())
        (directory / f"{name}.md").write_text(f"{about}\n\n{self.table()}\n{''.join(f'* {each}' for each in self.failures)}")


def _line(result: Result) -> str:
    ratio = "" if result.ratio is None else f"**{result.ratio:.2f}**" if result.ratio < result.row.bar else f"{result.ratio:.2f}"
    return f"| {result.row.title} | {result.row.unit} | {_told(result.ours)} | {_told(result.peer)} | {ratio} | {result.row.bar:g} |"


def _told(values: Iterable[float]) -> str:
    found = sorted(values)
    if not found:
        return "-"
    median = _number(statistics.median(found))
    return median if len(found) == 1 else f"{median} ({_number(found[0])}-{_number(found[-1])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
