"""Where a group keeps how far it has come: the seam, ZooKeeper behind it, and both stores at once (`offsets.storage`, `dual.commit.enabled`).

Every call gets the session in which the partitions are owned, and fails with SessionExpired once it is over: a member that lost its partitions commits
nothing. Offsets are of the next record to read.

Source: 0.8.2:core/src/main/scala/kafka/consumer/ZookeeperConsumerConnector.scala (commitOffsets, fetchOffsets); facts/coordination.md 5.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, GetData, SetData
from zk_schema import consumers
from zk_schema.errors import MalformedZNode


class OffsetStorageFailed(Exception):
    """Offsets could not be read or written; trying again later may help."""


class OffsetStorage(Protocol):
    """One store of a group's offsets. Both raise OffsetStorageFailed, SessionExpired."""

    async def fetch(self, session: GroupSession, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """What is committed; partitions without a commit are left out."""
        ...

    async def commit(self, session: GroupSession, offsets: Mapping[TopicPartition, int]) -> None:
        """Write them, all or some: after a failure commit all of them again."""
        ...


class ZooKeeperOffsets:
    """`/consumers/G/offsets/T/P`: the offset in digits."""

    def __init__(self, group: str) -> None:
        self._group = group

    async def fetch(self, session: GroupSession, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """What is committed. A node that holds no number is a failure: nobody can tell where to go on, and starting anew would lose or repeat records."""
        wanted = list(partitions)
        found: dict[TopicPartition, int] = {}
        for partition, result in zip(wanted, await session.submit([GetData(self._path(each)) for each in wanted]), strict=True):
            if result.code is Code.NO_NODE:
                continue
            try:
                found[partition] = consumers.decode_offset(result.data)
            except MalformedZNode as error:
                raise OffsetStorageFailed(f"{self._path(partition)}: {error}") from error
        return found

    async def commit(self, session: GroupSession, offsets: Mapping[TopicPartition, int]) -> None:
        """Create or set, at any version: the owner alone writes."""
        writes = [SetData(self._path(partition), consumers.encode_offset(offset)) for partition, offset in offsets.items()]
        for write, result in zip(writes, await session.write_all(writes), strict=True):
            if not result.ok:
                raise OffsetStorageFailed(f"{write.path} was not written: {result.code.name}")

    def _path(self, partition: TopicPartition) -> str:
        return consumers.offset_path(self._group, partition.topic, partition.partition)


class DualOffsets:
    """Kafka first, then ZooKeeper; reading takes the larger of both. For a group on its way from one store to the other."""

    def __init__(self, kafka: OffsetStorage, zookeeper: OffsetStorage) -> None:
        self._kafka = kafka
        self._zookeeper = zookeeper

    async def fetch(self, session: GroupSession, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The larger of what both have."""
        wanted = list(partitions)
        found = await self._kafka.fetch(session, wanted)
        for partition, offset in (await self._zookeeper.fetch(session, wanted)).items():
            found[partition] = max(offset, found.get(partition, offset))
        return found

    async def commit(self, session: GroupSession, offsets: Mapping[TopicPartition, int]) -> None:
        """Both, Kafka first."""
        await self._kafka.commit(session, offsets)
        await self._zookeeper.commit(session, offsets)
