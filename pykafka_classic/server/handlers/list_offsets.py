"""ListOffsets (key 2): log start, log end or the first offset at a time, per partition. facts/protocol.md 8 and 9, storage.md 14."""

from __future__ import annotations

import logging
from collections import Counter

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

log = logging.getLogger("kafka.server.KafkaApis")

CONSUMER, DEBUGGING_CONSUMER = -1, -2  # replica ids of those who are no replica


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """Answer each partition on its own; a partition named twice is refused."""
    return spawn(_handle(broker, request))


async def _handle(broker: BrokerServices, request: Request) -> Message:
    body = request.expect(ListOffsetsRequest)
    times = Counter((topic.name, partition.partition_index) for topic in body.topics for partition in topic.partitions)
    response = ListOffsetsResponse()
    for topic in body.topics:
        answers = []
        for partition in topic.partitions:
            if request.version > 0 and times[topic.name, partition.partition_index] > 1:
                answers.append(_failed(partition, ErrorCode.INVALID_REQUEST))
            else:
                answers.append(await _answer(broker, request, TopicPartition(topic.name, partition.partition_index), partition))
        response.topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=answers))
    return response


async def _answer(broker: BrokerServices, request: Request, topic_partition: TopicPartition, partition: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    try:
        return await _look_up(broker, request, topic_partition, partition)
    except KafkaError as error:
        log.debug("Offset request from client %s on partition %s failed: %s", request.client_id, topic_partition, error)
        code = error.code
        if code is ErrorCode.OFFSET_NOT_AVAILABLE and request.version < 5:
            code = ErrorCode.LEADER_NOT_AVAILABLE  # older clients do not know code 78
        return _failed(partition, code)


async def _look_up(broker: BrokerServices, request: Request, topic_partition: TopicPartition, partition: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    body = request.expect(ListOffsetsRequest)
    from_leader_only = body.replica_id != DEBUGGING_CONSUMER
    if request.version == 0:
        offsets = broker.replica_manager.legacy_fetch_offsets_for_timestamp(
            topic_partition,
            partition.timestamp,
            max_num_offsets=partition.max_num_offsets,
            from_consumer=body.replica_id == CONSUMER,
            fetch_only_from_leader=from_leader_only,
        )
        return ListOffsetsPartitionResponse(partition_index=partition.partition_index, old_style_offsets=offsets)
    found = await broker.replica_manager.fetch_offset_for_timestamp(
        topic_partition,
        partition.timestamp,
        isolation_level=body.isolation_level if body.replica_id == CONSUMER else None,
        current_leader_epoch=partition.current_leader_epoch,
        fetch_only_from_leader=from_leader_only,
    )
    if found is None:
        return _failed(partition, ErrorCode.NONE)
    return ListOffsetsPartitionResponse(
        partition_index=partition.partition_index,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if request.version >= 4 and found.leader_epoch is not None else -1,
    )


def _failed(partition: ListOffsetsPartition, error: ErrorCode) -> ListOffsetsPartitionResponse:
    """Error (or no such offset), with timestamp and offset -1."""
    return ListOffsetsPartitionResponse(partition_index=partition.partition_index, error_code=error)
