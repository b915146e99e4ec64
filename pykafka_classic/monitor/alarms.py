"""Alarms: when one begins, and when it is over. Pure.

| rule | about | begins | value |
|---|---|---|---|
| under-replicated | the cluster | some partition's ISR lacks a replica for `alarm.under.replicated.after.ms` | how many partitions |
| offline-partition | the cluster | some partition has no leader for `alarm.offline.partition.after.ms` | how many |
| broker-gone | broker N | it has replicas, and is not registered for `alarm.broker.gone.after.ms` | 1 |
| no-controller | the cluster | there is no /controller for `alarm.no.controller.after.ms` | 1 |
| group-lag-records | group G | it is more than `alarm.group.lag.records` behind | records |
| group-lag-time | group G | the oldest record that it has not read is older than `alarm.group.lag.ms` | ms |
| disk | broker N:/path | its disk is more than `alarm.disk.used.percent` full | percent |

Hysteresis: what is wrong must be so for a while before it rings; an alarm is over only when the value has stayed below `alarm.clear.percent` of its limit
(for what is not a number: when all is well) for `alarm.clear.after.ms`. In between nothing happens, so that a value around its limit rings once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.event_sentences import seconds
from pykafka_classic.monitor.settings import MonitorKeys
from pykafka_classic.monitor.store.rows import AlarmCleared, AlarmRaised, GroupSample, LogDirRow

CLUSTER: Final = "cluster"
NEVER: Final = -1
NAMES_MAX: Final = 5
PERCENT: Final = 100

Key: TypeAlias = tuple[str, str]  # rule and subject


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that is, or is nearly, too large. It is too large above `limit`, and well again below `clear_below`."""

    rule: str
    subject: str
    value: float
    sentence: str
    limit: float = 0
    clear_below: float = 0.5
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """What alarms are about: the present state of a cluster."""

    replicas: Mapping[TopicPartition, Sequence[int]]
    leaders: Mapping[TopicPartition, int]
    in_sync: Mapping[TopicPartition, Sequence[int]]
    alive: frozenset[int]
    has_controller: bool


def readings_of_state(health: Health, keys: MonitorKeys) -> list[Reading]:
    """What ZooKeeper shows."""
    found = []
    short = [each for each, replicas in health.replicas.items() if set(replicas) - set(health.in_sync.get(each, ()))]
    found.append(
        Reading("under-replicated", CLUSTER, len(short), f"{_names(short)}: not all replicas are in sync", after_ms=keys.alarm_under_replicated_after_ms)
    )
    offline = [each for each, leader in health.leaders.items() if leader < 0]
    found.append(Reading("offline-partition", CLUSTER, len(offline), f"{_names(offline)}: no leader", after_ms=keys.alarm_offline_partition_after_ms))
    wanted = {broker for replicas in health.replicas.values() for broker in replicas}
    found += [
        Reading("broker-gone", f"broker {broker}", 1, f"Broker {broker} has replicas, and is not registered", after_ms=keys.alarm_broker_gone_after_ms)
        for broker in sorted(wanted - health.alive)
    ]
    if not health.has_controller:
        found.append(Reading("no-controller", CLUSTER, 1, "The cluster has no controller", after_ms=keys.alarm_no_controller_after_ms))
    return [each for each in found if each.after_ms != NEVER]


def readings_of_groups(samples: Iterable[GroupSample], now_ms: int, keys: MonitorKeys) -> list[Reading]:
    """How far groups are behind."""
    records: dict[str, int] = {}
    oldest: dict[str, int] = {}
    for each in samples:
        records[each.group] = records.get(each.group, 0) + each.lag
        if each.behind_since_ms is not None:
            oldest[each.group] = max(oldest.get(each.group, 0), now_ms - each.behind_since_ms)
    found = []
    if keys.alarm_group_lag_records != NEVER:
        found += [
            _number("group-lag-records", f"group {group}", lag, keys.alarm_group_lag_records, (f"{lag} records behind", keys)) for group, lag in records.items()
        ]
    if keys.alarm_group_lag_ms != NEVER:
        found += [_number("group-lag-time", f"group {group}", age, keys.alarm_group_lag_ms, (f"{seconds(age)} behind", keys)) for group, age in oldest.items()]
    return found


def readings_of_disks(rows: Iterable[LogDirRow], keys: MonitorKeys) -> list[Reading]:
    """How full disks are."""
    found = []
    for each in rows:
        if each.total and each.usable is not None:
            used = PERCENT * (1 - each.usable / each.total)
            sentence = f"{used:.1f} % full ({each.usable // (1024 * 1024)} MiB left)"
            found.append(_number("disk", f"broker {each.broker}:{each.path}", used, keys.alarm_disk_used_percent, (sentence, keys)))
    return found


def _number(rule: str, subject: str, value: float, limit: float, told: tuple[str, MonitorKeys]) -> Reading:
    sentence, keys = told
    name = subject[:1].upper() + subject[1:]
    # A disk cannot be expected to become a fifth emptier: half way between "full" and the usual share.
    share = (keys.alarm_clear_percent + PERCENT) / 2 if rule == "disk" else keys.alarm_clear_percent
    return Reading(rule, subject, value, f"{name}: {sentence}", limit, limit * share / PERCENT)


def _names(partitions: Sequence[TopicPartition]) -> str:
    some = ", ".join(map(str, sorted(partitions)[:NAMES_MAX]))
    return some if len(partitions) <= NAMES_MAX else f"{some} and {len(partitions) - NAMES_MAX} more partitions"


@dataclass(slots=True)
class _Watched:
    """A value that was too large lately. `since_ms`: too large since then (waiting), or well since then (None: it is not)."""

    raised: bool = False
    since_ms: int | None = None


class AlarmBook:
    """The alarms of one cluster that are on, and those that may begin.

    Args:
        cluster: its name.
        clear_after_ms: how long all must be well.
        on: alarms of an earlier life that are still on.
    """

    def __init__(self, cluster: str, clear_after_ms: int, on: Iterable[Key] = ()) -> None:
        self._cluster = cluster
        self._clear_after_ms = clear_after_ms
        self._watched = {key: _Watched(raised=True) for key in on}

    @property
    def on(self) -> frozenset[Key]:
        """Those that ring."""
        return frozenset(key for key, each in self._watched.items() if each.raised)

    def update(self, readings: Iterable[Reading], rules: Iterable[str], now_ms: int) -> list[AlarmRaised | AlarmCleared]:
        """What begins or ends now. `rules`: those that were looked at; what has no reading among them is well."""
        by_key = {(each.rule, each.subject): each for each in readings}
        looked_at = frozenset(rules)
        found: list[AlarmRaised | AlarmCleared] = []
        for key in {*by_key, *(key for key in self._watched if key[0] in looked_at)}:
            reading, watched = by_key.get(key), self._watched.setdefault(key, _Watched())
            change = self._cleared(key, reading, watched, now_ms) if watched.raised else self._raised(reading, watched, now_ms)
            found += [change] if change is not None else []
            if not watched.raised and watched.since_ms is None:
                del self._watched[key]
        return sorted(found, key=lambda each: (each.rule, each.subject))

    def _raised(self, reading: Reading | None, watched: _Watched, now_ms: int) -> AlarmRaised | None:
        if reading is None or reading.value <= reading.limit:
            watched.since_ms = None
            return None
        watched.since_ms = now_ms if watched.since_ms is None else watched.since_ms
        if now_ms - watched.since_ms < reading.after_ms:
            return None
        watched.raised, watched.since_ms = True, None
        return AlarmRaised(self._cluster, reading.rule, reading.subject, now_ms, reading.sentence, reading.value)

    def _cleared(self, key: Key, reading: Reading | None, watched: _Watched, now_ms: int) -> AlarmCleared | None:
        if reading is not None and reading.value >= reading.clear_below:
            watched.since_ms = None
            return None
        watched.since_ms = now_ms if watched.since_ms is None else watched.since_ms
        if now_ms - watched.since_ms < self._clear_after_ms:
            return None
        watched.raised, watched.since_ms = False, None
        return AlarmCleared(self._cluster, *key, now_ms)


STATE_RULES: Final = ("under-replicated", "offline-partition", "broker-gone", "no-controller")
GROUP_RULES: Final = ("group-lag-records", "group-lag-time")
DISK_RULES: Final = ("disk",)
