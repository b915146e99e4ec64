"""Groups: what members read, their offsets, throwing them out."""

from __future__ import annotations

import pytest

from pykafka_classic.client.admin.groups import MemberToRemove
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages import consumer_protocol_assignment as protocol
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from pykafka_classic.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from pykafka_classic.protocol.messages.list_groups import ListedGroup, ListGroupsResponse
from pykafka_classic.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchResponse, OffsetFetchResponsePartition, OffsetFetchResponseTopic
from tests.fakes.broker_connections import FakeBrokers, versions_up_to

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def assignment(*partitions: int) -> bytes:
    told = protocol.ConsumerProtocolAssignment([protocol.TopicPartition("t", list(partitions))])
    return bytes(2) + encode(told, 0)


def describe(brokers: FakeBrokers, *members: DescribedGroupMember, protocol_type: str = "consumer") -> None:
    group = DescribedGroup(ErrorCode.NONE, "g", "Stable", protocol_type, "range", list(members))
    brokers.on[ApiKey.DESCRIBE_GROUPS] = lambda _, __: DescribeGroupsResponse(groups=[group])


def test_members_are_told_with_what_they_read() -> None:
    brokers = FakeBrokers()
    brokers.coordinator = 2
    describe(brokers, DescribedGroupMember("m1", "static", "c", "/10.0.0.1", b"", assignment(0, 1)), DescribedGroupMember("m2", None, "c", "/10.0.0.2"))
    group = brokers.run(brokers.admin().describe_groups(["g"])).check()["g"]
    assert (group.coordinator.id, group.state, group.protocol) == (2, "Stable", "range")
    assert [(each.group_instance_id, each.assignment) for each in group.members] == [("static", (T0, T1)), (None, ())]


@pytest.mark.parametrize("garbage", [b"\0", b"\0\1\xff\xff", bytes(2) + b"\x7f\xff\xff\xff", b"\0\0\0\0\0\1\0\1t\0\0\0\1"])
def test_an_assignment_that_is_garbage_is_nothing(garbage: bytes) -> None:
    brokers = FakeBrokers()
    describe(brokers, DescribedGroupMember("m1", None, "c", "/10.0.0.1", b"", garbage))
    assert brokers.run(brokers.admin().describe_groups(["g"])).check()["g"].members[0].assignment == ()


def test_what_another_protocol_assigns_is_not_read() -> None:
    brokers = FakeBrokers()
    describe(brokers, DescribedGroupMember("m1", None, "c", "/10.0.0.1", b"", assignment(0)), protocol_type="connect")
    assert brokers.run(brokers.admin().describe_groups(["g"])).check()["g"].members[0].assignment == ()


def test_groups_of_all_brokers_are_listed() -> None:
    brokers = FakeBrokers()
    brokers.on[ApiKey.LIST_GROUPS] = lambda broker, _: ListGroupsResponse(groups=[ListedGroup(f"g{broker}", "consumer", "Empty")])
    assert sorted(brokers.run(brokers.admin().list_groups())) == ["g0", "g1", "g2"]


def test_offsets_of_a_transaction_under_way_are_waited_for() -> None:
    brokers = FakeBrokers()

    def fetch(code: ErrorCode) -> OffsetFetchResponse:
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", [OffsetFetchResponsePartition(0, 7, 3, "note", code)])])

    brokers.on[ApiKey.OFFSET_FETCH] = lambda _, __: fetch(ErrorCode.UNSTABLE_OFFSET_COMMIT if brokers.clock.monotonic_ms() < 500 else ErrorCode.NONE)
    assert brokers.run(brokers.admin().list_group_offsets("g", require_stable=True)) == {T0: OffsetAndMetadata(7, "note", 3)}


def test_a_partition_without_a_commit_is_left_out() -> None:
    brokers = FakeBrokers()
    none = OffsetFetchResponsePartition(0, -1, -1, "", ErrorCode.NONE)
    brokers.on[ApiKey.OFFSET_FETCH] = lambda _, __: OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", [none])])
    assert brokers.run(brokers.admin().list_group_offsets("g", [T0])) == {}


def test_all_offsets_of_a_group_cannot_be_had_from_an_old_broker() -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.OFFSET_FETCH, 1))
    with pytest.raises(KafkaError) as raised:
        brokers.run(brokers.admin().list_group_offsets("g"))
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize(("version", "epoch"), [(5, -1), (8, 4)])
def test_offsets_are_committed_from_outside_the_group(version: int, epoch: int) -> None:
    brokers = FakeBrokers(serve=versions_up_to(ApiKey.OFFSET_COMMIT, version))
    told = [OffsetCommitResponsePartition(0), OffsetCommitResponsePartition(1, ErrorCode.UNKNOWN_MEMBER_ID)]
    brokers.on[ApiKey.OFFSET_COMMIT] = lambda _, __: OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", told)])
    outcomes = brokers.run(brokers.admin().alter_group_offsets("g", {T0: OffsetAndMetadata(5, "note", 4), T1: 6}))
    assert outcomes.values_only().keys() == {T0}
    (request,) = brokers.requests(OffsetCommitRequest)
    assert (request.generation_id, request.member_id) == (-1, "")
    committed = [(each.partition_index, each.committed_offset, each.committed_metadata, each.committed_leader_epoch) for each in request.topics[0].partitions]
    assert committed == [(0, 5, "note", epoch), (1, 6, "", -1)]


def test_all_members_are_thrown_out_static_ones_by_their_instance() -> None:
    brokers = FakeBrokers()
    describe(brokers, DescribedGroupMember("m1", "static", "c", "/h"), DescribedGroupMember("m2", None, "c", "/h"))
    brokers.on[ApiKey.LEAVE_GROUP] = lambda _, request: LeaveGroupResponse(
        members=[MemberResponse(each.member_id, each.group_instance_id, ErrorCode.NONE) for each in request.members]
    )
    outcomes = brokers.run(brokers.admin().remove_members("g"))
    assert outcomes.check().keys() == {MemberToRemove("", "static"), MemberToRemove("m2", None)}
    (request,) = brokers.requests(LeaveGroupRequest)
    assert request.group_id == "g"


def test_nobody_is_thrown_out_of_an_empty_group() -> None:
    brokers = FakeBrokers()
    describe(brokers)
    assert brokers.run(brokers.admin().remove_members("g")) == {}
    assert brokers.requests(LeaveGroupRequest) == []
