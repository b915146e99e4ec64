"""Replicas move from one log dir to another, and lose nothing on the way."""

from __future__ import annotations

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from tests.unit.server.replica_cluster import TP, ReplicaCluster

TWO_DIRS = {"log.dirs": "/one,/two", "replica.fetch.max.bytes": "200", "message.max.bytes": "1000"}


def moved_from(cluster: ReplicaCluster, broker_id: int) -> str:
    """The log dir in which the replica does not lie."""
    return next(path for path in ("/one", "/two") if path != cluster[broker_id].log().parent_dir)


@pytest.fixture
def cluster() -> ReplicaCluster:
    made = ReplicaCluster([0, 1], TWO_DIRS)
    made.create([0, 1])
    for number in range(20):
        made[0].produce(b"%d" % number * 30)
    made.advance(1000)
    return made


@pytest.mark.parametrize("broker_id", [0, 1])
def test_a_replica_is_moved_whole_whether_it_leads_or_follows(cluster: ReplicaCluster, broker_id: int) -> None:
    target, before = moved_from(cluster, broker_id), cluster[broker_id].bytes_of()
    assert cluster[broker_id].replica_manager.log_dirs.alter(TP, target) is ErrorCode.NONE
    cluster.advance(1000)
    assert cluster[broker_id].log().directory == f"{target}/{TP}"
    assert cluster[broker_id].bytes_of() == before
    assert cluster[broker_id].log().high_watermark == 20


def test_what_is_appended_during_the_move_is_moved_too_and_replication_goes_on(cluster: ReplicaCluster) -> None:
    cluster[0].replica_manager.log_dirs.alter(TP, moved_from(cluster, 0))
    cluster.advance(3)
    cluster[0].produce(b"during")
    cluster.advance(1000)
    cluster[0].produce(b"after")
    cluster.advance(1000)
    assert cluster[0].log().log_end_offset == cluster[1].log().log_end_offset == 22
    assert cluster[0].bytes_of() == cluster[1].bytes_of()


def test_a_move_under_way_is_told_with_its_lag(cluster: ReplicaCluster) -> None:
    target, source = moved_from(cluster, 0), cluster[0].log().parent_dir
    log_dirs = cluster[0].replica_manager.log_dirs
    log_dirs.alter(TP, target)
    told = log_dirs.describe(None)
    assert [(each.offset_lag, each.is_future) for each in told[target] or []] == [(20, True)]
    assert [(each.offset_lag, each.is_future) for each in told[source] or []] == [(0, False)]
    assert log_dirs.describe([TopicPartition("other", 0)]) == {"/one": [], "/two": []}


def test_a_truncation_cuts_the_copy_as_well(cluster: ReplicaCluster) -> None:
    broker = cluster[1]
    broker.replica_manager.log_dirs.alter(TP, moved_from(cluster, 1))
    cluster.advance(6)
    future = broker.log_manager.get_log(TP, future=True)
    assert future is not None
    copied = future.log_end_offset
    assert 1 < copied < 20
    broker.partition().truncate_to(1)
    assert future.log_end_offset == 1


def test_a_throttled_move_takes_its_time(cluster: ReplicaCluster) -> None:
    quota = cluster[0].replica_manager.quotas.alter_log_dirs
    quota.bytes_per_second = 100
    target, size = moved_from(cluster, 0), cluster[0].log().size
    cluster[0].replica_manager.log_dirs.alter(TP, target)
    # Not before the rate has come down to the quota: all but the last piece need size / rate.
    cluster.advance((size - 400) / 100 * 1000 / 2)
    assert cluster[0].log().parent_dir != target
    cluster.advance(size / 100 * 1000 * 2)
    assert cluster[0].log().parent_dir == target


def test_a_move_goes_on_after_a_restart(cluster: ReplicaCluster) -> None:
    cluster[0].replica_manager.quotas.alter_log_dirs.bytes_per_second = 1  # so that it is not done before
    target, before = moved_from(cluster, 1), cluster[1].bytes_of()
    cluster[1].replica_manager.quotas.alter_log_dirs.bytes_per_second = 1
    cluster[1].replica_manager.log_dirs.alter(TP, target)
    cluster.advance(50)
    cluster.restart(1, cluster.kill(1))
    cluster.tell()
    cluster.advance(2000)
    assert cluster[1].log().parent_dir == target
    assert cluster[1].log().log_end_offset == 20
    assert cluster[1].bytes_of() == before


@pytest.mark.parametrize(
    ("topic_partition", "log_dir", "expected"),
    [
        (TP, "/three", ErrorCode.LOG_DIR_NOT_FOUND),
        (TopicPartition("unknown", 0), "/one", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TopicPartition("elsewhere", 0), "/one", ErrorCode.REPLICA_NOT_AVAILABLE),
    ],
)
def test_what_cannot_be_moved_is_refused(cluster: ReplicaCluster, topic_partition: TopicPartition, log_dir: str, expected: ErrorCode) -> None:
    cluster.create([1], TopicPartition("elsewhere", 0))
    assert cluster[0].replica_manager.log_dirs.alter(topic_partition, log_dir) is expected


def test_a_replica_that_does_not_exist_yet_is_made_where_it_was_wanted(cluster: ReplicaCluster) -> None:
    topic_partition = TopicPartition("planned", 0)
    for target in ("/one", "/two", "/one"):
        cluster[0].replica_manager.log_dirs.alter(topic_partition, target)
    cluster.create([0], topic_partition)
    assert cluster[0].log(topic_partition).parent_dir == "/one"
