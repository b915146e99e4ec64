"""Queries over samples: sizes and rates of logs, lag of groups, members, configs, log directories.

A series has a row where something changed (see `inserts`); what holds at a moment is its latest row up to then.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.store.answers import ALL, END_OF_TIME, ConfigState, GroupLag, GroupState, LagPoint, LogDir, PartitionPoint, RatePoint, Span
from pykafka_classic.monitor.store.history import HistoryQueries, pairs
from pykafka_classic.monitor.store.queries import until
from pykafka_classic.monitor.store.rows import ZOOKEEPER, MemberRow
from zk_schema import consumers
from zk_schema.errors import MalformedZNode

DEAD: Final = "Dead"

_LATEST_LAG: Final = """
SELECT s.name, s.store, s.topic, s.partition, g.t_ms, g.committed, g.lag, g.behind_since_ms, g.exact FROM group_series s JOIN group_sample g
ON g.series_id = s.id AND g.t_ms = (SELECT max(t_ms) FROM group_sample WHERE series_id = s.id AND t_ms <= ?) WHERE g.committed >= 0 AND s.cluster_id = ?
"""


class SampleQueries(HistoryQueries):
    """The part of the reader that is about samples."""

    # partitions

    def partition_samples(self, cluster: str, topic: str, partition: int, span: Span) -> tuple[PartitionPoint, ...]:
        """A partition's log over time, the oldest first, with rates; begins with what held when the span begins."""
        series = self.rows("SELECT id FROM series WHERE cluster_id = ? AND topic = ? AND partition = ?", self.cluster_id(cluster), topic, partition)
        if not series:
            return ()
        sql = (
            "SELECT t_ms, log_start, log_end, size FROM partition_sample WHERE series_id = ? AND t_ms >= coalesce((SELECT max(t_ms) FROM partition_sample "
            "WHERE series_id = ? AND t_ms <= ?), 0) AND t_ms <= ? ORDER BY t_ms DESC LIMIT ?"
        )
        rows = self.rows(sql, series[0][0], series[0][0], span.since_ms, span.end_ms, span.limit)
        return tuple(_point(before, now) for before, now in pairs(rows[::-1]))

    def ends_at(self, cluster: str, t_ms: int | None = None, *, topic: str | None = None) -> dict[tuple[str, int], PartitionPoint]:
        """The latest sample up to then of all partitions (of a topic), with the rates up to it, by (topic, partition)."""
        sql = (
            "SELECT s.topic, s.partition, p.t_ms, p.log_start, p.log_end, p.size, b.t_ms, b.log_start, b.log_end, b.size FROM series s "
            "JOIN partition_sample p ON p.series_id = s.id AND p.t_ms = (SELECT max(t_ms) FROM partition_sample WHERE series_id = s.id AND t_ms <= ?) "
            "LEFT JOIN partition_sample b ON b.series_id = s.id AND b.t_ms = (SELECT max(t_ms) FROM partition_sample WHERE series_id = s.id AND t_ms < p.t_ms) "
            "WHERE p.log_end >= 0 AND s.cluster_id = ? AND (? IS NULL OR s.topic = ?)"
        )
        found = {}
        for name, partition, *values in self.rows(sql, until(t_ms), self.cluster_id(cluster), topic, topic):
            now, before = tuple(values[:4]), tuple(values[4:]) if values[4] is not None else None
            found[name, partition] = _point(before, now)
        return found

    def recent_ends(self, cluster: str, since_ms: int) -> list[tuple[str, int, int, int]]:
        """The ends of all logs since then, in the order of time: (topic, partition, time, end)."""
        sql = (
            "SELECT s.topic, s.partition, p.t_ms, p.log_end FROM partition_sample p JOIN series s ON s.id = p.series_id "
            "WHERE p.log_end >= 0 AND s.cluster_id = ? AND p.t_ms >= ? ORDER BY p.t_ms"
        )
        return [(topic, partition, t_ms, end) for topic, partition, t_ms, end in self.rows(sql, self.cluster_id(cluster), since_ms)]

    def series_there(self, cluster: str) -> list[tuple[str, int]]:
        """The partitions whose series have not ended."""
        return list(self.ends_at(cluster))

    def commits_there(self, cluster: str) -> dict[str, dict[str, set[TopicPartition]]]:
        """By store and group the partitions whose series have not ended."""
        found: dict[str, dict[str, set[TopicPartition]]] = {}
        for group, store, topic, partition, *_ in self.rows(_LATEST_LAG, END_OF_TIME, self.cluster_id(cluster)):
            found.setdefault(store, {}).setdefault(group, set()).add(TopicPartition(topic, partition))
        return found

    def rates(self, cluster: str, since_ms: int, until_ms: int, *, topic: str | None = None, points: int = 120) -> tuple[RatePoint, ...]:
        """Records and bytes per second into a cluster, or a topic, in `points` equal intervals, the oldest first."""
        step = max(1, (until_ms - since_ms) // points)
        sql = (
            "SELECT min(?, (t_ms - ? - 1) / ?), sum(max(0, log_end - end_before)), "
            "sum(CASE WHEN min(size, size_before) < 0 THEN 0 ELSE max(0, size - size_before) END) FROM ("
            "SELECT p.t_ms, p.log_end, p.size, lag(p.log_end) OVER one AS end_before, lag(p.size) OVER one AS size_before FROM partition_sample p "
            "JOIN series s ON s.id = p.series_id WHERE s.cluster_id = ? AND (? IS NULL OR s.topic = ?) AND p.t_ms >= ? AND p.t_ms <= ? "
            "WINDOW one AS (PARTITION BY p.series_id ORDER BY p.t_ms)) WHERE end_before >= 0 AND t_ms > ? GROUP BY 1"
        )
        values = (points - 1, since_ms, step, self.cluster_id(cluster), topic, topic, since_ms - 2 * step, until_ms, since_ms)
        sums = {slot: (records, size) for slot, records, size in self.rows(sql, *values)}
        told = [sums.get(slot, (0, 0)) for slot in range(points)]
        return tuple(RatePoint(since_ms + (slot + 1) * step, records * 1000 / step, size * 1000 / step) for slot, (records, size) in enumerate(told))

    # groups

    def groups_at(self, cluster: str, t_ms: int | None = None) -> tuple[GroupState, ...]:
        """All groups, those of the brokers and those of ZooKeeper; those that are gone are not among them."""
        sql = (
            "SELECT name, state, assignor, coordinator, members, t_ms FROM group_state WHERE id IN "
            "(SELECT max(id) FROM group_state WHERE cluster_id = ? AND t_ms <= ? GROUP BY name) AND state != ? ORDER BY name"
        )
        found = [_group(row) for row in self.rows(sql, self.cluster_id(cluster), until(t_ms), DEAD)]
        return (*found, *self._zookeeper_groups(cluster, t_ms))

    def group_history(self, cluster: str, group: str, span: Span = ALL) -> tuple[GroupState, ...]:
        """The states of one group at the brokers, the latest first."""
        sql = (
            "SELECT name, state, assignor, coordinator, members, t_ms FROM group_state "
            "WHERE cluster_id = ? AND name = ? AND t_ms >= ? AND t_ms <= ? ORDER BY id DESC LIMIT ?"
        )
        return tuple(_group(row) for row in self.rows(sql, self.cluster_id(cluster), group, span.since_ms, span.end_ms, span.limit))

    def group_changes(self, cluster: str, span: Span) -> tuple[GroupState, ...]:
        """How groups at the brokers changed in a span, the latest first."""
        sql = "SELECT name, state, assignor, coordinator, members, t_ms FROM group_state WHERE cluster_id = ? AND t_ms >= ? AND t_ms <= ?"
        values = (self.cluster_id(cluster), span.since_ms, span.end_ms, span.limit)
        return tuple(_group(row) for row in self.rows(f"{sql} ORDER BY id DESC LIMIT ?", *values))

    def group_lag(self, cluster: str, group: str, t_ms: int | None = None) -> tuple[LagPoint, ...]:
        """A group's partitions in both stores, at the latest sample up to then; `lag_ms` counts up to then, or up to the monitor's last look."""
        rows = self.rows(f"{_LATEST_LAG} AND s.name = ? ORDER BY s.store, s.topic, s.partition", until(t_ms), self.cluster_id(cluster), group)
        now = self._looked_until(t_ms)
        return tuple(_lag(row, now) for row in rows)

    def lag_history(self, cluster: str, group: str, span: Span, *, store: str | None = None, topic: str | None = None) -> tuple[LagPoint, ...]:
        """A group's lag over time, in the order of time; narrow it by store and topic, for each sample of each partition is a point."""
        sql = (
            "SELECT s.name, s.store, s.topic, s.partition, g.t_ms, g.committed, g.lag, g.behind_since_ms, g.exact FROM group_series s "
            "JOIN group_sample g ON g.series_id = s.id WHERE g.committed >= 0 AND s.cluster_id = ? AND s.name = ? AND g.t_ms >= ? AND g.t_ms <= ? "
            "AND (? IS NULL OR s.store = ?) AND (? IS NULL OR s.topic = ?) ORDER BY g.t_ms DESC LIMIT ?"
        )
        rows = self.rows(sql, self.cluster_id(cluster), group, span.since_ms, span.end_ms, store, store, topic, topic, span.limit)
        return tuple(_lag(row, row[4]) for row in reversed(rows))

    def lag_ranking(self, cluster: str, t_ms: int | None = None, *, limit: int = 20) -> tuple[GroupLag, ...]:
        """The groups that are furthest behind in records first."""
        now = self._looked_until(t_ms)
        by_group: dict[tuple[str, str], list[LagPoint]] = {}
        for row in self.rows(_LATEST_LAG, until(t_ms), self.cluster_id(cluster)):
            by_group.setdefault((row[0], row[1]), []).append(_lag(row, now))
        found = [_group_lag(*name, points) for name, points in by_group.items()]
        return tuple(sorted(found, key=lambda each: (-each.lag, each.group, each.store))[:limit])

    # configs and disks

    def config_at(self, cluster: str, kind: str, name: str, t_ms: int | None = None) -> ConfigState | None:
        """The config of a topic ("topic", NAME) or broker ("broker", "1") as brokers told; None: not known."""
        found = self.config_history(cluster, kind, name, Span(until_ms=t_ms, limit=1))
        return found[0] if found else None

    def config_history(self, cluster: str, kind: str, name: str, span: Span = ALL) -> tuple[ConfigState, ...]:
        """The configs of a topic or broker, the latest first."""
        sql = "SELECT kind, name, t_ms, entries FROM config_state WHERE cluster_id = ? AND kind = ? AND name = ? AND t_ms >= ? AND t_ms <= ?"
        values = (self.cluster_id(cluster), kind, name, span.since_ms, span.end_ms, span.limit)
        rows = self.rows(f"{sql} ORDER BY id DESC LIMIT ?", *values)
        return tuple(ConfigState(row[0], row[1], row[2], {key: (value[0], value[1]) for key, value in json.loads(row[3]).items()}) for row in rows)

    def log_dirs(self, cluster: str) -> tuple[LogDir, ...]:
        """The log directories of all brokers, at their latest samples."""
        sql = "SELECT broker, path, max(t_ms), size, total, usable, error FROM log_dir_sample WHERE cluster_id = ? GROUP BY broker, path ORDER BY broker, path"
        return tuple(LogDir(*row) for row in self.rows(sql, self.cluster_id(cluster)))

    # inside

    def _looked_until(self, t_ms: int | None) -> int:
        return min(until(t_ms), self.beat_ms())

    def _zookeeper_groups(self, cluster: str, t_ms: int | None) -> list[GroupState]:
        members: dict[str, dict[str, list[tuple[str, int]]]] = {}
        since: dict[str, int] = {}
        owners: list[tuple[str, str, tuple[str, int]]] = []
        for node in self.tree_at(cluster, consumers.PATH, t_ms):
            _, _, group, *rest = [*node.path.split("/"), "", ""][: node.path.count("/") + 1] if node.path.count("/") >= 2 else ("", "", "")
            if not group:
                continue
            members.setdefault(group, {})
            if rest[:1] == ["ids"] and len(rest) == 2:
                members[group][rest[1]] = []
            elif rest[:1] == ["owners"] and len(rest) == 3 and rest[2].isdecimal():
                owners.append((group, _owner(node.data), (rest[1], int(rest[2]))))
            if rest[:1] in (["ids"], ["owners"]) or not rest:
                since[group] = max(since.get(group, 0), node.t_ms)
        for group, thread, partition in owners:
            members[group].setdefault(thread.rpartition("-")[0] or thread, []).append(partition)
        return [
            GroupState(
                group,
                ZOOKEEPER,
                "Stable" if of_group else "Empty",
                "",
                -1,
                tuple(MemberRow(name, "", "", None, tuple(sorted(partitions))) for name, partitions in sorted(of_group.items())),
                since.get(group, 0),
            )
            for group, of_group in sorted(members.items())
        ]


def _point(before: tuple[Any, ...] | None, now: tuple[Any, ...]) -> PartitionPoint:
    """Rows are (t_ms, log_start, log_end, size). Retention makes a log smaller: no negative rate of bytes is told."""
    t_ms, log_start, log_end, size = now
    if before is None or t_ms <= before[0] or before[2] < 0:
        return PartitionPoint(t_ms, log_start, log_end, size, None, None)
    seconds = (t_ms - before[0]) / 1000
    bytes_per_s = max(0, size - before[3]) / seconds if min(size, before[3]) >= 0 else None
    return PartitionPoint(t_ms, log_start, log_end, size, max(0, log_end - before[2]) / seconds, bytes_per_s)


def _group(row: tuple[Any, ...]) -> GroupState:
    name, state, assignor, coordinator, members, t_ms = row
    found = tuple(
        MemberRow(each["member_id"], each["client_id"], each["host"], each["instance_id"], tuple((topic, number) for topic, number in each["partitions"]))
        for each in json.loads(members)
    )
    return GroupState(name, "kafka", state, assignor, coordinator, found, t_ms)


def _lag(row: tuple[Any, ...], now_ms: int) -> LagPoint:
    group, store, topic, partition, t_ms, committed, lag, behind_since_ms, exact = row
    lag_ms = 0 if lag == 0 else None if behind_since_ms is None else max(0, now_ms - behind_since_ms)
    return LagPoint(group, store, topic, partition, t_ms, committed, lag, lag_ms, bool(exact))


def _group_lag(group: str, store: str, points: list[LagPoint]) -> GroupLag:
    times = [point.lag_ms for point in points if point.lag_ms is not None]
    return GroupLag(group, store, sum(point.lag for point in points), max(times) if times else None, len(points))


def _owner(data: bytes | None) -> str:
    try:
        return consumers.decode_owner(data)
    except MalformedZNode:
        return ""
