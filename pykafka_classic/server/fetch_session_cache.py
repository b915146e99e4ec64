"""The fetch sessions of a broker: at most `max.incremental.fetch.session.cache.slots`.

When all slots are taken a newcomer gets one only by evicting another session, in this order of choice:

1. the least recently used, if it has not been used for 120 s;
2. else the smallest of those that this newcomer may evict, if the newcomer ranks strictly higher. Rank: a follower's session above a consumer's, then the one
   with more partitions. A follower may evict consumers' sessions of any age, and followers' sessions older than 120 s; a consumer only consumers' sessions
   older than 120 s.

Otherwise the fetcher goes on without a session. Mirrors kafka.server.FetchSessionCache; facts/coordination.md 4.10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pykafka_classic.cluster.partition_fetch import PartitionFetch
from pykafka_classic.common.clock import Random
from pykafka_classic.common.topic_partition import TopicPartition

EVICTION_MS: Final = 120_000
FIRST_INCREMENTAL_EPOCH: Final = 1
INT_MAX: Final = 2**31 - 1


@dataclass(slots=True, eq=False)
class FetchSession:
    """What one fetcher wants. `epoch` is what its next request must say; times are monotonic ms; `partitions` in the order of their turns."""

    id: int
    privileged: bool  # a follower's
    partitions: dict[TopicPartition, PartitionFetch]
    created_ms: float
    last_used_ms: float
    epoch: int = FIRST_INCREMENTAL_EPOCH

    @property
    def rank(self) -> tuple[bool, int]:
        """The lowest is evicted first."""
        return self.privileged, len(self.partitions)

    def is_evictable_by(self, now_ms: float, *, privileged: bool) -> bool:
        """Whether such a newcomer may take its slot, if it ranks higher."""
        if privileged and not self.privileged:
            return True
        return privileged >= self.privileged and now_ms - self.created_ms > EVICTION_MS


class FetchSessionCache:
    """Invariant: `_sessions` is ordered by last use, the oldest first, and never longer than `slots`."""

    def __init__(self, random: Random, slots: int) -> None:
        self._random = random
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: int) -> FetchSession | None:
        """A session by its id."""
        return self._sessions.get(session_id)

    def remove(self, session_id: int) -> FetchSession | None:
        """Forget a session."""
        return self._sessions.pop(session_id, None)

    def touch(self, session: FetchSession, now_ms: float) -> None:
        """It was used."""
        session.last_used_ms = now_ms
        self._sessions[session.id] = self._sessions.pop(session.id)

    def maybe_create_session(self, partitions: Sequence[PartitionFetch], now_ms: float, *, privileged: bool) -> FetchSession | None:
        """A new session, if there is a free slot or one that may be taken."""
        session = FetchSession(0, privileged, {fetch.topic_partition: fetch for fetch in partitions}, now_ms, now_ms)
        if len(self._sessions) >= self._slots and not self._try_evict(session, now_ms):
            return None
        session.id = self._new_id()
        self._sessions[session.id] = session
        return session

    def _try_evict(self, newcomer: FetchSession, now_ms: float) -> bool:
        if not self._sessions:
            return False  # no slots at all
        oldest = next(iter(self._sessions.values()))
        if now_ms - oldest.last_used_ms > EVICTION_MS:
            return self._evict(oldest)
        candidates = [session for session in self._sessions.values() if session.is_evictable_by(now_ms, privileged=newcomer.privileged)]
        lowest = min(candidates, key=lambda session: session.rank, default=None)
        return lowest is not None and lowest.rank < newcomer.rank and self._evict(lowest)

    def _evict(self, session: FetchSession) -> bool:
        del self._sessions[session.id]
        self.evictions += 1
        return True

    def _new_id(self) -> int:
        while True:
            candidate = self._random.randrange(INT_MAX) + 1
            if candidate not in self._sessions:
                return candidate
