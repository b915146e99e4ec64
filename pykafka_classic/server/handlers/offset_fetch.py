"""OffsetFetch (key 9): a group's committed offsets, from `__consumer_offsets` or (v0) from ZooKeeper. facts/coordination.md 5.7."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_offsets import FetchedOffset
from pykafka_classic.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from pykafka_classic.protocol.schema import Message
from pykafka_classic.server.broker_services import BrokerServices
from pykafka_classic.server.request import Request
from pykafka_classic.server.zk_operations import data_or_none
from zk_schema import consumers


def handle(broker: BrokerServices, request: Request) -> Message | Promise[Message]:
    """The named partitions, or all of the group's (v2+, null). Before v2 an error of the group stands at each partition."""
    body = request.expect(OffsetFetchRequest)
    wanted = None if body.topics is None else [TopicPartition(topic.name, index) for topic in body.topics for index in topic.partition_indexes]
    if request.version == 0:
        return spawn(_fetch_from_zookeeper(broker, body.group_id, wanted or []))
    error, found = broker.groups.offsets.fetch(body.group_id, wanted, require_stable=body.require_stable)
    if error and request.version < 2:
        found = {topic_partition: FetchedOffset(error=error) for topic_partition in wanted or ()}
    elif error:
        found = {}
    return _response(found, error if request.version >= 2 else ErrorCode.NONE)


async def _fetch_from_zookeeper(broker: BrokerServices, group_id: str, wanted: list[TopicPartition]) -> Message:
    found: dict[TopicPartition, FetchedOffset] = {}
    for topic_partition in wanted:
        if not broker.metadata_cache.contains(topic_partition):
            found[topic_partition] = FetchedOffset(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            continue
        stored = await data_or_none(broker.zk, consumers.offset_path(group_id, topic_partition.topic, topic_partition.partition))
        if stored is None or not stored.data:
            found[topic_partition] = FetchedOffset(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        else:
            found[topic_partition] = FetchedOffset(offset=consumers.decode_offset(stored.data))
    return _response(found, ErrorCode.NONE)


def _response(found: Mapping[TopicPartition, FetchedOffset], error: ErrorCode) -> OffsetFetchResponse:
    topics: dict[str, OffsetFetchResponseTopic] = {}
    for topic_partition, offset in found.items():
        topic = topics.setdefault(topic_partition.topic, OffsetFetchResponseTopic(name=topic_partition.topic))
        topic.partitions.append(
            OffsetFetchResponsePartition(
                partition_index=topic_partition.partition,
                committed_offset=offset.offset,
                committed_leader_epoch=offset.leader_epoch,
                metadata=offset.metadata,
                error_code=offset.error,
            )
        )
    return OffsetFetchResponse(topics=list(topics.values()), error_code=error)
