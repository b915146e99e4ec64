"""States and members of groups. Sent to the group coordinator."""

from __future__ import annotations

from dataclasses import dataclass

from pykafka_classic.protocol import schema as wire
from pykafka_classic.protocol.schema import LATEST, Message, Struct, Versions


@dataclass(slots=True)
class DescribeGroupsRequest(Message):
    """Groups to describe."""

    API_KEY = 15
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    groups: list[str] = wire.array(wire.STRING)
    include_authorized_operations: bool = wire.boolean("3+")


@dataclass(slots=True)
class DescribedGroupMember(Struct):
    """One member."""

    member_id: str = wire.string()
    group_instance_id: str | None = wire.string("4+", nullable="4+", default=None, ignorable=True)  # of a static member (KIP-345); null for a dynamic one
    client_id: str = wire.string()
    client_host: str = wire.string()
    member_metadata: bytes = wire.data()
    member_assignment: bytes = wire.data()


@dataclass(slots=True)
class DescribedGroup(Struct):
    """One group. An unknown group is no error: its state is Dead."""

    error_code: int = wire.int16()
    group_id: str = wire.string()
    group_state: str = wire.string()
    protocol_type: str = wire.string()  # `consumer` for consumers
    protocol_data: str = wire.string()
    members: list[DescribedGroupMember] = wire.array(DescribedGroupMember)
    authorized_operations: int = wire.int32("3+", default=-2147483648)  # bit n: operation n is allowed; the default: not asked for


@dataclass(slots=True)
class DescribeGroupsResponse(Message):
    """One entry for each group."""

    API_KEY = 15
    VALID_VERSIONS = Versions(0, 5)
    FLEXIBLE_VERSIONS = Versions(5, LATEST)

    throttle_time_ms: int = wire.int32("1+", ignorable=True)  # how long the client should send nothing: it exceeded a quota
    groups: list[DescribedGroup] = wire.array(DescribedGroup)
