"""Why something is as it is, in words: a partition, a broker, a group. Pure: it reads from whatever answers as `StoreReader` does.

    ISR of flights-0 is [1,2] since 14:03:11: broker 3 last caught up 30.4 s before (replica.lag.time.max.ms = 30000); its session 0x1000... ended at 14:03:09.

Brokers of ours tell why they decide (docs/events.md); of Apache's it is concluded from what ZooKeeper shows, and said as what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.monitor.event_sentences import laggards, listed, seconds
from pykafka_classic.monitor.memory import Memory
from pykafka_classic.monitor.store.answers import BrokerEvent, BrokerState, GroupState, LagPoint, PartitionState, Span
from zk_schema.partition_state import NO_LEADER

AROUND_MS: Final = 120_000  # so long before a change its reason is looked for
EMPTY: Final = "Empty"
REPLICA_LAG: Final = "replica.lag.time.max.ms"
UNCLEAN: Final = "unclean.leader.election.enable"
WORST: Final = 5  # of a group's partitions
_REASONS: Final = {"OfflinePartition": "was gone", "ControlledShutdownPartition": "was being stopped", "PreferredReplicaPartition": "was not the preferred one"}


class Unknown(Exception):
    """Nothing is known of what was asked for; the text is for the user."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Sentences, the most important first; `well`: nothing is wrong; `since_ms`: when it became so; `subjects`: for a look at the timeline."""

    sentences: tuple[str, ...]
    well: bool
    since_ms: int
    subjects: tuple[str, ...]


class Why:
    """Answers about one cluster, now or at a past moment.

    Args:
        memory: what is known.
        cluster: its name.
        clock: a moment (ms since 1970) as people read it.
        t_ms: the moment that is asked about; None: now.
    """

    def __init__(self, memory: Memory, cluster: str, clock: Callable[[int], str], t_ms: int | None = None) -> None:
        self._memory = memory
        self._cluster = cluster
        self._clock = clock
        self._t_ms = t_ms
        self._brokers = {each.broker: each for each in memory.brokers_at(cluster, t_ms)}

    # a partition

    def partition(self, topic: str, partition: int) -> Answer:
        """Why its leader and ISR are as they are. Raises Unknown."""
        now = next((each for each in self._memory.partitions_at(self._cluster, self._t_ms, topic=topic) if each.partition == partition), None)
        if now is None:
            raise Unknown(f"There is no partition {topic}-{partition}, as far as is known.")
        span = Span(until_ms=self._t_ms, limit=200)
        history = self._memory.partition_history(self._cluster, topic, partition, span)
        name = f"{topic}-{partition}"
        told = [self._of_leader(name, now, history)]
        missing = [broker for broker in now.replicas if broker not in now.isr]
        since = _since(history, lambda state: state.leader)
        if missing:
            since = max(since, _since(history, lambda state: frozenset(state.isr)))
            told.insert(0, self._of_isr(name, now, history, missing))
        elif not now.offline:
            told.append(f"Its ISR {listed(now.isr)} is complete since {self._clock(_since(history, lambda state: frozenset(state.isr)))}.")
        if now.adding or now.removing:
            told.append(f"It is being moved: to {listed(now.adding)}, from {listed(now.removing)}.")
        is_led = now.offline or self._serves(now.leader)
        if not is_led:
            told.append(self._of_life(now.leader, self._brokers.get(now.leader)))
        return Answer(tuple(told), not missing and not now.offline and is_led, since, (name, *(f"broker {each}" for each in missing)))

    def _of_isr(self, name: str, now: PartitionState, history: Sequence[PartitionState], missing: Sequence[int]) -> str:
        since = _since(history, lambda state: frozenset(state.isr)) or now.since_ms
        reasons = [self._why_missing(name, broker, history, now) for broker in missing]
        return f"ISR of {name} is {listed(now.isr)} since {self._clock(since)}: {'; '.join(reasons)}."

    def _why_missing(self, name: str, broker: int, history: Sequence[PartitionState], now: PartitionState) -> str:
        left_ms = _since(history, lambda state: broker in state.isr) or now.since_ms
        parts = []
        shrink = self._shrink_of(name, broker, left_ms)
        if shrink is not None:
            parts.append(laggards({**shrink.facts, "out": [row for row in shrink.facts["out"] if row[0] == broker]}))
        registered = self._brokers.get(broker)
        if registered is None:
            parts.append(f"broker {broker} was never seen alive")
        elif not registered.alive:
            whose = "its" if parts else f"broker {broker} is gone: its"
            parts.append(f"{whose} session {registered.session} {self._how_ended(registered)} at {self._clock(registered.registered_ms)}")
        elif not parts:
            parts.append(self._why_alive_and_missing(broker, left_ms, registered, now))
        return "; ".join(parts)

    def _why_alive_and_missing(self, broker: int, left_ms: int, registered: BrokerState, now: PartitionState) -> str:
        if registered.registered_ms >= left_ms:
            return f"broker {broker} is back since {self._clock(registered.registered_ms)}, and has not caught up yet"
        limit = self._config("broker", str(now.leader), REPLICA_LAG)
        told = f" ({REPLICA_LAG} = {limit})" if limit else ""
        return f"broker {broker} is alive, and has not caught up with leader {now.leader} in time{told}"

    def _shrink_of(self, name: str, broker: int, left_ms: int) -> BrokerEvent | None:
        """What the leader told when it dropped the broker."""
        span = Span(left_ms - AROUND_MS, left_ms + 1_000)
        events = self._memory.broker_events(self._cluster, span, subject=name)
        return next((each for each in events if each.name == "isr-shrink" and any(row[0] == broker for row in each.facts["out"])), None)

    def _how_ended(self, registered: BrokerState) -> str:
        """A session: expired, or closed by a broker that was stopped; "ended" where nobody tells."""
        span = Span(registered.registered_ms - 3_600_000, registered.registered_ms + AROUND_MS)
        events = self._memory.broker_events(self._cluster, span, subject=f"broker {registered.broker}")
        of_session = {each.name for each in events if each.facts.get("session") == registered.session}
        if "broker-stopping" in of_session:
            return "was closed (the broker was told to stop)"
        return "expired" if of_session else "ended (it expired, or the broker was stopped)"

    def _of_leader(self, name: str, now: PartitionState, history: Sequence[PartitionState]) -> str:
        since = _since(history, lambda state: (state.leader, state.leader_epoch)) or now.since_ms
        before = next((each.leader for each in history if each.since_ms < since and each.leader not in (now.leader, NO_LEADER)), NO_LEADER)
        if now.offline:
            return self._of_no_leader(name, now, since, before)
        told = f"Broker {now.leader} leads {name} since {self._clock(since)} (leader epoch {now.leader_epoch}, controller epoch {now.controller_epoch})"
        election = self._election(name, now.leader_epoch, since)
        if election is not None:
            before = before if election.facts["before"] == NO_LEADER else election.facts["before"]
            told += self._why_elected(before, str(election.facts["strategy"])) if before not in (NO_LEADER, now.leader) else ""
            told += "; it was chosen out of no ISR: records may be lost" if election.facts["unclean"] else ""
        elif before != NO_LEADER:
            told += self._why_elected(before, "")
        if now.leader != now.preferred_leader:
            told += f"; the preferred leader is broker {now.preferred_leader}"
        return f"{told}."

    def _why_elected(self, before: int, strategy: str) -> str:
        """What had become of the one who led before."""
        gone = self._brokers.get(before)
        if gone is not None and not gone.alive:
            return f": broker {before} led before, and its session {gone.session} {self._how_ended(gone)}"
        return f": broker {before} led before, and {_REASONS.get(strategy, 'had to give it up')}"

    def _of_no_leader(self, name: str, now: PartitionState, since: int, before: int) -> str:
        alive = [broker for broker in now.replicas if broker in self._brokers and self._brokers[broker].alive]
        led = f"; broker {before} led before" if before != NO_LEADER else ""
        unclean = self._config("topic", name.rpartition("-")[0], UNCLEAN)
        allowed = f" ({UNCLEAN} = {unclean})" if unclean else ""
        if alive:
            hopeless = f"of its ISR {listed(now.isr)} nobody is alive; {listed(alive)} may lack records{allowed}"
            return f"{name} has no leader since {self._clock(since)}{led}: {hopeless}."
        return f"{name} has no leader since {self._clock(since)}{led}: none of its replicas {listed(now.replicas)} is alive."

    def _election(self, name: str, leader_epoch: int, since: int) -> BrokerEvent | None:
        events = self._memory.broker_events(self._cluster, Span(since - AROUND_MS, since + AROUND_MS), subject=name)
        return next((each for each in events if each.name == "leader-elected" and each.facts.get("leader_epoch") == leader_epoch), None)

    def _config(self, kind: str, name: str, key: str) -> str | None:
        found = self._memory.config_at(self._cluster, kind, name, self._t_ms)
        return found.entries[key][0] if found is not None and key in found.entries else None

    # a broker

    def broker(self, broker: int) -> Answer:
        """How it fares, and what of that partitions suffer. Raises Unknown."""
        registered = self._brokers.get(broker)
        partitions = self._memory.partitions_at(self._cluster, self._t_ms)
        held = [each for each in partitions if broker in each.replicas]
        if registered is None and not held:
            raise Unknown(f"There is no broker {broker}, as far as is known.")
        out = [each for each in held if broker not in each.isr]
        told = [self._of_life(broker, registered)]
        controller = self._memory.controller_at(self._cluster, self._t_ms)
        if controller is not None and controller.broker == broker:
            told.append(f"It is the controller since {self._clock(controller.since_ms)}, in epoch {controller.epoch}.")
        told.append(
            f"It leads {sum(each.leader == broker for each in held)} of {len(held)} partitions that it holds, and is in sync on {len(held) - len(out)}."
        )
        if out:
            names = ", ".join(f"{each.topic}-{each.partition}" for each in out[:WORST]) + (" and others" if len(out) > WORST else "")
            told.append(f"It is missing in the ISR of {names}.")
        return Answer(tuple(told), self._serves(broker) and not out, registered.registered_ms if registered is not None else 0, (f"broker {broker}",))

    def _serves(self, broker: int) -> bool:
        """Registered, and it answers."""
        registered = self._brokers.get(broker)
        return registered is not None and registered.alive and not self._silence(broker, registered.registered_ms)

    def _of_life(self, broker: int, registered: BrokerState | None) -> str:
        if registered is None:
            return f"Broker {broker} was never seen alive, though replicas are assigned to it."
        if registered.alive:
            told = f"Broker {broker} is registered at {registered.address} since {self._clock(registered.registered_ms)}, in session {registered.session}"
            return f"{told}{self._silence(broker, registered.registered_ms)}."
        ended = f"its session {registered.session} {self._how_ended(registered)}"
        return f"Broker {broker} is gone since {self._clock(registered.registered_ms)}: {ended}."

    def _silence(self, broker: int, since_ms: int) -> str:
        """Of one that is registered: since when it does not answer."""
        span = Span(since_ms, self._t_ms)
        for each in self._memory.broker_events(self._cluster, span, subject=f"broker {broker}"):
            if each.name == "broker-silent":
                return f"; but it does not answer since {self._clock(each.t_ms)}: when its session expires, its leaderships move"
            if each.name in ("broker-answers", "broker-started"):
                return ""
        return ""

    # a group

    def group(self, group: str) -> Answer:
        """Its members, and why it is behind. Raises Unknown."""
        states = [each for each in self._memory.groups_at(self._cluster, self._t_ms) if each.group == group]
        lag = self._memory.group_lag(self._cluster, group, self._t_ms)
        if not states and not lag:
            raise Unknown(f"There is no group {group!r}, as far as is known.")
        told = [self._of_state(each) for each in states]
        behind = sorted((each for each in lag if each.lag > 0), key=lambda each: -each.lag)
        told += [_of_lag(each) for each in behind[:WORST]]
        if len(behind) > WORST:
            told.append(f"It is behind on {len(behind) - WORST} more partitions.")
        if lag and not behind:
            told.append(f"It has read all that there is, on {len(lag)} partition{'' if len(lag) == 1 else 's'}.")
        well = not behind and any(each.members for each in states)
        return Answer(tuple(told), well, max((each.since_ms for each in states), default=0), (f"group {group}",))

    def _of_state(self, state: GroupState) -> str:
        where = f"at broker {state.coordinator}" if state.store == "kafka" else "in ZooKeeper"
        since = self._clock(state.since_ms)
        if not state.members:
            return f"Group {state.group} ({where}) is {state.state} since {since}: nobody reads{self._why_left(state)}."
        members = ", ".join(f"{each.client_id or each.member_id} ({len(each.partitions)})" for each in state.members[:WORST])
        return f"Group {state.group} ({where}) is {state.state} since {since}, members (and their partitions): {members}{self._why_left(state)}."

    def _why_left(self, state: GroupState) -> str:
        events = self._memory.broker_events(self._cluster, Span(until_ms=self._t_ms, limit=20), subject=f"group {state.group}")
        for each in events:
            if each.name == "member-failed":
                limit = seconds(each.facts["session_timeout_ms"])
                return f"; member {each.facts['client']} sent no heartbeat for {limit} until {self._clock(each.t_ms)}"
            if each.name == "group-rebalancing":
                return f"; its last rebalance, at {self._clock(each.t_ms)}: {each.facts['why']}"
        return ""


def _of_lag(point: LagPoint) -> str:
    if point.lag_ms is None:
        since = ""
    else:
        since = f", {'' if point.exact else 'at least '}{seconds(point.lag_ms)}"
    return f"It is {point.lag} records{since} behind on {point.topic}-{point.partition}: it has committed {point.committed} of {point.committed + point.lag}."


def _since(history: Sequence[PartitionState], of: Callable[[PartitionState], object]) -> int:
    """When this began to be as it is now; 0: nothing is known. The history has the latest first."""
    since = 0
    for state in history:
        if of(state) != of(history[0]):
            break
        since = state.since_ms
    return since
