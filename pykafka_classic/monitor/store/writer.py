"""The one thread that writes: takes what it is given from a queue, and commits all that waits in one transaction.

Where a transaction fails (a full disk) its rows are lost, which the log tells; the next one is tried as if nothing had been.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, TypeAlias

from pykafka_classic.monitor.store.connections import open_for_writing, take_over
from pykafka_classic.monitor.store.inserts import Inserts
from pykafka_classic.monitor.store.rows import AlarmCleared, AlarmRaised, Batch, ClusterRow
from pykafka_classic.monitor.store.schema import migrate

log = logging.getLogger("kafka.monitor.Store")

QUEUE_MAX: Final = 2_000  # batches that wait while the disk stands still; more are dropped
AT_ONCE: Final = 200  # in one transaction

Work: TypeAlias = Callable[[sqlite3.Connection, Inserts], None]
Row: TypeAlias = Batch | ClusterRow | AlarmRaised | AlarmCleared


class StoreWriter:
    """Opens (or makes) the store and writes to it until `close`.

    Args:
        path: of the file.
        now_ms: wall-clock time.
        committed: told, on the writer's thread, of the rows of each transaction that stands.

    Raises: StoreInUse, StoreTooNew, sqlite3.Error, OSError.
    """

    def __init__(self, path: Path, now_ms: Callable[[], int], committed: Callable[[list[Row]], None] = lambda _: None) -> None:
        self.path = path
        self.rows_lost = 0
        self._now_ms = now_ms
        self._committed = committed
        self._queue: queue.Queue[Row | Work | threading.Event | None] = queue.Queue()
        opened: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(opened,), name="monitor-store", daemon=True)
        self._thread.start()
        error = opened.get()
        if error is not None:
            raise error

    def put(self, row: Row) -> None:
        """Have this written soon. From any thread; never waits."""
        if self._queue.qsize() >= QUEUE_MAX:
            self._lose(1, "the disk cannot keep up")
        else:
            self._queue.put(row)

    def run(self, work: Work) -> None:
        """Do this in a transaction of its own, on the writer's thread, soon."""
        self._queue.put(work)

    def flush(self, seconds: float = 30.0) -> bool:
        """Wait until all that was given so far is committed; False where that takes too long."""
        done = threading.Event()
        self._queue.put(done)
        return done.wait(seconds)

    def close(self) -> None:
        """Write what waits, then close the file."""
        self._queue.put(None)
        self._thread.join()

    # on the thread

    def _run(self, opened: queue.SimpleQueue[Exception | None]) -> None:
        with ExitStack() as stack:
            try:
                stack.enter_context(take_over(self.path))
                self._connection = stack.enter_context(closing(open_for_writing(self.path)))
                migrate(self._connection)
                self._begin_run()
                self._inserts = Inserts(self._connection)
            except Exception as error:  # noqa: BLE001  # belongs to who opens the store
                opened.put(error)
                return
            opened.put(None)
            while self._work_off(self._taken()):
                continue
            self._connection.execute("PRAGMA optimize")

    def _begin_run(self) -> None:
        now = self._now_ms()
        self._run_id = self._connection.execute("INSERT INTO run (started_ms, beat_ms) VALUES (?, ?)", (now, now)).lastrowid

    def _taken(self) -> list[Row | Work | threading.Event | None]:
        taken = [self._queue.get()]
        while len(taken) < AT_ONCE:
            try:
                taken.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return taken

    def _work_off(self, taken: list[Row | Work | threading.Event | None]) -> bool:
        """False where it is time to end."""
        rows = [each for each in taken if isinstance(each, Row)]
        written = self._written(rows)
        if written:
            self._committed(written)
        for each in taken:
            if isinstance(each, threading.Event):
                each.set()
            elif each is not None and not isinstance(each, Row):
                work = each
                self._transaction(lambda: work(self._connection, self._inserts))  # noqa: B023  # called at once
        return None not in taken

    def _written(self, rows: list[Row]) -> list[Row]:
        """All in one transaction; where that fails, each in its own, so that only what cannot be written is lost."""
        if not rows or self._transaction(lambda: self._insert(rows), is_last_try=len(rows) == 1):
            return rows
        if len(rows) == 1:
            return []
        return [row for row in rows if self._transaction(lambda: self._insert([row]))]  # noqa: B023  # called at once

    def _insert(self, rows: list[Row]) -> None:
        for row in rows:
            if isinstance(row, Batch):
                self._inserts.batch(row)
            elif isinstance(row, ClusterRow):
                self._inserts.cluster(row)
            elif isinstance(row, AlarmRaised):
                self._inserts.alarm_raised(row)
            else:
                self._inserts.alarm_cleared(row)
        self._connection.execute("UPDATE run SET beat_ms = ? WHERE id = ?", (self._now_ms(), self._run_id))

    def _transaction(self, work: Callable[[], None], *, is_last_try: bool = True) -> bool:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            work()
            self._connection.execute("COMMIT")
        except Exception as error:  # noqa: BLE001  # a full disk, a broken file, a bug: the thread goes on, or nothing is ever written again
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._inserts = Inserts(self._connection)  # it remembers what does not stand
            if is_last_try:
                self._lose(1, f"{type(error).__name__}: {error}")
            return False
        return True

    def _lose(self, count: int, why: str) -> None:
        self.rows_lost += count
        log.error("The store %s lost something: %s", self.path, why)
