"""DescribeLogDirs (key 35): replicas and their sizes, by log dir (KIP-113). facts/protocol.md 7 and 9."""

from __future__ import annotations

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
from pykafka_classic.server.log_dir_descriptions import LogDirInfo
from pykafka_classic.server.request import Request


def handle(broker: BrokerServices, request: Request) -> Message:
    """Of the asked partitions those that are here; null asks for all. Each topic that has something here is named, asked for or not, as Kafka does."""
    body = request.expect(DescribeLogDirsRequest)
    wanted = None if body.topics is None else {TopicPartition(topic.topic, index) for topic in body.topics for index in topic.partition_index}
    return DescribeLogDirsResponse(results=[_result(each) for each in broker.replica_manager.describe_log_dirs(wanted)])


def _result(described: LogDirInfo) -> DescribeLogDirsResult:
    topics = {name: DescribeLogDirsTopic(name=name) for name in sorted(described.topics)}
    for replica in described.replicas:
        topics[replica.topic_partition.topic].partitions.append(
            DescribeLogDirsPartition(
                partition_index=replica.topic_partition.partition,
                partition_size=replica.size,
                offset_lag=replica.offset_lag,
                is_future_key=replica.is_future,
            )
        )
    error = ErrorCode.NONE if described.is_online else ErrorCode.KAFKA_STORAGE_ERROR
    return DescribeLogDirsResult(error_code=error, log_dir=described.path, topics=list(topics.values()))
