"""What the group coordinator writes to `__consumer_offsets`, and how it is read back.

Keys and values are an int16 version and a message of that version (facts/coordination.md 5.2, storage.md 18):

    key 0, 1  group, topic, partition    -> value: the committed offset        (null: forgotten)
    key 2     group                      -> value: the group with its members  (null: forgotten)
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Final, NamedTuple, TypeVar

from pykafka_classic.common.api_version import ApiVersion
from pykafka_classic.common.java import decode_utf8
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group.group_metadata import GroupMetadata, GroupState, Member
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages.group_metadata_key import GroupMetadataKey
from pykafka_classic.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.schema import Message, SchemaError

M = TypeVar("M", bound=Message)

VERSION: Final = Struct(">h")
_OLD_OFFSET_KEY: Final = VERSION.pack(0)  # reads as the later version does
_PARTITION: Final = Struct(">i")
NEWEST_OFFSET_VERSION: Final = 3
_PLAIN_OFFSET: Final = Struct(">hqihq")  # version 3 without metadata: version, offset, leader epoch, length of the metadata, timestamp
_PLAIN_START: Final = VERSION.pack(NEWEST_OFFSET_VERSION)
_NO_METADATA: Final = bytes(2)
_new_tuple: Final = tuple.__new__  # half the time of a named tuple's own
# An offset's value by its version: where the metadata's length stands, and how long the value is without metadata.
_OFFSET_FORMS: Final = {VERSION.pack(version): form for version, form in enumerate(((10, 20), (10, 28), (10, 20), (14, 24)))}
_KAFKA_2_1_IV0: Final = ApiVersion.parse("2.1-IV0")
_KAFKA_2_1_IV1: Final = ApiVersion.parse("2.1-IV1")

OFFSET_KEY_VERSION: Final = 1
GROUP_KEY_VERSION: Final = 2
OFFSET_KEY_PREFIX: Final = VERSION.pack(OFFSET_KEY_VERSION)
NO_LEADER_EPOCH: Final = -1
NO_EXPIRY: Final = -1


class OffsetAndMetadata(NamedTuple):
    """A committed offset: the next one to read. `expire_timestamp_ms` only where the client asked for a retention (v1 values)."""

    offset: int
    metadata: str
    commit_timestamp_ms: int
    leader_epoch: int = NO_LEADER_EPOCH
    expire_timestamp_ms: int | None = None


class OffsetKey(NamedTuple):
    """Whose offset it is."""

    group_id: str
    topic_partition: TopicPartition


class GroupKey(NamedTuple):
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
    is_older = ibp < _KAFKA_2_1_IV1
    if committed.expire_timestamp_ms is not None or (is_older and ibp < _KAFKA_2_1_IV0):
        version = 1
    else:
        version = 2 if is_older else 3
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


def current_key(key: bytes) -> bytes:
    """The key as this broker would write it: versions 0 and 1 of an offset's key mean the same, and what one said the other replaces."""
    return OFFSET_KEY_PREFIX + key[VERSION.size :] if key.startswith(_OLD_OFFSET_KEY) else key


def is_plain_offset(key: bytes, value: bytes) -> bool:
    """Whether it is a commit without metadata as brokers from 2.1 on write it: what nearly all records are."""
    return len(value) == _PLAIN_OFFSET.size and value[14:16] == _NO_METADATA and value.startswith(_PLAIN_START) and key.startswith(OFFSET_KEY_PREFIX)


def is_readable(key: bytes, value: bytes) -> bool:
    """Whether an offset's value has a known version and all its fields; of other records not more is known here than the version.

    Cheap, for the loader, which looks at every record but decodes only some.
    """
    form = _OFFSET_FORMS.get(value[: VERSION.size])
    if form is None:
        return False
    if not key.startswith(OFFSET_KEY_PREFIX):
        return True
    position, size = form
    return len(value) >= size and len(value) >= size + (value[position] << 8 | value[position + 1])  # a negative length is too long, too


def read_key(key: bytes) -> OffsetKey | GroupKey | None:
    """What a record is about; None for a version that is not known (skipped on load, as Kafka does). Raises SchemaError."""
    version = VERSION.unpack_from(key)[0] if len(key) >= VERSION.size else None
    if version in (0, OFFSET_KEY_VERSION):
        return _read_offset_key(key)
    if version == GROUP_KEY_VERSION:
        return GroupKey(_message(GroupMetadataKey, key, version).group)
    return None


def _read_offset_key(key: bytes) -> OffsetKey:
    size = len(key)
    group_end = 4 + (key[2] << 8 | key[3]) if size >= 10 else size
    topic_end = group_end + 2 + (key[group_end] << 8 | key[group_end + 1]) if group_end + 6 <= size else size
    if topic_end + 4 > size:  # a negative length is too long, too
        raise SchemaError(f"an offset's key of {size} bytes is cut")
    place = TopicPartition(_text(key[group_end + 2 : topic_end]), _PARTITION.unpack_from(key, topic_end)[0])
    return OffsetKey(_text(key[4:group_end]), place)


class OffsetKeys:
    """Reads very many keys of offsets: groups share topics, and a group has many partitions, so that most parts of a key are known already."""

    def __init__(self) -> None:
        self._groups: dict[bytes, str] = {}
        self._places: dict[bytes, TopicPartition] = {}

    def split(self, key: bytes) -> tuple[str, TopicPartition] | None:
        """Group and partition; None where it is no offset's key (of version 1). Raises SchemaError."""
        if not key.startswith(OFFSET_KEY_PREFIX):
            return None
        group_end = 4 + (key[2] << 8 | key[3]) if len(key) >= 4 else 0
        group, place = key[4:group_end], key[group_end:]
        known_group, known_place = self._groups.get(group), self._places.get(place)
        if known_group is not None and known_place is not None:
            return known_group, known_place
        read = _read_offset_key(key)
        return self._groups.setdefault(group, read.group_id), self._places.setdefault(place, read.topic_partition)


def read_offset_value(data: bytes) -> OffsetAndMetadata:
    """A committed offset, of any version. Raises UnknownRecordVersion, SchemaError."""
    if len(data) == _PLAIN_OFFSET.size:  # by hand, as the keys are: a coordinator that takes over has a million to read
        version, offset, leader_epoch, metadata_size, timestamp = _PLAIN_OFFSET.unpack(data)
        if version == NEWEST_OFFSET_VERSION and metadata_size == 0:
            return _new_tuple(OffsetAndMetadata, (offset, "", timestamp, leader_epoch, None))
    version = _known_version(data, OffsetCommitValue)
    value = _message(OffsetCommitValue, data, version)
    expiry = value.expire_timestamp if version == 1 and value.expire_timestamp != NO_EXPIRY else None
    return OffsetAndMetadata(value.offset, value.metadata, value.commit_timestamp, value.leader_epoch if version >= 3 else NO_LEADER_EPOCH, expiry)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return decode_utf8(data)


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
