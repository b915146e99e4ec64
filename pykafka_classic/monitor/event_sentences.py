"""Events of brokers (docs/events.md) in words. Pure. `event_sentences` has a sentence for each kind; a test holds that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pykafka_classic.common.broker_events import KINDS, EventKind
from pykafka_classic.monitor.store.answers import BrokerEvent

Facts = Mapping[str, Any]
NOBODY: Final = -1


def sentence_of(event: BrokerEvent) -> str:
    """What happened; of an event that is not known here, its name and facts."""
    tell = SENTENCES.get(event.name) or OF_THE_MONITOR.get(event.name)
    try:
        if tell is not None:
            return tell(event.broker, event.facts)
    except (KeyError, TypeError, ValueError, IndexError):  # told by a broker of another version
        tell = None
    return f"Broker {event.broker} tells {event.name}: {', '.join(f'{name} {value}' for name, value in event.facts.items())}"


def kind_of(event: BrokerEvent) -> EventKind | None:
    """Its description; None for one that is not known here."""
    return KINDS.get(event.name)


def listed(brokers: Iterable[int]) -> str:
    """[1,2]."""
    return f"[{','.join(map(str, brokers))}]"


def seconds(duration_ms: float) -> str:
    """30.4 s, 250 ms, 12 min, 3.5 h."""
    if duration_ms < 1000:
        return f"{duration_ms:.0f} ms"
    if duration_ms < 120_000:
        return f"{duration_ms / 1000:.1f} s"
    return f"{duration_ms / 60_000:.0f} min" if duration_ms < 5_400_000 else f"{duration_ms / 3_600_000:.1f} h"


def laggards(facts: Facts) -> str:
    """Of isr-shrink: who is out, and since when it had not caught up."""
    limit = facts["replica_lag_time_max_ms"]
    parts = []
    for broker, behind_ms, _ in facts["out"]:
        since = "has never caught up under this leader" if behind_ms < 0 else f"last caught up {seconds(behind_ms)} before"
        parts.append(f"broker {broker} {since}")
    return f"{', '.join(parts)} (replica.lag.time.max.ms = {limit})"


def _elected(broker: int, facts: Facts) -> str:
    partition, leader, before, isr = facts["partition"], facts["leader"], facts["before"], listed(facts["isr"])
    if leader == NOBODY:
        return f"Controller {broker} finds no leader for {partition}: nobody in its ISR {isr} is alive"
    how = " uncleanly, outside of the ISR: records may be lost" if facts["unclean"] else ""
    return f"Controller {broker} makes broker {leader} leader of {partition}{how} (before: {_name(before)}; {facts['strategy']}; ISR {isr})"


def _name(broker: int) -> str:
    return "nobody" if broker == NOBODY else f"broker {broker}"


def _changed(broker: int, facts: Facts) -> str:
    parts = [f"{words} {listed(facts[key])}" for key, words in (("dead", "gone"), ("new", "new"), ("bounced", "gone and back")) if facts[key]]
    return f"Controller {broker} compares /brokers/ids with what it knew: {', '.join(parts) or 'nothing new'}; alive {listed(facts['alive'])}"


def _applied(broker: int, facts: Facts) -> str:
    role = "leads" if facts["leader"] == broker else f"follows broker {facts['leader']} on"
    where = f"log ends at {facts['log_end']}, high watermark {facts['high_watermark']}"
    return f"Broker {broker} {role} {facts['partition']} in epoch {facts['leader_epoch']}: {where}"


def _stabilized(broker: int, facts: Facts) -> str:
    return f"Group {facts['group']}: generation {facts['generation']} begins with {len(facts['members'])} members (coordinator: broker {broker})"


def _truncated(broker: int, facts: Facts) -> str:
    cut = f"from {facts['from']} to {facts['to']} ({facts['from'] - facts['to']} offsets)"
    return f"Broker {broker} cuts its log of {facts['partition']} {cut}: leader {facts['leader']} does not have the rest"


SENTENCES: Final[Mapping[str, Callable[[int, Facts], str]]] = {
    "broker-started": lambda broker, _: f"Broker {broker} serves",
    "broker-stopping": lambda broker, _: f"Broker {broker} was told to stop",
    "broker-registered": lambda broker, facts: f"Broker {broker} registers in session {facts['session']} (broker epoch {facts['broker_epoch']})",
    "session-expired": lambda broker, facts: f"Broker {broker} hears that its session {facts['session']} has expired",
    "session-renewed": lambda broker, facts: f"Broker {broker} has a new session {facts['session']}",
    "log-dir-failed": lambda broker, facts: f"Log directory {facts['log_dir']} of broker {broker} has failed",
    "watch-fired": lambda broker, facts: f"Broker {broker}: watch on {facts['path']} ({facts['watch']}) puts {facts['controller_event']} into the queue",
    "controller-event": lambda broker, facts: f"Controller {broker} handles {facts['controller_event']} (epoch {facts['controller_epoch']})",
    "controller-elected": lambda broker, facts: f"Broker {broker} has won the election of the controller: epoch {facts['controller_epoch']}",
    "controller-resigned": lambda broker, facts: f"Broker {broker} is no longer the controller (epoch {facts['controller_epoch']})",
    "brokers-changed": _changed,
    "controlled-shutdown": lambda broker, facts: f"Broker {facts['stopping']} asks controller {broker} to be relieved of {facts['led']} leaderships",
    "leader-elected": _elected,
    "election-failed": lambda broker, facts: f"Controller {broker} gives {facts['partition']} no leader: {facts['why']}",
    "state-written": lambda broker, facts: (
        f"Controller {broker} writes {facts['partition']}: leader {facts['leader']}, epoch {facts['leader_epoch']}, ISR {listed(facts['isr'])}, "
        f"zkVersion {facts['zk_version']} (controller epoch {facts['controller_epoch']})"
    ),
    "state-refused": lambda broker, facts: f"ZooKeeper refuses controller {broker}'s state of {facts['partition']}: zkVersion is not {facts['zk_version']}",
    "leader-and-isr-sent": lambda broker, facts: (
        f"Controller {broker} sends LeaderAndIsr to broker {facts['to']}: {facts['partition']}, leader {facts['leader']}, epoch {facts['leader_epoch']}, "
        f"ISR {listed(facts['isr'])}"
    ),
    "leader-and-isr-applied": _applied,
    "isr-shrink": lambda broker, facts: (
        f"Leader {broker} proposes to shrink the ISR of {facts['partition']} from {listed(facts['from'])} to {listed(facts['to'])}: {laggards(facts)}"
    ),
    "isr-expand": lambda broker, facts: (
        f"Leader {broker} proposes to expand the ISR of {facts['partition']} from {listed(facts['from'])} to {listed(facts['to'])}: broker {facts['follower']} "
        f"has reached {facts['follower_end']} (high watermark {facts['high_watermark']})"
    ),
    "isr-applied": lambda broker, facts: f"Leader {broker} goes on with ISR {listed(facts['isr'])} of {facts['partition']} (zkVersion {facts['zk_version']})",
    "isr-written": lambda broker, facts: f"Leader {broker} writes ISR {listed(facts['isr'])} of {facts['partition']} (zkVersion {facts['zk_version']})",
    "log-truncated": _truncated,
    "high-watermark-advanced": lambda broker, facts: (
        f"High watermark of {facts['partition']} moves to {facts['to']}, for the first time under leader {broker} in epoch {facts['leader_epoch']}"
    ),
    "group-rebalancing": lambda _, facts: f"Group {facts['group']} rebalances (generation {facts['generation']} ends): {facts['why']}",
    "group-stabilized": _stabilized,
    "group-empty": lambda _, facts: f"Group {facts['group']} has no members any longer",
    "member-failed": lambda _, facts: (
        f"Member {facts['client']} of group {facts['group']} at {facts['host']} has sent no heartbeat for {seconds(facts['session_timeout_ms'])}"
    ),
    "member-left": lambda _, facts: f"Member {facts['client']} of group {facts['group']} at {facts['host']} leaves",
    "coordinator-elected": lambda broker, facts: f"Broker {broker} coordinates what lies in {facts['partition']} (epoch {facts['leader_epoch']})",
    "coordinator-resigned": lambda broker, facts: f"Broker {broker} no longer coordinates what lies in {facts['partition']}",
}

# What the monitor itself noticed, stored beside what brokers told.
OF_THE_MONITOR: Final[Mapping[str, Callable[[int, Facts], str]]] = {
    "broker-silent": lambda broker, facts: f"Broker {broker} does not answer: {facts['why']}",
    "broker-answers": lambda broker, _: f"Broker {broker} answers again",
}

ALARMING: Final = frozenset(
    {"broker-silent", "session-expired", "log-dir-failed", "election-failed", "isr-shrink", "log-truncated", "member-failed", "state-refused"}
)
