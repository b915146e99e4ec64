"""Topics: the list, and one with its partitions, configs, rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from pykafka_classic.monitor.store.answers import ConfigState, PartitionPoint, PartitionState, Span, TopicState
from pykafka_classic.monitor.web.api import shown_configs
from pykafka_classic.monitor.web.exchange import not_found
from pykafka_classic.monitor.web.operations.topics import INT32_MAX
from pykafka_classic.monitor.web.pages.whys import why
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View

SHOWN: Final = 200
ONLY: Final[Mapping[str, Callable[[TopicState], bool]]] = {
    "": lambda _: True,
    "under-replicated": lambda topic: topic.under_replicated > 0,
    "offline": lambda topic: topic.offline > 0,
    "not-preferred": lambda topic: topic.not_preferred > 0,
}
INTERNAL: Final = "__"


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic as the list shows it. None: not known yet."""

    topic: TopicState
    records: int | None
    size: int | None
    records_per_s: float | None


@dataclass(frozen=True, slots=True)
class PartitionLine:
    """A partition as its topic's page shows it."""

    state: PartitionState
    log: PartitionPoint | None


@ROUTES.page("/c/{cluster}/topics")
def topics(view: View) -> Page:
    """All topics, or those of a kind, or with a text in their names."""
    only, wanted, order = view.request.text("only"), view.request.text("q").strip(), view.request.text("sort", "name")
    with_internal = bool(view.request.text("internal")) or wanted.startswith(INTERNAL)
    known = view.reader.topics_at(view.cluster)
    hidden = [each for each in known if each.topic.startswith(INTERNAL) and not with_internal and not only]
    chosen = [each for each in known if each not in hidden and ONLY.get(only, ONLY[""])(each) and wanted.lower() in each.topic.lower()]
    lines = sorted(_lines(view, chosen), key=ORDERS.get(order, ORDERS["name"]))
    page = view.request.number("page", 1, least=1, most=INT32_MAX)
    values = {
        "lines": lines[(page - 1) * SHOWN : page * SHOWN],
        "page": page,
        "pages": max(1, -(-len(lines) // SHOWN)),
        "found": len(lines),
        "all_count": len(known),
        "hidden": len(hidden),
        "only": only,
        "only_names": list(ONLY),
        "q": wanted,
        "sort": order,
    }
    return Page("topics.html", "Topics", values)


@ROUTES.page("/c/{cluster}/topics/{topic}")
def topic(view: View) -> Page:
    """One topic."""
    name = view.parts["topic"]
    states = view.reader.partitions_at(view.cluster, topic=name)
    if not states:
        raise not_found(f"Cluster {view.cluster} has no topic {name!r}.")
    logs = view.reader.ends_at(view.cluster, topic=name)
    lines = [PartitionLine(each, logs.get((name, each.partition))) for each in states]
    config = view.reader.config_at(view.cluster, "topic", name)
    values = {
        "topic": name,
        "lines": lines,
        "records": _sum(line.log and line.log.log_end - line.log.log_start for line in lines),
        "size": _sum(line.log.size if line.log and line.log.size >= 0 else None for line in lines),
        "rate": _sum(line.log.records_per_s if line.log else None for line in lines),
        "replication_factor": max(len(each.replicas) for each in states),
        "configs": shown_configs(config.entries) if config is not None else [],
        "config_changes": _config_changes(view, name),
        "readers": _readers(view, name),
        "is_internal": name.startswith(INTERNAL),
    }
    return Page("topic.html", name, values)


@ROUTES.page("/c/{cluster}/topics/{topic}/partitions/{partition}")
def partition(view: View) -> Page:
    """The history of one partition."""
    name, number = view.parts["topic"], view.parts["partition"]
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise not_found(f"A partition has a number, not {number!r}.")
    states = view.reader.partitions_at(view.cluster, topic=name)
    now = next((each for each in states if each.partition == int(number)), None)
    if now is None:
        raise not_found(f"Cluster {view.cluster} has no partition {name}-{number}.")
    values = {
        "topic": name,
        "now": now,
        "history": view.reader.partition_history(view.cluster, name, int(number), Span(limit=200)),
        "why": why(view, f"{name}-{number}"),
    }
    return Page("partition.html", f"{name}-{number}", values)


def _lines(view: View, chosen: list[TopicState]) -> list[TopicLine]:
    by_topic: dict[str, list[PartitionPoint]] = {}
    for (name, _), point in view.reader.ends_at(view.cluster).items():
        by_topic.setdefault(name, []).append(point)
    lines = []
    for each in chosen:
        points = by_topic.get(each.topic, [])
        lines.append(
            TopicLine(
                each,
                _sum(point.log_end - point.log_start for point in points),
                _sum(point.size if point.size >= 0 else None for point in points),
                _sum(point.records_per_s for point in points),
            )
        )
    return lines


ORDERS: Final[Mapping[str, Callable[[TopicLine], Any]]] = {
    "name": lambda line: line.topic.topic,
    "partitions": lambda line: (-line.topic.partitions, line.topic.topic),
    "records": lambda line: (-(line.records or 0), line.topic.topic),
    "size": lambda line: (-(line.size or 0), line.topic.topic),
    "rate": lambda line: (-(line.records_per_s or 0), line.topic.topic),
}


def _sum(values: Any) -> Any:
    there = [each for each in values if each is not None]
    return sum(there) if there else None


def _readers(view: View, topic_name: str) -> list[tuple[str, str, int]]:
    """The groups that have committed to it: name, store, records behind."""
    found = []
    for group in view.reader.lag_ranking(view.cluster, limit=SHOWN):
        points = [each for each in view.reader.group_lag(view.cluster, group.group) if each.topic == topic_name and each.store == group.store]
        if points:
            found.append((group.group, group.store, sum(each.lag for each in points)))
    return found


def _config_changes(view: View, topic_name: str) -> list[tuple[int, str]]:
    """When which config became what, the latest first."""
    history: list[ConfigState] = list(view.reader.config_history(view.cluster, "topic", topic_name, Span(limit=20)))
    found = []
    for now, before in pairwise(history):
        for name, (value, _) in now.entries.items():
            old = before.entries.get(name, (None, ""))[0]
            if old != value:
                found.append((now.t_ms, f"{name}: {old} → {value}"))
    return found
