"""AlterReplicaLogDirs (key 34): move replicas to other log dirs of this broker (KIP-113). facts/protocol.md 9."""

from __future__ import annotations

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Answered when the moves have begun; DescribeLogDirs tells how they go."""
    body = request.expect(AlterReplicaLogDirsRequest)
    wanted = {TopicPartition(topic.name, index): each.path for each in body.dirs for topic in each.topics for index in topic.partitions}
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for topic_partition, error in broker.replica_manager.alter_replica_log_dirs(wanted).items():
        topic = topics.setdefault(topic_partition.topic, AlterReplicaLogDirTopicResult(topic_name=topic_partition.topic))
        topic.partitions.append(AlterReplicaLogDirPartitionResult(partition_index=topic_partition.partition, error_code=error))
    return AlterReplicaLogDirsResponse(results=list(topics.values()))
