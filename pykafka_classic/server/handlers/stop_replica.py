"""StopReplica (key 5): the controller stops replicas here and, for a deletion, has their logs removed. facts/coordination.md 4.1, protocol.md 14."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.broker_epoch import is_stale
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Stop each replica whose leader epoch is newer than ours (or a sentinel)."""
    body = request.expect(StopReplicaRequest)
    if is_stale(broker, body.broker_epoch, "StopReplica"):
        return StopReplicaResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    return broker.replica_manager.stop_replicas(body, version=request.version)
