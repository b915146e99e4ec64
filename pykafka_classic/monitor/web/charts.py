"""What the charts draw: `{times, unit, series: [{name, values}]}`. One clock for all series of a chart; where one has no value, it is null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.store.answers import LagPoint, Span
from pykafka_classic.monitor.web.exchange import bad_request
from pykafka_classic.monitor.web.fields import NUMBER, TEXT, Field
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import View

BASE: Final = "/api/v1/clusters/{cluster}"
MINUTES: Final = Field("minutes", NUMBER, "How far back.", default=15, least=1, most=60 * 24 * 30)
UNIT: Final = Field("unit", TEXT, "What is counted.", default="records", choices=("records", "bytes"))
LAG_UNIT: Final = Field("unit", TEXT, "How far behind: in records, or in time.", default="records", choices=("records", "time"))
POINTS: Final = 180
KEPT_MS: Final = 1_500  # ten browsers that draw the same chart cost as much as one
SERIES_MAX: Final = 12
SAMPLES_MAX: Final = 50_000


@dataclass(frozen=True, slots=True)
class Series:
    """One line."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """All lines; `times` in ms since 1970."""

    times: tuple[int, ...]
    unit: str
    series: tuple[Series, ...]
    empty: str = ""  # what to say where there is nothing to draw


CHART: Final[Mapping[str, Any]] = {"tag": "charts", "answers": Chart, "kept_ms": KEPT_MS}


@ROUTES.data(f"{BASE}/charts/rates", **CHART, summary="Records or bytes per second into all topics.", query=(MINUTES, UNIT))
def cluster_rates(view: View) -> Any:
    """See the summary."""
    return _rates(view, None)


@ROUTES.data(f"{BASE}/topics/{{topic}}/charts/rates", **CHART, summary="Records or bytes per second into a topic.", query=(MINUTES, UNIT))
def topic_rates(view: View) -> Any:
    """See the summary."""
    return _rates(view, view.parts["topic"])


@ROUTES.data(f"{BASE}/groups/{{group}}/charts/lag", **CHART, summary="A group's lag, a line for each topic.", query=(MINUTES, LAG_UNIT))
def lag(view: View) -> Any:
    """See the summary."""
    since_ms, in_time = view.now_ms - minutes(view) * 60_000, chosen(view, LAG_UNIT) == "time"
    points = view.reader.lag_history(view.cluster, view.parts["group"], Span(since_ms, limit=SAMPLES_MAX))
    held = view.reader.group_lag(view.cluster, view.parts["group"], since_ms)
    return lag_chart([*held, *points], since_ms, view.now_ms, in_time=in_time)


def lag_chart(points: Iterable[LagPoint], since_ms: int, until_ms: int, *, in_time: bool) -> Chart:
    """Lag changes where it is sampled, and holds in between: each line is, at each moment, the sum (of times: the largest) over its partitions."""
    step = max(1, (until_ms - since_ms) // POINTS)
    times = tuple(range(since_ms + step, until_ms + 1, step))
    by_line: dict[str, dict[tuple[str, int], list[LagPoint]]] = {}
    for each in sorted(points, key=lambda point: point.t_ms):
        by_line.setdefault(f"{each.topic} ({each.store})", {}).setdefault((each.topic, each.partition), []).append(each)
    series = []
    for name, partitions in sorted(by_line.items())[:SERIES_MAX]:
        columns = [_held(found, times, in_time=in_time) for found in partitions.values()]
        series.append(Series(name, tuple(_together(column, in_time=in_time) for column in zip(*columns, strict=True))))
    return Chart(times, "ms" if in_time else "", tuple(series), "No offset was committed in this time.")


def minutes(view: View) -> int:
    """Raises Refused."""
    return view.request.number("minutes", 15, least=1, most=MINUTES.most)


def chosen(view: View, field: Field) -> str:
    """A field of the query that has choices. Raises Refused."""
    found = view.request.text(field.name, field.default)
    if found not in field.choices:
        raise bad_request(f"{field.name} must be one of {', '.join(field.choices)}.")
    return found


def _rates(view: View, topic: str | None) -> Chart:
    since_ms, unit = view.now_ms - minutes(view) * 60_000, chosen(view, UNIT)
    points = view.reader.rates(view.cluster, since_ms, view.now_ms, topic=topic, points=min(POINTS, minutes(view) * 8))
    values = tuple(each.records_per_s if unit == "records" else each.bytes_per_s for each in points)
    name = "records" if unit == "records" else "bytes"
    return Chart(tuple(each.t_ms for each in points), "/s" if unit == "records" else "B/s", (Series(name, values),))


def _held(points: Sequence[LagPoint], times: Sequence[int], *, in_time: bool) -> list[float | None]:
    """At each time what the latest sample before it said; a group that is behind grows older meanwhile."""
    found: list[float | None] = []
    index, last = 0, None
    for t_ms in times:
        while index < len(points) and points[index].t_ms <= t_ms:
            last, index = points[index], index + 1
        if last is None:
            found.append(None)
        elif not in_time:
            found.append(last.lag)
        else:
            found.append(None if last.lag_ms is None else last.lag_ms + (t_ms - last.t_ms if last.lag else 0))
    return found


def _together(column: Sequence[float | None], *, in_time: bool) -> float | None:
    there = [each for each in column if each is not None]
    if not there:
        return None
    return max(there) if in_time else sum(there)
