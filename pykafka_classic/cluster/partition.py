"""A partition that this broker hosts: leader or follower, its log, its replicas, its ISR.

    (made by the first LeaderAndIsr) --make_leader--> leader --make_follower--> follower --make_leader--> ...   delete(): gone

* Leader: appends what producers send, answers fetches, advances the HighWatermark, proposes ISR changes.
* Follower: its log is written by the fetcher alone (`append_records_to_follower`, `truncate_to`); its ISR is empty, for only the leader keeps one.

Reads are in partition_reads.py, the rules of the ISR in in_sync_replicas.py.
Mirrors kafka.cluster.Partition; facts/coordination.md 4.1, 4.5 to 4.8.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from pykafka_classic.cluster.delayed_operations import DelayedOperations
from pykafka_classic.cluster.in_sync_replicas import InSyncReplicas
from pykafka_classic.cluster.isr_state import AlterIsrItem, CommittedIsr, IsrManager, LeaderAndIsr, PendingExpandIsr, PendingIsr, PendingShrinkIsr
from pykafka_classic.cluster.replica import Replica
from pykafka_classic.common import broker_events, kafka_uuid
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.leader_records import Produced
from pykafka_classic.log.log import Log
from pykafka_classic.log.log_manager import LogManager
from pykafka_classic.log.log_values import LogAppendInfo
from pykafka_classic.log.pending_append import PendingAppend, takes_long
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrPartitionState

log = logging.getLogger("kafka.cluster.Partition")
state_change_log = logging.getLogger("state.change.logger")

ALL_IN_SYNC_REPLICAS: Final = -1  # acks=all
NO_LEADER_EPOCH: Final = -1
NO_CURRENT_EPOCH: Final = -1  # a request that does not say which leader epoch it means
HIGH_WATERMARK: Final = -1  # DeleteRecords: up to the high watermark

# After these the leader waits for the LeaderAndIsr that must be on its way; after others it asks again (facts/coordination.md 4.6).
_GIVE_UP: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_UPDATE_VERSION})


@dataclass(frozen=True, slots=True)
class PartitionServices:
    """What all partitions of a broker share."""

    local_broker_id: int
    replica_lag_time_max_ms: float
    clock: Clock
    log_manager: LogManager
    delayed: DelayedOperations
    isr_manager: IsrManager
    is_alive: Callable[[int], bool]  # whether the metadata cache knows a broker as alive


class Partition:
    """See the module.

    Invariants: `leader_epoch` never falls; `leader_epoch_start_offset` is set exactly while this broker leads; a leader has a log.
    """

    def __init__(self, topic_partition: TopicPartition, services: PartitionServices) -> None:
        self.topic_partition = topic_partition
        self.services = services
        self.local_broker_id = services.local_broker_id
        self.log: Log | None = None
        self.leader_id: int | None = None  # None: not told yet
        self.leader_epoch = NO_LEADER_EPOCH
        self.leader_epoch_start_offset: int | None = None  # LEO at the begin of this leadership
        self.zk_version = 0
        self.controller_epoch = 0  # of the controller that last changed the leader
        self.assignment: tuple[int, ...] = ()
        self.high_watermark_stands = False  # as leader: it has not moved yet in this epoch
        self.in_sync = InSyncReplicas(services.local_broker_id, services.replica_lag_time_max_ms, services.is_alive)

    def __repr__(self) -> str:
        return f"Partition({self.topic_partition}, leader={self.leader_id}, epoch={self.leader_epoch}, isr={self.in_sync.state.isr})"

    def __str__(self) -> str:
        return f"[Partition {self.topic_partition} broker={self.local_broker_id}]"

    # Looking

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads the partition."""
        return self.leader_id == self.local_broker_id

    @property
    def leader_log(self) -> Log | None:
        """The log, if this broker leads."""
        return self.log if self.leader_id == self.local_broker_id else None

    def local_log(self, current_leader_epoch: int = NO_CURRENT_EPOCH, *, require_leader: bool = False) -> Log:
        """The log. Raises FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER."""
        if current_leader_epoch not in (NO_CURRENT_EPOCH, self.leader_epoch):
            newer = current_leader_epoch > self.leader_epoch
            raise self._error(ErrorCode.UNKNOWN_LEADER_EPOCH if newer else ErrorCode.FENCED_LEADER_EPOCH, current_leader_epoch)
        if self.log is None or (require_leader and self.leader_id != self.local_broker_id):
            raise self._error(ErrorCode.NOT_LEADER_OR_FOLLOWER, current_leader_epoch)
        return self.log

    def _error(self, code: ErrorCode, asked_epoch: int) -> KafkaError:
        text = f"Failed to find log for partition {self.topic_partition} with leader epoch {asked_epoch}."
        return KafkaError(code, f"{text} The current leader is {self.leader_id} and the current epoch {self.leader_epoch}")

    # Changes of role

    def check_or_set_topic_id(self, topic_id: bytes) -> bool:
        """False where the log belongs to another topic of the same name. A log without an id takes this one; no id at all fits everything."""
        if self.log is None or topic_id == kafka_uuid.ZERO:
            return True
        if self.log.topic_id is None:
            self.log.assign_topic_id(UUID(bytes=topic_id))
            return True
        return self.log.topic_id.bytes == topic_id

    def create_log_if_not_exists(self, *, is_new: bool, topic_id: bytes = kafka_uuid.ZERO) -> Log:
        """The log, with its checkpointed high watermark. Raises KAFKA_STORAGE_ERROR."""
        if self.log is None:
            self.log = self.services.log_manager.get_or_create_log(
                self.topic_partition, is_new=is_new, topic_id=UUID(bytes=topic_id) if topic_id != kafka_uuid.ZERO else None
            )
            log.info("%s Log loaded for partition %s with initial high watermark %d", self, self.topic_partition, self.log.high_watermark)
        return self.log

    def make_leader(self, state: LeaderAndIsrPartitionState, topic_id: bytes = kafka_uuid.ZERO) -> bool:
        """Lead from the log's end on; False where this broker led before. Raises KAFKA_STORAGE_ERROR.

        The new epoch is noted at the LEO even before anything is appended: a follower's log may hold records of later epochs than any of ours, and must learn
        where to cut.
        """
        self._take_over(state, state.isr)
        leader_log = self.create_log_if_not_exists(is_new=state.is_new, topic_id=topic_id)
        start = leader_log.log_end_offset
        state_change_log.info(
            "%s Leader %s starts at leader epoch %d from offset %d with high watermark %d ISR %s. Previous leader epoch was %d.",
            self, self.topic_partition, state.leader_epoch, start, leader_log.high_watermark, state.isr, self.leader_epoch,
        )  # fmt: skip
        self.leader_epoch, self.leader_epoch_start_offset, self.zk_version = state.leader_epoch, start, state.zk_version
        self.services.isr_manager.clear_pending(self.topic_partition)
        if leader_log.record_version >= 2:  # older formats have no epochs
            leader_log.leader_epoch_cache.assign(state.leader_epoch, start)
        self.high_watermark_stands = True
        is_new_leader = not self.is_leader
        self.leader_id = self.local_broker_id
        now_ms = self.services.clock.monotonic_ms()
        for replica in self.in_sync.remote.values():
            replica.reset_last_caught_up(start, now_ms, in_sync=replica.broker_id in self.in_sync.state.isr)
            if is_new_leader:
                replica.forget_log()
        if self._maybe_increment_high_watermark(leader_log):  # the ISR may be down to this broker
            self.services.delayed.check_all(self.topic_partition)
        return is_new_leader

    def make_follower(self, state: LeaderAndIsrPartitionState, topic_id: bytes = kafka_uuid.ZERO) -> bool:
        """Follow `state.leader`; False where nothing has changed for the fetcher. Raises KAFKA_STORAGE_ERROR."""
        self._take_over(state, ())
        follower_log = self.create_log_if_not_exists(is_new=state.is_new, topic_id=topic_id)
        state_change_log.info(
            "%s Follower %s starts at leader epoch %d from offset %d with high watermark %d. Previous leader epoch was %d.",
            self, self.topic_partition, state.leader_epoch, follower_log.log_end_offset, follower_log.high_watermark, self.leader_epoch,
        )  # fmt: skip
        previous = (self.leader_id, self.leader_epoch)
        self.leader_epoch, self.leader_epoch_start_offset, self.zk_version = state.leader_epoch, None, state.zk_version
        self.services.isr_manager.clear_pending(self.topic_partition)  # it may have been leader
        self.leader_id = state.leader
        return (self.leader_id, self.leader_epoch) != previous

    def _take_over(self, state: LeaderAndIsrPartitionState, isr: list[int] | tuple[int, ...]) -> None:
        self.controller_epoch = state.controller_epoch
        self.assignment = tuple(state.replicas)
        self.in_sync.update(self.assignment, isr)

    def delete(self) -> None:
        """The partition leaves this broker; its log is the log manager's to remove."""
        self.in_sync.clear()
        self.assignment = ()
        self.log = self.leader_id = self.leader_epoch_start_offset = None

    # Leading

    def append_records_to_leader(self, records: Produced, origin: AppendOrigin, *, required_acks: int) -> tuple[LogAppendInfo, bool]:
        """Append; what was appended, and whether the high watermark moved with it.

        Raises NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS (before anything is written), and what `Log.append_as_leader` raises.
        """
        leader_log = self._log_to_append_to(required_acks)
        info = leader_log.append_as_leader(records, leader_epoch=self.leader_epoch, origin=origin)
        return info, self._maybe_increment_high_watermark(leader_log)

    def takes_long(self, records: bytes | memoryview, origin: AppendOrigin) -> bool:
        """Whether these should be looked at in another thread first. What coordinators write is small and known to be well formed."""
        return self.log is not None and origin is AppendOrigin.CLIENT and takes_long(records, self.log.append_rules)

    @property
    def must_flush(self) -> bool:
        """Whether an append has to be on disk before it is acknowledged."""
        return self.log is not None and self.log.must_flush

    def pending_append(self, records: bytes | memoryview, origin: AppendOrigin, *, required_acks: int) -> PendingAppend:
        """What of an append may be done in another thread before `append_records_to_leader`. Raises as that one."""
        return PendingAppend(self._log_to_append_to(required_acks), records, self.leader_epoch, origin)

    def _log_to_append_to(self, required_acks: int) -> Log:
        leader_log = self.leader_log
        if leader_log is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"Leader not local for partition {self.topic_partition} on broker {self.local_broker_id}")
        if required_acks == ALL_IN_SYNC_REPLICAS and len(self.in_sync.state.isr) < leader_log.config.min_insync_replicas:
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"The size of the current ISR {self.in_sync.state.isr} is insufficient to satisfy the min.isr requirement of "
                f"{leader_log.config.min_insync_replicas} for partition {self.topic_partition}",
            )
        return leader_log

    def update_follower_fetch_state(self, follower_id: int, fetch_offset: int, log_start_offset: int, leader_end_offset: int) -> bool:
        """A follower fetched: it has all below `fetch_offset`. False where it is not a replica of this partition."""
        replica = self.in_sync.remote.get(follower_id)
        if replica is None:
            return False
        delayed = self.services.delayed
        deleting = delayed.delete_records.is_watching(self.topic_partition)
        low_watermark = self.low_watermark() if deleting else 0
        now_ms = self.services.clock.monotonic_ms()
        replica.update_fetch_state(fetch_offset, log_start_offset, fetch_ms=now_ms, leader_end_offset=leader_end_offset)
        leader_log = self.leader_log
        if leader_log is not None:
            self._maybe_expand_isr(replica, leader_log)
            # Also where it fetches from the same offset again: others who held the high watermark back may be gone since.
            moved = fetch_offset > leader_log.high_watermark and self._maybe_increment_high_watermark(leader_log)
            if moved or (deleting and self.low_watermark() > low_watermark):
                delayed.check_all(self.topic_partition)
        return True

    def _maybe_increment_high_watermark(self, leader_log: Log) -> bool:
        candidate = leader_log.log_end_offset
        if self.in_sync.remote:  # a single replica, the common case of small clusters, needs no clock
            candidate = self.in_sync.high_watermark_candidate(candidate, self.services.clock.monotonic_ms())
        moved = leader_log.maybe_increment_high_watermark(candidate)
        if moved and self.high_watermark_stands:
            self._tell_first_advance(leader_log)
        return moved

    def _tell_first_advance(self, leader_log: Log) -> None:
        self.high_watermark_stands = False
        facts = {"leader_epoch": self.leader_epoch, "to": leader_log.high_watermark, "epoch_start": self.leader_epoch_start_offset}
        broker_events.emit(broker_events.HIGH_WATERMARK_ADVANCED, partition=str(self.topic_partition), **facts)

    def reconsider_high_watermark(self) -> None:
        """Somebody who may have held it back has left the ISR, or the cluster."""
        leader_log = self.leader_log
        if leader_log is not None and self._maybe_increment_high_watermark(leader_log):
            self.services.delayed.check_all(self.topic_partition)

    def low_watermark(self) -> int:
        """The largest log start of all live replicas' smallest: records below are gone everywhere. Only for a leader."""
        leader_log = self.local_log(require_leader=True)
        starts = [replica.log_start_offset for replica in self.in_sync.remote.values() if self.services.is_alive(replica.broker_id)]
        return min([leader_log.log_start_offset, *starts])

    def delete_records_on_leader(self, offset: int) -> tuple[int, int]:
        """Raise the log start to `offset` (-1: the high watermark); (that offset, low watermark now).

        Raises NOT_LEADER_OR_FOLLOWER, POLICY_VIOLATION for a compacted topic, OFFSET_OUT_OF_RANGE above the high watermark.
        """
        leader_log = self.local_log(require_leader=True)
        if not leader_log.config.delete:
            raise KafkaError(ErrorCode.POLICY_VIOLATION, f"Records of partition {self.topic_partition} can not be deleted due to the configured policy")
        wanted = leader_log.high_watermark if offset == HIGH_WATERMARK else offset
        if wanted < 0:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"The offset {wanted} for partition {self.topic_partition} is not valid")
        leader_log.maybe_increment_log_start_offset(wanted)
        return wanted, self.low_watermark()

    # The ISR

    def _maybe_expand_isr(self, replica: Replica, leader_log: Log) -> None:
        if self.in_sync.may_join(replica, high_watermark=leader_log.high_watermark, leader_epoch_start_offset=self.leader_epoch_start_offset):
            isr = self.in_sync.state.isr
            log.info("%s Expanding ISR from %s to %s", self, _listed(isr), _listed((*isr, replica.broker_id)))
            facts = {"from": list(isr), "to": [*isr, replica.broker_id], "leader_epoch": self.leader_epoch, "follower": replica.broker_id}
            facts |= {"follower_end": replica.log_end_offset, "high_watermark": leader_log.high_watermark}
            broker_events.emit(broker_events.ISR_EXPAND, partition=str(self.topic_partition), **facts)
            self._propose(PendingExpandIsr.of(isr, replica.broker_id))

    def maybe_shrink_isr(self) -> None:
        """Propose to drop members that lag. Called every half of `replica.lag.time.max.ms`."""
        leader_log = self.leader_log
        if leader_log is None:
            return
        lagging = self.in_sync.out_of_sync(leader_log.log_end_offset, self.services.clock.monotonic_ms())
        if not lagging:
            return
        proposed = PendingShrinkIsr(self.in_sync.state.isr, lagging)
        ends = " ".join(f"(brokerId: {each}, endOffset: {self.in_sync.remote[each].log_end_offset})" for each in lagging if each in self.in_sync.remote)
        log.info(
            "%s Shrinking ISR from %s to %s. Leader: (highWatermark: %d, endOffset: %d). Out of sync replicas: %s.",
            self, _listed(proposed.isr), _listed(proposed.proposed_isr), leader_log.high_watermark, leader_log.log_end_offset, ends,
        )  # fmt: skip
        facts = {"from": list(proposed.isr), "to": list(proposed.proposed_isr), "leader_epoch": self.leader_epoch}
        facts |= {
            "leader_end": leader_log.log_end_offset,
            "high_watermark": leader_log.high_watermark,
            "out": self.in_sync.described(lagging, self.services.clock.monotonic_ms()),
        }
        limit_ms = round(self.services.replica_lag_time_max_ms)
        broker_events.emit(broker_events.ISR_SHRINK, partition=str(self.topic_partition), replica_lag_time_max_ms=limit_ms, **facts)
        self._propose(proposed)

    def _propose(self, proposed: PendingIsr) -> None:
        """Ask for a new ISR. The expected version makes sure that whoever else changed the state in between wins."""
        wanted = LeaderAndIsr(self.local_broker_id, self.leader_epoch, proposed.proposed_isr, self.zk_version)
        previous, self.in_sync.state = self.in_sync.state, proposed
        if not self.services.isr_manager.submit(AlterIsrItem(self.topic_partition, wanted, self.controller_epoch, partial(self._on_verdict, proposed))):
            log.warning("%s Failed to enqueue ISR change to %s", self, proposed)
            self.in_sync.state = previous

    def _on_verdict(self, proposed: PendingIsr, verdict: LeaderAndIsr | ErrorCode) -> None:
        if self.in_sync.state is not proposed:
            log.debug("%s Ignoring the verdict on %s: a LeaderAndIsr has overtaken it", self, proposed)
        elif isinstance(verdict, LeaderAndIsr):
            self._apply(verdict)
        elif verdict in _GIVE_UP:
            log.info("%s Failed to update ISR to %s: %s. Waiting for the next LeaderAndIsr.", self, proposed, verdict.name)
        else:
            log.warning("%s Failed to update ISR to %s due to unexpected %s. Retrying.", self, proposed, verdict.name)
            self._propose(proposed)

    def _apply(self, verdict: LeaderAndIsr) -> None:
        if verdict.leader_epoch != self.leader_epoch or verdict.zk_version < self.zk_version:
            log.debug("%s Ignoring new ISR %s: ours is of leader epoch %d and version %d", self, verdict, self.leader_epoch, self.zk_version)
            return
        self.in_sync.state = CommittedIsr(verdict.isr)
        self.zk_version = verdict.zk_version
        log.info("%s ISR updated to %s and version updated to [%d]", self, _listed(verdict.isr), verdict.zk_version)
        facts = {"isr": list(verdict.isr), "leader_epoch": self.leader_epoch, "zk_version": verdict.zk_version}
        broker_events.emit(broker_events.ISR_APPLIED, partition=str(self.topic_partition), **facts)
        self.reconsider_high_watermark()

    # Following

    def append_records_to_follower(self, records: bytes | memoryview) -> LogAppendInfo:
        """Write what the leader sent. Raises what `Log.append_as_follower` raises.

        The leader's first batch may begin before the log start that this follower was told, when records were deleted out of its middle: then the empty log
        begins there.
        """
        follower_log = self.local_log()
        if follower_log.log_start_offset == follower_log.log_end_offset:
            first = next(iter(iterate_headers(memoryview(records))), None)
            if first is not None and first.base_offset < follower_log.log_end_offset <= first.last_offset:
                log.info("%s Starting the log from offset %d, where the leader's first batch begins", self, first.base_offset)
                follower_log.truncate_fully_and_start_at(first.base_offset)
        return follower_log.append_as_follower(records)

    def update_follower_offsets(self, leader_high_watermark: int, leader_log_start_offset: int) -> None:
        """Take over what the leader's answer says; bounded to this log. Consumers may be reading here (KIP-392)."""
        follower_log = self.local_log()
        before = follower_log.high_watermark
        follower_log.update_high_watermark(leader_high_watermark)
        if leader_log_start_offset > follower_log.log_start_offset:
            follower_log.maybe_increment_log_start_offset(min(leader_log_start_offset, follower_log.high_watermark))
        if follower_log.high_watermark != before:
            self.services.delayed.check_fetch(self.topic_partition)

    def truncate_to(self, offset: int) -> None:
        """Remove records at or above `offset`: the leader does not have them."""
        follower_log = self.local_log()
        if offset < follower_log.high_watermark:
            log.warning("%s Truncating to offset %d below high watermark %d", self, offset, follower_log.high_watermark)
        before, high_watermark = follower_log.log_end_offset, follower_log.high_watermark
        follower_log.truncate_to(offset)
        if follower_log.log_end_offset < before:
            facts = {"from": before, "to": follower_log.log_end_offset, "high_watermark": high_watermark}
            facts |= {"leader": -1 if self.leader_id is None else self.leader_id, "leader_epoch": self.leader_epoch}
            broker_events.emit(broker_events.LOG_TRUNCATED, partition=str(self.topic_partition), **facts)


def _listed(isr: tuple[int, ...]) -> str:
    return ",".join(map(str, isr))
