"""Elections that somebody asked for."""

from __future__ import annotations

import json
import logging

import pytest

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, GetData, Request, Result
from pykafka_classic.controller.events import ApiError, ElectionResult, ElectionType
from pykafka_classic.controller.failover import FIRST_REBALANCE_CHECK_MS
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from tests.unit.controller.cluster import ControlCluster
from zk_schema import configs, preferred_replica_election

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ZNODE = "/admin/preferred_replica_election"


def cluster_with_topic(*assignment: list[int], properties: dict[str, str] | None = None, topic_config: dict[str, str] | None = None) -> ControlCluster:
    cluster = ControlCluster({"auto.leader.rebalance.enable": "false"} | (properties or {}), brokers=(0, 1, 2))
    cluster.create_topic("t", assignment, topic_config=topic_config)
    return cluster


def restarted(cluster: ControlCluster, broker_id: int) -> ControlCluster:
    """The broker dies, comes back, and catches up: it is in sync everywhere, and leads nothing."""
    cluster.kill(broker_id)
    cluster.start(broker_id)
    context = cluster.controller.context
    for partition, assignment in list(context.all_partitions()):
        current = context.leadership[partition]
        state = LeaderAndIsr(current.leader, current.leader_epoch, assignment.replicas, current.zk_version + 1, current.controller_epoch)
        cluster.put_state(partition, state)
        context.leadership[partition] = state
    cluster.forget()
    return cluster


def elect(cluster: ControlCluster, election_type: ElectionType, *partitions: TopicPartition) -> dict[TopicPartition, ElectionResult]:
    answer = cluster.controller.elect_leaders(partitions, election_type)
    cluster.settle()
    return answer.result()


# Preferred, by a client


def test_leadership_returns_to_the_preferred_replica() -> None:
    cluster = restarted(cluster_with_topic([1, 2]), 1)
    assert elect(cluster, ElectionType.PREFERRED, T0) == {T0: ElectionResult(1)}
    assert cluster.state("t", 0).leader == 1


def test_the_whole_assignment_is_told() -> None:
    cluster = restarted(cluster_with_topic([1, 2]), 1)
    elect(cluster, ElectionType.PREFERRED, T0)
    assert {each.broker_id for each in cluster.network.sent if isinstance(each.request, LeaderAndIsrRequest)} == {1, 2}


def test_a_partition_led_by_its_preferred_replica_needs_no_election() -> None:
    cluster = cluster_with_topic([1, 2])
    assert elect(cluster, ElectionType.PREFERRED, T0)[T0].error.error is ErrorCode.ELECTION_NOT_NEEDED


def test_a_preferred_replica_that_is_dead_is_not_available() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(1)
    assert elect(cluster, ElectionType.PREFERRED, T0)[T0].error == ApiError(
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "Failed to elect leader for partition t-0 under strategy PreferredReplicaPartitionLeaderElectionStrategy"
    )


def test_a_preferred_replica_that_is_not_in_sync_is_not_available() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(1)
    cluster.start(1)
    assert elect(cluster, ElectionType.PREFERRED, T0)[T0].error.error is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE


@pytest.mark.parametrize("election_type", ElectionType)
def test_unknown_partitions_and_topics_being_deleted_are_refused(election_type: ElectionType) -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.kill(2)
    cluster.delete_topic("t")
    results = elect(cluster, election_type, T0, TopicPartition("u", 0))
    assert {partition: result.error for partition, result in results.items()} == {
        T0: ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, "The topic is being deleted"),
        TopicPartition("u", 0): ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The partition does not exist."),
    }


# Unclean


def without_in_sync_replica(cluster: ControlCluster) -> ControlCluster:
    """t-0 on 1 and 2: first 2 dies, then 1, which alone is in sync; 2 returns."""
    cluster.kill(2)
    cluster.kill(1)
    cluster.start(2)
    return cluster


def test_an_unclean_election_takes_a_replica_that_is_not_in_sync() -> None:
    cluster = without_in_sync_replica(cluster_with_topic([1, 2]))
    assert cluster.state("t", 0).leader == -1
    assert elect(cluster, ElectionType.UNCLEAN, T0) == {T0: ElectionResult(2)}
    assert (cluster.state("t", 0).leader, cluster.state("t", 0).isr) == (2, (2,))


def test_an_unclean_election_is_not_held_for_a_partition_with_a_live_leader() -> None:
    cluster = cluster_with_topic([1, 2])
    assert elect(cluster, ElectionType.UNCLEAN, T0)[T0].error.error is ErrorCode.ELECTION_NOT_NEEDED


def test_an_unclean_election_without_any_live_replica_fails() -> None:
    cluster = cluster_with_topic([1])
    cluster.kill(1)
    assert elect(cluster, ElectionType.UNCLEAN, T0)[T0].error.error is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE


def test_a_topic_that_allows_it_gets_an_unclean_leader_by_itself() -> None:
    cluster = without_in_sync_replica(cluster_with_topic([1, 2], topic_config={"unclean.leader.election.enable": "true"}))
    assert cluster.state("t", 0).leader == 2


def test_the_brokers_default_allows_it_for_topics_that_say_nothing() -> None:
    cluster = without_in_sync_replica(cluster_with_topic([1, 2], properties={"unclean.leader.election.enable": "true"}))
    assert cluster.state("t", 0).leader == 2


def test_a_topic_that_forbids_it_overrides_the_default() -> None:
    properties = {"unclean.leader.election.enable": "true"}
    cluster = without_in_sync_replica(cluster_with_topic([1, 2], properties=properties, topic_config={"unclean.leader.election.enable": "false"}))
    assert cluster.state("t", 0).leader == -1


def test_a_topic_whose_config_cannot_be_read_gets_no_unclean_leader() -> None:
    cluster = cluster_with_topic([1, 2], properties={"unclean.leader.election.enable": "true"})
    cluster.server.put(configs.topic_path("t"), b"{")
    without_in_sync_replica(cluster)
    assert cluster.state("t", 0).leader == -1


def test_allowing_it_for_the_topic_later_helps_at_once() -> None:
    cluster = without_in_sync_replica(cluster_with_topic([1, 2]))
    cluster.server.put(configs.topic_path("t"), configs.encode({"unclean.leader.election.enable": "true"}))
    cluster.controller.enable_topic_unclean_leader_election("t")
    cluster.settle()
    assert cluster.state("t", 0).leader == 2


def test_allowing_it_by_default_later_helps_at_once() -> None:
    cluster = without_in_sync_replica(cluster_with_topic([1, 2]))
    cluster.controller.update_config(KafkaConfig.from_properties({"zookeeper.connect": "fake:1", "unclean.leader.election.enable": "true"}))
    cluster.settle()
    assert cluster.state("t", 0).leader == 2


# The znode of older tools


def ask_by_znode(cluster: ControlCluster, *partitions: TopicPartition) -> None:
    cluster.server.put(ZNODE, preferred_replica_election.encode(partitions))
    cluster.settle()


def test_the_znode_asks_for_preferred_leaders_and_is_removed() -> None:
    cluster = restarted(cluster_with_topic([1, 2], [2, 1]), 1)
    ask_by_znode(cluster, T0, T1)
    assert cluster.state("t", 0).leader == 1
    assert not cluster.server.exists(ZNODE)


def test_a_second_znode_is_seen_after_the_first() -> None:
    cluster = cluster_with_topic([1, 2])
    for _ in range(2):
        restarted(cluster, 1)
        ask_by_znode(cluster, T0)
        assert cluster.state("t", 0).leader == 1


def test_a_znode_that_cannot_be_read_is_removed() -> None:
    cluster = cluster_with_topic([1, 2])
    cluster.server.put(ZNODE, json.dumps({"version": 1}).encode())
    cluster.settle()
    assert not cluster.server.exists(ZNODE)


def test_a_new_controller_does_what_the_znode_asks_for() -> None:
    cluster = restarted(cluster_with_topic([1, 2]), 1)
    session = cluster.kill(0, expire=False)
    cluster.server.put(ZNODE, preferred_replica_election.encode([T0]))
    cluster.server.close_session(session)
    cluster.settle()
    assert cluster.state("t", 0).leader == 1
    assert not cluster.server.exists(ZNODE)


def test_a_znode_that_is_written_just_after_a_new_controller_looked_for_it_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = restarted(cluster_with_topic([1, 2]), 1)
    process = cluster.server.process

    def written_after_the_look(request: Request, session: int) -> Result:
        result = process(request, session)
        if isinstance(request, GetData) and request.path == ZNODE and result.code is Code.NO_NODE:
            monkeypatch.undo()
            cluster.server.put(ZNODE, preferred_replica_election.encode([T0]))
        return result

    monkeypatch.setattr(cluster.server, "process", written_after_the_look)
    cluster.kill(0)
    assert cluster.server.process == process, "nobody has looked"
    assert cluster.state("t", 0).leader == 1
    assert not cluster.server.exists(ZNODE)


# The balance


BALANCED = {"auto.leader.rebalance.enable": "true", "leader.imbalance.check.interval.seconds": "60"}


def test_the_first_check_of_the_balance_comes_after_5_s_and_then_one_each_interval() -> None:
    cluster = cluster_with_topic([1, 2], properties=BALANCED)
    cluster.advance(FIRST_REBALANCE_CHECK_MS)
    restarted(cluster, 1)
    cluster.advance(59_999)
    assert cluster.state("t", 0).leader == 2
    cluster.advance(1)
    assert cluster.state("t", 0).leader == 1


def test_a_small_imbalance_is_left_alone() -> None:
    cluster = cluster_with_topic(*[[1, 2]] * 10, properties=BALANCED)
    restarted(cluster, 1)
    elect(cluster, ElectionType.PREFERRED, *(TopicPartition("t", index) for index in range(9)))
    cluster.advance(FIRST_REBALANCE_CHECK_MS)
    assert cluster.state("t", 9).leader == 2  # 1 of 10 is not more than 10 percent


def test_an_election_that_is_under_way_when_the_broker_stops_ends_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    cluster = restarted(cluster_with_topic([1, 2], properties=BALANCED), 1)
    node = cluster.active
    cluster.server.held = True
    cluster.clock.advance(FIRST_REBALANCE_CHECK_MS)
    assert "Starting replica leader election (PREFERRED) for partitions t-0" in caplog.text
    node.controller.shutdown()
    node.zk.close()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_preferred_replica_that_is_not_in_sync_is_passed_over() -> None:
    cluster = cluster_with_topic([1, 2], properties=BALANCED)
    cluster.kill(1)
    cluster.start(1)
    cluster.forget()
    cluster.advance(FIRST_REBALANCE_CHECK_MS)
    assert cluster.state("t", 0).leader == 2
    assert cluster.server.log == []


def test_the_balance_waits_while_anything_is_being_moved() -> None:
    cluster = restarted(cluster_with_topic([1, 2], [2, 0], properties=BALANCED), 1)
    cluster.start(3)
    cluster.controller.alter_partition_reassignments({T1: (2, 3)})
    cluster.settle()
    cluster.advance(FIRST_REBALANCE_CHECK_MS)
    assert cluster.state("t", 0).leader == 2


def test_where_it_is_switched_off_no_timer_runs() -> None:
    assert cluster_with_topic([1, 2]).clock.pending == 0
