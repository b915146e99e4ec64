"""UpdateMetadata (key 6): the controller tells brokers, topics, leaders; this broker answers Metadata from nothing else. facts/protocol.md 14."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.broker_epoch import is_stale
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Take over the state, then look at those who wait for these topics."""
    body = request.expect(UpdateMetadataRequest)
    if is_stale(broker, body.broker_epoch, "UpdateMetadata"):
        return UpdateMetadataResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    response = broker.replica_manager.maybe_update_metadata_cache(body, version=request.version)
    if response.error_code == ErrorCode.NONE:
        named = _topics(body)
        broker.deleted_topics.metadata_updated(named)
        broker.topic_waiters.topics_changed(named)
    return response


def _topics(body: UpdateMetadataRequest) -> set[str]:
    return {topic.topic_name for topic in body.topic_states} | {partition.topic_name for partition in body.ungrouped_partition_states}
