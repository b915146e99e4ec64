"""How fast replicas may be copied: a rate in bytes per second over sliding windows, and which replicas it is for (KIP-73).

Which: `leader.replication.throttled.replicas` and its like of a topic, "partition:broker" pairs or "*". How fast: a dynamic broker config.
A replica that is in sync is never throttled, so that a quota slows a move, not the cluster.

Mirrors kafka.server.ReplicationQuotaManager with org.apache.kafka.common.metrics.stats.SimpleRate.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.topic_partition import TopicPartition

ALL: Final = "*"
UNLIMITED: Final = (1 << 63) - 1


class Rate:
    """Bytes per second: of the last `windows` windows, over the time since the oldest of them began, but over one window at least.

    Invariant: `_samples` are [begin in ms, bytes], the oldest first; `_total` is their sum.
    """

    def __init__(self, now_ms: Callable[[], float], *, windows: int, window_ms: float) -> None:
        self._now_ms = now_ms
        self._windows = windows
        self._window_ms = window_ms
        self._samples: deque[list[float]] = deque()
        self._total = 0.0

    def record(self, size: int) -> None:
        """So many bytes went through now."""
        now_ms = self._now_ms()
        if not self._samples or now_ms - self._samples[-1][0] >= self._window_ms:
            self._samples.append([now_ms, 0])
        self._samples[-1][1] += size
        self._total += size

    def per_second(self) -> float:
        """The rate as of now."""
        now_ms = self._now_ms()
        while self._samples and now_ms - self._samples[0][0] >= self._windows * self._window_ms:
            self._total -= self._samples.popleft()[1]
        if not self._samples:
            return 0.0
        return self._total * 1000 / max(now_ms - self._samples[0][0], self._window_ms)


class ReplicationQuota:
    """One of a broker's three: as leader, as follower, between log directories."""

    def __init__(self, rate: Rate, broker_id: int) -> None:
        self.bytes_per_second = UNLIMITED
        self._rate = rate
        self._broker_id = broker_id
        self._throttled: dict[str, frozenset[int] | None] = {}  # by topic; None: all partitions

    def update_topic(self, topic: str, replicas: Sequence[str]) -> None:
        """The topic's throttled replicas are these: "partition:broker" of any broker, or "*"."""
        pairs = [pair.strip() for pair in replicas if pair.strip()]
        if ALL in pairs:
            self._throttled[topic] = None
            return
        mine = frozenset(int(partition) for partition, _, broker in (pair.partition(":") for pair in pairs) if int(broker) == self._broker_id)
        if mine:
            self._throttled[topic] = mine
        else:
            self._throttled.pop(topic, None)

    def is_throttled(self, topic_partition: TopicPartition) -> bool:
        """Whether this replica counts, and has to wait."""
        if topic_partition.topic not in self._throttled:
            return False
        partitions = self._throttled[topic_partition.topic]
        return partitions is None or topic_partition.partition in partitions

    def is_exceeded(self) -> bool:
        """Whether those that are throttled have to wait now."""
        return self.bytes_per_second != UNLIMITED and self._rate.per_second() > self.bytes_per_second

    def blocks(self, topic_partition: TopicPartition) -> bool:
        """Whether this replica has to wait now; it must not be in sync."""
        return bool(self._throttled) and self.is_throttled(topic_partition) and self.is_exceeded()

    def record(self, size: int) -> None:
        """So many bytes of throttled replicas went through."""
        self._rate.record(size)

    def record_partition(self, topic_partition: TopicPartition, size: int) -> None:
        """Bytes of any replica: they count if it is throttled."""
        if self._throttled and self.is_throttled(topic_partition):
            self._rate.record(size)


class ReplicationQuotas:
    """The three of one broker."""

    def __init__(self, leader: ReplicationQuota, follower: ReplicationQuota, alter_log_dirs: ReplicationQuota) -> None:
        self.leader = leader
        self.follower = follower
        self.alter_log_dirs = alter_log_dirs


def make_replication_quotas(config: KafkaConfig, now_ms: Callable[[], float]) -> ReplicationQuotas:
    """Without limits, until somebody sets them. `now_ms`: monotonic."""

    def quota(windows: int, window_s: int) -> ReplicationQuota:
        return ReplicationQuota(Rate(now_ms, windows=windows, window_ms=window_s * 1000), config.broker_id)

    windows, window_s = config.replication_quota_window_num, config.replication_quota_window_size_seconds
    moves = config.alter_log_dirs_replication_quota_window_num, config.alter_log_dirs_replication_quota_window_size_seconds
    return ReplicationQuotas(quota(windows, window_s), quota(windows, window_s), quota(*moves))
