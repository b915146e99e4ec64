"""The driver as a member of a group of ZooKeeper's era: a node in /consumers/GROUP/ids, owner nodes, offsets in /consumers/GROUP/offsets; it fetches nothing.

The connector (`client.zookeeper_consumer_connector`) does what every such member does; here it gets readers that do not read: what they have "handed out" is
what the stream has done. Partitions are given up at a batch boundary: the loop's thread waits there; the ZooKeeper session lives on meanwhile, by kazoo's
thread.
"""

from __future__ import annotations

import logging
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from pykafka_classic.client.consumer_settings import name_consumer
from pykafka_classic.client.offset_storage import OffsetStorageFailed, ZooKeeperOffsets
from pykafka_classic.client.subscription import Subscription
from pykafka_classic.client.zookeeper_consumer_connector import ConnectorSeams, ConsumerClosed, ConsumerRebalanceFailed, ZooKeeperConsumerConnector
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import SessionExpired
from pykafka_classic.edges.clocks import ReactorClock
from pykafka_classic.edges.loop_thread import LoopThread
from pykafka_classic.edges.zookeeper import KazooZooKeeper, ZooKeeperSettings
from spark_integration.cluster import CannotPlan, Cluster
from spark_integration.membership import CommitLater, CommitRefused
from spark_integration.options import GroupOptions, Membership, old_member_settings
from spark_integration.solitude import await_solitude

T = TypeVar("T")

log = logging.getLogger("spark_integration")

END_S: Final = 2.0
CALL_S: Final = 30.0  # beyond what the session's time-out explains


class DoneOffsets:
    """The readers of a member that does not read. Implements `PartitionReaders`, on the loop's thread; the other methods are for the stream's."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._owned: set[TopicPartition] = set()
        self._done: dict[TopicPartition, int] = {}
        self._busy = False  # a batch is under way
        self._closing = False
        self.epoch = 0

    # PartitionReaders

    def set_brokers(self, brokers: Mapping[int, tuple[str, int]]) -> None:
        """Nobody is asked here."""

    def start(self, positions: Mapping[TopicPartition, int | None]) -> None:
        """These are ours."""
        with self._changed:
            self._owned |= set(positions)
            self.epoch += 1

    def stop(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """These will be others', as soon as the batch under way is done; how far we came."""
        given = list(partitions)
        with self._changed:
            if given:
                self._changed.wait_for(lambda: not self._busy or self._closing, self._patience_s)
                self._owned -= set(given)
                self.epoch += 1
            return {each: self._done.pop(each) for each in given if each in self._done}

    def positions(self) -> dict[TopicPartition, int]:
        """What is done."""
        with self._changed:
            return {each: offset for each, offset in self._done.items() if each in self._owned}

    # The stream

    def owned(self) -> tuple[int, frozenset[TopicPartition]]:
        """At this moment."""
        with self._changed:
            return self.epoch, frozenset(self._owned)

    def begin(self) -> None:
        """A batch."""
        with self._changed:
            self._busy = True

    def end(self, done: Mapping[TopicPartition, int]) -> bool:
        """It is done up to here; False where some of it is not ours any more."""
        with self._changed:
            lost = set(done) - self._owned
            self._done |= {each: offset for each, offset in done.items() if each in self._owned}
            self._busy = False
            self._changed.notify_all()
            return not lost

    def close(self) -> None:
        """Wait for no batch any more."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()


class ZooKeeperMember:
    """See the module; joins in the constructor. CannotPlan where it cannot, or others are in the group and we must be alone; ZooKeeperUnavailable."""

    def __init__(self, cluster: Cluster, group: GroupOptions) -> None:
        self._cluster, self._group = cluster, group
        self._is_sole = group.membership is Membership.SOLE
        if self._is_sole:
            prefix = f"{group.group_id}_{cluster.options.client_id}-"
            await_solitude(group, cluster.members, lambda member: member.startswith(prefix))
        self._readers = DoneOffsets(group.max_poll_interval_ms / 1000)
        self._thread = LoopThread(f"member of {group.group_id}")
        connect, timeout_ms = cluster.options.zookeeper_connect, group.session_timeout_ms
        self._zk = KazooZooKeeper(ZooKeeperSettings(connect, timeout_ms, timeout_ms, name=f"[ZooKeeperClient {group.group_id}]"), self._thread.loop)
        self._thread.start()
        self._connector: ZooKeeperConsumerConnector | None = None
        try:
            self._call(self._zk.connect)
            self._connector = self._make_connector()
            self._call(self._connector.start)
        except ConsumerRebalanceFailed as error:
            self.close()
            raise CannotPlan(str(error)) from error
        except BaseException:
            self.close()
            raise

    @property
    def epoch(self) -> int:
        """See `Membership`."""
        return self._readers.owned()[0]

    def assignment(self) -> tuple[int, frozenset[TopicPartition] | None]:
        """See `Membership`."""
        epoch, owned = self._readers.owned()
        if not self._is_sole:
            return epoch, owned
        others = self._others()
        if others:
            raise CannotPlan(
                f"group {self._group.group_id!r} has got other members, {', '.join(others[:3])}, and this job shares with nobody (option 'membership')"
            )
        return epoch, None

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """See `Membership`."""
        is_ours = self._readers.end(offsets)
        assert self._connector is not None
        try:
            self._call(self._connector.commit)
        except (OffsetStorageFailed, SessionExpired, TimeoutError) as error:
            raise CommitLater(str(error) or "the ZooKeeper session has expired") from error
        except ConsumerClosed as error:
            raise CommitRefused("the job has left its group") from error
        if not is_ours:
            raise CommitRefused("some of its partitions are another member's")

    def batch_began(self) -> None:
        """See `Membership`."""
        self._readers.begin()

    def batch_ended(self) -> None:
        """See `Membership`."""
        self._readers.end({})

    def close(self) -> None:
        """Leave."""
        if self._thread.ended:
            return
        self._readers.close()
        try:
            if self._connector is not None:
                self._call(self._connector.close)
            self._call(self._zk.close)
        except (SessionExpired, TimeoutError) as error:
            log.info("Leaving group %s: %s", self._group.group_id, error)
        finally:
            self._thread.end(timeout_s=END_S)

    # inside

    def _make_connector(self) -> ZooKeeperConsumerConnector:
        group, topics = self._group, self._cluster.options.topics
        own = f"{self._cluster.options.client_id}-{socket.gethostname()}"
        settings = old_member_settings(group)
        name = name_consumer(settings, host=own, now_ms=time.time_ns() // 1_000_000, random_bits=random.SystemRandom().getrandbits(32))
        subscription = Subscription.white_list(topics.pattern) if topics.pattern else Subscription.of_topics(topics.names)
        seams = ConnectorSeams(self._zk, ReactorClock(self._thread.loop), self._readers, ZooKeeperOffsets(group.group_id))
        return ZooKeeperConsumerConnector(name, subscription, settings, seams)

    def _others(self) -> list[str]:
        own = self._connector.consumer_id if self._connector is not None else ""
        return [each for each in self._cluster.members() if each != own]

    def _call(self, begin: Callable[[], Promise[T]]) -> T:
        """TimeoutError where ZooKeeper takes longer than its session's time-out explains."""
        try:
            return self._thread.call(begin, timeout_s=CALL_S + self._group.session_timeout_ms / 1000)
        except TimeoutError:
            raise TimeoutError("ZooKeeper takes its time") from None
