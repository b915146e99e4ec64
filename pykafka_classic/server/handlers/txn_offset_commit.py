"""TxnOffsetCommit (key 28): offsets that count once the producer's transaction commits (KIP-98, KIP-447). facts/coordination.md 5.7.

The batch that holds them is part of the transaction; its marker comes with WriteTxnMarkers.
"""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_offsets import Committer
from pykafka_classic.coordinator.group.group_records import OffsetAndMetadata
from pykafka_classic.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request

KNOWS_LOADING = 2  # clients of older versions take COORDINATOR_LOAD_IN_PROGRESS for the end


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """An error for each partition, in the order of the request."""
    body = request.expect(TxnOffsetCommitRequest)
    now_ms = broker.clock.now_ms()
    commits = {
        TopicPartition(topic.name, partition.partition_index): OffsetAndMetadata(
            offset=partition.committed_offset,
            metadata=partition.committed_metadata or "",
            commit_timestamp_ms=now_ms,
            leader_epoch=partition.committed_leader_epoch,
        )
        for topic in body.topics
        for partition in topic.partitions
    }
    known = {topic_partition: commit for topic_partition, commit in commits.items() if broker.metadata_cache.contains(topic_partition)}
    if not known:
        return _response(request, {})
    producer = (body.producer_id, body.producer_epoch)
    committer = Committer(body.group_id, body.member_id, body.group_instance_id, body.generation_id, producer)
    return broker.groups.offsets.commit(committer, known).then(lambda errors: _response(request, errors))


def _response(request: Request, errors: Mapping[TopicPartition, ErrorCode]) -> Message:
    def error_of(topic: str, partition: int) -> ErrorCode:
        error = errors.get(TopicPartition(topic, partition), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and request.version < KNOWS_LOADING:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error

    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error_of(topic.name, partition.partition_index))
                    for partition in topic.partitions
                ],
            )
            for topic in request.expect(TxnOffsetCommitRequest).topics
        ]
    )
