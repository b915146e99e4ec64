"""How a generation begins and ends: waiting for members, completing the join, handing out assignments, session timers.

facts/coordination.md 5.5. Everything here works on one `GroupMetadata`; timers come from the `Clock` seam, storing from `GroupStorage`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Protocol

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Clock
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState, JoinResult, Member, SyncResult

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000


class GroupStorage(Protocol):
    """Where a group's record goes."""

    def store_group(self, group: GroupMetadata, assignments: Mapping[str, bytes]) -> Promise[ErrorCode]:
        """Append the group's record with these assignments to `__consumer_offsets`; NONE once it is replicated."""
        ...


class Rebalancer:
    """Moves groups from one generation to the next."""

    def __init__(self, clock: Clock, storage: GroupStorage, *, initial_delay_ms: int) -> None:
        self._clock = clock
        self._storage = storage
        self._initial_delay_ms = initial_delay_ms

    # beginning

    def maybe_prepare(self, group: GroupMetadata, reason: str) -> None:
        """Begin a rebalance where the state allows one: not while one is under way, and not in a dead group."""
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY):
            self.prepare(group, reason)

    def prepare(self, group: GroupMetadata, reason: str) -> None:
        """Wait for members: from EMPTY the initial delay, else until all have rejoined or the rebalance time-out."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self.reset_assignments(group, ErrorCode.REBALANCE_IN_PROGRESS)
        self._stop_waiting_for_sync(group)
        from_empty = group.state is GroupState.EMPTY
        group.transition_to(GroupState.PREPARING_REBALANCE, self._clock.now_ms())
        log.info(
            "[GroupCoordinator]: Preparing to rebalance group %s in state %s with old generation %d (reason: %s)",
            group.group_id,
            group.state.value,
            group.generation_id,
            reason,
        )
        broker_events.emit(broker_events.GROUP_REBALANCING, group=group.group_id, generation=group.generation_id, why=reason, members=len(group.members))
        if from_empty:
            remaining_ms = max(group.rebalance_timeout_ms - self._initial_delay_ms, 0)
            self._wait_initially(group, self._initial_delay_ms, remaining_ms)
        else:
            self._wait_for_joins(group)
            self.maybe_complete_join(group)

    def _wait_initially(self, group: GroupMetadata, delay_ms: int, remaining_ms: int) -> None:
        """The initial delay never ends early: it gives slow starters the time to be in the first generation."""

        def expired() -> None:
            if group.new_member_added and remaining_ms:
                group.new_member_added = False
                delay = min(self._initial_delay_ms, remaining_ms)
                self._wait_initially(group, delay, max(remaining_ms - delay, 0))
            else:
                self.complete_join(group)

        group.initial_delay = True
        group.join_timer = self._clock.call_later(delay_ms, expired)

    def _wait_for_joins(self, group: GroupMetadata) -> None:
        group.initial_delay = False
        group.join_timer = self._clock.call_later(group.rebalance_timeout_ms, lambda: self.complete_join(group))

    def maybe_complete_join(self, group: GroupMetadata) -> None:
        """Complete the join phase if nobody is missing, the initial delay aside."""
        if group.state is GroupState.PREPARING_REBALANCE and not group.initial_delay and group.all_members_joined:
            self.complete_join(group)

    # completing

    def complete_join(self, group: GroupMetadata) -> None:
        """Drop who is missing and begin the next generation with the others."""
        if group.join_timer is not None:
            group.join_timer.cancel()
            group.join_timer = None
        if group.state is GroupState.DEAD:
            return
        for member in [member for member in group.not_yet_rejoined() if not member.is_static]:
            log.info("[GroupCoordinator]: Group %s removed dynamic member who hasn't joined: %s", group.group_id, member.member_id)
            group.remove(member.member_id)
        if not group.elect_joined_leader() and group.members:
            log.error("[GroupCoordinator]: Group %s could not complete rebalance because no members rejoined", group.group_id)
            self._wait_for_joins(group)
            return
        group.new_member_added = False
        group.init_next_generation(self._clock.now_ms())
        if group.state is GroupState.EMPTY:
            self._store_empty(group)
        else:
            self._answer_joins(group)

    def _store_empty(self, group: GroupMetadata) -> None:
        log.info("[GroupCoordinator]: Group %s with generation %d is now empty", group.group_id, group.generation_id)
        broker_events.emit(broker_events.GROUP_EMPTY, group=group.group_id, generation=group.generation_id)

        def stored(outcome: Promise[ErrorCode]) -> None:
            if outcome.result():
                log.warning("[GroupCoordinator]: Failed to write empty metadata for group %s: %s", group.group_id, outcome.result().name)

        self._storage.store_group(group, {}).when_settled(stored)

    def _answer_joins(self, group: GroupMetadata) -> None:
        log.info("[GroupCoordinator]: Stabilized group %s generation %d with %d members", group.group_id, group.generation_id, len(group.members))
        facts = {"generation": group.generation_id, "leader": group.leader_id, "members": sorted(group.members)}
        broker_events.emit(broker_events.GROUP_STABILIZED, group=group.group_id, **facts)
        group.pending_sync = set(group.members)
        generation = group.generation_id
        group.sync_timer = self._clock.call_later(group.rebalance_timeout_ms, lambda: self._sync_expired(group, generation))
        for member in list(group.members.values()):
            group.answer_join(member, self.join_result(group, member))
            member.is_new = False
            self.restart_session_timer(group, member)

    def join_result(self, group: GroupMetadata, member: Member) -> JoinResult:
        """The current generation as told to one member."""
        return JoinResult(
            member_id=member.member_id,
            generation_id=group.generation_id,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            leader_id=group.leader_id or "",
            members=group.members_for_leader() if group.leader_id == member.member_id else (),
        )

    def _sync_expired(self, group: GroupMetadata, generation: int) -> None:
        if group.generation_id != generation or group.state not in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE) or not group.pending_sync:
            return
        missing = sorted(group.pending_sync)
        log.info("[GroupCoordinator]: Group %s removed members who haven't sent their sync request: %s", group.group_id, missing)
        for member_id in missing:
            group.remove(member_id)
        self.prepare(group, f"Removing {missing} on pending sync request expiration")

    def member_synced(self, group: GroupMetadata, member_id: str) -> None:
        """A member of this generation has sent SyncGroup."""
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            self._stop_waiting_for_sync(group)

    def _stop_waiting_for_sync(self, group: GroupMetadata) -> None:
        group.pending_sync.clear()
        if group.sync_timer is not None:
            group.sync_timer.cancel()
            group.sync_timer = None

    # assignments

    def assign(self, group: GroupMetadata, assignments: Mapping[str, bytes]) -> None:
        """The leader's assignment is stored: hand it out; the group is stable."""
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        group.transition_to(GroupState.STABLE, self._clock.now_ms())
        for member in list(group.members.values()):
            if group.answer_sync(member, self.sync_result(group, member)):
                self.restart_session_timer(group, member)

    def reset_assignments(self, group: GroupMetadata, error: ErrorCode) -> None:
        """There will be no assignment in this generation: tell those who wait for it."""
        for member in list(group.members.values()):
            member.assignment = b""
            if group.answer_sync(member, SyncResult(error)):
                self.restart_session_timer(group, member)

    def sync_result(self, group: GroupMetadata, member: Member) -> SyncResult:
        """A member's current assignment."""
        return SyncResult(ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment)

    # liveness

    def restart_session_timer(self, group: GroupMetadata, member: Member) -> None:
        """The member was heard of; a new one may wait longer, since its first join can take a whole rebalance."""
        member.stop_timer()
        if group.state is GroupState.DEAD:
            return  # an answer that came after the group was unloaded must not wake it
        timeout_ms = NEW_MEMBER_JOIN_TIMEOUT_MS if member.is_new else member.session_timeout_ms
        member.session_timer = self._clock.call_later(timeout_ms, lambda: self._session_expired(group, member))

    def _session_expired(self, group: GroupMetadata, member: Member) -> None:
        member.session_timer = None
        if group.state is GroupState.DEAD or group.members.get(member.member_id) is not member:
            return
        if member.is_awaiting and not member.is_new:
            return  # its request is open, so it lives; answering it starts the timer again
        log.info("[GroupCoordinator]: Member %s in group %s has failed, removing it from the group", member.member_id, group.group_id)
        facts = {"member": member.member_id, "client": member.client_id, "host": member.client_host, "session_timeout_ms": member.session_timeout_ms}
        broker_events.emit(broker_events.MEMBER_FAILED, group=group.group_id, **facts)
        self.remove_member(group, member, f"removing member {member.member_id} on heartbeat expiration")

    def add_pending_member(self, group: GroupMetadata, member_id: str, timeout_ms: int) -> None:
        """Remember an id that was handed out, for as long as a session."""

        def expired() -> None:
            if group.state is not GroupState.DEAD:
                log.info("[GroupCoordinator]: Pending member %s in group %s has been removed after session timeout expiration", member_id, group.group_id)
                group.remove_pending(member_id)
                self.maybe_complete_join(group)

        group.pending_members[member_id] = self._clock.call_later(timeout_ms, expired)

    def remove_member(self, group: GroupMetadata, member: Member, reason: str) -> None:
        """A member left or failed: the others rebalance."""
        group.answer_join(member, JoinResult("", ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.member_id)
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self.prepare(group, reason)
        else:
            self.maybe_complete_join(group)
