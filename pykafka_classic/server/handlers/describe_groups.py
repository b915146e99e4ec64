"""DescribeGroups (key 15): state and members; a group that does not exist is told as Dead. facts/coordination.md 5.6."""

from __future__ import annotations

from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState
from pykafka_classic.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.authorized_operations import GROUP_OPERATIONS
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """One entry for each named group."""
    body = request.expect(DescribeGroupsRequest)
    groups = [_describe(broker, group_id) for group_id in body.groups]
    if body.include_authorized_operations:
        for group in groups:
            group.authorized_operations = GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


def _describe(broker: BrokerServices, group_id: str) -> DescribedGroup:
    error, group = broker.groups.admin.describe(group_id)
    if error:
        return DescribedGroup(error_code=error, group_id=group_id)
    if group is None:
        return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD.value)
    stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=[_member(group, member_id, with_metadata=stable) for member_id in group.members],
    )


def _member(group: GroupMetadata, member_id: str, *, with_metadata: bool) -> DescribedGroupMember:
    """Metadata and assignment are told only while the group is stable: before that they are of different generations."""
    member = group.members[member_id]
    return DescribedGroupMember(
        member_id=member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol_name) if with_metadata and group.protocol_name else b"",
        member_assignment=member.assignment if with_metadata else b"",
    )
