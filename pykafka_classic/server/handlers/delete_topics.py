"""DeleteTopics (key 20): the controller marks the topics in /admin/delete_topics; by name, from v6 also by topic id. facts/coordination.md 3.8."""

from __future__ import annotations

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Delete topics and answer when this broker knows them no more, or at the time-out."""
    return spawn(_delete(broker, request.expect(DeleteTopicsRequest), request.version))


async def _delete(broker: BrokerServices, body: DeleteTopicsRequest, version: int) -> Message:
    states = body.topics if version >= 6 else [DeleteTopicState(name=name) for name in body.topic_names]
    refusal = _refusal(broker, version)
    results = [_resolve(broker, state, refusal) for state in states]
    wanted = list(dict.fromkeys(result.name for result in results if result.error_code == ErrorCode.NONE and result.name is not None))
    if wanted:
        outcomes = await broker.topic_admin.delete_topics(wanted, timeout_ms=body.timeout_ms)
        for result in results:
            if result.name in outcomes:
                result.error_code = outcomes[result.name].error
    return DeleteTopicsResponse(responses=results)


def _refusal(broker: BrokerServices, version: int) -> ErrorCode:
    if not broker.controller.is_active:
        return ErrorCode.NOT_CONTROLLER
    if not broker.config.delete_topic_enable:
        return ErrorCode.INVALID_REQUEST if version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
    return ErrorCode.NONE


def _resolve(broker: BrokerServices, state: DeleteTopicState, refusal: ErrorCode) -> DeletableTopicResult:
    """The topic's name, looked up by id where only that was given, and why it can't be deleted, if so."""
    result = DeletableTopicResult(name=state.name, topic_id=state.topic_id, error_code=refusal)
    if refusal:
        return result
    by_id = state.topic_id != kafka_uuid.ZERO
    if by_id and state.name is not None:
        result.error_code = ErrorCode.INVALID_REQUEST
        return result
    result.name = broker.controller.topic_name_of(state.topic_id) if by_id else state.name
    if result.name is None:
        result.error_code = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.INVALID_REQUEST
    elif not broker.metadata_cache.contains_topic(result.name):
        result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return result
