"""The driver's program: it hears of each batch that is done, and tells the stream's reader.

Spark calls a `StreamingQueryListener` after a batch is in its commit log: with the ends that the batch has reached. The calls come on a thread of their own, a
little later; `settle` and `stop` wait until the group has heard.
"""

from __future__ import annotations

import atexit
import json
import logging
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import QueryIdleEvent, QueryProgressEvent, QueryStartedEvent, QueryTerminatedEvent, StreamingQueryListener
from pyspark.sql.streaming.query import StreamingQuery

from spark_integration.offsets import READER
from spark_integration.reader_socket import Readers
from spark_integration.source import ListenedSource

log = logging.getLogger("spark_integration")

_readers = Readers()


class CommitListener(StreamingQueryListener):
    """Tells the readers. What concerns none of them is passed over."""

    def __init__(self) -> None:
        self._last: dict[str, list[dict[str, Any]]] = {}  # by run: how far it came

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Nothing yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch is done, or there was none to do."""
        ends = _ends(event.progress)
        if ends:
            self._last[str(event.progress.runId)] = ends
            _tell(ends)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """That was the last one."""
        ends = self._last.pop(str(event.runId), [])
        if ends:
            _tell(ends, over=True)


def register(spark: SparkSession) -> None:
    """Make `format("kafka_classic")` known to a session, and commit what its queries have done: all that a program needs to call. May be called again."""
    spark.dataSource.register(ListenedSource)
    known = getattr(spark, "_kafka_classic_listener", None)
    if known is None:
        listener = CommitListener()
        spark.streams.addListener(listener)
        spark._kafka_classic_listener = listener  # type: ignore[attr-defined]
        atexit.register(_settle_all, spark)


def settle(query: StreamingQuery) -> None:
    """Return when the group has heard of every batch of the query that is done by now."""
    progress = query.lastProgress
    ends = _ends(progress) if progress is not None else []
    if ends:
        _tell(ends, over=not query.isActive)


def stop(query: StreamingQuery) -> None:
    """Stop a query, and return when the group has heard of the last batch that was done."""
    query.stop()
    settle(query)


def _settle_all(spark: SparkSession) -> None:
    """At the end of a program that has not stopped its queries."""
    try:
        for query in spark.streams.active:
            settle(query)
    except Exception as error:  # noqa: BLE001  # the session may have ended long ago
        log.debug("At the end: %s", error)


def _tell(ends: list[dict[str, Any]], *, over: bool = False) -> None:
    try:
        _readers.tell(ends, over=over)
    except OSError as error:
        log.warning("Readers could not be told that batches are done, and commit them at the next trigger: %s", error)


def _ends(progress: Any) -> list[dict[str, Any]]:
    """Of our own sources."""
    told = [json.loads(source.endOffset) if isinstance(source.endOffset, str) else source.endOffset for source in progress.sources]
    return [end for end in told if isinstance(end, dict) and READER in end]
