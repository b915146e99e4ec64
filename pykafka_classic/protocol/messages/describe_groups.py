"""DescribeGroups."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeGroupsRequest(Message):
    """DescribeGroupsRequest."""

    API_KEY = 15
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    groups: list[str] = wire.array(wire.STRING)
    include_authorized_operations: bool = wire.boolean("3+")


@dataclass(slots=True)
class DescribedGroupMember(Struct):
    """DescribedGroupMember."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("4+", nullable="4+", default=None, ignorable=True)
    client_id: str = wire.string()
    client_host: str = wire.string()
    member_metadata: bytes = wire.data()
    member_assignment: bytes = wire.data()


@dataclass(slots=True)
class DescribedGroup(Struct):
    """DescribedGroup."""

    error_code: int = wire.int16()
    group_id: str = wire.string()
    group_state: str = wire.string()
    protocol_type: str = wire.string()
    protocol_data: str = wire.string()
    members: list[DescribedGroupMember] = wire.array(DescribedGroupMember)
    authorized_operations: int = wire.int32("3+", default=-2147483648)


@dataclass(slots=True)
class DescribeGroupsResponse(Message):
    """DescribeGroupsResponse."""

    API_KEY = 15
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)
    groups: list[DescribedGroup] = wire.array(DescribedGroup)
