"""Looks into ZooKeeper from outside while brokers die: who is registered, who is controller, who leads, and when that changed."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.zookeeper import expire_session
from tests.integration.foreign import DEADLINE_S
from zk_schema import broker_ids, controller, controller_epoch, delete_topics, partition_state, preferred_replica_election, reassign_partitions
from zk_schema.partition_state import TopicPartitionStateZNode

# java.util.Random's generator, and the constant with which ZooKeeper's server seeds it for a session's password (ZooKeeperServer.generatePasswd).
MULTIPLIER: Final = 0x5DEECE66D
SUPER_SECRET: Final = 0xB3415C00
MASK: Final = (1 << 48) - 1


class Witness:
    """A ZooKeeper client of the test's own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = KazooClient(address)

    def __enter__(self) -> Witness:
        self._client.start(timeout=DEADLINE_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.stop()
        self._client.close()

    def controller(self) -> int:
        """Broker id in /controller, -1 where there is none."""
        try:
            return controller.decode(self._client.get(controller.PATH)[0]).broker_id
        except NoNodeError:
            return -1

    def controller_epoch(self) -> int:
        """How often a controller was elected."""
        return controller_epoch.decode(self._client.get(controller_epoch.PATH)[0])

    def remove_controller(self) -> None:
        """Delete /controller by hand, as an administrator does who wants another controller."""
        self._client.delete(controller.PATH)

    def reassign(self, topic: str, replicas: Sequence[Sequence[int]]) -> None:
        """Ask for other replicas as kafka-reassign-partitions --zookeeper does, once the controller has put the last order away."""
        wait_until(lambda: self._client.exists(reassign_partitions.PATH) is None, seconds=DEADLINE_S)
        wanted = {(topic, number): brokers for number, brokers in enumerate(replicas)}
        self._client.create(reassign_partitions.PATH, reassign_partitions.encode(wanted))

    def elect_preferred(self, partitions: Sequence[tuple[str, int]]) -> None:
        """Ask for preferred leaders as kafka-preferred-replica-election does."""
        self._client.create(preferred_replica_election.PATH, preferred_replica_election.encode(partitions))

    def session_of(self, broker: int) -> int:
        """Id of the session that holds /brokers/ids/N, 0 where the broker is not registered."""
        found = self._client.exists(broker_ids.path(broker))
        return found.ephemeralOwner if found else 0

    def broker_epoch(self, broker: int) -> int:
        """czxid of a broker's registration."""
        return int(self._client.get(broker_ids.path(broker))[1].czxid)

    def state(self, topic: str, partition: int) -> TopicPartitionStateZNode:
        """What the controller wrote last."""
        return partition_state.decode(self._client.get(partition_state.path(topic, partition))[0])

    def leaders(self, topic: str, partitions: int) -> list[int]:
        """By partition; -1 where nobody leads."""
        return [self.state(topic, number).leader for number in range(partitions)]

    def exists(self, path: str) -> bool:
        """Whether there is such a znode."""
        return self._client.exists(path) is not None

    def read(self, path: str) -> bytes:
        """A znode's data."""
        data: bytes = self._client.get(path)[0]
        return data

    def write(self, path: str, data: bytes) -> None:
        """Overwrite or create a znode, as an administrator's shell does."""
        if self.exists(path):
            self._client.set(path, data)
        else:
            self._client.create(path, data)

    def mark_for_deletion(self, topic: str) -> None:
        """Ask for a topic's deletion as kafka-topics --zookeeper does."""
        self._client.create(delete_topics.path(topic))

    def expire(self, broker: int) -> None:
        """End a broker's session; the broker itself goes on."""
        session = self.session_of(broker)
        expire_session(self._address, (session, session_password(session)))

    def seconds_until(self, condition: Callable[[], bool], *, since: float, seconds: float = DEADLINE_S) -> float:
        """How long after the monotonic time `since` the condition came true (looked at about 100 times a second)."""
        wait_until(condition, seconds=seconds)
        return time.monotonic() - since


def session_password(session_id: int) -> bytes:
    """What ZooKeeper's server gives a session as password: 16 bytes that follow from its id."""
    seed = (session_id ^ SUPER_SECRET ^ MULTIPLIER) & MASK
    words = []
    for _ in range(4):
        seed = (seed * MULTIPLIER + 0xB) & MASK
        words.append(seed >> 16)
    return struct.pack("<4I", *words)
