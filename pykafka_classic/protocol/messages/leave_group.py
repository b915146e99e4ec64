"""LeaveGroup."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class MemberIdentity(Struct):
    """MemberIdentity."""

    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)


@dataclass(slots=True)
class LeaveGroupRequest(Message):
    """LeaveGroupRequest."""

    API_KEY = 13
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    group_id: str = wire.string()
    member_id: str = wire.string("0-2")
    members: list[MemberIdentity] = wire.array(MemberIdentity, "3+")


@dataclass(slots=True)
class MemberResponse(Struct):
    """MemberResponse."""

    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+")
    error_code: int = wire.int16("3+")


@dataclass(slots=True)
class LeaveGroupResponse(Message):
    """LeaveGroupResponse."""

    API_KEY = 13
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    error_code: int = wire.int16()
    members: list[MemberResponse] = wire.array(MemberResponse, "3+")
