"""AlterReplicaLogDirs (key 34): move replicas of this broker to other log dirs of it (KIP-113). Answered when the moves have begun."""

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
    """Each replica on its own; of one that is named twice the last log dir counts."""
    wanted = {
        TopicPartition(topic.name, partition): each.path
        for each in request.expect(AlterReplicaLogDirsRequest).dirs
        for topic in each.topics
        for partition in topic.partitions
    }
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for topic_partition, log_dir in wanted.items():
        error = broker.log_dirs.alter(topic_partition, log_dir)
        topic = results.setdefault(topic_partition.topic, AlterReplicaLogDirTopicResult(topic_name=topic_partition.topic))
        topic.partitions.append(AlterReplicaLogDirPartitionResult(partition_index=topic_partition.partition, error_code=error))
    return AlterReplicaLogDirsResponse(results=list(results.values()))
