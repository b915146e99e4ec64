"""LeaderAndIsr (key 4): the controller makes this broker leader or follower of partitions. facts/coordination.md 4.1, protocol.md 14."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.broker_epoch import is_stale
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Apply what is newer than what we know; refuse a request meant for this broker's previous registration."""
    body = request.expect(LeaderAndIsrRequest)
    if is_stale(broker, body.broker_epoch, "LeaderAndIsr"):
        return LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    return broker.replica_manager.become_leader_or_follower(body, version=request.version)
