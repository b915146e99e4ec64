"""The requests of group members: join, sync, heartbeat, leave. Each is checked in Kafka's order and then moves the group's state machine.

facts/coordination.md 5.3, 5.4 and 5.6. Offsets are in `offsets.py`, which groups are ours in `group_store.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from pykafka_classic.common import broker_events
from pykafka_classic.common.clock import Clock, Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_metadata import (
    UNKNOWN_MEMBER,
    GroupMetadata,
    GroupState,
    JoinCallback,
    JoinResult,
    Member,
    SyncCallback,
    SyncResult,
)
from pykafka_classic.coordinator.group.group_store import GroupStore
from pykafka_classic.coordinator.group.rebalance import Rebalancer

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")


@dataclass(frozen=True, slots=True)
class Joining:
    """A JoinGroup request. `require_known_member_id`: v4+, a newcomer is told its id first (KIP-394)."""

    group_id: str
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]
    require_known_member_id: bool

    def refused(self, error: ErrorCode) -> JoinResult:
        """An answer with the member id that was sent."""
        return JoinResult(self.member_id, error)


@dataclass(frozen=True, slots=True)
class Syncing:
    """A SyncGroup request; `assignments` come from the leader alone."""

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: Mapping[str, bytes]


class GroupCoordinator:
    """The membership side of the groups that this broker coordinates."""

    def __init__(self, config: KafkaConfig, clock: Clock, random: Random, store: GroupStore) -> None:
        self._config = config
        self._clock = clock
        self._random = random
        self._store = store
        self._rebalancer = Rebalancer(clock, store, initial_delay_ms=config.group_initial_rebalance_delay_ms)
        store.on_group_loaded = self._on_loaded
        store.on_group_unloaded = self._on_unloaded

    # JoinGroup

    def join(self, joining: Joining) -> Promise[JoinResult]:
        """Answered when the generation begins (or at once, where nothing has to be waited for)."""
        promise: Promise[JoinResult] = Promise()
        error = self._store.why_not_ours(joining.group_id)
        if error:
            promise.resolve(joining.refused(error))
            return promise
        low, high = self._config.group_min_session_timeout_ms, self._config.group_max_session_timeout_ms
        if not low <= joining.session_timeout_ms <= high:
            promise.resolve(joining.refused(ErrorCode.INVALID_SESSION_TIMEOUT))
            return promise
        group = self._store.get(joining.group_id)
        if group is None and joining.member_id == UNKNOWN_MEMBER:
            group = self._store.create(joining.group_id)
        if group is None:
            promise.resolve(joining.refused(ErrorCode.UNKNOWN_MEMBER_ID))
        elif not self._has_room(group, joining.member_id):
            group.remove(joining.member_id)
            promise.resolve(JoinResult(UNKNOWN_MEMBER, ErrorCode.GROUP_MAX_SIZE_REACHED))
            self._rebalancer.maybe_complete_join(group)  # it may have been the one that the others waited for
        else:
            self._join(group, joining, promise.resolve)
            self._rebalancer.maybe_complete_join(group)
        return promise

    def _has_room(self, group: GroupMetadata, member_id: str) -> bool:
        limit = self._config.group_max_size
        if group.state in (GroupState.EMPTY, GroupState.DEAD):
            return True
        member = group.members.get(member_id)
        if group.state is GroupState.PREPARING_REBALANCE:  # who waits already counts first, so that a group over its size sheds the late ones
            awaiting = sum(1 for other in group.members.values() if other.awaiting_join is not None)
            return (member is not None and member.awaiting_join is not None) or awaiting < limit
        return member is not None or len(group.members) < limit

    def _join(self, group: GroupMetadata, joining: Joining, callback: JoinCallback) -> None:
        newcomer = joining.member_id == UNKNOWN_MEMBER
        if group.state is GroupState.DEAD:
            callback(joining.refused(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        elif not group.supports(joining.protocol_type, joining.protocols):
            callback(joining.refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        elif newcomer:
            self._join_newcomer(group, joining, callback)
        elif joining.member_id in group.pending_members:
            self._add_member(group, joining.member_id, joining, callback)
        elif group.is_fenced(joining.member_id, joining.group_instance_id):
            callback(joining.refused(ErrorCode.FENCED_INSTANCE_ID))
        elif joining.member_id not in group.members or (joining.group_instance_id is not None and joining.group_instance_id not in group.static_members):
            callback(joining.refused(ErrorCode.UNKNOWN_MEMBER_ID))
        else:
            self._rejoin(group, group.members[joining.member_id], joining, callback)

    def _join_newcomer(self, group: GroupMetadata, joining: Joining, callback: JoinCallback) -> None:
        member_id = f"{joining.group_instance_id or joining.client_id}-{self._random_uuid()}"
        if joining.group_instance_id is not None and joining.group_instance_id in group.static_members:
            self._replace_static(group, member_id, joining, callback)
        elif joining.require_known_member_id:
            log.debug("[GroupCoordinator]: Group %s: a newcomer shall come back as %s", group.group_id, member_id)
            self._rebalancer.add_pending_member(group, member_id, joining.session_timeout_ms)
            callback(JoinResult(member_id, ErrorCode.MEMBER_ID_REQUIRED))
        else:
            self._add_member(group, member_id, joining, callback)

    def _add_member(self, group: GroupMetadata, member_id: str, joining: Joining, callback: JoinCallback) -> None:
        member = Member(
            member_id=member_id,
            group_instance_id=joining.group_instance_id,
            client_id=joining.client_id,
            client_host=joining.client_host,
            rebalance_timeout_ms=joining.rebalance_timeout_ms,
            session_timeout_ms=joining.session_timeout_ms,
            protocol_type=joining.protocol_type,
            protocols=joining.protocols,
            is_new=True,
        )
        if group.state is GroupState.PREPARING_REBALANCE and group.generation_id == 0:
            group.new_member_added = True
        group.remove_pending(member_id)
        group.add(member, callback)
        log.info("[GroupCoordinator]: Member %s joins group %s in %s state", member_id, group.group_id, group.state.value)
        self._rebalancer.restart_session_timer(group, member)
        self._rebalancer.maybe_prepare(group, f"Adding new member {member_id} with group instance id {joining.group_instance_id}")

    def _rejoin(self, group: GroupMetadata, member: Member, joining: Joining, callback: JoinCallback) -> None:
        unchanged = member.matches(joining.protocols)
        match group.state:
            case GroupState.PREPARING_REBALANCE:
                self._update_member(group, member, joining, callback)
            case GroupState.COMPLETING_REBALANCE if unchanged:
                callback(self._rebalancer.join_result(group, member))  # its first answer was lost
            case GroupState.STABLE if unchanged and group.leader_id != member.member_id:
                callback(self._rebalancer.join_result(group, member))
            case GroupState.COMPLETING_REBALANCE | GroupState.STABLE:  # a leader that joins again wants a new assignment
                self._update_member(group, member, joining, callback)
            case GroupState.EMPTY | GroupState.DEAD:
                callback(joining.refused(ErrorCode.UNKNOWN_MEMBER_ID))
            case _:
                assert_never(group.state)

    def _update_member(self, group: GroupMetadata, member: Member, joining: Joining, callback: JoinCallback) -> None:
        member.protocols = joining.protocols
        member.awaiting_join = callback
        self._rebalancer.maybe_prepare(group, f"Member {member.member_id} joining group during {group.state.value}")

    def _replace_static(self, group: GroupMetadata, member_id: str, joining: Joining, callback: JoinCallback) -> None:
        """A static member came back without its id (KIP-345): it keeps its place, in a stable group without a rebalance."""
        assert joining.group_instance_id is not None
        old_id, leader_before = group.static_members[joining.group_instance_id], group.leader_id or ""
        log.info("[GroupCoordinator]: Static member %s of group %s: new id %s replaces %s", joining.group_instance_id, group.group_id, member_id, old_id)
        member = group.replace_static_member(old_id, member_id)
        old_protocols, member.protocols, member.awaiting_join = member.protocols, joining.protocols, callback
        self._rebalancer.restart_session_timer(group, member)
        if group.state is GroupState.STABLE and group.select_protocol() == group.protocol_name:
            self._store_replacement(group, member, leader_before, (old_id, old_protocols))
        else:
            self._rebalancer.maybe_prepare(group, f"static member {member_id} with instance id {joining.group_instance_id} rejoining")

    def _store_replacement(self, group: GroupMetadata, member: Member, leader_before: str, old: tuple[str, tuple[tuple[str, bytes], ...]]) -> None:
        def stored(outcome: Promise[ErrorCode]) -> None:
            error, member_id = outcome.result(), member.member_id
            if error:
                log.warning("[GroupCoordinator]: Failed to persist metadata for group %s: %s", group.group_id, error.name)
            if error and group.members.get(member_id) is not member:
                member_id = UNKNOWN_MEMBER  # it has left in the meantime
            elif error:
                callback, member.awaiting_join = member.awaiting_join, None
                group.replace_static_member(member_id, old[0])
                member.protocols, member.awaiting_join, member_id = old[1], callback, UNKNOWN_MEMBER
                self._rebalancer.restart_session_timer(group, member)
            # The leader is told under its old id, so that a leader that came back does not think that it has to assign.
            result = JoinResult(member_id, error, group.generation_id, group.protocol_type, group.protocol_name, leader_before)
            group.answer_join(member, result)

        assignments = {other.member_id: other.assignment for other in group.members.values()}
        self._store.store_group(group, assignments).when_settled(stored)

    def _random_uuid(self) -> str:
        digits = f"{self._random.getrandbits(128) & ~(0xF << 76) & ~(0x3 << 62) | (4 << 76) | (2 << 62):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    # SyncGroup

    def sync(self, syncing: Syncing) -> Promise[SyncResult]:
        """Answered when the leader's assignment is stored."""
        promise: Promise[SyncResult] = Promise()
        error = self._store.why_not_ours(syncing.group_id)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            error = ErrorCode.REBALANCE_IN_PROGRESS  # older clients do not expect the other one, and must join again anyway
        group = None if error else self._store.get(syncing.group_id)
        if not error:
            error = ErrorCode.UNKNOWN_MEMBER_ID if group is None else self._why_no_sync(group, syncing)
        if error or group is None:
            promise.resolve(SyncResult(error))
        else:
            self._sync(group, syncing, promise.resolve)
        return promise

    def _why_no_sync(self, group: GroupMetadata, syncing: Syncing) -> ErrorCode:
        error = self._why_not_member(group, syncing.member_id, syncing.group_instance_id, syncing.generation_id)
        if error:
            return error
        if syncing.protocol_type is not None and syncing.protocol_type != group.protocol_type:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if syncing.protocol_name is not None and syncing.protocol_name != group.protocol_name:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if group.state is GroupState.EMPTY:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    def _sync(self, group: GroupMetadata, syncing: Syncing, callback: SyncCallback) -> None:
        member = group.members[syncing.member_id]
        if group.state is GroupState.STABLE:
            self._rebalancer.member_synced(group, member.member_id)
            callback(self._rebalancer.sync_result(group, member))
            self._rebalancer.restart_session_timer(group, member)
            return
        member.awaiting_sync = callback
        self._rebalancer.member_synced(group, member.member_id)
        if group.leader_id == member.member_id:
            self._store_assignment(group, syncing)

    def _store_assignment(self, group: GroupMetadata, syncing: Syncing) -> None:
        assignments = {member_id: bytes(syncing.assignments.get(member_id, b"")) for member_id in group.members}

        def stored(outcome: Promise[ErrorCode]) -> None:
            if group.state is not GroupState.COMPLETING_REBALANCE or group.generation_id != syncing.generation_id:
                return  # another rebalance began meanwhile; it has answered the waiting ones
            error = outcome.result()
            if error:
                self._rebalancer.reset_assignments(group, error)
                self._rebalancer.maybe_prepare(group, f"error when storing group assignment during SyncGroup (member: {syncing.member_id})")
            else:
                self._rebalancer.assign(group, assignments)

        log.info("[GroupCoordinator]: Assignment received from leader for group %s for generation %d", group.group_id, group.generation_id)
        self._store.store_group(group, assignments).when_settled(stored)

    # Heartbeat and LeaveGroup

    def heartbeat(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """NONE, or REBALANCE_IN_PROGRESS: join again."""
        error = self._store.why_not_ours(group_id)
        if error:
            return ErrorCode.NONE if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS else error
        group = self._store.get(group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        error = self._why_not_member(group, member_id, group_instance_id, generation_id)
        if not error and group.state is GroupState.EMPTY:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        if error:
            return error
        self._rebalancer.restart_session_timer(group, group.members[member_id])
        return ErrorCode.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING_REBALANCE else ErrorCode.NONE

    def _why_not_member(self, group: GroupMetadata, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if group.is_fenced(member_id, group_instance_id):
            return ErrorCode.FENCED_INSTANCE_ID
        if member_id not in group.members:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.ILLEGAL_GENERATION if generation_id != group.generation_id else ErrorCode.NONE

    def leave(self, group_id: str, leaving: list[tuple[str, str | None]]) -> tuple[ErrorCode, list[ErrorCode]]:
        """(member id, instance id) each; an error for the request, and one for each member."""
        error = self._store.why_not_ours(group_id)
        if error:
            return error, []
        group = self._store.get(group_id)
        if group is None:
            return ErrorCode.NONE, [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        if group.state is GroupState.DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        return ErrorCode.NONE, [self._leave_one(group, member_id, instance_id) for member_id, instance_id in leaving]

    def _leave_one(self, group: GroupMetadata, member_id: str, group_instance_id: str | None) -> ErrorCode:
        if member_id != UNKNOWN_MEMBER and group.is_fenced(member_id, group_instance_id):
            return ErrorCode.FENCED_INSTANCE_ID
        if member_id in group.pending_members:
            group.remove_pending(member_id)
            self._rebalancer.maybe_complete_join(group)
            return ErrorCode.NONE
        member = group.members.get(group.static_members.get(group_instance_id or "", member_id))
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        log.info("[GroupCoordinator]: Member %s in group %s has left, removing it from the group", member.member_id, group.group_id)
        facts = {"member": member.member_id, "client": member.client_id, "host": member.client_host}
        broker_events.emit(broker_events.MEMBER_LEFT, group=group.group_id, **facts)
        self._rebalancer.remove_member(group, member, f"removing member {member.member_id} on LeaveGroup")
        return ErrorCode.NONE

    def member_is_alive(self, group: GroupMetadata, member_id: str) -> None:
        """A commit of a member counts as a heartbeat."""
        self._rebalancer.restart_session_timer(group, group.members[member_id])

    # leadership of __consumer_offsets partitions

    def _on_loaded(self, group: GroupMetadata) -> None:
        if len(group.members) > self._config.group_max_size:
            self._rebalancer.prepare(group, f"Freshly-loaded group is over capacity ({self._config.group_max_size})")
        for member in list(group.members.values()):
            self._rebalancer.restart_session_timer(group, member)

    def _on_unloaded(self, group: GroupMetadata) -> None:
        """Another broker coordinates the group now: send everybody there."""
        group.transition_to(GroupState.DEAD, self._clock.now_ms())
        for member in list(group.members.values()):
            group.answer_join(member, JoinResult(member.member_id, ErrorCode.NOT_COORDINATOR))
            group.answer_sync(member, SyncResult(ErrorCode.NOT_COORDINATOR))
        group.stop_timers()
