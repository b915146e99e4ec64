"""A member enters a group, or comes again for a rebalance.

The answer waits for all members; it makes one of them leader, who alone learns what the others subscribe to.
"""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class JoinGroupRequestProtocol(Struct):
    """An assignor that the member can use, and its subscription in that assignor's form."""

    name: str = wire.string()
    metadata: bytes = wire.data()


@dataclass(slots=True)
class JoinGroupRequest(Message):
    """Comes into the group."""

    API_KEY = 11
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    group_id: str = wire.string()
    session_timeout_ms: int = wire.int32()
    rebalance_timeout_ms: int = wire.int32("1+", default=-1, ignorable=True)  # how long a rebalance waits for this member; before v1 the session time-out
    member_id: str = wire.string()  # empty at first; the broker gives one with error 79 (v4+)
    group_instance_id: str | None = wire.string("5+", nullable="5+", default=None)  # of a static member (KIP-345); null for a dynamic one
    protocol_type: str = wire.string()  # `consumer` for consumers
    protocols: list[JoinGroupRequestProtocol] = wire.array(JoinGroupRequestProtocol)


@dataclass(slots=True)
class JoinGroupResponseMember(Struct):
    """A member, for the leader's eyes."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("5+", nullable="5+", default=None)  # of a static member (KIP-345); null for a dynamic one
    metadata: bytes = wire.data()


@dataclass(slots=True)
class JoinGroupResponse(Message):
    """The generation that begins. `members` is empty for all but the leader."""

    API_KEY = 11
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    generation_id: int = wire.int32(default=-1)
    protocol_type: str | None = wire.string("7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = wire.string(nullable="7+")  # the assignor that all members support
    leader: str = wire.string()
    member_id: str = wire.string()
    members: list[JoinGroupResponseMember] = wire.array(JoinGroupResponseMember)
