"""The rules of who is in sync, and of how far records are committed. Facts/coordination.md 4.5 to 4.7.

* High watermark candidate: the smallest log end among the leader and those remote replicas that are in the maximal ISR, or that live and were caught up within
  the allowed lag (so that a follower about to rejoin holds it back rather than join below it). Kafka 2.8 counts dead ones too: a broker that fetched once more
  while it was being shut down then holds every acks=all write back for replica.lag.time.max.ms.
* A follower joins when it has reached the high watermark and the start of the current leader epoch, and no change is under way.
* A member leaves when it is not at the leader's end and was last caught up longer ago than the allowed lag. One that is exactly at the end never leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pykafka_classic.cluster.isr_state import CommittedIsr, IsrState
from pykafka_classic.cluster.replica import NEVER_MS, Replica


class InSyncReplicas:
    """The remote replicas of one partition and its ISR.

    Invariants: `remote` holds the assignment without this broker; outside leadership `state` is an empty CommittedIsr.
    """

    __slots__ = ("_is_alive", "_lag_time_max_ms", "_local_broker_id", "remote", "state")

    def __init__(self, local_broker_id: int, lag_time_max_ms: float, is_alive: Callable[[int], bool]) -> None:
        self._is_alive = is_alive
        self._local_broker_id = local_broker_id
        self._lag_time_max_ms = lag_time_max_ms
        self.remote: dict[int, Replica] = {}
        self.state: IsrState = CommittedIsr(())

    def update(self, assignment: Sequence[int], isr: Iterable[int]) -> None:
        """What a LeaderAndIsr says; replicas that stay keep their state."""
        wanted = [broker_id for broker_id in assignment if broker_id != self._local_broker_id]
        self.remote = {broker_id: self.remote.get(broker_id) or Replica(broker_id) for broker_id in wanted}
        self.state = CommittedIsr(tuple(isr))

    def clear(self) -> None:
        """The partition is gone from this broker."""
        self.remote = {}
        self.state = CommittedIsr(())

    def high_watermark_candidate(self, log_end_offset: int, now_ms: float) -> int:
        """The offset below which everything is committed; -1 while an in-sync follower's end is unknown."""
        candidate = log_end_offset
        maximal_isr = self.state.maximal_isr
        for replica in self.remote.values():
            if replica.log_end_offset < candidate and (replica.broker_id in maximal_isr or self._may_join_soon(replica, now_ms)):
                candidate = replica.log_end_offset
        return candidate

    def _may_join_soon(self, replica: Replica, now_ms: float) -> bool:
        return now_ms - replica.last_caught_up_ms <= self._lag_time_max_ms and self._is_alive(replica.broker_id)

    def may_join(self, replica: Replica, *, high_watermark: int, leader_epoch_start_offset: int | None) -> bool:
        """Whether this follower is to be proposed as a member."""
        state = self.state
        if state.in_flight or replica.broker_id in state.isr or leader_epoch_start_offset is None:
            return False
        return replica.log_end_offset >= high_watermark and replica.log_end_offset >= leader_epoch_start_offset

    def out_of_sync(self, log_end_offset: int, now_ms: float) -> tuple[int, ...]:
        """Members that are to be proposed for removal; none while a change is under way."""
        if self.state.in_flight or len(self.state.isr) <= 1:
            return ()
        return tuple(
            broker_id for broker_id in self.state.isr if broker_id != self._local_broker_id and self._lags(self.remote.get(broker_id), log_end_offset, now_ms)
        )

    def described(self, brokers: Iterable[int], now_ms: float) -> list[list[int]]:
        """For each: its id, ms since it was last caught up, the end of its log; -1 where that is not known."""
        replicas = [self.remote.get(each) or Replica(each) for each in brokers]
        return [
            [each.broker_id, -1 if each.last_caught_up_ms == NEVER_MS else round(now_ms - each.last_caught_up_ms), each.log_end_offset] for each in replicas
        ]

    def _lags(self, replica: Replica | None, log_end_offset: int, now_ms: float) -> bool:
        if replica is None:  # in the ISR but not assigned: a state that only a fault could write
            return True
        return replica.log_end_offset != log_end_offset and now_ms - replica.last_caught_up_ms > self._lag_time_max_ms
