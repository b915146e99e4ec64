"""What a member of a ZooKeeper group writes: its registration, its claims on partitions.

All of it is ephemeral, so what stands under the member's name may be of a session that it no longer has: its process was killed and came back, or ZooKeeper
has not cleaned up yet. Such a node proves nothing, for it may vanish at any time while we read, and somebody else could then claim the partition: only a
node **of the present session** counts as ours. It is not deleted either: between the look and the deletion another might take its place. It is watched,
and goes by itself.

Differs from Kafka: 0.8.2 compares only the names in the nodes, and deletes owner nodes without asking whose they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pykafka_classic.client.group_format import GroupFormat
from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, Delete, GetData, Result, SetData
from zk_schema import consumers
from zk_schema.errors import MalformedZNode


@dataclass(frozen=True, slots=True)
class Conflict:
    """A partition that another held when it was claimed; its node is watched, unless it is gone by now."""

    partition: TopicPartition
    owner: str  # thread id; "" where it could not be read
    is_gone: bool


class ConsumerIdTaken(Exception):
    """Somebody is registered under this member's name: another process, or this one's dead predecessor. The text is for the user."""


class ZooKeeperGroup:
    """One member's nodes in one session."""

    def __init__(self, session: GroupSession, group: str, consumer_id: str, written: GroupFormat) -> None:
        self._session = session
        self._group = group
        self._consumer_id = consumer_id
        self._written = written
        self._paths: dict[TopicPartition, str] = {}  # where each claim was made: a path may depend on what changes

    async def register(self, data: bytes) -> None:
        """Create /consumers/G/ids/<id>. ConsumerIdTaken where another session has it: its node is watched."""
        path = consumers.id_path(self._group, self._consumer_id)
        (result,) = await self._session.create_all([Create(path, data, ephemeral=True)])
        if result.ok:
            return
        found = await self._session.one(GetData(path, watch=True))
        if self._is_ours(found):
            return  # our own create, whose answer was lost
        raise ConsumerIdTaken(f"group {self._group} has a member {self._consumer_id} in another session: choose another consumer.id, or wait until it ends")

    async def claim(self, wanted: Mapping[TopicPartition, str]) -> list[Conflict]:
        """Create the owner nodes; those which could not be had."""
        creates = [Create(self._path(partition), self._written.encode_owner(thread), ephemeral=True) for partition, thread in wanted.items()]
        results = await self._session.create_all(creates)
        refused = [partition for partition, result in zip(wanted, results, strict=True) if not result.ok]
        holders = await self._session.submit([GetData(self._path(partition), watch=True) for partition in refused])
        ours = {partition for partition, holder in zip(refused, holders, strict=True) if self._is_ours(holder)}
        lost = [(partition, holder) for partition, holder in zip(refused, holders, strict=True) if partition not in ours]
        for partition, _ in lost:
            self._paths.pop(partition)
        return [Conflict(partition, _owner(holder), is_gone=not holder.ok) for partition, holder in lost]

    async def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Delete owner nodes that this session has made, or may have made."""
        given = list(partitions)
        paths = [self._path(partition) for partition in given]
        found = await self._session.submit([GetData(path) for path in paths])
        ours = [(path, holder) for path, holder in zip(paths, found, strict=True) if self._is_ours(holder)]
        # A deletion whose answer is lost is sent again, and could then meet the next owner's node, whose version is 0. So ours gets another version first.
        marks = [SetData(path, holder.data, holder.stat.version) for path, holder in ours if holder.stat is not None]
        await self._session.submit(marks)
        await self._session.submit([Delete(mark.path, mark.version + 1) for mark in marks])
        for partition in given:
            self._paths.pop(partition, None)

    async def leave(self) -> None:
        """Delete the registration."""
        if await is_registered(self._session, self._group, self._consumer_id):
            await self._session.submit([Delete(consumers.id_path(self._group, self._consumer_id))])

    def _path(self, partition: TopicPartition) -> str:
        return self._paths.setdefault(partition, self._written.owner_path(self._group, partition))

    def _is_ours(self, result: Result) -> bool:
        return _is_of(self._session, result)


async def is_registered(session: GroupSession, group: str, consumer_id: str) -> bool:
    """True while a member's registration stands in this session, which also proves that the session lives."""
    return _is_of(session, await session.one(GetData(consumers.id_path(group, consumer_id))))


def _is_of(session: GroupSession, result: Result) -> bool:
    return result.code is Code.OK and result.stat is not None and result.stat.ephemeral_owner == session.id


def _owner(result: Result) -> str:
    try:
        return consumers.decode_owner(result.data) if result.ok else ""
    except MalformedZNode:
        return ""
