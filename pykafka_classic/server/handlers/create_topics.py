"""CreateTopics (key 19): only the controller creates; each topic succeeds or fails on its own. facts/protocol.md 9, coordination.md 3.7."""

from __future__ import annotations

from collections import Counter

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.config_entries import topic_config_entries
from pykafka_classic.server.request import Request
from pykafka_classic.server.topic_admin import NewTopic, TopicOutcome


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Create the topics of the request and answer when they have leaders, or at the time-out."""
    return spawn(_create(broker, request.expect(CreateTopicsRequest)))


async def _create(broker: BrokerServices, body: CreateTopicsRequest) -> Message:
    if not broker.controller.is_active:
        return CreateTopicsResponse(
            topics=[CreatableTopicResult(name=topic.name, error_code=ErrorCode.NOT_CONTROLLER, error_message="") for topic in body.topics]
        )
    times = Counter(topic.name for topic in body.topics)
    wanted = {topic.name: topic for topic in body.topics if times[topic.name] == 1}
    outcomes = await broker.topic_admin.create_topics(
        [_new_topic(topic) for topic in wanted.values()], timeout_ms=body.timeout_ms, validate_only=body.validate_only
    )
    results = [_result(broker, wanted[name], outcome) for name, outcome in outcomes.items()]
    results += [
        CreatableTopicResult(name=topic.name, error_code=ErrorCode.INVALID_REQUEST, error_message="Found multiple entries for this topic.")
        for topic in body.topics
        if times[topic.name] > 1
    ]
    return CreateTopicsResponse(topics=results)


def _new_topic(topic: CreatableTopic) -> NewTopic:
    return NewTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment={assignment.partition_index: tuple(assignment.broker_ids) for assignment in topic.assignments},
        configs={entry.name: entry.value for entry in topic.configs},
    )


def _result(broker: BrokerServices, topic: CreatableTopic, outcome: TopicOutcome) -> CreatableTopicResult:
    if outcome.error:
        return CreatableTopicResult(name=topic.name, topic_id=outcome.topic_id, error_code=outcome.error, error_message=outcome.message, configs=[])
    overrides = {entry.name: entry.value for entry in topic.configs if entry.value is not None}
    return CreatableTopicResult(
        name=topic.name,
        topic_id=outcome.topic_id,
        error_code=ErrorCode.NONE,
        error_message=None,
        num_partitions=outcome.num_partitions,
        replication_factor=outcome.replication_factor,
        configs=[
            CreatableTopicConfigs(name=entry.name, value=entry.value, read_only=entry.read_only, config_source=entry.source, is_sensitive=entry.is_sensitive)
            for entry in topic_config_entries(broker.dynamic_config, overrides)
        ],
    )
