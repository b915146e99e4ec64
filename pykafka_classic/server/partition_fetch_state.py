"""Where a follower stands with one partition, and the arithmetic of truncation.

    added --> TRUNCATING --(epoch's end known, log cut)--> FETCHING --(error)--> delayed for replica.fetch.backoff.ms --> FETCHING
    added --> FETCHING, where Fetch itself tells of divergence (inter.broker.protocol.version 2.7-IV1 and later) and the log has an epoch

Mirrors kafka.server.{PartitionFetchState, OffsetTruncationState}; facts/coordination.md 4.2, 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from pykafka_classic.cluster.broker import Node
from pykafka_classic.log.log import Log

UNDEFINED_EPOCH: Final = -1
UNDEFINED_OFFSET: Final = -1


class ReplicaState(Enum):
    """What the fetcher does with a partition."""

    TRUNCATING = "Truncating"
    FETCHING = "Fetching"


class InitialFetchState(NamedTuple):
    """How a fetcher begins with a partition."""

    leader: Node
    current_leader_epoch: int
    init_offset: int  # the LEO, where epochs guard against divergence; else the high watermark


@dataclass(slots=True)
class PartitionFetchState:
    """Invariant: outside truncation `fetch_offset` is the log end offset. `delayed_until_ms` is monotonic."""

    fetch_offset: int
    current_leader_epoch: int
    state: ReplicaState
    last_fetched_epoch: int | None = None  # epoch of the last record; None: unknown
    delayed_until_ms: float | None = None
    lag: int | None = None  # records behind the leader's high watermark; None: not known yet

    def is_delayed(self, now_ms: float) -> bool:
        """Whether it has to wait after an error."""
        return self.delayed_until_ms is not None and self.delayed_until_ms > now_ms

    def is_ready_for_fetch(self, now_ms: float) -> bool:
        """Whether the next Fetch shall ask for it."""
        return self.state is ReplicaState.FETCHING and not self.is_delayed(now_ms)

    def is_truncating(self, now_ms: float) -> bool:
        """Whether its log has to be cut first."""
        return self.state is ReplicaState.TRUNCATING and not self.is_delayed(now_ms)


class OffsetTruncationState(NamedTuple):
    """Cut the log here. Not `completed`: the leader has to be asked again, about an older epoch."""

    offset: int
    completed: bool


def truncation_state(log: Log, initial_offset: int, leader_epoch: int, end_offset: int) -> OffsetTruncationState:
    """What the leader's answer (the epoch it found, where that ended) means for this log.

    | the leader says | cut at | done |
    |---|---|---|
    | no such epoch (offset -1) | the offset we began with: the high watermark | yes |
    | an offset without epoch (v0) | it, or our end | yes |
    | an epoch that we know | the smaller end of that epoch, theirs or ours | yes |
    | an epoch that we do not know, but an older one | the end of that older one | no: ask about it |
    | an epoch about which our log says nothing | the leader's end of it, or our end | yes |
    """
    log_end_offset = log.log_end_offset
    if end_offset == UNDEFINED_OFFSET:
        return OffsetTruncationState(initial_offset, completed=True)
    if leader_epoch == UNDEFINED_EPOCH:
        return OffsetTruncationState(min(end_offset, log_end_offset), completed=True)
    known_epoch, known_end = log.leader_epoch_cache.end_offset_for(leader_epoch, log_end_offset)
    if known_epoch == UNDEFINED_EPOCH:
        return OffsetTruncationState(min(end_offset, log_end_offset), completed=True)
    if known_epoch != leader_epoch:
        return OffsetTruncationState(min(known_end, log_end_offset), completed=False)
    return OffsetTruncationState(min(known_end, end_offset, log_end_offset), completed=True)
