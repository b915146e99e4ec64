"""The dashboard: how is the cluster?"""

from __future__ import annotations

from typing import Any, Final

from pykafka_classic.monitor.store.answers import PartitionState, Span
from pykafka_classic.monitor.timeline import TimelineLine
from pykafka_classic.monitor.web.pages.timeline import lines_of
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View, broker_lines

SHOWN: Final = 8
RECENTLY_MS: Final = 15_000
LATELY_MS: Final = 10 * 60_000
TURNS: Final = frozenset({"broker-joined", "broker-answers", "controller-elected", "controller-moved", "leader-moved"})  # nothing is wrong


@ROUTES.page("/c/{cluster}")
def dashboard(view: View) -> Page:
    """Everything that somebody should know first."""
    return Page("dashboard.html", "Dashboard", summary(view))


def summary(view: View) -> dict[str, Any]:
    """The values of the dashboard and of the big screen."""
    partitions = view.reader.partitions_at(view.cluster)
    under_replicated = [each for each in partitions if each.under_replicated and not each.offline]
    offline = [each for each in partitions if each.offline]
    brokers = broker_lines(view)
    ranking = view.reader.lag_ranking(view.cluster, limit=SHOWN)
    return {
        "brokers": brokers,
        "brokers_up": sum(each.state == "up" for each in brokers),
        "led": _counts(each.leader for each in partitions),
        "held": _counts(broker for each in partitions for broker in each.replicas),
        "controller": view.reader.controller_at(view.cluster),
        "partitions": len(partitions),
        "topics": len({each.topic for each in partitions}),
        "under_replicated": _first(under_replicated),
        "under_replicated_count": len(under_replicated),
        "offline": _first(offline),
        "offline_count": len(offline),
        "not_preferred": sum(not each.offline and each.leader != each.preferred_leader for each in partitions),
        "rate": _rate_now(view),
        "ranking": ranking,
        "lag_most": max((each.lag for each in ranking), default=0),
        "lately": lately(view),
        "alarms": view.reader.alarms(view.cluster, only_on=True),
        "cluster_info": next(each for each in view.reader.clusters() if each.name == view.cluster),
    }


def lately(view: View) -> list[TimelineLine]:
    """What of the last minutes somebody should know, the latest first."""
    lines = lines_of(view, "", Span(view.now_ms - LATELY_MS), fold=True)
    return [line for line in lines if line.alarming or line.name in TURNS][-SHOWN:][::-1]


def _rate_now(view: View) -> tuple[float, float]:
    (point,) = view.reader.rates(view.cluster, view.now_ms - RECENTLY_MS, view.now_ms, points=1)
    return point.records_per_s, point.bytes_per_s


def _first(partitions: list[PartitionState]) -> list[PartitionState]:
    return partitions[:SHOWN]


def _counts(brokers: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in brokers:
        found[each] = found.get(each, 0) + 1
    return found
