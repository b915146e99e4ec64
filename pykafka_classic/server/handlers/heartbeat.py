"""Heartbeat (key 12). facts/coordination.md 5.6."""

from __future__ import annotations

from pykafka_classic.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """NONE, or what the member has to do."""
    body = request.expect(HeartbeatRequest)
    error = broker.groups.coordinator.heartbeat(body.group_id, body.member_id, body.group_instance_id, body.generation_id)
    return HeartbeatResponse(error_code=error)
