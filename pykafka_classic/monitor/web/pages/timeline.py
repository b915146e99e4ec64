"""The timeline: what happened, in order of cause; why things are as they are; and the cluster's state at any past second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pykafka_classic.monitor.reading import read_timeline
from pykafka_classic.monitor.store.answers import BrokerState, ControllerState, GroupState, PartitionState, Span
from pykafka_classic.monitor.timeline import TimelineLine
from pykafka_classic.monitor.web.exchange import not_found
from pykafka_classic.monitor.web.fields import NUMBER, TEXT, Field
from pykafka_classic.monitor.web.operations.operation import API
from pykafka_classic.monitor.web.pages.whys import why
from pykafka_classic.monitor.web.routes import ROUTES
from pykafka_classic.monitor.web.view import Page, View
from pykafka_classic.monitor.why import Answer

MINUTES: Final = 15
SECOND_MS: Final = 1_000
MINUTES_MAX: Final = 7 * 24 * 60
CHANGES_MAX: Final = 4_000
LINES_MAX: Final = 300
SHOWN: Final = 60
SUBJECT: Final = Field("subject", TEXT, "Only about this, and what led to it: flights-0, topic flights, broker 3, group G, controller.")
SINCE: Final = Field("since", NUMBER, "From when on, in ms since 1970; missing: the last 15 minutes.")
UNTIL: Final = Field("until", NUMBER, "Until when; missing: now.")
ASKED: Final = Field("subject", TEXT, "flights-0, broker 3, or group G.", required=True)
AT: Final = Field("at", NUMBER, "The moment, in ms since 1970; missing: now.")


@dataclass(frozen=True, slots=True)
class State:
    """A cluster at a moment."""

    t_ms: int
    brokers: tuple[BrokerState, ...]
    controller: ControllerState | None
    partitions: tuple[PartitionState, ...]
    groups: tuple[GroupState, ...]


@ROUTES.page("/c/{cluster}/timeline")
def page(view: View) -> Page:
    """The list, with a slider over its time."""
    request = view.request
    minutes = request.number("minutes", MINUTES, least=1, most=MINUTES_MAX)
    until_ms = request.integer("until")
    end_ms = view.now_ms if until_ms is None else until_ms
    since_ms = request.number("since", end_ms - minutes * 60_000)
    subject, at = request.text("subject").strip(), request.integer("at")
    lines = lines_of(view, subject, Span(since_ms, until_ms, CHANGES_MAX), fold=not request.text("all"))
    values = {
        "lines": lines[-LINES_MAX:][::-1],
        "found": len(lines),
        "subject": subject,
        "minutes": minutes,
        "since_ms": since_ms,
        "until_ms": until_ms,
        "end_ms": since_ms + -(-max(0, end_ms - since_ms) // SECOND_MS) * SECOND_MS,  # the slider goes by seconds, and must reach the end
        "at": at,
        "state": state_at(view, at),
        "all": bool(request.text("all")),
        "alarming": [line.t_ms for line in lines if line.alarming][-200:],
        "why": why(view, subject, at) if subject else None,
        "shown": SHOWN,
    }
    return Page("timeline.html", "Timeline", values)


@ROUTES.data(f"{API}/timeline", tag="timeline", summary="What happened, in order of cause.", query=(SUBJECT, SINCE, UNTIL), answers=tuple[TimelineLine, ...])
def timeline_as_json(view: View) -> Any:
    """See the summary."""
    until_ms = view.request.integer("until")
    since_ms = view.request.number("since", max(0, (until_ms or view.now_ms) - MINUTES * 60_000))
    return lines_of(view, view.request.text("subject").strip(), Span(since_ms, until_ms, CHANGES_MAX))


@ROUTES.data(f"{API}/state", tag="timeline", summary="Brokers, controller, partitions and groups at a moment.", query=(AT,), answers=State)
def state_as_json(view: View) -> Any:
    """See the summary."""
    return state_at(view, view.request.integer("at"))


@ROUTES.data(f"{API}/why", tag="timeline", summary="Why a subject is as it is, in words.", query=(ASKED, AT), answers=Answer)
def why_as_json(view: View) -> Any:
    """See the summary."""
    subject = view.request.text("subject").strip()
    found = why(view, subject, view.request.integer("at"))
    if found is None:
        raise not_found(f"Nothing is known of {subject[:100]!r}: name a partition (flights-0), broker N, or group G.")
    return found


def lines_of(view: View, subject: str, span: Span, *, fold: bool = False) -> list[TimelineLine]:
    """The earliest first."""
    return read_timeline(view.reader, view.cluster, span, subject=subject or None, fold=fold)


def state_at(view: View, t_ms: int | None) -> State:
    """None: now."""
    return State(
        view.now_ms if t_ms is None else t_ms,
        view.reader.brokers_at(view.cluster, t_ms),
        view.reader.controller_at(view.cluster, t_ms),
        view.reader.partitions_at(view.cluster, t_ms),
        view.reader.groups_at(view.cluster, t_ms),
    )
