"""JoinGroup (key 11). facts/coordination.md 5.4.

Differs from Kafka: a leader that asks in a version before 5, which cannot name static members, is told of them without their instance ids; Kafka answers
UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_coordinator import Joining
from pykafka_classic.coordinator.group.group_metadata import JoinResult
from pykafka_classic.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Answered when the generation begins."""
    body = request.expect(JoinGroupRequest)
    joining = Joining(
        group_id=body.group_id,
        member_id=body.member_id,
        group_instance_id=body.group_instance_id,
        client_id=request.client_id or "",
        client_host=f"/{request.client_host}",
        rebalance_timeout_ms=body.rebalance_timeout_ms if request.version >= 1 else body.session_timeout_ms,
        session_timeout_ms=body.session_timeout_ms,
        protocol_type=body.protocol_type,
        protocols=tuple((protocol.name, bytes(protocol.metadata)) for protocol in body.protocols),
        require_known_member_id=request.version >= 4 and body.group_instance_id is None,
    )
    return broker.groups.coordinator.join(joining).then(lambda result: _response(result, request.version))


def _response(result: JoinResult, version: int) -> Message:
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type if version >= 7 else None,
        protocol_name=result.protocol_name if version >= 7 else result.protocol_name or "",  # null is new in v7
        leader=result.leader_id,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(member_id=member_id, group_instance_id=instance_id if version >= 5 else None, metadata=metadata)
            for member_id, instance_id, metadata in result.members
        ],
    )
