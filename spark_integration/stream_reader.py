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

import logging
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.kafka_member import KafkaMember, await_solitude
from spark_integration.membership import CommitLater, CommitRefused, Membership, NoMembership
from spark_integration.offsets import BatchEnd, Offsets, by_topic
from spark_integration.options import Membership as Kind
from spark_integration.options import SourceOptions, Storage
from spark_integration.planning import make_ranges
from spark_integration.ranges import RangePartition
from spark_integration.reader_socket import ReaderSocket
from spark_integration.source import read_partition, read_settings
from spark_integration.stream_plan import StreamPlan
from spark_integration.trigger import AvailableNow, ReadLimit, default_limit, is_unlimited

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger("spark_integration")

LAST_WORD_S: Final = 10.0  # how long a reader that is stopped waits to hear whether its last batch is done


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
        return self._open().next_end(start, unlimited=limit is not None and is_unlimited(limit))

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
            self._session = StreamSession(self._options, listened=self._listened)
        return self._session

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_session": None}


def _end_the_process(_number: int, _frame: FrameType | None) -> None:
    """Spark ends a query by SIGTERM: `stop` is to be called nevertheless."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0)


class StreamSession:
    """The reader while its query runs: the plan, the place in the group, the socket through which it is told of batches that are done."""

    def __init__(self, options: SourceOptions, *, listened: bool) -> None:
        self._lock = threading.RLock()
        self._told = threading.Condition(self._lock)
        self._cluster = Cluster(options)
        try:
            self._member = _join(self._cluster)
        except BaseException:
            self._cluster.close()
            raise
        self._plan = StreamPlan(options, reader=uuid.uuid4().hex[:16])
        self._under_way: deque[BatchEnd] = deque()
        self._committed: Offsets = {}
        self._is_over = False
        self._socket = ReaderSocket(self._plan.reader, self.told) if listened else None

    def initial(self) -> dict[str, Any]:
        with self._lock:
            return self._plan.initial(self._cluster, self._owned()).to_json()

    def next_end(self, told: dict[str, Any] | None, *, unlimited: bool) -> dict[str, Any]:
        with self._lock:
            start = BatchEnd.of_json(told) if told is not None else None
            if start is not None:
                self._finish(start)
            epoch, owned = self._member.assignment()
            end = self._plan.next_end(self._cluster, start, owned, epoch=epoch, now_ms=time.monotonic() * 1000, unlimited=unlimited)
            if end is None:
                return told if told is not None else self._plan.position.to_json()
            self._began(end)
            return end.to_json()

    def tasks(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        with self._lock:
            first, last = BatchEnd.of_json(start), BatchEnd.of_json(end)
            if first == last:
                return []
            begins = last.begins_after(first)
            if last not in self._under_way:
                self._plan.replayed(begins, last)
                self._began(last)
            limits = self._cluster.options.limits
            ranges = make_ranges(begins, last.ends, min_partitions=limits.min_partitions, max_per_partition=limits.max_per_partition)
            return [RangePartition(each) for each in ranges]

    def latest(self) -> dict[str, Any] | None:
        with self._lock:
            return by_topic(self._plan.latest) or None

    def fix_end(self) -> None:
        with self._lock:
            self._plan.fix_end(self._cluster)

    def done(self, told: Mapping[str, Any]) -> bool:
        """A batch's sink is done; False where it is not one of ours that is under way."""
        with self._lock:
            end = BatchEnd.of_json(told)
            if end not in self._under_way:
                return False
            self._finish(end)
            return True

    def told(self, message: Mapping[str, Any]) -> bool:
        """What the driver's program says, on the socket's thread; True where it concerned this reader."""
        ends = [end for end in message["ends"] if isinstance(end, dict)]
        with self._lock:
            concerned = any([self.done(end) for end in ends])
            if message.get("over") and any(BatchEnd.of_json(end) == self._plan.last_done for end in ends):
                self._is_over = concerned = True
            self._told.notify_all()
            return concerned

    def close(self) -> None:
        """Wait for the word on the last batch, if there is one and somebody who can say it; commit it, leave."""
        with self._lock:
            deadline = time.monotonic() + LAST_WORD_S
            while self._under_way and not self._is_over and self._socket is not None and self._socket.has_company and time.monotonic() < deadline:
                self._told.wait(0.2)
        self._member.close()
        if self._socket is not None:
            self._socket.close()
        self._cluster.close()

    # inside

    def _owned(self) -> frozenset[TopicPartition] | None:
        return self._member.assignment()[1]

    def _began(self, end: BatchEnd) -> None:
        self._under_way.append(end)
        self._member.batch_began()

    def _finish(self, end: BatchEnd) -> None:
        """Everything before `end` is done."""
        while end in self._under_way:
            self._under_way.popleft()
        self._plan.finished(end, self._cluster)
        wanted = {each: offset for each, offset in self._plan.to_commit(end).items() if self._committed.get(each) != offset}
        try:
            if wanted and self._cluster.options.group is not None:
                self._member.commit(wanted)
                self._committed |= wanted
        except CommitLater as error:
            log.warning("Offsets will be committed later: %s", error)
        except CommitRefused as error:
            log.warning("What this job did last, another member will do again: %s", error)
        if not self._under_way:
            self._member.batch_ended()


def _join(cluster: Cluster) -> Membership:
    group = cluster.options.group
    if group is None or group.membership is Kind.NONE:
        return NoMembership(cluster)
    if group.storage is Storage.ZOOKEEPER:
        raise CannotPlan("membership in ZooKeeper: not yet")
    if cluster.options.topics.partitions:
        await_solitude(cluster, group)
        return NoMembership(cluster)
    return KafkaMember(cluster, group)
