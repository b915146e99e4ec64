"""Reading a stretch of one partition by hand, without a consumer: for questions about single records. Each fetch asks the partition's leader.

Not for reading much: no session, one partition at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from pykafka_classic.client.admin.offsets import CONSUMER, EARLIEST
from pykafka_classic.client.admin.requests import Call, ClusterRequests, Leader, raise_error
from pykafka_classic.client.fetched_records import ConsumerRecord, FetchedRecords, read_fetched
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

FETCH_BYTES: Final = 1 << 20
ONE_BATCH_BYTES: Final = 1  # a broker gives the first batch whole, however large

_LEADER_ERRORS: Final = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.KAFKA_STORAGE_ERROR}
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one fetch brought."""

    fetched: FetchedRecords
    high_watermark: int


class PartitionReader:
    """Fetches from the leaders of a cluster's partitions."""

    def __init__(self, requests: ClusterRequests) -> None:
        self._requests = requests

    async def fetch(self, partition: TopicPartition, offset: int, *, max_bytes: int = FETCH_BYTES) -> Stretch:
        """The records from `offset` on, those of one batch at least, none at the end. KafkaError: OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION."""

        def build(_: int) -> FetchRequest:
            wanted = FetchTopic(partition.topic, [FetchPartition(partition.partition, fetch_offset=offset, partition_max_bytes=max_bytes)])
            return FetchRequest(replica_id=CONSUMER, max_wait_ms=0, min_bytes=0, max_bytes=max_bytes, session_epoch=-1, topics=[wanted])

        response = await self._requests.ask(Leader(partition), Call("fetch", FetchResponse, build, lambda told: _moved(_fetched(told).error_code)))
        told = _fetched(response)
        raise_error(told.error_code)
        return Stretch(read_fetched(partition, told.record_set, fetch_offset=offset), told.high_watermark)

    async def all_records(self, partition: TopicPartition) -> AsyncIterator[ConsumerRecord]:
        """Every record from the first to what is now the high watermark."""
        position = await self._earliest(partition)
        end = None
        while end is None or position < end:
            stretch = await self.fetch(partition, position)
            end = stretch.high_watermark if end is None else end
            for record in stretch.fetched.records:
                yield record
            if stretch.fetched.next_offset == position:
                return  # nothing more, though the watermark said so: a compacted end
            position = stretch.fetched.next_offset

    async def _earliest(self, partition: TopicPartition) -> int:
        wanted = [ListOffsetsTopic(partition.topic, [ListOffsetsPartition(partition.partition, timestamp=EARLIEST)])]
        call = Call("listOffsets", ListOffsetsResponse, lambda _: ListOffsetsRequest(CONSUMER, topics=wanted), lambda told: _moved(_listed(told).error_code))
        told = _listed(await self._requests.ask(Leader(partition), call))
        raise_error(told.error_code)
        return told.old_style_offsets[0] if told.old_style_offsets else told.offset


def _moved(code: int) -> list[int]:
    """The leader is another by now."""
    return [code] if code in _LEADER_ERRORS else []


def _fetched(response: FetchResponse) -> FetchablePartitionResponse:
    return response.responses[0].partition_responses[0]


def _listed(response: ListOffsetsResponse) -> ListOffsetsPartitionResponse:
    return response.topics[0].partitions[0]
