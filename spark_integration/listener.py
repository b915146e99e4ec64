"""The driver's program: it hears of each batch that is done, and tells the stream's reader.

Spark calls a `StreamingQueryListener` after a batch has come into its commit log, with the ends that the batch has reached. The calls come on a thread of their
own, a little later; `settle` and `stop` wait until the group has heard. What counts at the end of a query is what its logs say (`offsets/N` in the checkpoint:
batch N was planned; `commits/N`: its sink is done), for between the commit log and the listener a query may be stopped.
"""

from __future__ import annotations

import atexit
import json
import logging
import time
import warnings
from dataclasses import dataclass
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import QueryIdleEvent, QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent, StreamingQueryListener
from pyspark.sql.streaming.query import StreamingQuery

from spark_integration.executor_python import what_executors_lack
from spark_integration.offsets import READER
from spark_integration.reader_socket import Readers
from spark_integration.source import ListenedSource

log = logging.getLogger("spark_integration")

BATCH_S: Final = 10.0  # how long `stop` lets the batch under way go on
LOOK_S: Final = 0.05
LEAVE_S: Final = 10.0  # how long a reader may take to leave its group

_readers = Readers()


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a query has come: the ends of its sources' last batch that is done, and of the last that was planned."""

    done: list[dict[str, Any]]
    planned: list[dict[str, Any]]


class CommitListener(StreamingQueryListener):
    """Tells the readers. What concerns none of them is passed over."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._queries: dict[str, StreamingQuery] = {}  # by run

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802  # Spark's names
        """Spark forgets a query that has ended: so it is kept here."""
        query = self._spark.streams.get(str(event.id))
        if query is not None:
            self._queries[str(event.runId)] = query

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch is done, or there was none to do."""
        ends = _ours(source.endOffset for source in event.progress.sources)
        if ends:
            _tell(Reached(ends, []))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """That was the last batch."""
        query = self._queries.pop(str(event.runId), None)
        if query is not None:
            _tell(reached(query), over=True)


def register(spark: SparkSession) -> None:
    """Make `format("kafka_classic")` known to a session, and commit what its queries have done: all that a program needs to call. May be called again."""
    spark.dataSource.register(ListenedSource)
    problem = what_executors_lack(spark)
    if problem:
        warnings.warn(problem, RuntimeWarning, stacklevel=2)
    if getattr(spark, "_kafka_classic_listener", None) is None:
        listener = CommitListener(spark)
        spark.streams.addListener(listener)
        spark._kafka_classic_listener = listener  # type: ignore[attr-defined]
        atexit.register(_settle_all, spark)


def settle(query: StreamingQuery) -> None:
    """Return when the group has heard of every batch of the query that is done by now; where the query has ended, when the job has left its group."""
    is_over = not query.isActive
    _tell(reached(query), over=is_over, end_s=LEAVE_S if is_over else 0.0)


def stop(query: StreamingQuery, *, batch_s: float = BATCH_S) -> None:
    """Stop a query, and return when the group has heard of the last batch that was done.

    A batch that is under way may end first, if it does so within `batch_s` seconds; else it is stopped in the middle, is not committed, and comes again.
    """
    deadline = time.monotonic() + batch_s
    under_way = _batches(query)[0]
    while query.isActive and _batches(query)[1] < under_way and time.monotonic() < deadline:
        time.sleep(LOOK_S)
    query.stop()
    settle(query)


def reached(query: StreamingQuery) -> Reached:
    """What the query's logs say; where they cannot be asked, what it last told."""
    try:
        execution = query._jsq.streamingQuery()
        committed, offsets = execution.commitLog().getLatestBatchId(), execution.offsetLog()
        done = _logged(offsets.get(committed.get())) if committed.isDefined() else []
        latest = offsets.getLatest()
        return Reached(done, _logged_sequence(latest.get()._2()) if latest.isDefined() else [])
    except (AttributeError, Py4JError) as error:
        log.debug("A query's logs cannot be read: %s", error)
    progress = query.lastProgress
    ends = _ours(source.endOffset for source in progress.sources) if progress is not None else []
    return Reached(ends, ends)


def _batches(query: StreamingQuery) -> tuple[int, int]:
    """The numbers of the batch that was planned last, and of the last that is done; -1: none, or they cannot be asked for."""
    try:
        execution = query._jsq.streamingQuery()
        found = [log.getLatestBatchId() for log in (execution.offsetLog(), execution.commitLog())]
        planned, done = (each.get() if each.isDefined() else -1 for each in found)
    except (AttributeError, Py4JError):
        return -1, -1
    return planned, done


def _logged(entry: Any) -> list[dict[str, Any]]:
    return _logged_sequence(entry.get()) if entry.isDefined() else []


def _logged_sequence(sequence: Any) -> list[dict[str, Any]]:
    sources = sequence.offsets()
    found = [sources.apply(index) for index in range(sources.size())]
    return _ours(each.get().json() for each in found if each.isDefined())


def _settle_all(spark: SparkSession) -> None:
    """At the end of a program that has not stopped its queries."""
    try:
        for query in spark.streams.active:
            settle(query)
    except Exception as error:  # noqa: BLE001  # the session may have ended long ago
        log.debug("At the end: %s", error)


def _tell(how_far: Reached, *, over: bool = False, end_s: float = 0.0) -> None:
    try:
        _readers.tell(how_far.done, planned=how_far.planned, over=over, end_s=end_s)
    except OSError as error:
        log.warning("Readers could not be told that batches are done, and commit them at the next trigger: %s", error)


def _ours(ends: Any) -> list[dict[str, Any]]:
    """Those that our own readers planned."""
    told = [json.loads(end) if isinstance(end, str) else end for end in ends]
    return [end for end in told if isinstance(end, dict) and READER in end]
