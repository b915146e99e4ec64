"""The requests of a fetcher besides Fetch: where an epoch ended, where the leader's log begins and ends. facts/coordination.md 4.2, 4.3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from pykafka_classic.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest, OffsetForLeaderPartition, OffsetForLeaderTopic

LATEST: Final = -1
EARLIEST: Final = -2


def epoch_request_of(replica_id: int, asked: Mapping[TopicPartition, tuple[int, int]]) -> OffsetForLeaderEpochRequest:
    """Ask for the end of epochs; values are (current leader epoch, epoch asked about)."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for topic_partition, (current_leader_epoch, leader_epoch) in asked.items():
        topic = topics.setdefault(topic_partition.topic, OffsetForLeaderTopic(topic=topic_partition.topic))
        topic.partitions.append(
            OffsetForLeaderPartition(partition=topic_partition.partition, current_leader_epoch=current_leader_epoch, leader_epoch=leader_epoch)
        )
    return OffsetForLeaderEpochRequest(replica_id=replica_id, topics=list(topics.values()))


def offsets_request_of(replica_id: int, timestamp: int, epochs: Iterable[tuple[TopicPartition, int]]) -> ListOffsetsRequest:
    """Ask for the leader's log ends (LATEST) or log starts (EARLIEST); pairs of partition and current leader epoch."""
    topics: dict[str, ListOffsetsTopic] = {}
    for topic_partition, current_leader_epoch in epochs:
        topic = topics.setdefault(topic_partition.topic, ListOffsetsTopic(name=topic_partition.topic))
        topic.partitions.append(ListOffsetsPartition(partition_index=topic_partition.partition, current_leader_epoch=current_leader_epoch, timestamp=timestamp))
    return ListOffsetsRequest(replica_id=replica_id, topics=list(topics.values()))


def offsets_of(response: ListOffsetsResponse, version: int) -> dict[TopicPartition, int | ErrorCode]:
    """An offset, or why there is none, for each partition."""
    found: dict[TopicPartition, int | ErrorCode] = {}
    for topic in response.topics:
        for partition in topic.partitions:
            error = ErrorCode(partition.error_code)
            offset = partition.old_style_offsets[0] if version == 0 and partition.old_style_offsets else partition.offset
            found[TopicPartition(topic.name, partition.partition_index)] = error or offset
    return found
