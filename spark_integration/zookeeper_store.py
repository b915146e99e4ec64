"""A group of ZooKeeper's era, seen by the driver: its offsets, its members, and the brokers behind the same ZooKeeper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pykafka_classic.client.group_session import GroupSession
from pykafka_classic.client.offset_storage import ZooKeeperOffsets
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import GetChildren, GetData
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.zookeeper import ZooKeeperUnavailable
from zk_schema import broker_ids, consumers
from zk_schema.broker_ids import SecurityProtocol


class ZooKeeperStore:
    """A session of the driver's; a new one is begun when the old one has ended. ZooKeeperUnavailable where nobody answers, or the chroot is not there."""

    def __init__(self, connect: str, group: str) -> None:
        self._group = group
        self._offsets = ZooKeeperOffsets(group)
        self._zookeeper = BlockingZooKeeper(connect, creates_chroot=False)
        if not self._zookeeper.one(GetData("/")).ok:
            self.close()
            raise ZooKeeperUnavailable(f"{connect}: there is no node /{connect.partition('/')[2]}")

    def read(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """What is committed, of those where something is. OffsetStorageFailed."""
        return self._zookeeper.wait(spawn(self._offsets.fetch(self._session(), partitions)))

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit. OffsetStorageFailed."""
        self._zookeeper.wait(spawn(self._offsets.commit(self._session(), offsets)))

    def members(self) -> list[str]:
        """The ids of those alive."""
        found = self._zookeeper.one(GetChildren(consumers.ids_path(self._group)))
        return sorted(found.children) if found.ok else []

    def close(self) -> None:
        """End the session."""
        self._zookeeper.close()

    def _session(self) -> GroupSession:
        return GroupSession(self._zookeeper.zk)


def find_brokers(connect: str) -> str:
    """The plaintext listeners of the brokers that are registered, as `bootstrap.servers`; empty where none is. ZooKeeperUnavailable."""
    with BlockingZooKeeper(connect, creates_chroot=False) as zookeeper:
        found = zookeeper.one(GetChildren(broker_ids.PATH))
        names = sorted(found.children) if found.ok else []
        results = zookeeper.submit(*(GetData(broker_ids.path(int(name))) for name in names)) if names else []
        endpoints = [endpoint for result in results if result.ok for endpoint in broker_ids.decode(result.data).endpoints]
    return _addresses((each.host, each.port) for each in endpoints if each.security_protocol is SecurityProtocol.PLAINTEXT)


def _addresses(pairs: Iterable[tuple[str, int]]) -> str:
    return ",".join(f"{host}:{port}" for host, port in pairs)
