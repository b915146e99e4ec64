"""What a Fetch asks of one partition, and what a read of its log gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log_values import FetchDataInfo

NO_EPOCH: Final = -1
UNKNOWN_OFFSET: Final = -1


class FetchIsolation(Enum):
    """Up to where a reader may see."""

    LOG_END = "log end"  # a follower
    HIGH_WATERMARK = "high watermark"  # a consumer
    TXN_COMMITTED = "last stable offset"  # a read_committed consumer


@dataclass(slots=True)
class Reader:
    """Who reads, the same for all partitions of a request. Nobody changes it; not frozen, for that would make each one three times as slow."""

    isolation: FetchIsolation
    only_leader: bool = True  # followers, and consumers that do not know of reading from followers (KIP-392)
    follower_id: int = -1  # broker id of a follower, -1 for consumers


@dataclass(slots=True)
class PartitionFetch:
    """One partition of a Fetch request. In a fetch session it lives on from request to request, and remembers what the last answer told.

    Invariant: `verified_leader_epoch` is the leader's epoch at the last successful read with the very same request fields, -1 since they last changed.
    """

    topic_partition: TopicPartition
    fetch_offset: int
    log_start_offset: int = UNKNOWN_OFFSET  # the follower's own; -1 from consumers
    max_bytes: int = 0
    current_leader_epoch: int = NO_EPOCH  # as the asker knows it (KIP-320); -1: not to be checked
    last_fetched_epoch: int = NO_EPOCH  # epoch of the asker's last record (KIP-595); -1: unknown
    sent_high_watermark: int = UNKNOWN_OFFSET  # -1: none sent yet, or an error was: the next answer must name the partition
    sent_log_start_offset: int = UNKNOWN_OFFSET
    verified_leader_epoch: int = NO_EPOCH
    served_from: int = UNKNOWN_OFFSET  # the offset from which a consumer was last given records


@dataclass(slots=True)
class LogReadInfo:
    """The outcome of a read. All offsets were taken before the read: what is appended afterwards must not keep a follower out of the ISR.

    Nobody changes it; not frozen, for that would make each one three times as slow.
    """

    fetched: FetchDataInfo
    high_watermark: int
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int
    diverging_epoch: tuple[int, int] | None = None  # (epoch, its end offset): the asker's log parts from ours there


@dataclass(frozen=True, slots=True)
class EpochEndOffset:
    """Where an epoch ended; both -1 where it is unknown."""

    leader_epoch: int = NO_EPOCH
    end_offset: int = UNKNOWN_OFFSET
