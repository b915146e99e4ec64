"""A consumer group as its coordinator sees it: members, state, generation. No timers and no I/O in here.

States (facts/coordination.md 5.3):

    EMPTY                  no members; perhaps offsets
    PREPARING_REBALANCE    waiting for members to (re)join
    COMPLETING_REBALANCE   a generation has begun; waiting for the leader's assignment
    STABLE                 every member has its assignment
    DEAD                   unloaded or deleted; whoever still asks must look for the coordinator again
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from pykafka_classic.common.clock import Timer
from pykafka_classic.common.errors import ErrorCode

NO_GENERATION: Final = -1
UNKNOWN_MEMBER: Final = ""


class GroupState(Enum):
    """The names are those of DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


VALID_PREVIOUS_STATES: Final[Mapping[GroupState, frozenset[GroupState]]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY}),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.COMPLETING_REBALANCE}),
    GroupState.DEAD: frozenset(GroupState),
}


@dataclass(frozen=True, slots=True)
class JoinResult:
    """The answer to a JoinGroup. `members` only for the leader: (member id, instance id, metadata for the chosen protocol)."""

    member_id: str
    error: ErrorCode = ErrorCode.NONE
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    members: tuple[tuple[str, str | None, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The answer to a SyncGroup."""

    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


JoinCallback: TypeAlias = Callable[[JoinResult], None]
SyncCallback: TypeAlias = Callable[[SyncResult], None]
Protocols: TypeAlias = Sequence[tuple[str, bytes]]


@dataclass(slots=True)
class Member:
    """One member. While `awaiting_join` or `awaiting_sync` is held its request is open, and it counts as alive whatever its session timer says."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]  # in order of preference
    assignment: bytes = b""
    awaiting_join: JoinCallback | None = None
    awaiting_sync: SyncCallback | None = None
    is_new: bool = False  # its first join is held: the rebalance may take long, so its timer is NEW_MEMBER_JOIN_TIMEOUT_MS
    session_timer: Timer | None = None

    @property
    def is_static(self) -> bool:
        """True for a member with a group.instance.id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_awaiting(self) -> bool:
        """True while a join or sync of the member is held."""
        return self.awaiting_join is not None or self.awaiting_sync is not None

    def metadata(self, protocol: str) -> bytes:
        """The member's metadata for a protocol that it named; the first, where it named it twice."""
        return next(metadata for name, metadata in self.protocols if name == protocol)

    def matches(self, protocols: Protocols) -> bool:
        """True where the same protocols come with the same metadata, in the same order."""
        return self.protocols == tuple(protocols)

    def vote(self, candidates: Iterable[str]) -> str:
        """The first of its protocols that is a candidate."""
        allowed = set(candidates)
        return next(name for name, _ in self.protocols if name in allowed)

    def stop_timer(self) -> None:
        """Forget the session timer."""
        if self.session_timer is not None:
            self.session_timer.cancel()
            self.session_timer = None


@dataclass(slots=True)
class GroupMetadata:
    """One group's members and state.

    Invariants: `leader_id` is a member, or None; every static member's id stands in `static_members`; a pending member is not a member.
    """

    group_id: str
    state: GroupState = GroupState.EMPTY
    protocol_type: str | None = None
    generation_id: int = 0
    leader_id: str | None = None
    protocol_name: str | None = None
    current_state_timestamp_ms: int | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)  # group.instance.id -> member id
    pending_members: dict[str, Timer] = field(default_factory=dict)  # told to come back with this id (KIP-394) -> when to forget it
    pending_sync: set[str] = field(default_factory=set)  # members of this generation that have not sent SyncGroup
    new_member_added: bool = False  # during the initial delay
    initial_delay: bool = False  # the join phase waits its time out, whoever has joined
    join_timer: Timer | None = None  # held while a rebalance waits for members
    sync_timer: Timer | None = None

    def transition_to(self, state: GroupState, now_ms: int) -> None:
        """Change the state; a transition that is not in the table is a bug."""
        assert self.state in VALID_PREVIOUS_STATES[state], f"group {self.group_id}: {self.state} -> {state}"
        self.state, self.current_state_timestamp_ms = state, now_ms

    # members

    def add(self, member: Member, callback: JoinCallback | None = None) -> None:
        """Take in a member; the first one is the leader and sets the protocol type."""
        if not self.members:
            self.protocol_type = member.protocol_type
        assert self.protocol_type == member.protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        member.awaiting_join = callback

    def remove(self, member_id: str) -> None:
        """Drop a member, or a pending one; a leader hands its role to any other member."""
        member = self.members.pop(member_id, None)
        if member is not None:
            member.stop_timer()
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        self.remove_pending(member_id)
        self.pending_sync.discard(member_id)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def replace_static_member(self, old_id: str, new_id: str) -> Member:
        """A static member came back under a new id: same place, leader role included. The old id's open requests are told FENCED_INSTANCE_ID."""
        member = self.members.pop(old_id)
        self.answer_join(member, JoinResult(old_id, ErrorCode.FENCED_INSTANCE_ID))
        self.answer_sync(member, SyncResult(ErrorCode.FENCED_INSTANCE_ID))
        member.stop_timer()
        member.member_id = new_id
        self.members[new_id] = member
        if self.leader_id == old_id:
            self.leader_id = new_id
        assert member.group_instance_id is not None
        self.static_members[member.group_instance_id] = new_id
        self.pending_sync.discard(old_id)
        return member

    def remove_pending(self, member_id: str) -> None:
        """Forget an id that was handed out and not used yet."""
        timer = self.pending_members.pop(member_id, None)
        if timer is not None:
            timer.cancel()

    def is_fenced(self, member_id: str, group_instance_id: str | None) -> bool:
        """True where the instance id is registered for another member id: a newer process took the place."""
        registered = self.static_members.get(group_instance_id) if group_instance_id is not None else None
        return registered is not None and registered != member_id

    def not_yet_rejoined(self) -> list[Member]:
        """Members whose join is not held."""
        return [member for member in self.members.values() if member.awaiting_join is None]

    @property
    def all_members_joined(self) -> bool:
        """True once every member's join is held and nobody was told to come back."""
        return not self.not_yet_rejoined() and not self.pending_members

    @property
    def rebalance_timeout_ms(self) -> int:
        """The largest of the members' time-outs."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Keep a leader that joined, else take any member that did; False where nobody did."""
        leader = self.members.get(self.leader_id or "")
        if leader is not None and leader.awaiting_join is not None:
            return True
        joined = next((member for member in self.members.values() if member.awaiting_join is not None), None)
        if joined is None:
            return False
        self.leader_id = joined.member_id
        return True

    # protocols

    def common_protocols(self) -> list[str]:
        """Names that every member supports."""
        # A name that a member gives twice counts once.
        counted = Counter(name for member in self.members.values() for name in dict(member.protocols))
        return [name for name, count in counted.items() if count == len(self.members)]

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """True where a member with these protocols fits in."""
        if not protocol_type or not protocols:
            return False
        if not self.members:
            return True
        return self.protocol_type == protocol_type and bool(set(self.common_protocols()) & {name for name, _ in protocols})

    def select_protocol(self) -> str:
        """Each member votes for its first choice among the common ones; most votes win."""
        candidates = self.common_protocols()
        assert candidates, "members without a common protocol are not let in"
        return Counter(member.vote(candidates) for member in self.members.values()).most_common(1)[0][0]

    def init_next_generation(self, now_ms: int) -> None:
        """Begin a generation with the members at hand; without any the group is empty."""
        self.generation_id += 1
        self.pending_sync.clear()
        if self.members:
            self.protocol_name = self.select_protocol()
            self.transition_to(GroupState.COMPLETING_REBALANCE, now_ms)
        else:
            self.protocol_name = None
            self.transition_to(GroupState.EMPTY, now_ms)

    def members_for_leader(self) -> tuple[tuple[str, str | None, bytes], ...]:
        """What the leader needs to assign: every member's metadata for the chosen protocol."""
        assert self.protocol_name is not None
        return tuple((member.member_id, member.group_instance_id, member.metadata(self.protocol_name)) for member in self.members.values())

    # open requests

    def answer_join(self, member: Member, result: JoinResult) -> None:
        """Answer a held join, if there is one."""
        callback, member.awaiting_join = member.awaiting_join, None
        if callback is not None:
            callback(result)

    def answer_sync(self, member: Member, result: SyncResult) -> bool:
        """Answer a held sync; True if there was one."""
        callback, member.awaiting_sync = member.awaiting_sync, None
        if callback is None:
            return False
        callback(result)
        return True

    def stop_timers(self) -> None:
        """Forget all timers: the group is dead."""
        for member in self.members.values():
            member.stop_timer()
        for timer in (self.join_timer, self.sync_timer, *self.pending_members.values()):
            if timer is not None:
                timer.cancel()
        self.join_timer = self.sync_timer = None
        self.pending_members.clear()
