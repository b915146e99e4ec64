"""The fetch path: records out of the logs, for consumers and followers, and the wait for enough of them.

* Partitions are read in the order of the request. The first that has records may give one whole batch however large (v3+); later ones only fill what is left
  of `max_bytes`.
* A follower's fetch tells how far its log reaches: that is noted with the read, before any wait.
* A partition of a fetch session about which there is nothing new costs a handful of comparisons, and has no result. This is what a fetch over a thousand idle
  partitions does.
* Answered at once: no wait wanted, nothing asked, enough bytes, an error, a diverging epoch, a preferred replica (where Kafka 2.8 waits). Otherwise a
  DelayedFetch.

Mirrors ReplicaManager.fetchMessages and readFromLocalLog; facts/coordination.md 4.5, 4.9.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.cluster.partition_fetch import LogReadInfo, PartitionFetch, Reader
from pykafka_classic.cluster.partition_reads import is_unchanged, note_idle_follower, read_records
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.purgatory.purgatory import Purgatory
from pykafka_classic.records.layout import CorruptRecord
from pykafka_classic.server.damage_watch import DamageWatch
from pykafka_classic.server.delayed_fetch import DelayedFetch
from pykafka_classic.server.fetch_values import FetchParams, FetchPartitionData
from pykafka_classic.server.hosted_partitions import HostedPartitions
from pykafka_classic.server.replica_selector import RackAwareReplicaSelector
from pykafka_classic.server.replica_services import ReplicaServices
from pykafka_classic.server.replication_quota import ReplicationQuota

log = logging.getLogger("kafka.server.ReplicaManager")

FetchResults: TypeAlias = list[FetchPartitionData]
NO_FOLLOWER: Final = -1


class LogReads:
    """Reads of all hosted partitions."""

    def __init__(
        self, hosted: HostedPartitions, purgatory: Purgatory, services: ReplicaServices, selector: RackAwareReplicaSelector | None, quota: ReplicationQuota
    ) -> None:
        self._hosted = hosted
        self._purgatory = purgatory
        self._clock = services.clock
        self._damage = DamageWatch(services.background, services.clock)
        self._selector = selector
        self._quota = quota  # of throttled replicas that catch up from here

    def fetch(self, params: FetchParams, fetches: Sequence[PartitionFetch]) -> FetchResults | Promise[FetchResults]:
        """Read, and wait for `min_bytes` if there are fewer. Partitions of a session with nothing new have no result."""
        reader = params.reader()
        results = self._read(params, fetches, reader)
        if params.max_wait_ms <= 0 or not fetches or _is_enough(results, params.min_bytes):
            return self._counted(params, results)

        def read_again(touched: Collection[TopicPartition]) -> FetchResults:
            # A session need not hear of what was not touched. The follower is not noted again: it asked when the wait began, and may be gone by now.
            again = [fetch for fetch in fetches if fetch.sent_high_watermark < 0 or fetch.topic_partition in touched]
            return self._counted(params, self._read(params, again, Reader(reader.isolation, reader.only_leader)))

        operation = DelayedFetch(params, fetches, self._hosted, read_again, first_look=[data.topic_partition for data in results])
        if params.is_from_follower:
            operation.has_to_wait = lambda topic_partition: self._has_to_wait(params, topic_partition)
        if self._purgatory.try_complete_else_watch(operation, list(operation.keys)) or operation.outcome.settled:
            return operation.outcome.result()
        return operation.outcome

    def _read(self, params: FetchParams, fetches: Sequence[PartitionFetch], reader: Reader) -> FetchResults:
        remaining, min_one_message = params.max_bytes, not params.hard_max_bytes_limit
        now_ms = self._clock.monotonic_ms()
        online = self._hosted.online
        results: FetchResults = []
        for fetch in fetches:
            if fetch.sent_high_watermark >= 0:
                partition = online.get(fetch.topic_partition)
                if partition is not None and self._is_idle(partition, fetch, reader, now_ms):
                    continue
            data = self._read_one(params, fetch, reader, (min(fetch.max_bytes, remaining), min_one_message))
            size = data.size
            if size:
                min_one_message = False
                remaining = max(0, remaining - size)
            results.append(data)
        return results

    def _is_idle(self, partition: Partition, fetch: PartitionFetch, reader: Reader, now_ms: float) -> bool:
        if reader.follower_id != NO_FOLLOWER:
            return note_idle_follower(partition, fetch, reader.follower_id, now_ms)
        return self._selector is None and is_unchanged(partition, fetch, reader.isolation)

    def _read_one(self, params: FetchParams, fetch: PartitionFetch, reader: Reader, limits: tuple[int, bool]) -> FetchPartitionData:
        try:
            partition = self._hosted.get(fetch.topic_partition)
            preferred = self._preferred_replica(params, partition, fetch)
            if preferred is not None:
                return self._redirect(partition, fetch, preferred)
            info = read_records(partition, fetch, reader, max_bytes=limits[0], min_one_message=limits[1])
            return self._result(params, partition, fetch, reader, info)
        except CorruptRecord as error:
            log.error("%s cannot be read from offset %d on: %s", fetch.topic_partition, fetch.fetch_offset, error)
            return FetchPartitionData.failed(fetch.topic_partition, error.code)
        except KafkaError as error:
            return FetchPartitionData.failed(fetch.topic_partition, error.code)
        except Exception:
            log.exception(
                "Error processing fetch with max size %d from replica %d on partition %s: %s", limits[0], params.replica_id, fetch.topic_partition, fetch
            )
            return FetchPartitionData.failed(fetch.topic_partition, ErrorCode.UNKNOWN_SERVER_ERROR)

    def _preferred_replica(self, params: FetchParams, partition: Partition, fetch: PartitionFetch) -> int | None:
        if self._selector is None or params.client is None:
            return None
        return self._selector.preferred_read_replica(partition, params.client, fetch.fetch_offset, self._clock.monotonic_ms())

    def _redirect(self, partition: Partition, fetch: PartitionFetch, preferred: int) -> FetchPartitionData:
        leader_log = partition.local_log(fetch.current_leader_epoch)
        return FetchPartitionData(
            fetch.topic_partition,
            high_watermark=leader_log.high_watermark,
            log_start_offset=leader_log.log_start_offset,
            last_stable_offset=leader_log.last_stable_offset,
            preferred_read_replica=preferred,
        )

    def _has_to_wait(self, params: FetchParams, topic_partition: TopicPartition) -> bool:
        """Whether a follower gets nothing of this partition for now: it is throttled and too fast, and it is not in sync."""
        if not params.is_from_follower or not self._quota.blocks(topic_partition):
            return False
        partition = self._hosted.online.get(topic_partition)
        return partition is not None and params.replica_id not in partition.in_sync.state.isr

    def _counted(self, params: FetchParams, results: FetchResults) -> FetchResults:
        if params.is_from_follower:
            for data in results:
                if data.records is not None:
                    self._quota.record_partition(data.topic_partition, data.size)
        return results

    def _result(self, params: FetchParams, partition: Partition, fetch: PartitionFetch, reader: Reader, info: LogReadInfo) -> FetchPartitionData:
        fetched = info.fetched
        data = FetchPartitionData(
            fetch.topic_partition,
            ErrorCode.NONE,
            info.high_watermark,
            info.log_start_offset,
            info.last_stable_offset,
            # From v3 on a batch that had to be cut is left out: the limits let one whole batch through, so there is progress without it.
            None if fetched.first_entry_incomplete and not params.hard_max_bytes_limit else fetched.records,
            fetched.aborted_transactions,
            diverging_epoch=info.diverging_epoch,
        )
        if info.diverging_epoch is not None:
            return data
        fetch.verified_leader_epoch = partition.leader_epoch
        if reader.follower_id != NO_FOLLOWER and not partition.update_follower_fetch_state(
            reader.follower_id, fetch.fetch_offset, fetch.log_start_offset, info.log_end_offset
        ):
            log.warning(
                "Leader %d failed to record follower %d's position %d since the replica is not recognized to be one of the assigned replicas %s "
                "for partition %s. Empty records will be returned for this partition.",
                partition.local_broker_id, reader.follower_id, fetch.fetch_offset, partition.assignment, fetch.topic_partition,
            )  # fmt: skip
            data.records = None
            fetch.verified_leader_epoch = -1
        if data.records is not None and self._has_to_wait(params, fetch.topic_partition):
            data.records = None
        if data.records is not None:
            self._damage.served(partition, fetch, reader.follower_id, fetched)
        return data


def _is_enough(results: FetchResults, min_bytes: int) -> bool:
    readable = 0
    for data in results:
        if data.error or data.diverging_epoch is not None or data.preferred_read_replica >= 0:
            return True
        readable += data.size
    return readable >= min_bytes
