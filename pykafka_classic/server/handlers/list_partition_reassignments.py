"""ListPartitionReassignments (key 46): the moves under way (KIP-455). facts/coordination.md 3.11."""

from __future__ import annotations

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Of the named partitions, or (null) of all; only the controller knows."""
    return spawn(_list(broker, request.expect(ListPartitionReassignmentsRequest)))


async def _list(broker: BrokerServices, body: ListPartitionReassignmentsRequest) -> Message:
    asked = None if body.topics is None else [TopicPartition(topic.name, index) for topic in body.topics for index in topic.partition_indexes]
    try:
        found = await broker.controller.list_partition_reassignments(asked)
    except KafkaError as error:
        return ListPartitionReassignmentsResponse(error_code=error.code, error_message=str(error))
    topics: dict[str, OngoingTopicReassignment] = {}
    for topic_partition, assignment in found.items():
        topic = topics.setdefault(topic_partition.topic, OngoingTopicReassignment(name=topic_partition.topic))
        topic.partitions.append(
            OngoingPartitionReassignment(
                partition_index=topic_partition.partition,
                replicas=list(assignment.replicas),
                adding_replicas=list(assignment.adding_replicas),
                removing_replicas=list(assignment.removing_replicas),
            )
        )
    return ListPartitionReassignmentsResponse(topics=list(topics.values()))
