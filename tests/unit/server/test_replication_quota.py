"""Which replicas are throttled, and how much goes through."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.server.replication_quota import Rate, ReplicationQuota
from tests.unit.server.replica_cluster import TP, ReplicaCluster


class Watch:
    def __init__(self) -> None:
        self.now_ms = 0.0

    def __call__(self) -> float:
        return self.now_ms


def test_the_rate_is_over_one_window_at_least_and_over_the_oldest_window_kept() -> None:
    watch = Watch()
    rate = Rate(watch, windows=2, window_ms=1000)
    rate.record(500)
    assert rate.per_second() == 500
    watch.now_ms = 1500
    rate.record(1000)
    assert rate.per_second() == 1000  # 1500 bytes in 1.5 s
    watch.now_ms = 2500  # the first window is forgotten: 1000 bytes in 1 s
    assert rate.per_second() == 1000
    watch.now_ms = 10_000
    assert rate.per_second() == 0


@pytest.mark.parametrize(
    ("replicas", "throttled"),
    [(["0:1", "2:1", "1:2"], {0, 2}), (["*"], {0, 1, 2}), ([], set()), (["0:2"], set())],
)
def test_throttled_replicas_are_those_of_this_broker(replicas: list[str], throttled: set[int]) -> None:
    quota = ReplicationQuota(Rate(Watch(), windows=11, window_ms=1000), broker_id=1)
    quota.update_topic("flights", replicas)
    assert {number for number in range(3) if quota.is_throttled(TopicPartition("flights", number))} == throttled
    assert not quota.is_throttled(TopicPartition("other", 0))


def test_a_topic_is_throttled_no_more_when_its_list_is_gone() -> None:
    quota = ReplicationQuota(Rate(Watch(), windows=11, window_ms=1000), broker_id=1)
    quota.update_topic("flights", ["*"])
    quota.update_topic("flights", [])
    assert not quota.is_throttled(TP)


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_new_replica_catches_up_no_faster_than_allowed(side: str) -> None:
    cluster = ReplicaCluster([0, 1], {"replica.fetch.max.bytes": "1000"})
    cluster.create([0])
    for _ in range(100):
        cluster[0].produce(bytes(900))
    cluster.advance()
    throttled = cluster[0 if side == "leader" else 1].replica_manager
    throttled.update_topic_config(TP.topic, {f"{side}.replication.throttled.replicas": "*"})
    getattr(throttled.quotas, side).bytes_per_second = 5000
    cluster.assignments[TP] = [0, 1]
    cluster.elect(0, isr=[0])
    size = cluster[0].log().size
    cluster.advance(5000)
    # 5 s at 5,000 bytes/s; Kafka's rate too lets one request more through each time that it falls below the quota.
    assert 10_000 < cluster[1].log().size < 50_000 < size
    cluster.advance(40_000)
    assert cluster[1].log().size == size
    assert cluster[0].isr() == (0, 1)


def test_a_replica_in_sync_is_not_throttled() -> None:
    cluster = ReplicaCluster([0, 1])
    cluster.create([0, 1])
    for broker_id in (0, 1):
        manager = cluster[broker_id].replica_manager
        manager.update_topic_config(TP.topic, {"leader.replication.throttled.replicas": "*", "follower.replication.throttled.replicas": "*"})
        manager.quotas.leader.bytes_per_second = manager.quotas.follower.bytes_per_second = 1
    cluster.advance(600)
    for _ in range(5):
        cluster[0].produce(bytes(900))
        cluster.advance(20)
    cluster.advance(600)
    assert cluster[1].log().log_end_offset == 5
