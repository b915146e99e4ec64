"""Offsets by time, the first and the last: ListOffsets to the leaders of many partitions, repeated for those that could not answer.

Source: 2.8:clients/src/main/java/org/apache/kafka/clients/consumer/internals/Fetcher.java (fetchOffsetsByTimes); facts/protocol.md 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from pykafka_classic.client.broker_node import BrokerNode
from pykafka_classic.client.client_errors import ClientTimeout, UnsupportedByBrokers
from pykafka_classic.client.cluster_client import ClusterClient
from pykafka_classic.common.clock import after
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from pykafka_classic.protocol.network import Disconnected

EARLIEST: Final = -2
LATEST: Final = -1
CONSUMER: Final = -1  # replica id

_ISOLATION_VERSION: Final = 2


class FoundOffset(NamedTuple):
    """An offset; with the timestamp of its record where it was looked up by time, else -1."""

    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


async def look_up(
    cluster: ClusterClient, times: Mapping[TopicPartition, int], *, isolation: int, deadline_ms: float
) -> dict[TopicPartition, FoundOffset | None]:
    """For each partition the offset of a time (ms; EARLIEST, LATEST): None where no record is that late. KafkaError, ClientTimeout, UnsupportedByBrokers."""
    found: dict[TopicPartition, FoundOffset | None] = {}
    last_error = ""
    while len(found) < len(times):
        missing = {partition: time for partition, time in times.items() if partition not in found}
        last_error = await _ask_leaders(cluster, missing, isolation, found)
        if len(found) < len(times):
            if cluster.seams.clock.monotonic_ms() + cluster.settings.retry_backoff_ms > deadline_ms:
                names = ", ".join(sorted(str(each) for each in missing if each not in found))
                raise ClientTimeout(f"no offsets of {names:.200} in the time given; {last_error}")
            cluster.update_soon()
            await after(cluster.seams.clock, cluster.settings.retry_backoff_ms)
    return found


async def _ask_leaders(cluster: ClusterClient, missing: Mapping[TopicPartition, int], isolation: int, found: dict[TopicPartition, FoundOffset | None]) -> str:
    """One round; what stood in the way of the last that failed."""
    by_leader: dict[int, dict[TopicPartition, int]] = {}
    last_error = "their leaders are not known"
    cluster.want_also({each.topic for each in missing})
    for partition, time in missing.items():
        leader = cluster.metadata.leader_of(partition)
        if leader is not None:
            by_leader.setdefault(leader, {})[partition] = time
    asked = [spawn(_ask(cluster, cluster.node(leader), some, isolation)) for leader, some in by_leader.items()]
    for answers in await gather(asked):
        if isinstance(answers, Disconnected):
            last_error = f"the last error: {answers}"
            continue
        for partition, answer in answers.items():
            code = ErrorCode(answer.error_code)
            if code is ErrorCode.NONE:
                found[partition] = _offset_of(answer)
            elif code is ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:
                found[partition] = None  # records without timestamps
            elif code.retriable:
                last_error = f"the last error, of {partition}: {code.message}"
            else:
                raise KafkaError(code, f"{partition}: {code.message}")
    return last_error


async def _ask(
    cluster: ClusterClient, node: BrokerNode, times: Mapping[TopicPartition, int], isolation: int
) -> dict[TopicPartition, ListOffsetsPartitionResponse] | Disconnected:
    try:
        version = await node.version_of(ApiKey.LIST_OFFSETS)
        if (version < 1 and any(time >= 0 for time in times.values())) or (version < _ISOLATION_VERSION and isolation):
            raise UnsupportedByBrokers(f"broker {node} knows ListOffsets up to v{version} only: not by time before 0.10.1, not read_committed before 0.11")
        topics: dict[str, list[ListOffsetsPartition]] = {}
        for partition, time in times.items():
            info = cluster.metadata.partition(partition)
            epoch = info.leader_epoch if info is not None else -1
            topics.setdefault(partition.topic, []).append(ListOffsetsPartition(partition_index=partition.partition, current_leader_epoch=epoch, timestamp=time))
        request = ListOffsetsRequest(replica_id=CONSUMER, isolation_level=isolation, topics=[ListOffsetsTopic(*each) for each in topics.items()])
        response = await node.send(request, version=version)
    except Disconnected as error:
        return error
    assert isinstance(response, ListOffsetsResponse)
    return {TopicPartition(topic.name, each.partition_index): each for topic in response.topics for each in topic.partitions}


def _offset_of(answer: ListOffsetsPartitionResponse) -> FoundOffset | None:
    if answer.old_style_offsets:
        return FoundOffset(answer.old_style_offsets[0])
    return None if answer.offset < 0 else FoundOffset(answer.offset, answer.timestamp, answer.leader_epoch)
