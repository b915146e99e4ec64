"""AddPartitionsToTxn (key 24): partitions that the transaction is going to write to. All are added, or none. facts/coordination.md 6.2."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common import topic_name
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.transaction.transaction_coordinator import Producer
from pykafka_classic.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.handlers.transaction_errors import told
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """An error for each partition."""
    body = request.expect(AddPartitionsToTxnRequest)
    wanted = [TopicPartition(topic.name, partition) for topic in body.topics for partition in topic.partitions]
    refused = {each: error for each in wanted if (error := _why_not(broker, each))}
    if refused:
        return _response(request, {each: refused.get(each, ErrorCode.OPERATION_NOT_ATTEMPTED) for each in wanted})
    producer = Producer(body.producer_id, body.producer_epoch)
    adding = spawn(broker.transactions.coordinator.add_partitions(body.transactional_id, producer, frozenset(wanted)))
    return adding.then(lambda error: _response(request, dict.fromkeys(wanted, told(error, request))))


def _why_not(broker: BrokerServices, topic_partition: TopicPartition) -> ErrorCode:
    if topic_name.is_internal(topic_partition.topic):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return ErrorCode.NONE if broker.metadata_cache.contains(topic_partition) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _response(request: Request, errors: Mapping[TopicPartition, ErrorCode]) -> Message:
    return AddPartitionsToTxnResponse(
        results=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results=[
                    AddPartitionsToTxnPartitionResult(partition_index=partition, error_code=errors[TopicPartition(topic.name, partition)])
                    for partition in topic.partitions
                ],
            )
            for topic in request.expect(AddPartitionsToTxnRequest).topics
        ]
    )
