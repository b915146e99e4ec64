"""Lines of a broker's events.log (docs/events.md) as rows of the store. Pure.

A line that speaks of many partitions becomes a row for each, so that each is found by its subject. Lines that are no events are passed over: events may stand
in a log file among others, each with its JSON somewhere in the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pykafka_classic.common import broker_events
from pykafka_classic.monitor.store.rows import EventRow

BEGIN: Final = b'{"time_ms":'
CONTROLLER: Final = "controller"

# Kinds whose rows of partitions are told one by one, and what stands in a row.
ROWS: Final[Mapping[str, tuple[str, ...]]] = {
    broker_events.STATE_WRITTEN.name: ("partition", "leader", "leader_epoch", "isr", "zk_version"),
    broker_events.STATE_REFUSED.name: ("partition", "zk_version"),
    broker_events.LEADER_AND_ISR_SENT.name: ("partition", "leader", "leader_epoch", "isr", "zk_version"),
    broker_events.LEADER_AND_ISR_APPLIED.name: ("partition", "leader", "leader_epoch", "log_end", "high_watermark"),
}
_OF_CONTROLLER: Final = frozenset(
    kind.name
    for kind in (
        broker_events.WATCH_FIRED,
        broker_events.CONTROLLER_EVENT,
        broker_events.CONTROLLER_ELECTED,
        broker_events.CONTROLLER_RESIGNED,
        broker_events.BROKERS_CHANGED,
        broker_events.CONTROLLED_SHUTDOWN,
    )
)


def rows_of(line: bytes) -> Iterator[EventRow]:
    """The events of a line: none, one, or one for each partition."""
    at = line.find(BEGIN)
    if at < 0:
        return
    try:
        told = json.loads(line[at : line.rindex(b"}") + 1])
        t_ms, broker, name = int(told.pop("time_ms")), int(told.pop("broker")), str(told.pop("event"))
    except (ValueError, KeyError, TypeError):
        return  # a line that a full disk has cut
    rows = told.pop("partitions", None) if name in ROWS else None
    if rows is None:
        yield EventRow(t_ms, broker, name, subject_of(name, broker, told), told)
        return
    for row in rows:
        facts = told | dict(zip(ROWS[name], row, strict=False))
        yield EventRow(t_ms, broker, name, str(facts.get("partition", "")), facts)


def subject_of(name: str, broker: int, facts: Mapping[str, Any]) -> str:
    """What an event is about: flights-0, group G, controller, broker 3."""
    if "partition" in facts:
        return str(facts["partition"])
    if "group" in facts:
        return f"group {facts['group']}"
    return CONTROLLER if name in _OF_CONTROLLER else f"broker {broker}"
