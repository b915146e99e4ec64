"""Distributes the assignment: the leader of a group sends it, all members get their own part."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class SyncGroupRequestAssignment(Struct):
    """What one member gets."""

    member_id: str = wire.string()
    assignment: bytes = wire.data()


@dataclass(slots=True)
class SyncGroupRequest(Message):
    """The leader's assignments; other members send none."""

    API_KEY = 14
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    group_id: str = wire.string()
    generation_id: int = wire.int32()  # -1: not a member
    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("3+", nullable="3+", default=None)  # of a static member (KIP-345); null for a dynamic one
    protocol_type: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)  # `consumer` for consumers
    protocol_name: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = wire.array(SyncGroupRequestAssignment)


@dataclass(slots=True)
class SyncGroupResponse(Message):
    """The member's own assignment."""

    API_KEY = 14
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(4, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    error_code: int = wire.int16()
    protocol_type: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = wire.string("5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = wire.data()
