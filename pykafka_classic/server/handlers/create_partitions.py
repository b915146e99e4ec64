"""CreatePartitions (key 37): only the controller; partitions are only ever added. facts/coordination.md 3.7."""

from __future__ import annotations

from collections import Counter

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Add partitions and answer when they have leaders, or at the time-out."""
    return spawn(_create(broker, request.expect(CreatePartitionsRequest)))


async def _create(broker: BrokerServices, body: CreatePartitionsRequest) -> Message:
    times = Counter(topic.name for topic in body.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    for topic in body.topics:
        if not broker.controller.is_active:
            results[topic.name] = _result(topic.name, ErrorCode.NOT_CONTROLLER, None)
        elif times[topic.name] > 1:
            results[topic.name] = _result(topic.name, ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
        elif broker.controller.is_topic_queued_for_deletion(topic.name):
            results[topic.name] = _result(topic.name, ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is queued for deletion.")
        else:
            results[topic.name] = await _create_one(broker, topic, body)
    return CreatePartitionsResponse(results=list(results.values()))


async def _create_one(broker: BrokerServices, topic: CreatePartitionsTopic, body: CreatePartitionsRequest) -> CreatePartitionsTopicResult:
    assignments = None if topic.assignments is None else [assignment.broker_ids for assignment in topic.assignments]
    outcome = await broker.topic_admin.create_partitions(topic.name, topic.count, assignments, timeout_ms=body.timeout_ms, validate_only=body.validate_only)
    return _result(topic.name, outcome.error, outcome.message)


def _result(name: str, error: ErrorCode, message: str | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=error, error_message=message)
