"""Members leave a group without waiting for their session to end; several at once since v3 (KIP-345)."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class MemberIdentity(Struct):
    """A member that leaves; a static one may be named by its instance id alone."""

    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)  # of a static member (KIP-345); null for a dynamic one


@dataclass(slots=True)
class LeaveGroupRequest(Message):
    """Members that leave."""

    API_KEY = 13
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    group_id: str = wire.string()
    member_id: str = wire.string("0-2")
    members: list[MemberIdentity] = wire.array(MemberIdentity, "3+")


@dataclass(slots=True)
class MemberResponse(Struct):
    """What became of one member."""

    member_id: str = wire.string("3+")
    group_instance_id: str | None = wire.string("3+", nullable="3+")  # of a static member (KIP-345); null for a dynamic one
    error_code: int = wire.int16("3+")


@dataclass(slots=True)
class LeaveGroupResponse(Message):
    """One entry for each member since v3."""

    API_KEY = 13
    VALID_VERSIONS = Versions(0, 4)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    members: list[MemberResponse] = wire.array(MemberResponse, "3+")
