"""The tables, and how a file of an older version becomes one of ours. `PRAGMA user_version` says which version a file has.

| table | a row is |
|---|---|
| cluster | a cluster that is, or was, in the configuration |
| znode | a path that was ever seen in a cluster |
| znode_change | what became of a node: kind 0 found as it was, 1 created, 2 written, 3 removed |
| series | a partition, as the subject of samples |
| partition_sample | its log's start, end and size at a moment; left out while nothing changes |
| group_series | a partition that a group commits to, in one of the two stores |
| group_sample | what was committed there, how far behind that was, and since when |
| group_state | who was in a group; a row where that changed |
| config_state | a config as DescribeConfigs tells; a row where that changed |
| log_dir_sample | how full a log directory is |
| broker_event | a line of a broker's events.log, or a partition of such a line |
| event_position | up to where such a file was read |
| alarm | one time that an alarm was raised, and when it was over |
| run | one life of the monitor: what happened between two of them was not seen |

Times are ms since 1970. `zxid` orders changes of nodes; `t_ms` is ZooKeeper's own time where it keeps one (creation, write), else when we heard of it.
"""

from __future__ import annotations

import sqlite3
from typing import Final

VERSION_1: Final = """
CREATE TABLE cluster (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, zookeeper TEXT NOT NULL, kafka_id TEXT, state TEXT NOT NULL, state_ms INTEGER NOT NULL
);
CREATE TABLE run (id INTEGER PRIMARY KEY, started_ms INTEGER NOT NULL, beat_ms INTEGER NOT NULL);
CREATE TABLE znode (id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES cluster, path TEXT NOT NULL, UNIQUE (cluster_id, path));
CREATE TABLE znode_change (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL, znode_id INTEGER NOT NULL REFERENCES znode, t_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL, zxid INTEGER NOT NULL, kind INTEGER NOT NULL, version INTEGER NOT NULL, owner INTEGER NOT NULL, czxid INTEGER NOT NULL, data BLOB
);
CREATE INDEX znode_change_of_node ON znode_change (znode_id, t_ms, id);
CREATE INDEX znode_change_by_time ON znode_change (cluster_id, t_ms);
CREATE TABLE series (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES cluster, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    UNIQUE (cluster_id, topic, partition)
);
CREATE TABLE partition_sample (
    series_id INTEGER NOT NULL, t_ms INTEGER NOT NULL, log_start INTEGER NOT NULL, log_end INTEGER NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (series_id, t_ms)
) WITHOUT ROWID;
CREATE TABLE group_series (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES cluster, name TEXT NOT NULL, store TEXT NOT NULL, topic TEXT NOT NULL,
    partition INTEGER NOT NULL, UNIQUE (cluster_id, name, store, topic, partition)
);
CREATE TABLE group_sample (
    series_id INTEGER NOT NULL, t_ms INTEGER NOT NULL, committed INTEGER NOT NULL, lag INTEGER NOT NULL, behind_since_ms INTEGER, exact INTEGER NOT NULL,
    PRIMARY KEY (series_id, t_ms)
) WITHOUT ROWID;
CREATE TABLE group_state (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL REFERENCES cluster, name TEXT NOT NULL, t_ms INTEGER NOT NULL, state TEXT NOT NULL,
    assignor TEXT NOT NULL, coordinator INTEGER NOT NULL, members TEXT NOT NULL
);
CREATE INDEX group_state_of_group ON group_state (cluster_id, name, t_ms);
CREATE TABLE config_state (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL REFERENCES cluster, kind TEXT NOT NULL, name TEXT NOT NULL, t_ms INTEGER NOT NULL,
    entries TEXT NOT NULL
);
CREATE INDEX config_state_of_entity ON config_state (cluster_id, kind, name, t_ms);
CREATE TABLE log_dir_sample (
    cluster_id INTEGER NOT NULL REFERENCES cluster, broker INTEGER NOT NULL, path TEXT NOT NULL, t_ms INTEGER NOT NULL, size INTEGER NOT NULL,
    total INTEGER, usable INTEGER, error TEXT, PRIMARY KEY (cluster_id, broker, path, t_ms)
) WITHOUT ROWID;
CREATE TABLE broker_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL REFERENCES cluster, t_ms INTEGER NOT NULL, broker INTEGER NOT NULL, name TEXT NOT NULL,
    subject TEXT NOT NULL, zxid INTEGER NOT NULL, facts TEXT NOT NULL
);
CREATE INDEX broker_event_by_time ON broker_event (cluster_id, t_ms);
CREATE INDEX broker_event_of_subject ON broker_event (cluster_id, subject, t_ms);
CREATE TABLE alarm (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL REFERENCES cluster, rule TEXT NOT NULL, subject TEXT NOT NULL, raised_ms INTEGER NOT NULL,
    cleared_ms INTEGER, sentence TEXT NOT NULL, value REAL NOT NULL
);
CREATE INDEX alarm_by_time ON alarm (cluster_id, raised_ms);
"""

VERSION_2: Final = """
CREATE TABLE event_position (
    cluster_id INTEGER NOT NULL REFERENCES cluster, broker INTEGER NOT NULL, inode INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (cluster_id, broker)
) WITHOUT ROWID;
"""

# Each script makes a file of the version before it one of its own version.
MIGRATIONS: Final = (VERSION_1, VERSION_2)


class StoreTooNew(Exception):
    """The file was written by a newer monitor; the text is for the user."""


def version_of(connection: sqlite3.Connection) -> int:
    """Of the file; 0: empty."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    assert isinstance(version, int)
    return version


def migrate(connection: sqlite3.Connection, migrations: tuple[str, ...] = MIGRATIONS) -> None:
    """Bring the file to our version, a transaction for each step: after a kill the next start goes on where it was. Raises StoreTooNew."""
    found = version_of(connection)
    if found > len(migrations):
        raise StoreTooNew(f"The monitor's store has version {found}; this monitor knows up to {len(migrations)}: use a newer one, or another data directory.")
    for number in range(found, len(migrations)):
        connection.executescript(f"BEGIN IMMEDIATE;\n{migrations[number]}\nPRAGMA user_version = {number + 1};\nCOMMIT;")
