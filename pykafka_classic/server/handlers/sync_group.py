"""SyncGroup (key 14). facts/coordination.md 5.6."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.coordinator.group.group_coordinator import Syncing
from pykafka_classic.coordinator.group.group_metadata import SyncResult
from pykafka_classic.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """Answered when the leader's assignment is stored. From v5 the protocol must be named (KIP-559)."""
    body = request.expect(SyncGroupRequest)
    if request.version >= 5 and (body.protocol_type is None or body.protocol_name is None):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    syncing = Syncing(
        group_id=body.group_id,
        generation_id=body.generation_id,
        member_id=body.member_id,
        group_instance_id=body.group_instance_id,
        protocol_type=body.protocol_type,
        protocol_name=body.protocol_name,
        assignments={assignment.member_id: bytes(assignment.assignment) for assignment in body.assignments},
    )
    return broker.groups.coordinator.sync(syncing).then(lambda result: _response(result, request.version))


def _response(result: SyncResult, version: int) -> Message:
    return SyncGroupResponse(
        error_code=result.error,
        protocol_type=result.protocol_type if version >= 5 else None,
        protocol_name=result.protocol_name if version >= 5 else None,
        assignment=result.assignment,
    )
