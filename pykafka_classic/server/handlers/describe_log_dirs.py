"""DescribeLogDirs (key 35): which replicas lie in which log dir of this broker, how large they are and how far behind (KIP-113)."""

from __future__ import annotations

from collections import defaultdict

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.log_dirs import LogDirReplica
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Every log dir is told of, also one without any of the replicas asked for; one that is offline by its error."""
    topics = request.expect(DescribeLogDirsRequest).topics
    wanted = None if topics is None else {TopicPartition(topic.topic, index) for topic in topics for index in topic.partition_index}
    results = []
    for log_dir, replicas in broker.log_dirs.describe(wanted).items():
        if replicas is None:
            results.append(DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=log_dir))
        else:
            results.append(DescribeLogDirsResult(log_dir=log_dir, topics=_by_topic(replicas)))
    return DescribeLogDirsResponse(results=results)


def _by_topic(replicas: list[LogDirReplica]) -> list[DescribeLogDirsTopic]:
    topics: defaultdict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for replica in replicas:
        topics[replica.topic_partition.topic].append(
            DescribeLogDirsPartition(
                partition_index=replica.topic_partition.partition, partition_size=replica.size, offset_lag=replica.offset_lag, is_future_key=replica.is_future
            )
        )
    return [DescribeLogDirsTopic(name=name, partitions=partitions) for name, partitions in topics.items()]
