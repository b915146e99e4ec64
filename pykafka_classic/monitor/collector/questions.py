"""What brokers are asked: one request for each broker and kind of question. Pure; `brokers` sends them.

A broker that does not answer, or answers with an error, leaves a hole in this round's samples: the next round asks again, so nothing is tried twice here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pykafka_classic.client.admin.configs import ConfigResource
from pykafka_classic.client.admin.groups import member_of
from pykafka_classic.client.admin.offsets import CONSUMER, by_topic
from pykafka_classic.client.admin.requests import Call
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.store.rows import ConfigRow, GroupStateRow, LogDirRow, MemberRow
from pykafka_classic.protocol.config_numbers import ConfigSource, ResourceType
from pykafka_classic.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from pykafka_classic.protocol.messages.describe_groups import DescribedGroupMember, DescribeGroupsRequest, DescribeGroupsResponse
from pykafka_classic.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from pykafka_classic.protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from pykafka_classic.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from pykafka_classic.protocol.schema import UnsupportedVersion

UNKNOWN_SIZE: Final = -1
_KINDS: Final = {ResourceType.TOPIC: "topic", ResourceType.BROKER: "broker"}


def list_offsets(partitions: Iterable[TopicPartition], timestamp: int) -> Call[ListOffsetsResponse]:
    """To a leader: where its partitions' logs begin or end."""
    topics = [
        ListOffsetsTopic(topic, [ListOffsetsPartition(each.partition, timestamp=timestamp) for each in some]) for topic, some in by_topic(partitions).items()
    ]
    return Call("listOffsets", ListOffsetsResponse, lambda _: ListOffsetsRequest(CONSUMER, 0, topics))


def offsets_of(response: ListOffsetsResponse) -> Iterator[tuple[TopicPartition, int]]:
    """The offsets that a leader told."""
    for topic in response.topics:
        for each in topic.partitions:
            offset = each.old_style_offsets[0] if each.old_style_offsets else each.offset
            if each.error_code == ErrorCode.NONE and offset >= 0:
                yield TopicPartition(topic.name, each.partition_index), offset


def list_groups() -> Call[ListGroupsResponse]:
    """To every broker: the groups that it coordinates."""
    return Call("listGroups", ListGroupsResponse, lambda _: ListGroupsRequest([]))


def offset_fetch(group: str) -> Call[OffsetFetchResponse]:
    """To a group's coordinator: all that it has committed. Brokers before 0.10.2 cannot be asked for all."""

    def build(version: int) -> OffsetFetchRequest:
        if version < 2:
            raise UnsupportedVersion("This broker cannot tell all offsets of a group")
        return OffsetFetchRequest(group, None)

    return Call("offsetFetch", OffsetFetchResponse, build)


def commits_of(response: OffsetFetchResponse) -> dict[TopicPartition, int] | None:
    """The offsets that a group has committed; None where its coordinator cannot tell now."""
    told = [(TopicPartition(topic.name, each.partition_index), each) for topic in response.topics for each in topic.partitions]
    if response.error_code != ErrorCode.NONE or any(each.error_code != ErrorCode.NONE for _, each in told):
        return None
    return {partition: each.committed_offset for partition, each in told if each.committed_offset >= 0}


def describe_groups(groups: Sequence[str]) -> Call[DescribeGroupsResponse]:
    """To a coordinator: the groups of its own."""
    return Call("describeGroups", DescribeGroupsResponse, lambda _: DescribeGroupsRequest(list(groups)))


def group_states(response: DescribeGroupsResponse, coordinator: int) -> list[GroupStateRow]:
    """States and members of groups."""
    return [
        GroupStateRow(
            each.group_id,
            each.group_state,
            each.protocol_data,
            coordinator,
            tuple(_member(told, each.protocol_type) for told in sorted(each.members, key=lambda member: member.member_id)),
        )
        for each in response.groups
        if each.error_code == ErrorCode.NONE
    ]


def _member(told: DescribedGroupMember, protocol_type: str) -> MemberRow:
    member = member_of(told, protocol_type)
    partitions = tuple(sorted((each.topic, each.partition) for each in member.assignment))
    return MemberRow(member.member_id, member.client_id, member.host.removeprefix("/"), member.group_instance_id, partitions)


def describe_log_dirs() -> Call[DescribeLogDirsResponse]:
    """To every broker: what lies in its log directories."""
    return Call("describeLogDirs", DescribeLogDirsResponse, lambda _: DescribeLogDirsRequest(topics=None))


def log_dirs(response: DescribeLogDirsResponse, broker: int) -> list[LogDirRow]:
    """The directories of one broker."""
    return [
        LogDirRow(
            broker,
            each.log_dir,
            sum(partition.partition_size for topic in each.topics for partition in topic.partitions),
            error=None if each.error_code == ErrorCode.NONE else ErrorCode(each.error_code).name,
        )
        for each in response.results
    ]


def sizes(response: DescribeLogDirsResponse, leaders: Mapping[TopicPartition, int], broker: int) -> Iterator[tuple[TopicPartition, int]]:
    """The sizes of the logs that this broker leads; copies on their way to another directory do not count."""
    for directory in response.results:
        for topic in directory.topics:
            for each in topic.partitions:
                partition = TopicPartition(topic.name, each.partition_index)
                if not each.is_future_key and leaders.get(partition) == broker:
                    yield partition, each.partition_size


def describe_configs(resources: Iterable[ConfigResource]) -> Call[DescribeConfigsResponse]:
    """To a broker for its own, to any for topics."""
    wanted = [DescribeConfigsResource(each.type, each.name, None) for each in resources]
    return Call("describeConfigs", DescribeConfigsResponse, lambda _: DescribeConfigsRequest(wanted))


def config_rows(response: DescribeConfigsResponse) -> list[ConfigRow]:
    """Configs with their sources."""
    return [
        ConfigRow(
            _KINDS[ResourceType(each.resource_type)],
            each.resource_name,
            {entry.name: (None if entry.is_sensitive else entry.value, ConfigSource.of(entry.config_source).name) for entry in each.configs},
        )
        for each in response.results
        if each.error_code == ErrorCode.NONE
    ]
