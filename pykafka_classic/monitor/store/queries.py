"""What the parts of the reader share: rows of a connection of one's own thread, and clusters by name."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

from pykafka_classic.monitor.store.answers import END_OF_TIME
from pykafka_classic.monitor.store.connections import open_for_reading


class UnknownCluster(Exception):
    """The store knows no cluster of this name; the text is for the user."""


class Queries:
    """Connections to one store: one for each thread that asks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = threading.local()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query. Raises StoreMissing."""
        return self._connection().execute(sql, values).fetchall()

    def cluster_id(self, cluster: str) -> int:
        """Raises UnknownCluster."""
        found = self.rows("SELECT id FROM cluster WHERE name = ?", cluster)
        if not found:
            raise UnknownCluster(f"The monitor's store knows no cluster {cluster!r}.")
        number: int = found[0][0]
        return number

    def beat_ms(self) -> int:
        """When a monitor last wrote; 0: never."""
        ((beat,),) = self.rows("SELECT coalesce(max(beat_ms), 0) FROM run")
        assert isinstance(beat, int)
        return beat

    def close_own(self) -> None:
        """Close this thread's connection; it opens another when it asks again."""
        connection = getattr(self._own, "connection", None)
        if connection is not None:
            self._own.connection = None
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = open_for_reading(self._path)
        assert isinstance(connection, sqlite3.Connection)
        return connection


def until(t_ms: int | None) -> int:
    """None: now, and whatever comes."""
    return END_OF_TIME if t_ms is None else t_ms
