"""The two stores, read with the times of writing, and written with care. Each is asked through its seam: ZooKeeper, and the admin client's core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Final

from pykafka_classic.client.admin.core import AdminCore
from pykafka_classic.client.group_offsets.values import OffsetsUnavailable, StoredOffset
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.offset_and_metadata import OffsetAndMetadata
from pykafka_classic.client.partition_reader import PartitionReader
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, GetChildren, GetData, Result, SetData, ZooKeeper
from pykafka_classic.protocol.codec import decode
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.schema import SchemaError
from zk_schema import consumers
from zk_schema.errors import MalformedZNode

OFFSETS_TOPIC: Final = "__consumer_offsets"

_VERSION: Final = Struct(">h")
_KEY_VERSIONS: Final = (0, 1)  # of offsets; 2 is a group's own record


@dataclass(frozen=True, slots=True)
class ZooKeeperGroupOffsets:
    """What /consumers/G holds."""

    offsets: Mapping[TopicPartition, StoredOffset]
    unreadable: Mapping[TopicPartition, str]
    members: tuple[str, ...]


class ZooKeeperStore:
    """/consumers/G/offsets/T/P, and who is registered in /consumers/G/ids."""

    def __init__(self, zk: ZooKeeper) -> None:
        self._zk = zk

    async def read(self, group: str) -> ZooKeeperGroupOffsets:
        """All of a group; nothing of one that is not there. Raises SessionExpired, OffsetsUnavailable."""
        session = GroupSession(self._zk)
        topics, members = await session.submit([GetChildren(consumers.offsets_parent_path(group)), GetChildren(consumers.ids_path(group))])
        partitions = await self._partitions(session, group, _children(topics))
        found: dict[TopicPartition, StoredOffset] = {}
        unreadable: dict[TopicPartition, str] = {}
        for partition, result in zip(partitions, await session.submit([GetData(_path(group, each)) for each in partitions]), strict=True):
            if result.code is Code.NO_NODE:
                continue  # deleted meanwhile
            try:
                found[partition] = _stored(_readable(result))
            except MalformedZNode as error:
                unreadable[partition] = str(error)
        return ZooKeeperGroupOffsets(found, unreadable, tuple(sorted(_children(members))))

    async def write(self, group: str, offsets: Mapping[TopicPartition, int], before: Mapping[TopicPartition, StoredOffset]) -> dict[TopicPartition, str]:
        """Write what is as it was read, and say what was not written, and why: somebody else may have written meanwhile."""
        session = GroupSession(self._zk)
        sets = {each: SetData(_path(group, each), consumers.encode_offset(offset), before[each].version) for each, offset in offsets.items() if each in before}
        creates = {each: Create(_path(group, each), consumers.encode_offset(offset)) for each, offset in offsets.items() if each not in before}
        results = dict(zip(sets, await session.submit(list(sets.values())), strict=True))
        results |= dict(zip(creates, await session.create_all(list(creates.values())), strict=True))
        failed = {each: result.code for each, result in results.items() if not result.ok}
        # A write whose answer was lost is sent again, and then meets itself: so look whether it is there.
        there = await session.submit([GetData(_path(group, each)) for each in failed])
        return {
            each: f"{_path(group, each)} was not written: {code.name}"
            for (each, code), result in zip(failed.items(), there, strict=True)
            if not (result.ok and result.data == consumers.encode_offset(offsets[each]))
        }

    async def _partitions(self, session: GroupSession, group: str, topics: Sequence[str]) -> list[TopicPartition]:
        results = await session.submit([GetChildren(consumers.offsets_path(group, topic)) for topic in topics])
        return [
            TopicPartition(topic, int(name))
            for topic, result in zip(topics, results, strict=True)
            for name in sorted(_children(result))
            if name.isascii() and name.isdigit()  # pykafka names its folders otherwise
        ]


class KafkaStore:
    """A group's commits at its coordinator, and their times from `__consumer_offsets`."""

    def __init__(self, admin: AdminCore) -> None:
        self._admin = admin
        self._reader = PartitionReader(admin.requests)

    async def read(self, group: str) -> dict[TopicPartition, StoredOffset]:
        """All of a group; nothing of one that is not there. Raises KafkaError."""
        try:
            committed = await self._admin.list_group_offsets(group)
        except KafkaError as error:
            raise OffsetsUnavailable(f"the offsets of group {group} in Kafka cannot be read: {error}") from error
        commits = await self._commits(group) if committed else {}
        found: dict[TopicPartition, StoredOffset] = {}
        for partition, position in committed.items():
            commit = commits.get(partition)
            is_it = commit is not None and commit.offset == position.offset
            found[partition] = StoredOffset(position.offset, commit.commit_timestamp if commit is not None and is_it else None, position.metadata)
        return found

    async def members(self, group: str) -> tuple[str, ...]:
        """The ids of the group's members."""
        return tuple(each.member_id for each in (await self._admin.describe_groups([group])).check()[group].members)

    async def write(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> dict[TopicPartition, str]:
        """Commit from outside the group, and say what was not committed, and why."""
        if not offsets:
            return {}
        outcomes = await self._admin.alter_group_offsets(group, offsets)
        return {partition: _why(error) for partition, error in outcomes.errors().items()}

    async def _commits(self, group: str) -> dict[TopicPartition, OffsetCommitValue]:
        """The latest record of each partition in the log of the group's partition of `__consumer_offsets`."""
        described = (await self._admin.describe_topics([OFFSETS_TOPIC])).check()[OFFSETS_TOPIC]
        where = TopicPartition(OFFSETS_TOPIC, abs_java(string_hash(group)) % len(described.partitions))
        mark = len(group.encode()).to_bytes(2, "big") + group.encode()
        found: dict[TopicPartition, OffsetCommitValue] = {}
        async for record in self._reader.all_records(where):
            key = record.key or b""
            if key[2 : 2 + len(mark)] != mark or _version(key) not in _KEY_VERSIONS:
                continue
            told, _ = decode(OffsetCommitKey, _version(key), key, _VERSION.size)
            partition = TopicPartition(told.topic, told.partition)
            found.pop(partition, None)
            value = _commit_value(record.value)
            if value is not None:
                found[partition] = value
        return found


def _commit_value(data: bytes | None) -> OffsetCommitValue | None:
    """None for a tombstone, and for what is of a version to come."""
    if data is None or _version(data) not in OffsetCommitValue.VALID_VERSIONS:
        return None
    try:
        return decode(OffsetCommitValue, _version(data), data, _VERSION.size)[0]
    except SchemaError:
        return None


def _version(data: bytes) -> int:
    version: int = _VERSION.unpack_from(data)[0] if len(data) >= _VERSION.size else -1
    return version


def _why(error: KafkaError) -> str:
    if error.code is ErrorCode.UNKNOWN_MEMBER_ID:
        return "the group has members at its coordinator, which refuses commits from outside"
    return str(error)


def _path(group: str, partition: TopicPartition) -> str:
    return consumers.offset_path(group, partition.topic, partition.partition)


def _children(result: Result) -> tuple[str, ...]:
    return () if result.code is Code.NO_NODE else _readable(result).children


def _readable(result: Result) -> Result:
    if not result.ok:
        raise OffsetsUnavailable(f"{result.path or 'a node of the group'} cannot be read: {result.code.name}")
    return result


def _stored(result: Result) -> StoredOffset:
    assert result.stat is not None
    return StoredOffset(consumers.decode_offset(result.data), result.stat.mtime_ms, version=result.stat.version)
