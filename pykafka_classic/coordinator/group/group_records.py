"""What the group coordinator writes to `__consumer_offsets`, and how it is read back.

Keys and values are an int16 version and a message of that version (facts/coordination.md 5.2, storage.md 18):

    key 0, 1  group, topic, partition    -> value: the committed offset        (null: forgotten)
    key 2     group                      -> value: the group with its members  (null: forgotten)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Final, TypeVar

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState, Member
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages.group_metadata_key import GroupMetadataKey
from pykafka_classic.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.schema import Message

M = TypeVar("M", bound=Message)

VERSION: Final = Struct(">h")
OFFSET_KEY_VERSION: Final = 1
GROUP_KEY_VERSION: Final = 2
NO_LEADER_EPOCH: Final = -1
NO_EXPIRY: Final = -1


@dataclass(frozen=True, slots=True)
class OffsetAndMetadata:
    """A committed offset: the next one to read. `expire_timestamp_ms` only where the client asked for a retention (v1 values)."""

    offset: int
    metadata: str
    commit_timestamp_ms: int
    leader_epoch: int = NO_LEADER_EPOCH
    expire_timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class OffsetKey:
    """Whose offset it is."""

    group_id: str
    topic_partition: TopicPartition


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Which group it is."""

    group_id: str


class UnknownRecordVersion(Exception):
    """A value of a version that this broker can't read: written by a newer one."""


def offset_key(group_id: str, topic_partition: TopicPartition) -> bytes:
    """The key of a committed offset."""
    return _versioned(OffsetCommitKey(group=group_id, topic=topic_partition.topic, partition=topic_partition.partition), OFFSET_KEY_VERSION)


def group_key(group_id: str) -> bytes:
    """The key of a group."""
    return _versioned(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION)


def offset_value(committed: OffsetAndMetadata, ibp: ApiVersion) -> bytes:
    """Version 1 where an expiry is set or brokers before 2.1-IV0 must read it, 2 before 2.1-IV1, else 3 (with the leader epoch)."""
    if committed.expire_timestamp_ms is not None or ibp < ApiVersion.parse("2.1-IV0"):
        version = 1
    else:
        version = 2 if ibp < ApiVersion.parse("2.1-IV1") else 3
    value = OffsetCommitValue(offset=committed.offset, metadata=committed.metadata, commit_timestamp=committed.commit_timestamp_ms)
    if version == 1:
        value.expire_timestamp = NO_EXPIRY if committed.expire_timestamp_ms is None else committed.expire_timestamp_ms
    if version == 3:
        value.leader_epoch = committed.leader_epoch
    return _versioned(value, version)


def group_value(group: GroupMetadata, assignments: Mapping[str, bytes], ibp: ApiVersion) -> bytes:
    """Version by the protocol that the other brokers speak: 0 before 0.10.1, 1 before 2.1-IV0, 2 before 2.3-IV0, else 3."""
    version = sum(ibp >= ApiVersion.parse(since) for since in ("0.10.1-IV0", "2.1-IV0", "2.3-IV0"))
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        members=[_member_value(member, group.protocol_name or "", assignments.get(member.member_id, b""), version) for member in group.members.values()],
    )
    if version >= 2:
        value.current_state_timestamp = -1 if group.current_state_timestamp_ms is None else group.current_state_timestamp_ms
    return _versioned(value, version)


def _member_value(member: Member, protocol: str, assignment: bytes, version: int) -> MemberMetadata:
    value = MemberMetadata(
        member_id=member.member_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout=member.session_timeout_ms,
        subscription=member.metadata(protocol),
        assignment=assignment,
    )
    if version >= 1:
        value.rebalance_timeout = member.rebalance_timeout_ms
    if version >= 3:
        value.group_instance_id = member.group_instance_id
    return value


def read_key(key: bytes) -> OffsetKey | GroupKey | None:
    """What a record is about; None for a version that is not known (skipped on load, as Kafka does)."""
    version = VERSION.unpack_from(key)[0] if len(key) >= VERSION.size else None
    if version in (0, OFFSET_KEY_VERSION):
        offset = _message(OffsetCommitKey, key, version)
        return OffsetKey(offset.group, TopicPartition(offset.topic, offset.partition))
    if version == GROUP_KEY_VERSION:
        return GroupKey(_message(GroupMetadataKey, key, version).group)
    return None


def read_offset_value(data: bytes) -> OffsetAndMetadata:
    """A committed offset, of any version."""
    version = _known_version(data, OffsetCommitValue)
    value = _message(OffsetCommitValue, data, version)
    expiry = value.expire_timestamp if version == 1 and value.expire_timestamp != NO_EXPIRY else None
    return OffsetAndMetadata(value.offset, value.metadata, value.commit_timestamp, value.leader_epoch if version >= 3 else NO_LEADER_EPOCH, expiry)


def read_group_value(group_id: str, data: bytes) -> GroupMetadata:
    """A group as it was stored: stable with members, or empty."""
    version = _known_version(data, GroupMetadataValue)
    value = _message(GroupMetadataValue, data, version)
    group = GroupMetadata(
        group_id,
        state=GroupState.STABLE if value.members else GroupState.EMPTY,
        protocol_type=value.protocol_type or None,
        generation_id=value.generation,
        protocol_name=value.protocol,
        current_state_timestamp_ms=value.current_state_timestamp if version >= 2 and value.current_state_timestamp >= 0 else None,
    )
    for stored in value.members:
        group.add(_member(stored, value, version))
    group.leader_id = value.leader
    return group


def _member(stored: MemberMetadata, value: GroupMetadataValue, version: int) -> Member:
    return Member(
        member_id=stored.member_id,
        group_instance_id=stored.group_instance_id if version >= 3 else None,
        client_id=stored.client_id,
        client_host=stored.client_host,
        rebalance_timeout_ms=stored.rebalance_timeout if version >= 1 else stored.session_timeout,
        session_timeout_ms=stored.session_timeout,
        protocol_type=value.protocol_type,
        protocols=((value.protocol or "", bytes(stored.subscription)),),
        assignment=bytes(stored.assignment),
    )


def _known_version(data: bytes, kind: type[Message]) -> int:
    version = int(VERSION.unpack_from(data)[0]) if len(data) >= VERSION.size else -1
    if not 0 <= version <= 3:
        raise UnknownRecordVersion(f"{kind.__name__} of version {version}")
    return version


def _versioned(message: Message, version: int) -> bytes:
    return VERSION.pack(version) + encode(message, version)


def _message(kind: type[M], data: bytes, version: int) -> M:
    return decode(kind, version, data, VERSION.size)[0]
