"""Metadata (key 3): who lives, who leads. Answered from the metadata cache alone; a named topic that is missing may be created on the way.

facts/protocol.md 8 and 9, coordination.md 3.14.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common import kafka_uuid, topic_name
from pykafka_classic.common.clock import within
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.protocol.shared_encoding import KeptMetadata
from pykafka_classic.server.auto_topic_creation import CREATION_WAIT_MS
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.authorized_operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """All topics, or the named ones; at once unless a topic has to be created."""
    body = request.expect(MetadataRequest)
    if _names_by_id(body):
        return _refusal(body, ErrorCode.INVALID_REQUEST)
    if _all_topics(body, request.version):
        return _answer_about_all(broker, request)
    names = list(dict.fromkeys(topic.name or "" for topic in body.topics or ()))
    missing = [name for name in names if not broker.metadata_cache.contains_topic(name)]
    if missing and body.allow_auto_topic_creation and broker.config.auto_create_topics_enable:
        return spawn(_create_then_answer(broker, request, names, missing))
    return _answer(broker, request, names, {name: _unknown(name) for name in missing})


async def _create_then_answer(broker: BrokerServices, request: Request, names: list[str], missing: list[str]) -> Message:
    created = await within(broker.clock, spawn(broker.auto_topic_creation.create(missing)), CREATION_WAIT_MS)
    return _answer(broker, request, names, dict.fromkeys(missing, ErrorCode.LEADER_NOT_AVAILABLE) if created is None else created)


def _answer_about_all(broker: BrokerServices, request: Request) -> KeptMetadata:
    """Encoded once for all who ask in the same version, until something changes."""
    body, cache = request.expect(MetadataRequest), broker.metadata_cache
    key = request.listener, request.version, body.include_topic_authorized_operations, body.include_cluster_authorized_operations
    kept = cache.kept.get(key)
    if kept is None:
        kept = cache.kept[key] = KeptMetadata.of(_answer(broker, request, cache.all_topics(), {}))
    return kept


def _answer(broker: BrokerServices, request: Request, names: list[str], missing: Mapping[str, ErrorCode]) -> MetadataResponse:
    body, cache = request.expect(MetadataRequest), broker.metadata_cache
    present = [name for name in names if name not in missing]
    topics = cache.topic_metadata(
        present,
        request.listener,
        error_unavailable_endpoints=request.version == 0,
        error_unavailable_listeners=request.version >= 6,
    )
    topics += [
        MetadataResponseTopic(error_code=error, name=name, topic_id=kafka_uuid.ZERO, is_internal=topic_name.is_internal(name))
        for name, error in missing.items()
    ]
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=node.id, host=node.host, port=node.port, rack=node.rack) for node in cache.alive_nodes(request.listener)],
        cluster_id=broker.cluster_id,
        controller_id=cache.controller_id(),
        topics=topics,
    )
    if body.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = TOPIC_OPERATIONS
    if body.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return response


def _all_topics(body: MetadataRequest, version: int) -> bool:
    """v0 has no null: there an empty list means all."""
    return body.topics is None or (version == 0 and not body.topics)


def _names_by_id(body: MetadataRequest) -> bool:
    """v10 and v11 have a field for topic ids that brokers of 2.8 do not accept yet."""
    return any(topic.name is None or topic.topic_id != kafka_uuid.ZERO for topic in body.topics or ())


def _refusal(body: MetadataRequest, error: ErrorCode) -> MetadataResponse:
    topics = [MetadataResponseTopic(error_code=error, name=topic.name or "", topic_id=topic.topic_id) for topic in body.topics or ()]
    return MetadataResponse(topics=topics)


def _unknown(name: str) -> ErrorCode:
    try:
        topic_name.validate(name)
    except KafkaError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
