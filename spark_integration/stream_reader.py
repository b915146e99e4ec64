"""The stream's reader: plans micro-batches, and commits them to the group when their sink is done.

It lives in a Python process of its own beside the driver's JVM, from the start of a query to its end. When is a batch done? Spark calls `commit(end)` a batch
late, and never for the last one. Two better signs are used here, whichever comes first:

1. `latestOffset(start)`: Spark asks for the next batch only when the one before is in its commit log: so everything before `start` is done. This is enough for
   a query that goes on, and for the end of AvailableNow, which asks once more.
2. The driver's program tells it (`listener`, through `reader_socket`): also between two triggers, and after the last batch, when the query is stopped. A
   reader that is stopped while a batch is under way waits for that word before it leaves its group.

If both are missing, the program having died, the group lags a batch behind the checkpoint; the next start finds that and commits it (option `resume`).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from spark_integration.executor_settings import read_partition, read_settings
from spark_integration.options import SourceOptions
from spark_integration.stream_session import StreamSession, open_session
from spark_integration.trigger import AvailableNow, ReadLimit, default_limit, is_unlimited

if TYPE_CHECKING:
    import pyarrow as pa


class StreamReader(DataSourceStreamReader, AvailableNow):
    """See the module. Made also where nothing but `read` is called: the cluster is asked only when Spark begins to plan."""

    def __init__(self, schema: StructType, options: SourceOptions, *, listened: bool) -> None:
        self._settings = read_settings(schema, options)
        self._options = options
        self._listened = listened
        self._session: StreamSession | None = None

    # Spark's names

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new checkpoint begins."""
        return self._open().initial()

    def latestOffset(self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None) -> dict[str, Any]:  # noqa: N802
        """Everything before `start` is done; where the next batch ends, or `start` itself where there is nothing for one. Spark 4.1 tells neither."""
        return self._open().next_end(start, unlimited=is_unlimited(limit))

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """What the options say."""
        return default_limit(self._options.limits)

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        """The ends of the partitions when the last batch was planned."""
        return self._open().latest()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """The query ends at what there is now."""
        self._open().fix_end()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The tasks of a batch; also of one that another process planned, before it died."""
        return self._open().tasks(start, end)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """On an executor."""
        return read_partition(partition, self._settings)

    def commit(self, end: dict[str, Any]) -> None:
        """This comes a batch late, for one that is committed already, unless Spark is 4.1."""
        self._open().done(end)

    def stop(self) -> None:
        """The query has ended."""
        if self._session is not None:
            self._session.close()

    def _open(self) -> StreamSession:
        if self._session is None:
            signal.signal(signal.SIGTERM, _end_the_process)
            self._session = open_session(self._options, listened=self._listened)
        return self._session

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_session": None}


def _end_the_process(_number: int, _frame: FrameType | None) -> None:
    """Spark ends a query by SIGTERM: `stop` is to be called nevertheless."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0)
