"""Consumer groups of the second generation: list, describe, delete; their offsets; throwing members out. All is asked of the group's coordinator.

Offsets are of the next record to read. A group without members can be written to from outside (generation -1, no member id): so `alter_group_offsets` works.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from pykafka_classic.client.admin.offsets import by_topic
from pykafka_classic.client.admin.outcomes import Outcomes, missing, outcome
from pykafka_classic.client.admin.requests import Broker, Call, ClusterRequests, Coordinator, raise_error
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.cluster.broker import Node
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from pykafka_classic.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from pykafka_classic.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from pykafka_classic.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic, OffsetFetchResponse
from pykafka_classic.protocol.schema import SchemaError, UnsupportedVersion

T = TypeVar("T")

CONSUMER: Final = "consumer"  # the protocol type of consumers
STATES_SINCE: Final = 4  # version of ListGroups in which states are told, and can be asked for (KIP-518)
MEMBERS_SINCE: Final = 3  # version of LeaveGroup in which others can be thrown out (KIP-345)
EPOCHS_SINCE: Final = 6  # version of OffsetCommit which carries leader epochs
VERSION_BYTES: Final = 2  # before an assignment

_COORDINATOR_ERRORS: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS})


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group that exists."""

    group_id: str
    protocol_type: str  # "consumer"; "" where offsets were only ever committed from outside
    state: str  # "" from brokers before 2.6


@dataclass(frozen=True, slots=True)
class MemberDescription:
    """A member of a group and what it reads."""

    member_id: str
    group_instance_id: str | None  # of a static member
    client_id: str
    host: str  # as the broker writes it: /127.0.0.1
    assignment: tuple[TopicPartition, ...]  # empty while the group rebalances, and where its protocol is not the consumers'


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group as its coordinator knows it. A group that does not exist is in state Dead."""

    group_id: str
    state: str  # PreparingRebalance, CompletingRebalance, Stable, Empty, Dead
    protocol_type: str
    protocol: str  # the assignor: "range"
    coordinator: Node
    members: tuple[MemberDescription, ...]


class MemberToRemove(NamedTuple):
    """A member to throw out: a static one by its instance id alone."""

    member_id: str = ""
    group_instance_id: str | None = None


class GroupOperations:
    """The part of the admin client that is about groups."""

    _requests: ClusterRequests

    async def list_groups(self, states: Collection[str] = ()) -> dict[str, GroupListing]:
        """The groups of all brokers, those in some states only if any are given. KafkaError if one broker cannot be asked."""

        def build(version: int) -> ListGroupsRequest:
            if states and version < STATES_SINCE:
                raise UnsupportedVersion(f"The broker only supports ListGroups v{version}, but we need v4 or newer to request groups by states.")
            return ListGroupsRequest(list(states) if version >= STATES_SINCE else [])

        async def ask(broker: int) -> ListGroupsResponse:
            return await self._requests.ask(Broker(broker), Call("listGroups", ListGroupsResponse, build, lambda told: [told.error_code]))

        await self._requests.metadata(())
        found: dict[str, GroupListing] = {}
        for response in await gather([spawn(ask(broker)) for broker in self._requests.nodes]):
            raise_error(response.error_code)
            found |= {each.group_id: GroupListing(each.group_id, each.protocol_type, each.group_state) for each in response.groups}
        return found

    async def describe_groups(self, groups: Iterable[str]) -> Outcomes[str, GroupDescription]:
        """State, coordinator and members of each group. GROUP_AUTHORIZATION_FAILED, INVALID_GROUP_ID, COORDINATOR_NOT_AVAILABLE.

        >>> admin.describe_groups(["billing"]).check()["billing"].state  # doctest: +SKIP
        'Stable'
        """

        async def ask(group: str) -> GroupDescription:
            place = Coordinator(group)
            call = Call("describeGroups", DescribeGroupsResponse, lambda _: DescribeGroupsRequest([group]), lambda told: [told.groups[0].error_code])
            told = (await self._requests.ask(place, call)).groups[0]
            raise_error(told.error_code)
            assert place.found is not None
            return _description(told, place.found)

        return await _of_each(groups, ask)

    async def delete_groups(self, groups: Iterable[str]) -> Outcomes[str, None]:
        """Delete groups and their offsets. NON_EMPTY_GROUP while they have members, GROUP_ID_NOT_FOUND."""

        async def ask(group: str) -> None:
            call = Call(
                "deleteGroups", DeleteGroupsResponse, lambda _: DeleteGroupsRequest([group]), lambda told: _lost(each.error_code for each in told.results)
            )
            response = await self._requests.ask(Coordinator(group), call)
            raise_error(response.results[0].error_code)

        return await _of_each(groups, ask)

    async def list_group_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None, *, require_stable: bool = False
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """What the group has committed, for these partitions or (None) for all; partitions without a commit are left out.

        With `require_stable`, offsets of a transaction under way are waited for (from 2.5 on).
        """
        wanted = (
            None if partitions is None else [OffsetFetchRequestTopic(topic, [each.partition for each in some]) for topic, some in by_topic(partitions).items()]
        )

        def build(version: int) -> OffsetFetchRequest:
            if wanted is None and version < 2:
                raise UnsupportedVersion("This broker cannot tell all offsets of a group: name the partitions")
            return OffsetFetchRequest(group, wanted, require_stable and version >= 7)

        def errors(told: OffsetFetchResponse) -> Iterable[int]:
            inside = (each.error_code for topic in told.topics for each in topic.partitions)
            return _lost([told.error_code, *inside], ErrorCode.UNSTABLE_OFFSET_COMMIT)

        response = await self._requests.ask(Coordinator(group), Call("offsetFetch", OffsetFetchResponse, build, errors))
        raise_error(response.error_code)
        found: dict[TopicPartition, OffsetAndMetadata] = {}
        for topic in response.topics:
            for each in topic.partitions:
                if each.committed_offset >= 0:
                    raise_error(each.error_code)
                    found[TopicPartition(topic.name, each.partition_index)] = OffsetAndMetadata(
                        each.committed_offset, each.metadata or "", each.committed_leader_epoch
                    )
        return found

    async def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]) -> Outcomes[TopicPartition, None]:
        """Commit offsets from outside the group, which must have no members: else UNKNOWN_MEMBER_ID. A group that does not exist comes into being.

        >>> admin.alter_group_offsets("billing", {TopicPartition("flights", 0): 0}).check()  # doctest: +SKIP
        """

        def build(version: int) -> OffsetCommitRequest:
            topics = [OffsetCommitRequestTopic(topic, [_commit(each, offsets[each], version) for each in some]) for topic, some in by_topic(offsets).items()]
            return OffsetCommitRequest(group, topics=topics)

        def errors(told: OffsetCommitResponse) -> Iterable[int]:
            return _lost(each.error_code for topic in told.topics for each in topic.partitions)

        response = await self._requests.ask(Coordinator(group), Call("offsetCommit", OffsetCommitResponse, build, errors))
        outcomes: Outcomes[TopicPartition, None] = Outcomes()
        for topic in response.topics:
            for each in topic.partitions:
                outcomes[TopicPartition(topic.name, each.partition_index)] = outcome(None, each.error_code)
        missing(offsets, outcomes)
        return outcomes

    async def delete_group_offsets(self, group: str, partitions: Collection[TopicPartition]) -> Outcomes[TopicPartition, None]:
        """Forget the commits of these partitions.

        GROUP_SUBSCRIBED_TO_TOPIC while members read the topic, UNKNOWN_TOPIC_OR_PARTITION; for the whole group, as
        KafkaError raised: GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP (not a group of consumers).
        """
        topics = [
            OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(each.partition) for each in some]) for topic, some in by_topic(partitions).items()
        ]
        call = Call("offsetDelete", OffsetDeleteResponse, lambda _: OffsetDeleteRequest(group, topics), lambda told: _lost([told.error_code]))
        response = await self._requests.ask(Coordinator(group), call)
        raise_error(response.error_code)
        outcomes: Outcomes[TopicPartition, None] = Outcomes()
        for topic in response.topics:
            for each in topic.partitions:
                outcomes[TopicPartition(topic.name, each.partition_index)] = outcome(None, each.error_code)
        missing(dict.fromkeys(partitions), outcomes)
        return outcomes

    async def remove_members(self, group: str, members: Sequence[MemberToRemove] | None = None) -> Outcomes[MemberToRemove, None]:
        """Throw members out of a group: these, or (None) all. Those alive join again. UNKNOWN_MEMBER_ID; UNSUPPORTED_VERSION from brokers before 2.4."""
        if members is None:
            described = (await self.describe_groups([group])).check()[group].members
            members = [MemberToRemove("" if each.group_instance_id is not None else each.member_id, each.group_instance_id) for each in described]
        if not members:
            return Outcomes()
        wanted = members

        def build(version: int) -> LeaveGroupRequest:
            if version < MEMBERS_SINCE:
                raise UnsupportedVersion("This broker cannot throw members out of a group")
            return LeaveGroupRequest(group, members=[MemberIdentity(*each) for each in wanted])

        call = Call("leaveGroup", LeaveGroupResponse, build, lambda told: _lost([told.error_code]))
        response = await self._requests.ask(Coordinator(group), call)
        raise_error(response.error_code)
        outcomes: Outcomes[MemberToRemove, None] = Outcomes()
        for each in response.members:
            outcomes[MemberToRemove(each.member_id, each.group_instance_id)] = outcome(None, each.error_code)
        missing(dict.fromkeys(wanted), outcomes)
        return outcomes


def _lost(codes: Iterable[int], *others: ErrorCode) -> list[int]:
    """Those of the codes after which the coordinator is to be asked, or looked for, again."""
    return [code for code in codes if code in _COORDINATOR_ERRORS or code in others]


async def _of_each(groups: Iterable[str], ask: Callable[[str], Coroutine[Any, Any, T]]) -> Outcomes[str, T]:
    """All groups at the same time."""

    async def one(group: str) -> T | KafkaError:
        try:
            return await ask(group)
        except KafkaError as error:
            return error

    names = list(dict.fromkeys(groups))
    return Outcomes(dict(zip(names, await gather([spawn(one(name)) for name in names]), strict=True)))


def _description(told: DescribedGroup, coordinator: Node) -> GroupDescription:
    members = tuple(member_of(each, told.protocol_type) for each in told.members)
    return GroupDescription(told.group_id, told.group_state, told.protocol_type, told.protocol_data, coordinator, members)


def member_of(told: DescribedGroupMember, protocol_type: str) -> MemberDescription:
    """A member as its coordinator tells."""
    assignment = _assignment(told.member_assignment) if protocol_type == CONSUMER else ()
    return MemberDescription(told.member_id, told.group_instance_id, told.client_id, told.client_host, assignment)


def _assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """What SyncGroup gave the member. It may be anything, for brokers do not look into it."""
    if len(data) < VERSION_BYTES:
        return ()
    try:
        told, _ = decode(ConsumerProtocolAssignment, 0, data, VERSION_BYTES)
    except SchemaError:
        return ()
    return tuple(TopicPartition(topic.topic, number) for topic in told.assigned_partitions for number in topic.partitions)


def _commit(partition: TopicPartition, position: OffsetAndMetadata | int, version: int) -> OffsetCommitRequestPartition:
    if isinstance(position, int):
        position = OffsetAndMetadata(position)
    epoch = position.leader_epoch if version >= EPOCHS_SINCE else -1
    return OffsetCommitRequestPartition(partition.partition, position.offset, epoch, committed_metadata=position.metadata)
