"""OffsetForLeaderEpoch (key 23): where an epoch ended on the leader, so that a follower or consumer finds where its log diverges (KIP-101, KIP-320)."""

from __future__ import annotations

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """End offset of each asked epoch; errors stand per partition."""
    body = request.expect(OffsetForLeaderEpochRequest)
    response = OffsetForLeaderEpochResponse()
    for topic in body.topics:
        partitions = []
        for partition in topic.partitions:
            found = broker.replica_manager.last_offset_for_leader_epoch(
                TopicPartition(topic.topic, partition.partition),
                leader_epoch=partition.leader_epoch,
                current_leader_epoch=partition.current_leader_epoch,
            )
            partitions.append(
                EpochEndOffset(partition=partition.partition, error_code=found.error, leader_epoch=found.leader_epoch, end_offset=found.end_offset)
            )
        response.topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions))
    return response
