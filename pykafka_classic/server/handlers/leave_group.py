"""LeaveGroup (key 13): one member, from v3 a list of them. facts/coordination.md 5.6."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Before v3 the only member's error is the answer's."""
    body = request.expect(LeaveGroupRequest)
    if request.version >= 3:
        leaving = [(member.member_id, member.group_instance_id) for member in body.members]
    else:
        leaving = [(body.member_id, None)]
    error, errors = broker.groups.coordinator.leave(body.group_id, leaving)
    if request.version < 3:
        return LeaveGroupResponse(error_code=error or (errors[0] if errors else ErrorCode.NONE))
    members = [
        MemberResponse(member_id=member_id, group_instance_id=instance_id, error_code=member_error)
        for (member_id, instance_id), member_error in zip(leaving, errors, strict=False)  # no errors by member where the request failed as a whole
    ]
    return LeaveGroupResponse(error_code=error, members=members)
