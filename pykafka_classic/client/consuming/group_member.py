"""Membership in a group: join, sync, heartbeat, leave. Who gives up which partitions meanwhile is `rebalance.py`'s business.

| state | heartbeats | on to |
|---|---|---|
| NOT_A_MEMBER: no generation | no | JOINING |
| JOINING: JoinGroup or SyncGroup under way | no | STABLE; NOT_A_MEMBER when the coordinator does not know us; JOINING again |
| STABLE | yes | JOINING, when a heartbeat says that others come or go; NOT_A_MEMBER when we were given up, or have left |

Losing membership (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, no poll for `max_poll_interval_ms`) means that others may own our partitions already.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java; facts/coordination.md 5.4 to 5.6.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple, Protocol

from pykafka_classic.client.consuming.bell import Bell
from pykafka_classic.client.consuming.consumer_settings import ConsumerSettings
from pykafka_classic.client.consuming.group_protocol import PROTOCOL_TYPE, MemberMetadata
from pykafka_classic.client.coordinator_link import CoordinatorLink
from pykafka_classic.common.clock import Timer
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, failure_told, spawn
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from pykafka_classic.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from pykafka_classic.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from pykafka_classic.protocol.network import Disconnected

log = logging.getLogger("kafka.clients.consumer.ConsumerCoordinator")

NO_GENERATION: Final = -1
LEAVE: Final = "leave"  # a connection of its own
JOIN_MARGIN_MS: Final = 5_000  # beyond the rebalance time-out: the coordinator's answer must be able to come
LEAVE_BY_LIST_VERSION: Final = 3

_NOT_A_MEMBER: Final = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


class MemberState(Enum):
    """See the module."""

    NOT_A_MEMBER = "not a member"
    JOINING = "joining"
    STABLE = "stable"


class Generation(NamedTuple):
    """Who we are in which generation; what a commit must name."""

    generation_id: int = NO_GENERATION
    member_id: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """What SyncGroup brought."""

    protocol: str
    assignment: bytes


class GroupWork(Protocol):
    """What the group is about: not for this module to know."""

    def protocols(self, generation: Generation) -> Sequence[tuple[str, bytes]]:
        """Names and metadata for JoinGroup, best first."""
        ...

    async def assign(self, protocol: str, members: Sequence[MemberMetadata]) -> dict[str, bytes]:
        """As the leader: an assignment for every member."""
        ...


class GroupMember:
    """See the module. Invariant: `generation` has an id exactly in STABLE, and in JOINING where it was STABLE before."""

    def __init__(self, link: CoordinatorLink, settings: ConsumerSettings, work: GroupWork, bell: Bell) -> None:
        self.state = MemberState.NOT_A_MEMBER
        self.generation = Generation()
        self.rejoin_needed = True
        self.fatal: Exception | None = None  # nothing but an end can follow
        self.polling = False
        self._link = link
        self._settings = settings
        self._work = work
        self._bell = bell
        self._clock = link.cluster.seams.clock
        self._timer: Timer | None = None
        self._last_poll_ms = self._clock.monotonic_ms()
        self._last_answer_ms = 0.0
        self._beating = False

    def poll_began(self) -> None:
        """The user calls."""
        self.polling = True

    def poll_ended(self) -> None:
        """The user has what he wanted; `max_poll_interval_ms` runs."""
        self.polling = False
        self._last_poll_ms = self._clock.monotonic_ms()

    def lost(self, why: str) -> None:
        """The group has gone on without us."""
        if self.generation.member_id or self.state is not MemberState.NOT_A_MEMBER:
            log.info("Not a member of group %s any more: %s", self._link.key, why)
        self.state, self.generation, self.rejoin_needed = MemberState.NOT_A_MEMBER, Generation(), True
        self._stop_heartbeats()
        self._bell.ring()

    # Joining

    async def join(self) -> Joined | None:
        """One attempt; None where it must be repeated, at once or after `retry_backoff_ms`. KafkaError where repeating is of no use; Disconnected."""
        self._stop_heartbeats()
        had_generation = self.generation.generation_id != NO_GENERATION
        self.state, self.rejoin_needed = MemberState.JOINING, False
        try:
            joined = await self._join_and_sync()
        except (KafkaError, Disconnected):
            self.rejoin_needed = True
            if self.state is MemberState.JOINING:
                self.state = MemberState.STABLE if had_generation and self.generation.generation_id != NO_GENERATION else MemberState.NOT_A_MEMBER
            raise
        if joined is None or self.state is not MemberState.JOINING:  # given up meanwhile
            self.rejoin_needed = True
            return None
        self.state = MemberState.STABLE
        self._last_answer_ms = self._clock.monotonic_ms()
        self._set_timer()
        return joined

    async def _join_and_sync(self) -> Joined | None:
        response = await self._link.ask(
            ApiKey.JOIN_GROUP, self._join_request, timeout_ms=max(self._settings.request_timeout_ms, self._settings.max_poll_interval_ms + JOIN_MARGIN_MS)
        )
        assert isinstance(response, JoinGroupResponse)
        code = ErrorCode(response.error_code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.generation = Generation(NO_GENERATION, response.member_id)
            return None
        if code in _NOT_A_MEMBER:
            self.lost(f"JoinGroup: {code.name}")
            return None
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            return None
        self._link.check(response.error_code, "JoinGroup")
        self.generation = Generation(response.generation_id, response.member_id)
        protocol = response.protocol_name or ""
        assignments: dict[str, bytes] = {}
        if response.leader == response.member_id:
            members = [MemberMetadata(each.member_id, each.group_instance_id, each.metadata) for each in response.members]
            assignments = await self._work.assign(protocol, members)
        return await self._sync(protocol, assignments)

    async def _sync(self, protocol: str, assignments: dict[str, bytes]) -> Joined | None:
        response = await self._link.ask(
            ApiKey.SYNC_GROUP,
            lambda _: SyncGroupRequest(
                group_id=self._link.key,
                generation_id=self.generation.generation_id,
                member_id=self.generation.member_id,
                group_instance_id=self._settings.group_instance_id,
                protocol_type=PROTOCOL_TYPE,
                protocol_name=protocol,
                assignments=[SyncGroupRequestAssignment(*each) for each in assignments.items()],
            ),
            timeout_ms=max(self._settings.request_timeout_ms, self._settings.max_poll_interval_ms + JOIN_MARGIN_MS),
        )
        assert isinstance(response, SyncGroupResponse)
        code = ErrorCode(response.error_code)
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            return None
        if code in _NOT_A_MEMBER:
            self.lost(f"SyncGroup: {code.name}")
            return None
        self._link.check(response.error_code, "SyncGroup")
        return Joined(protocol, response.assignment)

    def _join_request(self, _: int) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self._link.key,
            session_timeout_ms=self._settings.session_timeout_ms,
            rebalance_timeout_ms=self._settings.max_poll_interval_ms,
            member_id=self.generation.member_id,
            group_instance_id=self._settings.group_instance_id,
            protocol_type=PROTOCOL_TYPE,
            protocols=[JoinGroupRequestProtocol(*each) for each in self._work.protocols(self.generation)],
        )

    # Heartbeats

    def _set_timer(self) -> None:
        self._stop_heartbeats()
        self._timer = self._clock.call_later(self._settings.heartbeat_interval_ms, self._beat)

    def _stop_heartbeats(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _beat(self) -> None:
        if self.state is not MemberState.STABLE:
            return
        now_ms = self._clock.monotonic_ms()
        if not self.polling and now_ms - self._last_poll_ms > self._settings.max_poll_interval_ms:
            log.warning("Leaving group %s: poll was not called for %d ms (max.poll.interval.ms)", self._link.key, now_ms - self._last_poll_ms)
            spawn(self.leave("max.poll.interval.ms")).when_settled(failure_told(log.info, "Leaving a group: %s"))
            return
        if now_ms - self._last_answer_ms > self._settings.session_timeout_ms:
            self._link.lost()
            self._last_answer_ms = now_ms
        self._set_timer()
        if not self._beating:
            self._beating = True
            spawn(self._heartbeat()).when_settled(self._heartbeat_ended)

    async def _heartbeat(self) -> None:
        generation = self.generation
        response = await self._link.ask(
            ApiKey.HEARTBEAT,
            lambda _: HeartbeatRequest(
                group_id=self._link.key,
                generation_id=generation.generation_id,
                member_id=generation.member_id,
                group_instance_id=self._settings.group_instance_id,
            ),
            timeout_ms=min(self._settings.request_timeout_ms, self._settings.session_timeout_ms),
        )
        assert isinstance(response, HeartbeatResponse)
        if generation == self.generation and self.state is MemberState.STABLE:
            self._heartbeat_answered(ErrorCode(response.error_code))

    def _heartbeat_answered(self, code: ErrorCode) -> None:
        self._last_answer_ms = self._clock.monotonic_ms()
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self.rejoin_needed = True
            self._bell.ring()
        elif code in _NOT_A_MEMBER:
            self.lost(f"Heartbeat: {code.name}")
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self.fenced()
        else:
            self._link.check(code, "Heartbeat")

    def fenced(self) -> None:
        """Another has taken our group.instance.id."""
        code = ErrorCode.FENCED_INSTANCE_ID
        self.fatal = KafkaError(code, f"group.instance.id {self._settings.group_instance_id!r} is used by another consumer of the group: {code.message}")
        self.lost(code.name)

    def _heartbeat_ended(self, beat: Promise[None]) -> None:
        self._beating = False
        error = beat.error()
        if error is not None:
            log.info("A heartbeat to group %s failed: %s", self._link.key, error)

    # Leaving

    async def leave(self, why: str) -> None:
        """Tell the coordinator, unless we are a static member, whose place is kept. KafkaError, Disconnected."""
        generation = self.generation
        known = self._link.known
        joining = self.state is MemberState.JOINING  # its request waits at the coordinator, and all that comes behind it on the same connection would too
        self.lost(why)
        if not generation.member_id or self._settings.group_instance_id is not None or not known:
            return
        member = MemberIdentity(generation.member_id)

        def build(version: int) -> LeaveGroupRequest:
            if version < LEAVE_BY_LIST_VERSION:
                return LeaveGroupRequest(group_id=self._link.key, member_id=generation.member_id)
            return LeaveGroupRequest(group_id=self._link.key, members=[member])

        response = await self._link.ask(ApiKey.LEAVE_GROUP, build, purpose=LEAVE if joining else None)
        assert isinstance(response, LeaveGroupResponse)
        self._link.check(response.error_code, "LeaveGroup")
