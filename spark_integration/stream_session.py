"""A stream's reader while its query runs: the plan, the place in the group, the socket through which it hears of batches that are done."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, Protocol

from pyspark.sql.datasource import InputPartition

from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import Cluster
from spark_integration.kafka_member import KafkaMember
from spark_integration.membership import CommitLater, CommitRefused, Membership, NoMembership
from spark_integration.offsets import BatchEnd, Offsets, by_topic
from spark_integration.options import Membership as Kind
from spark_integration.options import SourceOptions, Storage
from spark_integration.planning import make_ranges
from spark_integration.ranges import RangePartition
from spark_integration.reader_socket import ReaderSocket
from spark_integration.solitude import refuse_company
from spark_integration.stream_plan import ClusterView, StreamPlan
from spark_integration.zookeeper_member import ZooKeeperMember

log = logging.getLogger("spark_integration")

LAST_WORD_S: Final = 5.0  # how long a reader that is stopped waits to hear whether its last batch is done
LOOK_S: Final = 0.2


class ClusterSession(ClusterView, Protocol):
    """What of `Cluster` is needed here."""

    options: SourceOptions

    def close(self) -> None:
        """End it."""
        ...


class StreamSession:
    """The reader while its query runs: the plan, the place in the group, the socket through which it is told of batches that are done."""

    def __init__(self, cluster: ClusterSession, member: Membership, *, listened: bool) -> None:
        self._lock = threading.RLock()
        self._told = threading.Condition(self._lock)
        self._cluster = cluster
        self._member = member
        self._plan = StreamPlan(cluster.options, reader=uuid.uuid4().hex[:16])
        self._under_way: deque[BatchEnd] = deque()
        self._planned_in = 0  # the assignment for which the batch under way was planned
        self._committed: Offsets = {}
        self._is_over = False
        self._socket = ReaderSocket(self._plan.reader, self.told) if listened else None

    def initial(self) -> dict[str, Any]:
        """Where a new checkpoint begins. CannotPlan."""
        with self._lock:
            return self._plan.initial(self._cluster, self._owned()).to_json()

    def next_end(self, told: dict[str, Any] | None, *, unlimited: bool) -> dict[str, Any]:
        """See `StreamReader.latestOffset`. CannotPlan, DataLoss."""
        with self._lock:
            start = BatchEnd.of_json(told) if told is not None else None
            if start is not None:
                self._finish(start)
            place = self._member.assignment()
            end = self._plan.next_end(self._cluster, start, place, now_ms=time.monotonic() * 1000, unlimited=unlimited)
            self._planned_in = place[0]
            if end is None:
                return told if told is not None else self._plan.position.to_json()
            self._began(end)
            return end.to_json()

    def tasks(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """See `StreamReader.partitions`."""
        with self._lock:
            first, last = BatchEnd.of_json(start), BatchEnd.of_json(end)
            if first == last:
                self._plan.seen(last)
                return []
            begins = last.begins_after(first)
            if last not in self._under_way:
                self._plan.replayed(begins, last)
                self._began(last)
            limits = self._cluster.options.limits
            ranges = make_ranges(begins, last.ends, min_partitions=limits.min_partitions, max_per_partition=limits.max_per_partition)
            return [RangePartition(each) for each in ranges]

    def latest(self) -> dict[str, Any] | None:
        """The ends of the logs when a batch was planned last; None: not yet."""
        with self._lock:
            return by_topic(self._plan.latest) or None

    def fix_end(self) -> None:
        """Read no further than to what there is now."""
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
        """What the driver's program says, on the socket's thread (`reader_socket`); True where it concerned this reader."""
        with self._lock:
            concerned = [self.done(end) for end in message["ends"]]
            known = [*self._under_way, *([self._plan.last_done] if self._plan.last_done is not None else [])]
            if message["over"] and any(BatchEnd.of_json(end) in known for end in message["planned"]):
                self._is_over = True
                concerned.append(True)
            self._told.notify_all()
            return any(concerned)

    def close(self) -> None:
        """Wait for the word on the last batch, if there is one and somebody who can say it; commit it, leave."""
        with self._lock:
            deadline = time.monotonic() + LAST_WORD_S
            while self._waits_for_a_word() and time.monotonic() < deadline:
                self._told.wait(LOOK_S)
        self._member.close()
        if self._socket is not None:
            self._socket.close()
        self._cluster.close()

    # inside

    def _waits_for_a_word(self) -> bool:
        return bool(self._under_way) and not self._is_over and self._socket is not None and self._socket.has_company

    def _owned(self) -> frozenset[TopicPartition] | None:
        return self._member.assignment()[1]

    def _began(self, end: BatchEnd) -> None:
        self._under_way.append(end)
        self._member.batch_began()

    def _finish(self, end: BatchEnd) -> None:
        """Everything before `end` is done."""
        is_ours = end in self._under_way and self._member.epoch == self._planned_in
        while end in self._under_way:
            self._under_way.popleft()
        self._plan.finished(end, self._cluster)
        try:
            self._commit(self._plan.to_commit(end), is_ours=is_ours)
        except CommitLater as error:
            log.warning("Offsets will be committed later: %s", error)
        except CommitRefused as error:
            log.warning("What this job did last, another member will do again: %s", error)
        if not self._under_way:
            self._member.batch_ended()

    def _commit(self, offsets: Offsets, *, is_ours: bool) -> None:
        """What is not committed yet. Where others may have had a partition since it was read, their commit is not taken back."""
        group = self._cluster.options.group
        wanted = {each: offset for each, offset in offsets.items() if self._committed.get(each) != offset}
        if not wanted or group is None:
            return
        known = self._cluster.committed(sorted(wanted)) if group.membership is Kind.SHARING and not is_ours else {}
        further = {each: offset for each, offset in wanted.items() if offset > known.get(each, -1)}
        if further:
            self._member.commit(further)
        self._committed |= wanted


def open_session(options: SourceOptions, *, listened: bool) -> StreamSession:
    """Find the cluster, join the group. CannotPlan."""
    cluster = Cluster(options)
    try:
        return StreamSession(cluster, _join(cluster), listened=listened)
    except BaseException:
        cluster.close()
        raise


def _join(cluster: Cluster) -> Membership:
    group = cluster.options.group
    if group is None or group.membership is Kind.NONE:
        return NoMembership(cluster)
    if cluster.options.topics.partitions:
        refuse_company(cluster)
        return NoMembership(cluster)
    return ZooKeeperMember(cluster, group) if group.storage is Storage.ZOOKEEPER else KafkaMember(cluster, group)
