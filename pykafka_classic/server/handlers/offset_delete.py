"""OffsetDelete (key 47): forget offsets of topics that nobody in the group reads (KIP-496)."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """An error for the group, or one for each partition."""
    body = request.expect(OffsetDeleteRequest)
    asked = [TopicPartition(topic.name, partition.partition_index) for topic in body.topics for partition in topic.partitions]
    known = [topic_partition for topic_partition in asked if broker.metadata_cache.contains(topic_partition)]
    error, errors = broker.groups.admin.delete_offsets(body.group_id, known)
    if error:
        return OffsetDeleteResponse(error_code=error)
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=errors.get(TopicPartition(topic.name, partition.partition_index), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )
