"""Thinning and removing, in transactions small enough that what is collected meanwhile does not wait long."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from pykafka_classic.monitor.retention import Thinning
from pykafka_classic.monitor.store.inserts import Inserts
from pykafka_classic.monitor.store.rows import ChangeKind
from pykafka_classic.monitor.store.writer import StoreWriter

SERIES_AT_ONCE: Final = 200
ROWS_AT_ONCE: Final = 5_000
SAMPLES: Final = (("series", "partition_sample"), ("group_series", "group_sample"))


def tidy(writer: StoreWriter, thinnings: Sequence[Thinning], remove_before_ms: int) -> None:
    """Have all of it done, piece by piece."""
    writer.run(partial(_thin_all, writer, thinnings))
    writer.run(partial(_remove, writer, remove_before_ms))


def _thin_all(writer: StoreWriter, thinnings: Sequence[Thinning], connection: sqlite3.Connection, _: Inserts) -> None:
    for series, samples in SAMPLES:
        ids = [number for (number,) in connection.execute(f"SELECT id FROM {series}")]
        for some in _batched(ids, SERIES_AT_ONCE):
            writer.run(partial(_thin, samples, some, thinnings))


def _thin(samples: str, series: Sequence[int], thinnings: Iterable[Thinning], connection: sqlite3.Connection, _: Inserts) -> None:
    for each in thinnings:
        span = (each.from_ms, each.to_ms)
        connection.executemany(
            f"DELETE FROM {samples} WHERE series_id = ? AND t_ms >= ? AND t_ms < ? AND t_ms NOT IN "
            f"(SELECT max(t_ms) FROM {samples} WHERE series_id = ? AND t_ms >= ? AND t_ms < ? GROUP BY t_ms / ?)",
            [(number, *span, number, *span, each.bucket_ms) for number in series],
        )


def _remove(writer: StoreWriter, before_ms: int, connection: sqlite3.Connection, inserts: Inserts) -> None:
    """One piece of everything; again, while there was as much as one piece takes."""
    removed = [_remove_samples(connection, inserts, before_ms), _remove_changes(connection, before_ms), _remove_nodes(connection, inserts, before_ms)]
    for table in ("broker_event", "group_state", "config_state"):
        latest = "" if table == "broker_event" else f" AND id NOT IN (SELECT max(id) FROM {table} GROUP BY cluster_id, {_SUBJECT[table]})"
        sql = f"DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE t_ms < ?{latest} LIMIT {ROWS_AT_ONCE})"
        removed.append(connection.execute(sql, (before_ms,)).rowcount)
    removed.append(connection.execute("DELETE FROM log_dir_sample WHERE t_ms < ?", (before_ms,)).rowcount)
    connection.execute("DELETE FROM alarm WHERE cleared_ms < ?", (before_ms,))
    connection.execute("DELETE FROM run WHERE beat_ms < ? AND id != (SELECT max(id) FROM run)", (before_ms,))
    if max(removed) >= ROWS_AT_ONCE:
        writer.run(partial(_remove, writer, before_ms))


_SUBJECT: Final = {"group_state": "name", "config_state": "kind, name"}


def _remove_samples(connection: sqlite3.Connection, inserts: Inserts, before_ms: int) -> int:
    """Old rows, and series of which nothing is left; what still lives comes back with the next round."""
    removed = 0
    for series, samples in SAMPLES:
        sql = f"DELETE FROM {samples} WHERE series_id = ? AND t_ms < ?"
        ids = [number for (number,) in connection.execute(f"SELECT id FROM {series}")]
        removed += connection.executemany(sql, [(number, before_ms) for number in ids]).rowcount
        empty = [n for (n,) in connection.execute(f"SELECT id FROM {series} s WHERE NOT EXISTS (SELECT 1 FROM {samples} WHERE series_id = s.id)")]
        connection.executemany(f"DELETE FROM {series} WHERE id = ?", [(number,) for number in empty])
        inserts.forget_series(series, empty)
    return removed


def _remove_changes(connection: sqlite3.Connection, before_ms: int) -> int:
    """All but the latest of each node."""
    sql = (
        "DELETE FROM znode_change WHERE id IN (SELECT c.id FROM znode_change c WHERE c.t_ms < ? AND EXISTS "
        f"(SELECT 1 FROM znode_change l WHERE l.znode_id = c.znode_id AND l.id > c.id AND l.t_ms < ?) LIMIT {ROWS_AT_ONCE})"
    )
    return connection.execute(sql, (before_ms, before_ms)).rowcount


def _remove_nodes(connection: sqlite3.Connection, inserts: Inserts, before_ms: int) -> int:
    """Nodes that are gone for so long."""
    sql = (
        "SELECT z.id FROM znode z WHERE (SELECT kind FROM znode_change WHERE znode_id = z.id ORDER BY id DESC LIMIT 1) = ? "
        f"AND NOT EXISTS (SELECT 1 FROM znode_change WHERE znode_id = z.id AND t_ms >= ?) LIMIT {ROWS_AT_ONCE}"
    )
    gone = [number for (number,) in connection.execute(sql, (int(ChangeKind.REMOVED), before_ms))]
    connection.executemany("DELETE FROM znode_change WHERE znode_id = ?", [(number,) for number in gone])
    connection.executemany("DELETE FROM znode WHERE id = ?", [(number,) for number in gone])
    inserts.forget_series("znode", gone)
    return len(gone)


def _batched(ids: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    return (ids[at : at + size] for at in range(0, len(ids), size))
