"""Rows into tables: what the writer does inside a transaction. Remembers the ids and the latest rows, so that what has not changed is not written.

A sample that is like the one before it is not written; once something changes, the last like one is, at its own time, and then the new one. So between two rows
of a series nothing changed unless they are neighbours in time, and rates can be read off neighbours.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from pykafka_classic.monitor.store.rows import AlarmCleared, AlarmRaised, Batch, ClusterRow, ConfigRow, GroupStateRow

K = TypeVar("K", bound=Hashable)


class Ids(Generic[K]):
    """The ids of a table's rows by what they stand for; makes rows that are missing."""

    def __init__(self, connection: sqlite3.Connection, table: str, columns: str) -> None:
        names = columns.split(", ")
        self._connection = connection
        self._insert = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"
        self._ids: dict[tuple[Any, ...], int] = {tuple(key): number for number, *key in connection.execute(f"SELECT id, {columns} FROM {table}")}

    def of(self, *key: Any) -> int:
        """The id."""
        found = self._ids.get(key)
        if found is None:
            found = self._connection.execute(self._insert, key).lastrowid
            assert found is not None
            self._ids[key] = found
        return found

    def forget(self, ids: Iterable[int]) -> None:
        """These rows are removed."""
        gone = set(ids)
        self._ids = {key: number for key, number in self._ids.items() if number not in gone}


class LatestSamples:
    """Of each series the latest values, and when they were written and last seen."""

    def __init__(self) -> None:
        self._latest: dict[int, tuple[tuple[Any, ...], int, int]] = {}

    def rows(self, samples: Iterable[tuple[int, tuple[Any, ...]]], t_ms: int) -> list[tuple[Any, ...]]:
        """The rows to write for samples of one moment."""
        found: list[tuple[Any, ...]] = []
        for series, values in samples:
            known = self._latest.get(series)
            if known is not None and known[0] == values:
                self._latest[series] = (values, known[1], t_ms)
                continue
            if known is not None and known[2] > known[1]:
                found.append((series, known[2], *known[0]))
            found.append((series, t_ms, *values))
            self._latest[series] = (values, t_ms, t_ms)
        return found

    def forget(self, series: Iterable[int]) -> None:
        """These series are removed."""
        for each in series:
            self._latest.pop(each, None)


class Inserts:
    """The inserts of one writer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._znodes: Ids[Any] = Ids(connection, "znode", "cluster_id, path")
        self.series: Ids[Any] = Ids(connection, "series", "cluster_id, topic, partition")
        self.group_series: Ids[Any] = Ids(connection, "group_series", "cluster_id, name, store, topic, partition")
        self._partition_samples = LatestSamples()
        self._group_samples = LatestSamples()
        self._clusters: dict[str, int] = dict(connection.execute("SELECT name, id FROM cluster").fetchall())
        self._states: dict[tuple[Any, ...], str] = dict(_latest_states(connection))

    def forget_series(self, table: str, ids: Sequence[int]) -> None:
        """Rows of `series`, `group_series` or `znode` are removed."""
        if not ids:
            return
        {"series": self.series, "group_series": self.group_series, "znode": self._znodes}[table].forget(ids)
        if table == "series":
            self._partition_samples.forget(ids)
        elif table == "group_series":
            self._group_samples.forget(ids)

    def cluster(self, row: ClusterRow) -> None:
        """A cluster's state."""
        self._connection.execute(
            "INSERT INTO cluster (name, zookeeper, kafka_id, state, state_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "zookeeper = excluded.zookeeper, kafka_id = coalesce(excluded.kafka_id, kafka_id), state = excluded.state, state_ms = excluded.state_ms",
            (row.name, row.zookeeper, row.kafka_id, row.state, row.t_ms),
        )
        ((number,),) = self._connection.execute("SELECT id FROM cluster WHERE name = ?", (row.name,)).fetchall()
        self._clusters[row.name] = number

    def batch(self, batch: Batch) -> None:
        """All rows of a batch."""
        cluster = self._clusters[batch.cluster]
        self._insert_znodes(cluster, batch)
        self._insert_samples(cluster, batch)
        self._insert_states(cluster, batch)
        self._connection.executemany(
            "INSERT INTO broker_event (cluster_id, t_ms, broker, name, subject, zxid, facts) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(cluster, each.t_ms, each.broker, each.name, each.subject, each.zxid, _json(dict(each.facts))) for each in batch.events],
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO event_position (cluster_id, broker, inode, offset) VALUES (?, ?, ?, ?)",
            [(cluster, each.broker, each.inode, each.offset) for each in batch.event_positions],
        )

    def alarm_raised(self, row: AlarmRaised) -> None:
        """A new alarm."""
        self._connection.execute(
            "INSERT INTO alarm (cluster_id, rule, subject, raised_ms, sentence, value) VALUES (?, ?, ?, ?, ?, ?)",
            (self._clusters[row.cluster], row.rule, row.subject, row.t_ms, row.sentence, row.value),
        )

    def alarm_cleared(self, row: AlarmCleared) -> None:
        """The open alarm of this rule and subject is over."""
        self._connection.execute(
            "UPDATE alarm SET cleared_ms = ? WHERE cluster_id = ? AND rule = ? AND subject = ? AND cleared_ms IS NULL",
            (row.t_ms, self._clusters[row.cluster], row.rule, row.subject),
        )

    def _insert_znodes(self, cluster: int, batch: Batch) -> None:
        self._connection.executemany(
            "INSERT INTO znode_change (cluster_id, znode_id, t_ms, seen_ms, zxid, kind, version, owner, czxid, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (cluster, self._znodes.of(cluster, each.path), each.t_ms, each.seen_ms, each.zxid, each.kind, each.version, each.owner, each.czxid, each.data)
                for each in batch.znodes
            ],
        )

    def _insert_samples(self, cluster: int, batch: Batch) -> None:
        # A monitor that was killed and started anew within a millisecond's time must not fail: the same moment is written over.
        of_partitions = ((self.series.of(cluster, each.topic, each.partition), (each.log_start, each.log_end, each.size)) for each in batch.partitions)
        self._connection.executemany(
            "INSERT OR REPLACE INTO partition_sample (series_id, t_ms, log_start, log_end, size) VALUES (?, ?, ?, ?, ?)",
            self._partition_samples.rows(of_partitions, batch.t_ms),
        )
        of_groups = (
            (self.group_series.of(cluster, each.group, each.store, each.topic, each.partition), (each.committed, each.lag, each.behind_since_ms, each.exact))
            for each in batch.groups
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO group_sample (series_id, t_ms, committed, lag, behind_since_ms, exact) VALUES (?, ?, ?, ?, ?, ?)",
            self._group_samples.rows(of_groups, batch.t_ms),
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO log_dir_sample (cluster_id, broker, path, t_ms, size, total, usable, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(cluster, each.broker, each.path, batch.t_ms, each.size, each.total, each.usable, each.error) for each in batch.log_dirs],
        )

    def _insert_states(self, cluster: int, batch: Batch) -> None:
        gone = [GroupStateRow(name, "Dead", "", -1, ()) for name in batch.gone_groups]
        groups = self._changed(
            [*batch.group_states, *gone],
            lambda each: ("group", cluster, each.group),
            lambda each: _json([each.state, each.assignor, each.coordinator, [asdict(member) for member in each.members]]),
        )
        self._connection.executemany(
            "INSERT INTO group_state (cluster_id, name, t_ms, state, assignor, coordinator, members) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (cluster, each.group, batch.t_ms, each.state, each.assignor, each.coordinator, _json([asdict(member) for member in each.members]))
                for each in groups
            ],
        )
        configs: Sequence[ConfigRow] = self._changed(
            batch.configs, lambda each: (each.kind, cluster, each.name), lambda each: _json({key: list(value) for key, value in each.entries.items()})
        )
        self._connection.executemany(
            "INSERT INTO config_state (cluster_id, kind, name, t_ms, entries) VALUES (?, ?, ?, ?, ?)",
            [(cluster, each.kind, each.name, batch.t_ms, _json({key: list(value) for key, value in each.entries.items()})) for each in configs],
        )

    def _changed(self, rows: Iterable[Any], key_of: Callable[[Any], tuple[Any, ...]], text_of: Callable[[Any], str]) -> list[Any]:
        """Those that are not as they were when last written."""
        found = []
        for row in rows:
            key, text = key_of(row), text_of(row)
            if self._states.get(key) != text:
                self._states[key] = text
                found.append(row)
        return found


def _latest_states(connection: sqlite3.Connection) -> Iterator[tuple[tuple[Any, ...], str]]:
    """What the store has of groups and configs, as `_insert_states` compares it."""
    latest = "id IN (SELECT max(id) FROM group_state GROUP BY cluster_id, name)"
    sql = "SELECT cluster_id, name, state, assignor, coordinator, members FROM group_state"
    for cluster, name, state, assignor, coordinator, members in connection.execute(f"{sql} WHERE {latest}"):
        yield ("group", cluster, name), _json([state, assignor, coordinator, json.loads(members)])
    sql = "SELECT kind, cluster_id, name, entries FROM config_state WHERE id IN (SELECT max(id) FROM config_state GROUP BY cluster_id, kind, name)"
    yield from ((tuple(key), entries) for *key, entries in connection.execute(sql))


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
