"""Offsets of partitions: look them up (first, last, by time) and move the first one up (delete records). Each partition's leader is asked.

Differs from Kafka: a partition that metadata does not know fails after a second; Kafka's AdminClient looks for it until the whole call times out.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeAlias, TypeVar

from pykafka_classic.client.admin.outcomes import Outcomes, error_of, outcome
from pykafka_classic.client.admin.requests import UNKNOWN_TOPIC_PATIENCE_MS, Broker, Call, ClusterRequests, may_pass
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsResponse, DeleteRecordsTopic
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from pykafka_classic.protocol.messages.metadata import MetadataResponse

V = TypeVar("V")

Asked: TypeAlias = Callable[[int, Sequence[TopicPartition], float], Coroutine[Any, Any, Outcomes[TopicPartition, V]]]

LATEST: Final = -1  # the high watermark: where the next record will be readable
EARLIEST: Final = -2  # the first record that is still there
HIGH_WATERMARK: Final = -1  # to `delete_records`: all that can be read
CONSUMER: Final = -1  # as replica id


class IsolationLevel(IntEnum):
    """What LATEST means: the high watermark, or the last stable offset."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """An offset that was looked up."""

    offset: int  # -1: no record is as late as the time asked for
    timestamp_ms: int = -1  # of the record found by time; -1: not asked by time, or none
    leader_epoch: int = -1  # -1: not known


class OffsetOperations:
    """The part of the admin client that is about offsets of partitions."""

    _requests: ClusterRequests

    async def list_offsets(
        self, wanted: Mapping[TopicPartition, int], *, isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    ) -> Outcomes[TopicPartition, ListedOffset]:
        """The offset for each partition's EARLIEST, LATEST, or time in ms: of the first record that is as late or later.

        UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, UNSUPPORTED_FOR_MESSAGE_FORMAT (by time, with messages older than 0.10).

        >>> admin.list_offsets({TopicPartition("flights", 0): LATEST}).check()  # doctest: +SKIP
        {TopicPartition(topic='flights', partition=0): ListedOffset(offset=1200, timestamp_ms=-1, leader_epoch=4)}
        """

        def build(partitions: Sequence[TopicPartition], version: int) -> ListOffsetsRequest:
            topics = [
                ListOffsetsTopic(topic, [ListOffsetsPartition(each.partition, timestamp=wanted[each]) for each in some])
                for topic, some in by_topic(partitions).items()
            ]
            return ListOffsetsRequest(CONSUMER, isolation_level if version >= 2 else 0, topics)

        def read(response: ListOffsetsResponse) -> Outcomes[TopicPartition, ListedOffset]:
            return Outcomes(
                {
                    TopicPartition(topic.name, each.partition_index): outcome(_listed(each), each.error_code)
                    for topic in response.topics
                    for each in topic.partitions
                }
            )

        def call(partitions: Sequence[TopicPartition]) -> Call[ListOffsetsResponse]:
            return Call("listOffsets", ListOffsetsResponse, lambda version: build(partitions, version))

        async def ask(leader: int, partitions: Sequence[TopicPartition], deadline: float) -> Outcomes[TopicPartition, ListedOffset]:
            return read(await self._requests.ask_once(Broker(leader), call(partitions), deadline=deadline))

        return await self._by_leader(wanted, ask)

    async def delete_records(self, before: Mapping[TopicPartition, int]) -> Outcomes[TopicPartition, int]:
        """Delete the records before an offset (HIGH_WATERMARK: all); each outcome is the first offset that is left.

        OFFSET_OUT_OF_RANGE, POLICY_VIOLATION
        (compacted topic), UNKNOWN_TOPIC_OR_PARTITION.
        """

        def build(partitions: Sequence[TopicPartition], deadline: float) -> DeleteRecordsRequest:
            topics = [
                DeleteRecordsTopic(topic, [DeleteRecordsPartition(each.partition, before[each]) for each in some])
                for topic, some in by_topic(partitions).items()
            ]
            return DeleteRecordsRequest(topics, self._requests.left_ms(deadline))

        async def ask(leader: int, partitions: Sequence[TopicPartition], deadline: float) -> Outcomes[TopicPartition, int]:
            call = Call("deleteRecords", DeleteRecordsResponse, lambda _: build(partitions, deadline))
            response = await self._requests.ask_once(Broker(leader), call, deadline=deadline)
            return Outcomes(
                {
                    TopicPartition(topic.name, each.partition_index): outcome(each.low_watermark, each.error_code)
                    for topic in response.topics
                    for each in topic.partitions
                }
            )

        return await self._by_leader(before, ask)

    async def _by_leader(self, wanted: Iterable[TopicPartition], ask: Asked[V]) -> Outcomes[TopicPartition, V]:
        """Ask all leaders at the same time; those partitions whose leader has changed, or is being elected, again."""
        deadline, patience = self._requests.deadline(), self._requests.deadline(UNKNOWN_TOPIC_PATIENCE_MS)
        outcomes: Outcomes[TopicPartition, V] = Outcomes()
        every = list(wanted)
        pending = list(every)
        while pending:
            leaders, failed = _leaders(await self._requests.metadata(list(by_topic(pending)), deadline=deadline), pending)
            outcomes.update(failed)
            answers = [spawn(self._ask_one(ask, leader, some, deadline)) for leader, some in leaders.items()]
            for told in await gather(answers):
                outcomes.update(told)
            pending = [each for each in pending if self._is_worth_another_try(outcomes[each], patience)]
            try:
                if pending:
                    await self._requests.pause(deadline, next(error for error in map(outcomes.errors().get, pending) if error))
            except KafkaError as error:
                outcomes.update(dict.fromkeys(pending, error))
                pending = []
        return Outcomes({each: outcomes[each] for each in every})

    async def _ask_one(self, ask: Asked[V], leader: int, some: list[TopicPartition], deadline: float) -> Outcomes[TopicPartition, V]:
        try:
            told = await ask(leader, some, deadline)
        except KafkaError as error:
            return Outcomes(dict.fromkeys(some, error))
        silent = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "The response says nothing about it.")
        return Outcomes({each: told.get(each, silent) for each in some})

    def _is_worth_another_try(self, found: V | KafkaError, patience: float) -> bool:
        if not isinstance(found, KafkaError) or not may_pass(found):
            return False
        return found.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or self._requests.left_ms(patience) > 0


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """Partitions by their topic, in the order given."""
    found: dict[str, list[TopicPartition]] = {}
    for each in partitions:
        found.setdefault(each.topic, []).append(each)
    return found


def _leaders(told: MetadataResponse, wanted: Iterable[TopicPartition]) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, KafkaError]]:
    """By leader its partitions; and why others have none."""
    known = {topic.name: topic for topic in told.topics}
    leaders: dict[int, list[TopicPartition]] = {}
    failed: dict[TopicPartition, KafkaError] = {}
    for each in wanted:
        topic = known.get(each.topic)
        partition = next((found for found in topic.partitions if found.partition_index == each.partition), None) if topic else None
        if topic is not None and topic.error_code != ErrorCode.NONE:
            failed[each] = error_of(topic.error_code)
        elif partition is None:
            failed[each] = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        elif partition.leader_id < 0:
            failed[each] = KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
        else:
            leaders.setdefault(partition.leader_id, []).append(each)
    return leaders, failed


def _listed(told: ListOffsetsPartitionResponse) -> ListedOffset:
    """Version 0 tells a list of offsets, the others one."""
    offset = told.old_style_offsets[0] if told.old_style_offsets else told.offset
    return ListedOffset(offset, told.timestamp, told.leader_epoch)
