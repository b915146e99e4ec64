"""AlterPartitionReassignments (key 45): move replicas, or cancel a move (KIP-455). facts/coordination.md 3.11."""

from __future__ import annotations

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Answered when the moves have begun, not when they are done."""
    return spawn(_alter(broker, request.expect(AlterPartitionReassignmentsRequest)))


async def _alter(broker: BrokerServices, body: AlterPartitionReassignmentsRequest) -> Message:
    wanted = {
        TopicPartition(topic.name, partition.partition_index): None if partition.replicas is None else tuple(partition.replicas)
        for topic in body.topics
        for partition in topic.partitions
    }
    try:
        errors = await broker.controller.alter_partition_reassignments(wanted)
    except KafkaError as error:
        return AlterPartitionReassignmentsResponse(error_code=error.code, error_message=str(error))
    topics: dict[str, ReassignableTopicResponse] = {}
    for topic_partition, outcome in errors.items():
        topic = topics.setdefault(topic_partition.topic, ReassignableTopicResponse(name=topic_partition.topic))
        topic.partitions.append(
            ReassignablePartitionResponse(partition_index=topic_partition.partition, error_code=outcome.error, error_message=outcome.message)
        )
    return AlterPartitionReassignmentsResponse(responses=list(topics.values()))
