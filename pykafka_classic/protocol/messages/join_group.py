"""JoinGroup."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class JoinGroupRequestProtocol(Struct):
    """JoinGroupRequestProtocol."""

    name: str = wire.string()
    metadata: bytes = wire.data()


@dataclass(slots=True)
class JoinGroupRequest(Message):
    """JoinGroupRequest."""

    API_KEY = 11
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    group_id: str = wire.string()
    session_timeout_ms: int = wire.int32()
    rebalance_timeout_ms: int = wire.int32("1+", default=-1, ignorable=True)
    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("5+", nullable="5+", default=None)
    protocol_type: str = wire.string()
    protocols: list[JoinGroupRequestProtocol] = wire.array(JoinGroupRequestProtocol)


@dataclass(slots=True)
class JoinGroupResponseMember(Struct):
    """JoinGroupResponseMember."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("5+", nullable="5+", default=None)
    metadata: bytes = wire.data()


@dataclass(slots=True)
class JoinGroupResponse(Message):
    """JoinGroupResponse."""

    API_KEY = 11
    VALID_VERSIONS = Versions(0, 7)
    FLEXIBLE_VERSIONS = Versions(6, LATEST)

    throttle_time_ms: int = wire.int32("2+", ignorable=True)
    error_code: int = wire.int16()
    generation_id: int = wire.int32(default=-1)
    protocol_type: str | None = wire.string("7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = wire.string(nullable="7+")
    leader: str = wire.string()
    member_id: str = wire.string()
    members: list[JoinGroupResponseMember] = wire.array(JoinGroupResponseMember)
