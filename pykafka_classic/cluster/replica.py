"""A follower as its leader sees it: how far its log reaches, and when it last had everything.

"Caught up" is a matter of time, not of distance: a follower is in sync while it has, at some moment of the last `replica.lag.time.max.ms`, reached the leader's
end of that moment. So a busy leader, whose end is always a little ahead, does not lose its followers.

Mirrors kafka.cluster.Replica; facts/coordination.md 4.5. All times are monotonic ms.
"""

from __future__ import annotations

from typing import Final

NEVER_MS: Final = float("-inf")
UNKNOWN_OFFSET: Final = -1


class Replica:
    """One remote replica. Invariant: `last_caught_up_ms` never falls while the leadership lasts."""

    __slots__ = ("broker_id", "last_caught_up_ms", "last_fetch_leader_log_end_offset", "last_fetch_ms", "log_end_offset", "log_start_offset", "served_from")

    def __init__(self, broker_id: int) -> None:
        self.broker_id = broker_id
        self.log_start_offset = UNKNOWN_OFFSET
        self.log_end_offset = UNKNOWN_OFFSET  # the offset of its last Fetch: it has all before
        self.last_fetch_leader_log_end_offset = 0  # the leader's end when it last fetched
        self.last_fetch_ms = NEVER_MS
        self.last_caught_up_ms = NEVER_MS
        self.served_from = UNKNOWN_OFFSET  # the offset from which it was last given records

    def update_fetch_state(self, fetch_offset: int, log_start_offset: int, *, fetch_ms: float, leader_end_offset: int) -> None:
        """The follower fetched from `fetch_offset` when the leader's log ended at `leader_end_offset`.

        Having reached the end of its previous fetch, it was caught up at the time of that one: this is what keeps followers of a busy leader in.
        """
        if fetch_offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, fetch_ms)
        elif fetch_offset >= self.last_fetch_leader_log_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_start_offset = log_start_offset
        self.log_end_offset = fetch_offset
        self.last_fetch_leader_log_end_offset = leader_end_offset
        self.last_fetch_ms = fetch_ms

    def reset_last_caught_up(self, leader_end_offset: int, now_ms: float, *, in_sync: bool) -> None:
        """A leadership begins: members of the ISR get the benefit of the doubt, others must catch up first."""
        self.last_fetch_leader_log_end_offset = leader_end_offset
        self.last_fetch_ms = now_ms
        self.last_caught_up_ms = now_ms if in_sync else NEVER_MS

    def forget_log(self) -> None:
        """This broker has just become leader: what it knew of the follower's log is of no use."""
        self.log_start_offset = self.log_end_offset = UNKNOWN_OFFSET
        self.last_fetch_leader_log_end_offset = UNKNOWN_OFFSET
        self.last_fetch_ms = NEVER_MS

    def __repr__(self) -> str:
        return f"Replica({self.broker_id}, log_end_offset={self.log_end_offset}, last_caught_up_ms={self.last_caught_up_ms})"
