"""WriteTxnMarkers (key 27): a transaction's coordinator ends it in the partitions that this broker leads. facts/coordination.md 6.2, 6.4.

The marker is a control batch, appended as any other and replicated to all in-sync replicas before the answer. A marker in `__consumer_offsets` also makes the
group coordinator apply, or drop, the offsets that the transaction committed there.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, gather
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.append_origin import AppendOrigin
from pykafka_classic.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.records.control import EndTransactionMarker, build_end_transaction_marker
from pykafka_classic.server.append_values import AppendParams
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.replica_appends import AppendResults
from pykafka_classic.server.request import Request

ALL_IN_SYNC_REPLICAS = -1
MAGIC_WITH_TRANSACTIONS = 2

Errors = Mapping[TopicPartition, ErrorCode]


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """One entry for each marker; an error for each of its partitions."""
    markers = request.expect(WriteTxnMarkersRequest).markers
    return gather([_write(broker, marker) for marker in markers]).then(lambda results: WriteTxnMarkersResponse(markers=results))


def _write(broker: BrokerServices, marker: WritableTxnMarker) -> Promise[WritableTxnMarkerResult]:
    asked = [TopicPartition(topic.name, index) for topic in marker.topics for index in topic.partition_indexes]
    refused = {topic_partition: error for topic_partition in asked if (error := _why_not(broker, topic_partition))}
    batch = build_end_transaction_marker(
        EndTransactionMarker(marker.transaction_result, marker.coordinator_epoch),
        timestamp=broker.clock.now_ms(),
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
    )
    params = AppendParams(
        required_acks=ALL_IN_SYNC_REPLICAS,
        timeout_ms=broker.config.request_timeout_ms,
        internal_topics_allowed=True,
        origin=AppendOrigin.COORDINATOR,
    )
    appending = broker.replica_manager.append_records(params, [(topic_partition, batch) for topic_partition in asked if topic_partition not in refused])
    appended = appending if isinstance(appending, Promise) else Promise.resolved(appending)

    def written(results: AppendResults) -> WritableTxnMarkerResult:
        errors = {topic_partition: ErrorCode(result.error) for topic_partition, result in results.items()}
        _complete(broker, marker, errors)
        return _result(marker, {**errors, **refused})

    return appended.then(written)


def _why_not(broker: BrokerServices, topic_partition: TopicPartition) -> ErrorCode:
    log = broker.replica_manager.local_log(topic_partition)
    if log is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE if log.record_version >= MAGIC_WITH_TRANSACTIONS else ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def _complete(broker: BrokerServices, marker: WritableTxnMarker, errors: Errors) -> None:
    partitions = [place.partition for place, error in errors.items() if place.topic == GROUP_METADATA_TOPIC and not error]
    if partitions:
        broker.groups.offsets.complete_transaction(marker.producer_id, partitions, commit=marker.transaction_result)


def _result(marker: WritableTxnMarker, errors: Errors) -> WritableTxnMarkerResult:
    return WritableTxnMarkerResult(
        producer_id=marker.producer_id,
        topics=[
            WritableTxnMarkerTopicResult(
                name=topic.name,
                partitions=[
                    WritableTxnMarkerPartitionResult(partition_index=index, error_code=errors[TopicPartition(topic.name, index)])
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )
