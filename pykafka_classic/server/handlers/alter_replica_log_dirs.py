"""AlterReplicaLogDirs (key 34): move replicas to other log dirs of this broker (KIP-113). facts/protocol.md 9."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode
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
    for topic_partition, outcome in broker.replica_manager.alter_replica_log_dirs(wanted).items():
        unknown = outcome is ErrorCode.REPLICA_NOT_AVAILABLE and not broker.metadata_cache.contains(topic_partition)
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if unknown else outcome
        topic = topics.setdefault(topic_partition.topic, AlterReplicaLogDirTopicResult(topic_name=topic_partition.topic))
        topic.partitions.append(AlterReplicaLogDirPartitionResult(partition_index=topic_partition.partition, error_code=error))
    return AlterReplicaLogDirsResponse(results=list(topics.values()))
