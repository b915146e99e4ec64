"""A Fetch that waits for `min_bytes` to become readable.

| ends the wait | Kafka's case |
|---|---|
| not leader any more, partition gone or unknown, log dir failed, epoch fenced | A to E |
| the readable end lies in a newer segment than the fetch offset, or the log was truncated below it | F |
| `min_bytes` have come together | G |
| the fetch offset lies beyond the end of the asker's last epoch | H |
| `max_wait_ms` are over | |

Only the partition that changed is looked at: what the others hold was counted when they changed.
Mirrors kafka.server.DelayedFetch; facts/coordination.md 4.9. Consumers go on when the high watermark moves, followers when records are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence

from pykafka_classic.cluster.partition_fetch import NO_EPOCH, PartitionFetch
from pykafka_classic.cluster.partition_reads import upper_bound
from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.delayed_operation import DelayedOperation
from pykafka_classic.server.fetch_values import FetchParams, FetchPartitionData
from pykafka_classic.server.hosted_partitions import HostedPartitions


def _never(_: TopicPartition) -> bool:
    return False


class DelayedFetch(DelayedOperation):
    """Invariant: `_accumulated` is the sum of `_readable`, the bytes last counted in each partition that was looked at."""

    __slots__ = ("_accumulated", "_fetches", "_first_look", "_hosted", "_min_bytes", "_read", "_readable", "_reader", "has_to_wait", "outcome")

    def __init__(
        self,
        params: FetchParams,
        fetches: Sequence[PartitionFetch],
        hosted: HostedPartitions,
        read: Callable[[Collection[TopicPartition]], list[FetchPartitionData]],
        *,
        first_look: Sequence[TopicPartition],
    ) -> None:
        super().__init__(params.max_wait_ms)
        self._first_look = first_look  # partitions that may have something readable already; the others had nothing new a moment ago
        self._fetches = {fetch.topic_partition: fetch for fetch in fetches}
        self._hosted = hosted
        self._read = read
        self._reader = params.reader()
        self._min_bytes = params.min_bytes
        self._readable: dict[TopicPartition, int] = {}
        self._accumulated = 0
        self.has_to_wait: Callable[[TopicPartition], bool] = _never  # what a throttled replica could read does not count
        self.outcome: Promise[list[FetchPartitionData]] = Promise()

    @property
    def keys(self) -> Iterable[TopicPartition]:
        """The partitions that it waits for."""
        return self._fetches.keys()

    def try_complete(self) -> bool:
        """Once, when the wait is to begin."""
        return any(self.try_complete_key(topic_partition) for topic_partition in self._first_look)

    def try_complete_key(self, key: Hashable) -> bool:
        """Records were appended to this partition, or something else has happened to it."""
        if not isinstance(key, TopicPartition) or key not in self._fetches:
            return False
        readable = self._readable_bytes(self._fetches[key])
        self._accumulated += (readable or 0) - self._readable.get(key, 0)
        self._readable[key] = readable or 0
        if readable is None:
            return self.force_complete()
        return self._accumulated >= self._min_bytes and self.force_complete()

    def _readable_bytes(self, fetch: PartitionFetch) -> int | None:
        """Bytes that a read would give; None: the wait has to end."""
        partition = self._hosted.online.get(fetch.topic_partition)
        if partition is None:
            return None
        try:
            log = partition.local_log(fetch.current_leader_epoch, require_leader=self._reader.only_leader)
        except KafkaError:
            return None
        end = upper_bound(log, self._reader.isolation)
        if end <= fetch.fetch_offset:
            return 0 if fetch.fetch_offset <= log.log_end_offset else None
        if fetch.last_fetched_epoch != NO_EPOCH and log.leader_epoch_cache.end_offset_for(fetch.last_fetched_epoch, log.log_end_offset)[1] < fetch.fetch_offset:
            return None
        if self.has_to_wait(fetch.topic_partition):
            return 0
        start_place, end_place = log.offset_metadata(max(fetch.fetch_offset, log.log_start_offset)), log.offset_metadata(end)
        if not start_place.is_on_same_segment_as(end_place):
            return None
        return min(end_place.bytes_after(start_place), fetch.max_bytes)

    def on_complete(self) -> None:
        """Read what there is in the partitions that something has happened to, and answer."""
        self.outcome.resolve(self._read(self._readable.keys()))
