"""What comes from a controller, a leader or a follower of the past is refused by real brokers, with Kafka's errors, and changes nothing (facts 3.10, 4.1, 4.4).

The controller is moved once and the leader once, so that each has an epoch of the past; then its requests are sent again, by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrRequestPartitionData, AlterIsrRequestTopicData, AlterIsrResponse
from pykafka_classic.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from pykafka_classic.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from pykafka_classic.protocol.messages.stop_replica import StopReplicaPartitionState, StopReplicaRequest, StopReplicaResponse, StopReplicaTopicState
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from pykafka_classic.protocol.schema import Message
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import create_topic, eventually
from tests.integration.witness import Witness
from zk_schema import topics
from zk_schema.partition_state import TopicPartitionStateZNode

TOPIC: Final = "t"
BROKERS: Final = [0, 1]


class Moved:
    """A cluster whose controller and leader have both been others before."""

    def __init__(self, cluster: LocalCluster, witness: Witness) -> None:
        self.cluster = cluster
        self.witness = witness
        create_topic(cluster.bootstrap, TOPIC, assignment=[BROKERS])
        before = self.witness.controller_epoch()
        self.witness.remove_controller()
        eventually(lambda: self.witness.controller_epoch() > before and self.witness.controller() in BROKERS, "another controller")
        self.witness.reassign(TOPIC, [[1, 0]])
        eventually(lambda: topics.decode(witness.read(topics.path(TOPIC))).assignment[0].replicas == (1, 0), "the replicas have changed places")
        eventually(lambda: set(self.state.isr) == set(BROKERS), "both are in sync: an election that finds it otherwise changes nothing")
        self.witness.elect_preferred([(TOPIC, 0)])
        eventually(lambda: self.state.leader == 1, "the other leads")
        eventually(lambda: all(self.told(number) == 1 for number in BROKERS), "both know it")

    @property
    def state(self) -> TopicPartitionStateZNode:
        """In ZooKeeper."""
        return self.witness.state(TOPIC, 0)

    def told(self, number: int) -> int:
        """Who leads, as a broker tells."""
        answer = self.cluster.metadata(number, [TOPIC])
        return -1 if answer is None else answer.topics[0].partitions[0].leader_id

    def ask(self, broker: int, request: Message) -> Message:
        with BlockingClient("127.0.0.1", self.cluster.ports[broker]) as client:
            return client.send(request)


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    overrides = {"auto.leader.rebalance.enable": "false", "zookeeper.session.timeout.ms": "20000"}  # on a busy machine nobody shall seem dead
    with LocalCluster(tmp_path_factory.mktemp("fencing"), brokers=2, overrides=overrides) as cluster:
        with Witness(cluster.zookeeper.address) as witness:
            yield Moved(cluster, witness)
        assert_no_stack_traces(cluster)


def unchanged(moved: Moved, before: TopicPartitionStateZNode) -> None:
    assert moved.state == before
    assert [moved.told(number) for number in BROKERS] == [1, 1]


def leader_and_isr(moved: Moved, *, controller_epoch: int, leader_epoch: int) -> LeaderAndIsrResponse:
    """Broker 0 shall lead, alone."""
    state = LeaderAndIsrPartitionState(
        partition_index=0, controller_epoch=controller_epoch, leader=0, leader_epoch=leader_epoch, isr=[0], zk_version=0, replicas=[0, 1]
    )
    topic = LeaderAndIsrTopicState(topic_name=TOPIC, partition_states=[state])
    answer = moved.ask(0, LeaderAndIsrRequest(controller_id=1, controller_epoch=controller_epoch, topic_states=[topic]))
    assert isinstance(answer, LeaderAndIsrResponse)
    return answer


def test_a_controller_of_the_past_is_not_obeyed(moved: Moved) -> None:
    before, old = moved.state, moved.witness.controller_epoch() - 1
    assert leader_and_isr(moved, controller_epoch=old, leader_epoch=before.leader_epoch + 9).error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    metadata = moved.ask(0, UpdateMetadataRequest(controller_id=1, controller_epoch=old))
    assert isinstance(metadata, UpdateMetadataResponse)
    assert metadata.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    partition = StopReplicaPartitionState(partition_index=0, leader_epoch=-2, delete_partition=True)
    stop = moved.ask(0, StopReplicaRequest(controller_id=1, controller_epoch=old, topic_states=[StopReplicaTopicState(TOPIC, [partition])]))
    assert isinstance(stop, StopReplicaResponse)
    assert stop.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    unchanged(moved, before)


def test_an_order_of_an_earlier_leader_epoch_is_not_carried_out(moved: Moved) -> None:
    before = moved.state
    answer = leader_and_isr(moved, controller_epoch=moved.witness.controller_epoch(), leader_epoch=before.leader_epoch - 1)
    errors = [each.error_code for topic in answer.topics for each in topic.partition_errors] + [each.error_code for each in answer.partition_errors]
    assert errors == [ErrorCode.STALE_CONTROLLER_EPOCH]
    unchanged(moved, before)


def test_who_asks_in_an_epoch_of_the_past_or_of_the_future_is_told_so(moved: Moved) -> None:
    current = moved.state.leader_epoch
    for epoch, error in ((current - 1, ErrorCode.FENCED_LEADER_EPOCH), (current + 1, ErrorCode.UNKNOWN_LEADER_EPOCH), (current, ErrorCode.NONE)):
        asked = OffsetForLeaderTopic(topic=TOPIC, partitions=[OffsetForLeaderPartition(partition=0, current_leader_epoch=epoch, leader_epoch=0)])
        answer = moved.ask(1, OffsetForLeaderEpochRequest(replica_id=0, topics=[asked]))
        assert isinstance(answer, OffsetForLeaderEpochResponse)
        assert answer.topics[0].partitions[0].error_code == error


def test_a_leader_of_the_past_cannot_change_the_isr(moved: Moved) -> None:
    before = moved.state

    def alter(*, broker_epoch: int, leader_epoch: int) -> AlterIsrResponse:
        partition = AlterIsrRequestPartitionData(partition_index=0, leader_epoch=leader_epoch, new_isr=[0], current_isr_version=0)
        request = AlterIsrRequest(broker_id=0, broker_epoch=broker_epoch, topics=[AlterIsrRequestTopicData(name=TOPIC, partitions=[partition])])
        answer = moved.ask(moved.witness.controller(), request)
        assert isinstance(answer, AlterIsrResponse)
        return answer

    epoch = moved.witness.broker_epoch(0)
    assert alter(broker_epoch=epoch - 1, leader_epoch=before.leader_epoch).error_code == ErrorCode.STALE_BROKER_EPOCH
    fenced = alter(broker_epoch=epoch, leader_epoch=before.leader_epoch - 1)
    assert [each.error_code for topic in fenced.topics for each in topic.partitions] == [ErrorCode.FENCED_LEADER_EPOCH]
    unchanged(moved, before)
