"""A consumer of the first generation for scripts: it shares its group with Kafka's own old consumers, over ZooKeeper.

    with ZooKeeperConsumer("localhost:2181", Subscription.of_topics(["flights"]), ConsumerSettings("radar", auto_offset_reset="smallest")) as consumer:
        for record in consumer:
            print(record.partition, record.offset, record.value)

Its group work (watches, rebalances, commits) runs in a thread of its own, so partitions change hands however long the loop's body takes. A record counts
as consumed when it is handed out. `commit` stores that; so do auto-commit, each rebalance and `close`, unless `auto_commit_enable=False`.

Brokers must be of 0.10 or newer (ApiVersions). For Kafka's key names and defaults see `client.consumer_settings`.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Final, Self

from pykafka_classic.client.consumer_settings import ConsumerSettings, OffsetsStorage, name_consumer
from pykafka_classic.client.fetched_records import ConsumerRecord
from pykafka_classic.client.offset_storage import DualOffsets, OffsetStorage, ZooKeeperOffsets
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.client.zookeeper_consumer_connector import ConnectorSeams, ZooKeeperConsumerConnector
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.clocks import ReactorClock, ThreadPoolBackground
from pykafka_classic.edges.kafka_offsets import KafkaOffsets
from pykafka_classic.edges.loop_thread import LoopThread
from pykafka_classic.edges.partition_fetching import PartitionFetching
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings

IDLE_WAIT_S: Final = 0.1  # while nothing is owned


class ZooKeeperConsumer:
    """One member of a group; joins in the constructor. Also a context manager, and an iterator over records that never ends by itself.

    Args:
        connect: Kafka's `zookeeper.connect`: host:port,host:port[/chroot].
        subscription: topics, a white list or a black list.
        session_timeout_ms: how long after its death the others wait before they take its partitions (`zookeeper.session.timeout.ms`).

    Raises:
        ZooKeeperUnavailable: nobody answers at `connect`.
        ConsumerRebalanceFailed: the group did not come to rest in the time that the settings give.
    """

    def __init__(self, connect: str, subscription: Subscription, settings: ConsumerSettings, *, session_timeout_ms: int = 6_000) -> None:
        consumer_id = name_consumer(settings, host=socket.gethostname(), now_ms=time.time_ns() // 1_000_000, random_bits=random.SystemRandom().getrandbits(32))
        self._thread = LoopThread(f"consumer {consumer_id}")
        loop, name = self._thread.loop, f"[ZooKeeperClient {settings.group_id}]"
        self._zk = KazooZooKeeper(ZooKeeperSettings(connect, session_timeout_ms, session_timeout_ms, name=name), loop)
        self._background = ThreadPoolBackground(loop, threads=1)
        self._fetching = PartitionFetching(settings)
        self._kafka_offsets = KafkaOffsets(settings, consumer_id, self._background, self._fetching.addresses)
        self._thread.start()
        try:
            self._thread.call(self._zk.connect)
            seams = ConnectorSeams(self._zk, ReactorClock(loop), self._fetching, self._storage(settings))
            self._connector = ZooKeeperConsumerConnector(consumer_id, subscription, settings, seams)
        except BaseException:
            self._end()
            raise
        try:
            self._thread.call(self._connector.start)
        except BaseException:
            self.close()
            raise

    def _storage(self, settings: ConsumerSettings) -> OffsetStorage:
        in_zookeeper = ZooKeeperOffsets(settings.group_id)
        if settings.offsets_storage is OffsetsStorage.ZOOKEEPER:
            return in_zookeeper
        return DualOffsets(self._kafka_offsets, in_zookeeper) if settings.dual_commit_enabled else self._kafka_offsets

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def consumer_id(self) -> str:
        """Its name in the group."""
        return self._connector.consumer_id

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions that it reads at this moment."""
        return self._connector.owned

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """All records, waiting for those to come."""
        while not self._thread.ended:
            record = self.poll(timeout_ms=1000)
            if record is not None:
                yield record

    def poll(self, *, timeout_ms: float) -> ConsumerRecord | None:
        """The next record; None where none comes in time."""
        deadline = time.monotonic() + timeout_ms / 1000
        while not self._thread.ended:
            record = self._fetching.take(IDLE_WAIT_S)
            if record is not None or time.monotonic() >= deadline:
                return record
        return None

    def commit(self) -> None:
        """Store how far the records handed out go. Raises OffsetStorageFailed, SessionExpired."""
        self._thread.call(self._connector.commit)

    def close(self) -> None:
        """Commit (with auto.commit.enable), let go of all partitions, leave the group. A second call does nothing."""
        if self._thread.ended:
            return
        try:
            self._thread.call(self._connector.close)
        finally:
            self._end()

    def _end(self) -> None:
        self._kafka_offsets.close()
        self._fetching.wake()
        try:
            self._thread.call(self._zk.close)
        finally:
            self._thread.end()
            self._background.close()
            self._fetching.close()
