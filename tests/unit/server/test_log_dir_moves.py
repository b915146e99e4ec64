"""Replicas that move between the log dirs of their broker (KIP-113), in a cluster of whole data paths."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.log import Log
from pykafka_classic.protocol.messages.stop_replica import StopReplicaPartitionState, StopReplicaRequest, StopReplicaTopicState
from pykafka_classic.server import log_dir_moves
from pykafka_classic.server.log_dir_descriptions import ReplicaInfo
from tests.unit.log.helpers import offsets_of, read_all
from tests.unit.server.replica_cluster import TP, ReplicaCluster, TestBroker

TWO_DIRS = {"log.dirs": "/a,/b", "log.segment.bytes": "2000", "replica.lag.time.max.ms": "30000"}
MANY = 60


@pytest.fixture
def cluster() -> ReplicaCluster:
    """Partition `TP` led by broker 0 and followed by broker 1."""
    made = ReplicaCluster((0, 1), TWO_DIRS)
    made.create([0, 1])
    return made


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a move takes several."""
    monkeypatch.setattr(log_dir_moves, "COPY_BYTES_MAX", 500)


def fill(broker: TestBroker, numbers: Iterable[int]) -> None:
    for number in numbers:
        broker.produce(b"value %d" % number)


def other_dir(one: Log) -> str:
    return "/b" if one.parent_dir == "/a" else "/a"


def move(broker: TestBroker, log_dir: str, topic_partition: TopicPartition = TP) -> ErrorCode:
    return broker.replica_manager.alter_replica_log_dirs({topic_partition: log_dir})[topic_partition]


def future_of(broker: TestBroker) -> Log | None:
    return broker.log_manager.get_log(TP, future=True)


def limit(broker: TestBroker, bytes_per_second: int) -> None:
    broker.replica_manager.quotas.alter_log_dirs.bytes_per_second = bytes_per_second


def begin_slowly(broker: TestBroker) -> str:
    """Move to the other dir in about 10 s; returns it after 3 s."""
    target = other_dir(broker.log())
    limit(broker, broker.log().size // 10)
    assert move(broker, target) is ErrorCode.NONE
    broker.cluster.advance(3000)
    begun = future_of(broker)
    assert begun is not None and 0 < begun.log_end_offset < broker.log().log_end_offset
    return target


def directories(broker: TestBroker) -> list[str]:
    """Partitions' directories that are not about to be deleted."""
    named = [(log_dir, name) for log_dir in ("/a", "/b") for name in broker.file_system.list(log_dir)]
    return sorted(f"{log_dir}/{name}" for log_dir, name in named if name.startswith(TP.topic) and "delete" not in name)


def test_a_moved_replica_has_the_same_records_in_the_other_dir(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    cluster.advance(1000)
    before, target = read_all(leader.log()), other_dir(leader.log())
    assert move(leader, target) is ErrorCode.NONE
    cluster.advance(1000)
    assert leader.log().parent_dir == target
    assert read_all(leader.log()) == before
    assert directories(leader) == [f"{target}/{TP}"]
    assert future_of(leader) is None


def test_what_is_produced_meanwhile_is_there_too_and_no_offset_is_given_twice(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    target = begin_slowly(leader)
    for number in range(MANY, 2 * MANY):
        leader.produce(b"value %d" % number)
        cluster.advance(100)
    assert future_of(leader) is not None
    cluster.advance(30_000)
    assert leader.log().parent_dir == target
    fill(leader, range(2 * MANY, 2 * MANY + 5))
    cluster.advance(1000)
    assert offsets_of(read_all(leader.log())) == list(range(2 * MANY + 5))
    assert cluster[1].bytes_of() == leader.bytes_of()


def test_high_watermark_log_start_and_epochs_go_with_it(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    cluster.advance(1000)
    cluster.elect(0)
    cluster.elect(0)
    leader.partition().delete_records_on_leader(20)
    old = leader.log()
    epochs = old.leader_epoch_cache.entries
    move(leader, other_dir(old))
    cluster.advance(1000)
    new = leader.log()
    assert new is not old
    assert (new.high_watermark, new.log_start_offset, new.log_end_offset) == (MANY, 20, MANY)
    assert new.leader_epoch_cache.entries == epochs
    assert new.topic_id == old.topic_id


def test_a_follower_that_is_cut_while_it_moves_ends_as_its_leader(cluster: ReplicaCluster) -> None:
    leader, follower = cluster[0], cluster[1]
    fill(leader, range(MANY))
    cluster.advance(1000)
    cluster.elect(1)
    cluster.advance(1000)
    cluster.isolate(1)
    fill(follower, range(MANY))  # never replicated
    begin_slowly(follower)
    cluster.advance(5000)
    half_way = future_of(follower)
    assert half_way is not None and half_way.log_end_offset > MANY + 3
    cluster.reconnect(1)
    cluster.elect(0, isr=[0])
    fill(leader, range(3))
    cluster.advance(20_000)
    assert future_of(follower) is None
    assert follower.bytes_of() == leader.bytes_of()
    assert offsets_of(read_all(leader.log())) == list(range(MANY + 3))


def test_a_restart_goes_on_with_what_was_begun(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    cluster.advance(1000)
    target = begin_slowly(leader)
    again = cluster.restart(0, cluster.kill(0))
    assert future_of(again) is not None
    cluster.elect(0)
    cluster.advance(1000)
    assert again.log().parent_dir == target
    assert offsets_of(read_all(again.log())) == list(range(MANY))


def test_a_move_may_be_turned_round(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    here = leader.log().parent_dir
    begin_slowly(leader)
    assert move(leader, here) is ErrorCode.NONE
    cluster.advance(1000)
    assert (leader.log().parent_dir, future_of(leader)) == (here, None)
    assert directories(leader) == [f"{here}/{TP}"]


def test_a_partition_that_is_not_here_yet_is_made_where_it_was_wished(cluster: ReplicaCluster) -> None:
    later = TopicPartition("later", 0)
    for wished in ("/a", "/b"):
        assert move(cluster[0], wished, later) is ErrorCode.REPLICA_NOT_AVAILABLE
    cluster.create([0, 1], later)
    assert cluster[0].log(later).parent_dir == "/b"


@pytest.mark.parametrize(("log_dir", "error"), [("/c", ErrorCode.LOG_DIR_NOT_FOUND), ("/b", ErrorCode.KAFKA_STORAGE_ERROR)])
def test_only_working_log_dirs_of_the_config_can_be_moved_to(cluster: ReplicaCluster, log_dir: str, error: ErrorCode) -> None:
    broker = cluster[1]
    broker.log().flush()
    for bad in {"/b"} - {broker.log().parent_dir}:
        broker.file_system.fail(bad)
        broker.log_manager._storage_failed(f"{bad}/x", OSError("Input/output error"))
    assert move(broker, log_dir) is error


def test_a_name_that_would_grow_too_long_is_refused(cluster: ReplicaCluster) -> None:
    assert move(cluster[0], "/b", TopicPartition("t" * 230, 0)) is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_deleted_partition_leaves_no_future_log(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    begin_slowly(leader)
    state = StopReplicaPartitionState(partition_index=TP.partition, leader_epoch=-2, delete_partition=True)
    request = StopReplicaRequest(controller_id=0, controller_epoch=1, topic_states=[StopReplicaTopicState(TP.topic, [state])])
    leader.replica_manager.stop_replicas(request, version=3)
    cluster.advance(1000)
    assert directories(leader) == []


def test_a_move_keeps_to_its_rate(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    size = leader.log().size
    limit(leader, size // 10)
    move(leader, other_dir(leader.log()))
    cluster.advance(5000)
    half_way = future_of(leader)
    assert half_way is not None and 0.3 * size < half_way.size < 0.7 * size
    cluster.advance(10_000)
    assert future_of(leader) is None


def test_log_dirs_are_described_with_sizes_and_lags(cluster: ReplicaCluster) -> None:
    leader = cluster[0]
    fill(leader, range(MANY))
    here, target = leader.log().parent_dir, begin_slowly(leader)
    future = future_of(leader)
    assert future is not None
    described = {each.path: each for each in leader.replica_manager.describe_log_dirs(None)}
    assert described[here].replicas == [ReplicaInfo(TP, leader.log().size, 0, is_future=False)]
    assert described[target].replicas == [ReplicaInfo(TP, future.size, MANY - future.log_end_offset, is_future=True)]
    assert all(each.is_online for each in described.values())
    assert [each.replicas for each in leader.replica_manager.describe_log_dirs({TopicPartition("other", 0)})] == [[], []]
