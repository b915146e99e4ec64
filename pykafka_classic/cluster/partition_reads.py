"""Reading a partition: for followers, consumers, ListOffsets and OffsetForLeaderEpoch. Facts/coordination.md 4.4, 4.5, 4.9; storage.md 14."""

from __future__ import annotations

from typing import Final

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.cluster.partition_fetch import NO_EPOCH, EpochEndOffset, FetchIsolation, LogReadInfo, PartitionFetch, Reader
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_values import FetchDataInfo, LogOffsetMetadata, TimestampedOffset

LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2
NO_TIMESTAMP: Final = -1
READ_COMMITTED: Final = 1


def upper_bound(log: Log, isolation: FetchIsolation) -> int:
    """The offset up to which such a reader may see."""
    if isolation is FetchIsolation.LOG_END:
        return log.log_end_offset
    return log.high_watermark if isolation is FetchIsolation.HIGH_WATERMARK else log.last_stable_offset


def read_records(partition: Partition, fetch: PartitionFetch, reader: Reader, *, max_bytes: int, min_one_message: bool) -> LogReadInfo:
    """Whole batches from `fetch.fetch_offset` on, at most `max_bytes` of them; nothing at and above the bound of the reader's isolation.

    With `fetch.last_fetched_epoch` the end of that epoch is compared first: where the asker's log parts from ours, the answer is a diverging epoch and no
    records. Raises FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER, OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR.
    """
    log = partition.local_log(fetch.current_leader_epoch, require_leader=reader.only_leader)
    high_watermark, log_start_offset, log_end_offset, last_stable_offset = log.high_watermark, log.log_start_offset, log.log_end_offset, log.last_stable_offset
    diverging = _diverging_epoch(log, fetch) if fetch.last_fetched_epoch != NO_EPOCH else None
    if diverging is not None:
        fetched = FetchDataInfo(LogOffsetMetadata(fetch.fetch_offset))
    else:
        fetched = log.read(
            fetch.fetch_offset,
            max_length=max_bytes,
            max_offset=upper_bound(log, reader.isolation),
            min_one_message=min_one_message,
            include_aborted=reader.isolation is FetchIsolation.TXN_COMMITTED,
        )
    return LogReadInfo(fetched, high_watermark, log_start_offset, log_end_offset, last_stable_offset, diverging)


def _diverging_epoch(log: Log, fetch: PartitionFetch) -> tuple[int, int] | None:
    epoch, end_offset = log.leader_epoch_cache.end_offset_for(fetch.last_fetched_epoch, log.log_end_offset)
    if epoch == NO_EPOCH or end_offset < 0:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE, f"Could not determine the end offset of the last fetched epoch {fetch.last_fetched_epoch} from the request"
        )
    if fetch.fetch_offset < log.log_start_offset:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"Received request for offset {fetch.fetch_offset} for partition {fetch.topic_partition}, "
            f"but we only have log segments in the range {log.log_start_offset} to {log.log_end_offset}.",
        )
    return (epoch, end_offset) if epoch < fetch.last_fetched_epoch or end_offset < fetch.fetch_offset else None


def is_unchanged(partition: Partition, fetch: PartitionFetch, isolation: FetchIsolation) -> bool:
    """True where a full read would give nothing that this session's last answer did not say: the one comparison that an idle partition costs."""
    log = partition.log
    return (
        log is not None
        and fetch.sent_high_watermark == log.high_watermark
        and fetch.sent_log_start_offset == log.log_start_offset
        and fetch.verified_leader_epoch == partition.leader_epoch
        and upper_bound(log, isolation) <= fetch.fetch_offset <= log.log_end_offset
    )


def note_idle_follower(partition: Partition, fetch: PartitionFetch, follower_id: int, now_ms: float) -> bool:
    """The same for a follower in sync that fetches at the leader's end: note that it still is caught up. False where there is more to look at.

    Written out for speed: a follower of a thousand partitions calls it a thousand times per request.
    """
    log = partition.log
    if (
        log is None
        or not fetch.fetch_offset == log.log_end_offset == log.high_watermark
        or fetch.sent_high_watermark != log.high_watermark
        or fetch.sent_log_start_offset != log.log_start_offset
        or fetch.verified_leader_epoch != partition.leader_epoch
    ):
        return False
    in_sync = partition.in_sync
    replica = in_sync.remote.get(follower_id)
    if replica is None or replica.log_end_offset != fetch.fetch_offset or follower_id not in in_sync.state.isr:
        return False
    replica.last_caught_up_ms = replica.last_fetch_ms = now_ms
    return True


def last_offset_for_leader_epoch(partition: Partition, leader_epoch: int, *, current_leader_epoch: int, only_leader: bool) -> EpochEndOffset:
    """Where the largest epoch not above `leader_epoch` ended. Raises FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER."""
    log = partition.local_log(current_leader_epoch, require_leader=only_leader)
    return EpochEndOffset(*log.leader_epoch_cache.end_offset_for(leader_epoch, log.log_end_offset))


async def fetch_offset_for_timestamp(
    partition: Partition, timestamp: int, *, isolation_level: int | None, current_leader_epoch: int, only_leader: bool
) -> TimestampedOffset | None:
    """ListOffsets: the first record not older than `timestamp` (-1: the end, -2: the start) that the asker may see; None where there is none.

    `isolation_level` None: a replica or debugging consumer. Raises OFFSET_NOT_AVAILABLE while a new leader's high watermark is below the start of its epoch: an
    end offset told now could be smaller than one told by the leader before.
    """
    log = partition.local_log(current_leader_epoch, require_leader=only_leader)
    bound = log.log_end_offset if isolation_level is None else log.last_stable_offset if isolation_level == READ_COMMITTED else log.high_watermark
    start = partition.leader_epoch_start_offset
    lagging = isolation_level is not None and start is not None and start > log.high_watermark
    if timestamp == LATEST_TIMESTAMP:
        if lagging:
            raise _not_available(partition, log)
        return TimestampedOffset(NO_TIMESTAMP, bound, partition.leader_epoch)
    found = await log.offset_for_timestamp(timestamp)
    if timestamp == EARLIEST_TIMESTAMP or (found is not None and found.offset < bound):
        return found
    if lagging:
        raise _not_available(partition, log)
    return None


def _not_available(partition: Partition, log: Log) -> KafkaError:
    return KafkaError(
        ErrorCode.OFFSET_NOT_AVAILABLE,
        f"Failed to fetch offsets for partition {partition.topic_partition} with leader epoch {partition.leader_epoch} as this partition's high watermark "
        f"({log.high_watermark}) is lagging behind the start offset from the beginning of this epoch ({partition.leader_epoch_start_offset}).",
    )


def legacy_fetch_offsets_for_timestamp(partition: Partition, timestamp: int, *, max_num_offsets: int, from_consumer: bool, only_leader: bool) -> list[int]:
    """ListOffsets v0: segment starts not younger than `timestamp`, newest first; a consumer's are capped by the high watermark."""
    log = partition.local_log(require_leader=only_leader)
    offsets = log.legacy_offsets_before(timestamp, max_num_offsets)
    if not from_consumer or all(offset <= log.high_watermark for offset in offsets):
        return offsets
    return [log.high_watermark, *(offset for offset in offsets if offset <= log.high_watermark)]
