"""Offsets are asked of leaders, and of the new leader after a change."""

from __future__ import annotations

from collections.abc import Mapping

from pykafka_classic.client.admin.offsets import EARLIEST, LATEST
from pykafka_classic.client.admin.requests import AdminSettings
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from tests.fakes.broker_connections import FakeBrokers, versions_up_to
from tests.unit.client.admin.test_topics import topic

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
ENDS = {EARLIEST: 3, LATEST: 9}


def serve_offsets(brokers: FakeBrokers, leaders: Mapping[TopicPartition, int], *, old: bool = False) -> None:
    """Each broker knows the partitions that it leads; `leaders` may change later."""

    def listed(broker: int, request: ListOffsetsRequest) -> ListOffsetsResponse:
        found = []
        for each in request.topics:
            for one in each.partitions:
                is_leader = leaders[TopicPartition(each.name, one.partition_index)] == broker
                code = ErrorCode.NONE if is_leader else ErrorCode.NOT_LEADER_OR_FOLLOWER
                offset = ENDS[one.timestamp]
                found.append(ListOffsetsPartitionResponse(one.partition_index, code, [offset] if old else [], offset=-1 if old else offset))
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", found)])

    brokers.on[ApiKey.LIST_OFFSETS] = listed


def test_each_leader_is_asked_once_for_all_its_partitions() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [1, 2, 1])]
    serve_offsets(brokers, {T0: 1, T1: 2, T2: 1})
    found = brokers.run(brokers.admin().list_offsets({T0: LATEST, T1: EARLIEST, T2: EARLIEST})).check()
    assert {each: listed.offset for each, listed in found.items()} == {T0: 9, T1: 3, T2: 3}
    assert brokers.asked(ApiKey.LIST_OFFSETS) == [1, 2]


def test_only_the_partitions_whose_leader_changed_are_asked_again() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [1, 2])]
    serve_offsets(brokers, {T0: 1, T1: 0})
    brokers.clock.call_later(250, lambda: brokers.topics.__setitem__(0, topic("t", [1, 0])))
    found = brokers.run(brokers.admin().list_offsets({T0: LATEST, T1: LATEST})).check()
    assert list(found) == [T0, T1]
    assert brokers.asked(ApiKey.LIST_OFFSETS)[:2] == [1, 2]
    assert brokers.asked(ApiKey.LIST_OFFSETS)[-1] == 0
    assert brokers.asked(ApiKey.LIST_OFFSETS).count(1) == 1


def test_a_dead_leader_is_left_for_its_successor() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [1])]
    brokers.dead = {1}
    serve_offsets(brokers, {T0: 2})
    brokers.clock.call_later(3_000, lambda: brokers.topics.__setitem__(0, topic("t", [2])))
    assert brokers.run(brokers.admin().list_offsets({T0: LATEST})).check()[T0].offset == 9


def test_a_partition_without_a_leader_fails_alone_when_time_is_up() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [-1, 1])]
    serve_offsets(brokers, {T1: 1})
    outcomes = brokers.run(brokers.admin(AdminSettings(default_api_timeout_ms=4_000)).list_offsets({T0: LATEST, T1: LATEST}))
    assert outcomes.values_only().keys() == {T1}
    assert outcomes.errors()[T0].code is ErrorCode.REQUEST_TIMED_OUT


def test_an_unknown_partition_fails_after_a_second() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [1])]
    serve_offsets(brokers, {T0: 1})
    outcomes = brokers.run(brokers.admin().list_offsets({T0: LATEST, T1: LATEST}))
    assert outcomes.errors()[T1].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert brokers.clock.monotonic_ms() <= 1_100


def test_offsets_in_the_form_of_version_0_are_understood() -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.LIST_OFFSETS, 0))
    brokers.topics = [topic("t", [1])]
    serve_offsets(brokers, {T0: 1}, old=True)
    assert brokers.run(brokers.admin().list_offsets({T0: EARLIEST})).check()[T0].offset == 3


def test_records_are_deleted_at_leaders() -> None:
    brokers = FakeBrokers()
    brokers.topics = [topic("t", [1, 2])]

    def deleted(_: int, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
        told = [
            DeleteRecordsPartitionResult(each.partition_index, each.offset, ErrorCode.NONE if each.offset < 9 else ErrorCode.OFFSET_OUT_OF_RANGE)
            for each in request.topics[0].partitions
        ]
        return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("t", told)])

    brokers.on[ApiKey.DELETE_RECORDS] = deleted
    outcomes = brokers.run(brokers.admin().delete_records({T0: 5, T1: 99}))
    assert outcomes.values_only() == {T0: 5}
    assert outcomes.errors()[T1].code is ErrorCode.OFFSET_OUT_OF_RANGE
