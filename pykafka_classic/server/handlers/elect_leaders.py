"""ElectLeaders (key 43): give partitions their preferred leaders back, or any leader at all (KIP-183, KIP-460). facts/coordination.md 3.12."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ApiError, ElectionType
from pykafka_classic.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Answered when this broker's metadata shows the new leaders, or at the time-out."""
    return spawn(_elect(broker, request.expect(ElectLeadersRequest)))


async def _elect(broker: BrokerServices, body: ElectLeadersRequest) -> Message:
    asked = _partitions(broker, body)
    try:
        elected = await broker.controller.elect_leaders(asked, ElectionType(body.election_type))
    except KafkaError as error:
        return _response(dict.fromkeys(asked, ApiError(error.code)))
    except ValueError:
        refused = ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type: {body.election_type}")
        return _response(dict.fromkeys(asked, refused), ErrorCode.INVALID_REQUEST)
    wanted = {tp: result.leader for tp, result in elected.items() if result.leader is not None and not result.error.error}
    errors = {tp: result.error for tp, result in elected.items()}
    if wanted and not await broker.topic_waiters.wait({tp.topic for tp in wanted}, lambda: not _missing(broker, wanted), body.timeout_ms):
        errors.update(dict.fromkeys(_missing(broker, wanted), ApiError(ErrorCode.REQUEST_TIMED_OUT)))
    if body.topic_partitions is None:  # all were asked for: those that had nothing to gain are not worth a line
        errors = {tp: error for tp, error in errors.items() if error.error is not ErrorCode.ELECTION_NOT_NEEDED}
    return _response(errors)


def _partitions(broker: BrokerServices, body: ElectLeadersRequest) -> list[TopicPartition]:
    cache = broker.metadata_cache
    if body.topic_partitions is None:
        return [TopicPartition(name, index) for name in cache.all_topics() for index in cache.partitions(name)]
    return [TopicPartition(topic.topic, index) for topic in body.topic_partitions for index in topic.partition_id]


def _missing(broker: BrokerServices, wanted: Mapping[TopicPartition, int | None]) -> list[TopicPartition]:
    """Partitions whose new leader this broker has not been told yet."""
    states = {tp: broker.metadata_cache.partition_state(tp) for tp in wanted}
    return [tp for tp, state in states.items() if state is None or state.leader != wanted[tp]]


def _response(errors: Mapping[TopicPartition, ApiError], error: ErrorCode = ErrorCode.NONE) -> Message:
    topics: dict[str, ReplicaElectionResult] = {}
    for topic_partition, outcome in errors.items():
        topic = topics.setdefault(topic_partition.topic, ReplicaElectionResult(topic=topic_partition.topic))
        topic.partition_result.append(PartitionResult(partition_id=topic_partition.partition, error_code=outcome.error, error_message=outcome.message))
    return ElectLeadersResponse(error_code=error, replica_election_results=list(topics.values()))
