"""OffsetCommit (key 8): to `__consumer_offsets`, or (v0) to ZooKeeper, where the old consumers keep theirs. facts/coordination.md 5.7."""

from __future__ import annotations

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import string_length
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_offsets import CommitErrors, Committer
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request
from pykafka_classic.server.zk_operations import set_or_create
from zk_schema import consumers

NOT_GIVEN = -1  # commit timestamp and retention


def handle(broker: BrokerServices, request: Request) -> Promise[Message]:
    """An error for each partition, in the order of the request."""
    return spawn(_commit(broker, request))


async def _commit(broker: BrokerServices, request: Request) -> Message:
    body = request.expect(OffsetCommitRequest)
    asked = {TopicPartition(topic.name, partition.partition_index): partition for topic in body.topics for partition in topic.partitions}
    known = {tp: partition for tp, partition in asked.items() if broker.metadata_cache.contains(tp)}
    errors: dict[TopicPartition, ErrorCode] = {tp: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for tp in asked if tp not in known}
    if request.version == 0:
        errors.update({tp: await _commit_to_zookeeper(broker, body.group_id, tp, partition) for tp, partition in known.items()})
    elif known:
        errors.update(await _commit_to_coordinator(broker, body, known))
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetCommitResponsePartition(
                        partition_index=partition.partition_index, error_code=errors[TopicPartition(topic.name, partition.partition_index)]
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


async def _commit_to_coordinator(broker: BrokerServices, body: OffsetCommitRequest, known: dict[TopicPartition, OffsetCommitRequestPartition]) -> CommitErrors:
    now_ms = broker.clock.now_ms()
    expire_ms = None if body.retention_time_ms == NOT_GIVEN else now_ms + body.retention_time_ms
    commits = {
        topic_partition: OffsetAndMetadata(
            offset=partition.committed_offset,
            metadata=partition.committed_metadata or "",
            commit_timestamp_ms=now_ms if partition.commit_timestamp == NOT_GIVEN else partition.commit_timestamp,
            leader_epoch=partition.committed_leader_epoch,
            expire_timestamp_ms=expire_ms,
        )
        for topic_partition, partition in known.items()
    }
    committer = Committer(body.group_id, body.member_id, body.group_instance_id, body.generation_id)
    return await broker.groups.offsets.commit(committer, commits)


async def _commit_to_zookeeper(broker: BrokerServices, group_id: str, topic_partition: TopicPartition, partition: OffsetCommitRequestPartition) -> ErrorCode:
    if string_length(partition.committed_metadata or "") > broker.config.offset_metadata_max_bytes:
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    try:
        path = consumers.offset_path(group_id, topic_partition.topic, topic_partition.partition)
        await set_or_create(broker.zk, path, consumers.encode_offset(partition.committed_offset))
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE
