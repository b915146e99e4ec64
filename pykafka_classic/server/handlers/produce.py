"""Produce (key 0): batches of records for the partitions that this broker leads. facts/protocol.md 9, coordination.md 4.8.

The records are handed on as slices of the request: nothing on this path looks at a single record.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_checks import check_produced_records, has_transactional_batches, is_usual
from pykafka_classic.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.append_values import AppendParams, PartitionAppendResult
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import CloseConnection, Request

log = logging.getLogger("kafka.server.KafkaApis")

ADMIN_CLIENT_ID = "__admin_client"  # the only client that may write to internal topics

Results = Mapping[TopicPartition, PartitionAppendResult]


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message | None] | None:
    """Append, and answer when `acks` is met; with acks=0 nothing is answered, and an error closes the connection."""
    body = request.expect(ProduceRequest)
    refused: dict[TopicPartition, PartitionAppendResult] = {}
    entries: list[tuple[TopicPartition, memoryview]] = []
    contains = broker.metadata_cache.contains
    for topic in body.topic_data:
        for partition in topic.partition_data:
            topic_partition = TopicPartition(topic.name, partition.index)
            records = partition.records if isinstance(partition.records, memoryview) else memoryview(b"")
            if is_usual(records) and contains(topic_partition):
                entries.append((topic_partition, records))
                continue
            if body.transactional_id is None and has_transactional_batches(records):
                return _refuse_all(body, request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            error = _why_not(broker, topic_partition, records, request.version)
            if error:
                refused[topic_partition] = PartitionAppendResult(error)
            else:
                entries.append((topic_partition, records))
    if not entries:
        return _respond(request, refused)
    params = AppendParams(
        timeout_ms=body.timeout_ms,
        required_acks=body.acks,
        internal_topics_allowed=request.client_id == ADMIN_CLIENT_ID,
    )
    outcome = broker.replica_manager.append_records(params, entries)
    if isinstance(outcome, Promise):
        _forget_records(body)
        return outcome.then(lambda results: _respond(request, {**results, **refused}))
    return _response(body, outcome) if body.acks and not refused else _respond(request, {**outcome, **refused})


def _forget_records(body: ProduceRequest) -> None:
    """Their answer waits, perhaps a long time for followers that are slow: whoever has to append them has them, and the request needs them no more."""
    for topic in body.topic_data:
        for partition in topic.partition_data:
            partition.records = None


def _why_not(broker: BrokerServices, topic_partition: TopicPartition, records: memoryview, version: int) -> ErrorCode:
    if not broker.metadata_cache.contains(topic_partition):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    try:
        check_produced_records(records, version)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def _respond(request: Request, results: Results) -> Message | None:
    body = request.expect(ProduceRequest)
    if body.acks != 0:
        return _response(body, results)
    failed = {topic_partition: result.error.name for topic_partition, result in results.items() if result.error}
    if failed:  # the producer expects no answer: a closed connection makes it look for fresh metadata
        errors = ", ".join(f"{topic_partition}: {error}" for topic_partition, error in failed.items())
        raise CloseConnection(f"error during produce request from client id {request.client_id} with ack=0: {errors}")
    return None


def _refuse_all(body: ProduceRequest, request: Request, error: ErrorCode) -> Message | None:
    partitions = [TopicPartition(topic.name, partition.index) for topic in body.topic_data for partition in topic.partition_data]
    return _respond(request, {topic_partition: PartitionAppendResult(error) for topic_partition in partitions})


def _response(body: ProduceRequest, results: Results) -> ProduceResponse:
    responses = []
    for topic in body.topic_data:
        name = topic.name
        answers = [_partition(partition.index, results[name, partition.index]) for partition in topic.partition_data]  # type: ignore[index]  # an equal tuple
        responses.append(TopicProduceResponse(name, answers))
    return ProduceResponse(responses)


def _partition(index: int, result: PartitionAppendResult) -> PartitionProduceResponse:
    errors = [BatchIndexAndErrorMessage(batch_index=error.batch_index, batch_index_error_message=error.message) for error in result.record_errors]
    return PartitionProduceResponse(
        index, result.error, result.base_offset, result.log_append_time, result.log_start_offset, errors, result.error_message
    )  # by position: this is done for every batch
