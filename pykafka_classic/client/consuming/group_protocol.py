"""What members of a consumer group tell each other through the coordinator: subscriptions in JoinGroup, assignments in SyncGroup (facts/protocol.md 18).

An int16 version stands before each. Newer versions only append: a reader takes the part that it knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

from pykafka_classic.assignors.consumer_assignor import GroupMember
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages import consumer_protocol_assignment, consumer_protocol_subscription
from pykafka_classic.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from pykafka_classic.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from pykafka_classic.protocol.schema import SchemaError

PROTOCOL_TYPE: Final = "consumer"
VERSION: Final = 1  # with owned partitions

_VERSION: Final = Struct(">h")


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """A member as the coordinator passes it to the leader."""

    member_id: str
    instance_id: str | None
    metadata: bytes


def encode_subscription(topics: Iterable[str], owned: Iterable[TopicPartition], user_data: bytes | None) -> bytes:
    """What a member wants, and what it has."""
    partitions = [consumer_protocol_subscription.TopicPartition(*each) for each in _by_topic(owned).items()]
    return _VERSION.pack(VERSION) + encode(ConsumerProtocolSubscription(sorted(topics), user_data, partitions), VERSION)


def decode_member(member: MemberMetadata) -> GroupMember:
    """A member for the assignor. One whose metadata is garbage subscribes to nothing: the group must not fail for one member."""
    try:
        version = min(_version_of(member.metadata), VERSION)
        told = decode(ConsumerProtocolSubscription, version, member.metadata, _VERSION.size)[0]
    except SchemaError:
        return GroupMember(member.member_id, (), member.instance_id)
    owned = tuple(TopicPartition(each.topic, number) for each in told.owned_partitions for number in each.partitions)
    return GroupMember(member.member_id, tuple(told.topics), member.instance_id, owned, told.user_data)


def encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """What a member gets."""
    topics = [consumer_protocol_assignment.TopicPartition(*each) for each in _by_topic(partitions).items()]
    return _VERSION.pack(VERSION) + encode(ConsumerProtocolAssignment(topics, None), VERSION)


def decode_assignment(data: bytes) -> list[TopicPartition]:
    """What this member got; nothing where the leader left it out. SchemaError."""
    if not data:
        return []
    told = decode(ConsumerProtocolAssignment, min(_version_of(data), VERSION), data, _VERSION.size)[0]
    return [TopicPartition(each.topic, number) for each in told.assigned_partitions for number in each.partitions]


def partition_counts(members: Sequence[GroupMember], known: Mapping[str, int]) -> dict[str, int]:
    """Of the topics that somebody wants."""
    return {topic: known[topic] for topic in sorted({topic for member in members for topic in member.topics}) if topic in known}


def _version_of(data: bytes) -> int:
    if len(data) < _VERSION.size or _VERSION.unpack_from(data)[0] < 0:
        raise SchemaError("no version")
    version: int = _VERSION.unpack_from(data)[0]
    return version


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return topics
