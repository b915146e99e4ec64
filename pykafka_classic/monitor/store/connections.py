"""Connections to the store's file, with what all of them need."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from io import TextIOWrapper
from pathlib import Path
from typing import Final

BUSY_MS: Final = 10_000  # how long a connection waits for a lock: while the file is opened after a kill, or closed by the last one
CACHE_KIB: Final = 8_000
OWNER_ONLY: Final = 0o600  # what a cluster's nodes hold is not for everybody on this machine


class StoreInUse(Exception):
    """Another monitor writes to this store; the text is for the user."""


class StoreMissing(Exception):
    """There is no store yet; the text is for the user."""


def take_over(path: Path) -> TextIOWrapper:
    """Become the only writer of a store, as long as the file that is returned is open, or the process lives. Raises StoreInUse."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, OWNER_ONLY))  # SQLite gives its other files the same rights
    file = path.with_suffix(".lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StoreInUse(f"Another monitor uses the store {path}: stop it, or set data.dir to another folder.") from None
    return file


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The writer's own, of which there is one; makes the file. Transactions are begun by hand."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")  # a commit survives kill -9; the last ones may not survive a power cut, the file does
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """One of many; it can write nothing. For the thread that opens it. Raises StoreMissing."""
    if not path.exists():
        raise StoreMissing(f"There is no monitor's store {path}.")
    # Not mode=ro: the first reader after a kill has to be able to make the shared memory of the WAL.
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_MS / 1000)
    connection.execute("PRAGMA query_only = ON")
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        connection.close()
        raise StoreMissing(f"The monitor's store {path} is being made.")
    return connection
