"""DeleteRecords (key 21): raise the log start of partitions that this broker leads (KIP-107). facts/storage.md 12."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.append_values import DeleteRecordsResult
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

Results = Mapping[TopicPartition, DeleteRecordsResult]


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """Answered when all live replicas have raised their log starts, or at the time-out."""
    body = request.expect(DeleteRecordsRequest)
    asked = {TopicPartition(topic.name, partition.partition_index): partition.offset for topic in body.topics for partition in topic.partitions}
    unknown = {tp: DeleteRecordsResult(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for tp in asked if not broker.metadata_cache.contains(tp)}
    known = {tp: offset for tp, offset in asked.items() if tp not in unknown}
    outcome = broker.replica_manager.delete_records(body.timeout_ms, known)
    if isinstance(outcome, Promise):
        return outcome.then(lambda results: _response({**results, **unknown}))
    return _response({**outcome, **unknown})


def _response(results: Results) -> Message:
    """By topic, however often the request names it."""
    topics: dict[str, DeleteRecordsTopicResult] = {}
    for topic_partition, result in results.items():
        topic = topics.setdefault(topic_partition.topic, DeleteRecordsTopicResult(name=topic_partition.topic))
        topic.partitions.append(_partition(topic_partition.partition, result))
    return DeleteRecordsResponse(topics=list(topics.values()))


def _partition(index: int, result: DeleteRecordsResult) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(partition_index=index, low_watermark=result.low_watermark, error_code=result.error)
