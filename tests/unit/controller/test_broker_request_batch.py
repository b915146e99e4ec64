"""What a batch sends: order, stickiness, versions, sentinels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.broker_request_batch import BrokerRequestBatch, IllegalState
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.codec import decode, encode
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.unit.controller.cluster import ControlCluster, summary, told

T0 = TopicPartition("t", 0)
STATE = LeaderAndIsr(1, 3, (1, 2), 5, 1)
IBPS = ("0.8.2", "0.9.0", "0.10.0", "0.10.2", "1.0", "2.2", "2.4-IV0", "2.4", "2.6", "2.8-IV0", "2.8")


class Setting:
    """A controller's batch on an idle cluster of three brokers and one topic."""

    def __init__(self, ibp: str = "2.8") -> None:
        self.cluster = ControlCluster({"inter.broker.protocol.version": ibp, "log.message.format.version": ibp}, brokers=(1, 2, 3))
        self.cluster.create_topic("t", [[1, 2]])
        self.context = self.cluster.controller.context
        self.batch: BrokerRequestBatch = self.cluster.controller._core.batch
        self.cluster.forget()

    def send(self, *adds: Callable[[BrokerRequestBatch], None]) -> list[str]:
        """One batch; the summaries of what was sent."""
        self.batch.new_batch()
        for add in adds:
            add(self.batch)
        self.batch.send_requests_to_brokers()
        self.cluster.settle()
        return [summary(each) for each in self.cluster.network.sent]


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_requests_to_one_broker_go_in_the_order_leader_and_isr_update_metadata_stop_replica(setting: Setting) -> None:
    setting.send(
        lambda batch: batch.add_stop_replica(2, T0, delete_partition=False),
        lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=False),
    )
    order = [ApiKey.LEADER_AND_ISR, ApiKey.UPDATE_METADATA, ApiKey.STOP_REPLICA]
    assert [request.API_KEY for request in setting.cluster.sent(to=2)] == order


def test_leader_and_isr_to_some_means_update_metadata_to_all(setting: Setting) -> None:
    sent = setting.send(lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=True))
    assert [line.partition(":")[0] for line in sent if line.startswith("Update")] == ["UpdateMetadata to 1", "UpdateMetadata to 3", "UpdateMetadata to 2"]


def test_is_new_is_sticky_within_a_batch(setting: Setting) -> None:
    sent = setting.send(
        lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=True),
        lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=False),
    )
    assert "LeaderAndIsr to 2: t-0 leader 1 epoch 3 isr 1,2 new" in sent


def test_delete_is_sticky_within_a_batch(setting: Setting) -> None:
    sent = setting.send(
        lambda batch: batch.add_stop_replica(2, T0, delete_partition=True),
        lambda batch: batch.add_stop_replica(2, T0, delete_partition=False),
    )
    assert sent == ["StopReplica to 2: t-0 epoch 0 delete"]


def test_a_stop_replica_carries_minus_two_for_a_topic_being_deleted(setting: Setting) -> None:
    setting.context.topics_to_be_deleted["t"] = None
    assert setting.send(lambda batch: batch.add_stop_replica(2, T0, delete_partition=True)) == ["StopReplica to 2: t-0 epoch -2 delete"]


def test_a_stop_replica_carries_minus_one_where_nothing_is_known(setting: Setting) -> None:
    unknown = TopicPartition("u", 7)
    assert setting.send(lambda batch: batch.add_stop_replica(2, unknown, delete_partition=False)) == ["StopReplica to 2: u-7 epoch -1"]


def test_metadata_of_a_topic_being_deleted_has_leader_minus_two_and_the_epoch_of_a_new_partition(setting: Setting) -> None:
    setting.context.leadership[T0] = STATE
    setting.context.topics_to_be_deleted["t"] = None
    setting.send(lambda batch: batch.add_update_metadata([1], [T0]))
    [request] = setting.cluster.sent(UpdateMetadataRequest)
    state = told(request)[T0]
    assert (state.leader, state.leader_epoch, state.zk_version, state.isr) == (-2, 0, 0, [1, 2])


def test_partitions_without_a_known_leader_are_left_out_of_the_metadata(setting: Setting) -> None:
    assert setting.send(lambda batch: batch.add_update_metadata([1], [TopicPartition("u", 0)])) == ["UpdateMetadata to 1: no partitions"]


def test_the_metadata_lists_assigned_replicas_that_are_offline(setting: Setting) -> None:
    setting.context.shutting_down_broker_ids.add(2)
    setting.send(lambda batch: batch.add_update_metadata([1], [T0]))
    [request] = setting.cluster.sent(UpdateMetadataRequest)
    assert (told(request)[T0].replicas, told(request)[T0].offline_replicas) == ([1, 2], [2])


def test_the_metadata_lists_every_live_or_shutting_down_broker(setting: Setting) -> None:
    setting.context.shutting_down_broker_ids.add(2)
    setting.send(lambda batch: batch.add_update_metadata([1], []))
    [request] = setting.cluster.sent(UpdateMetadataRequest)
    assert isinstance(request, UpdateMetadataRequest)
    assert [(broker.id, broker.endpoints[0].host, broker.endpoints[0].listener) for broker in request.live_brokers] == [
        (1, "b1", "PLAINTEXT"),
        (2, "b2", "PLAINTEXT"),
        (3, "b3", "PLAINTEXT"),
    ]


def test_live_leaders_are_the_leaders_that_live(setting: Setting) -> None:
    setting.send(
        lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=False),
        lambda batch: batch.add_leader_and_isr([2], TopicPartition("t", 1), LeaderAndIsr(9, 0, (9,), 0, 1), is_new=False),
    )
    [request] = setting.cluster.sent(LeaderAndIsrRequest)
    assert isinstance(request, LeaderAndIsrRequest)
    assert [(leader.broker_id, leader.host_name, leader.port) for leader in request.live_leaders] == [(1, "b1", 9091)]


def test_each_request_carries_the_epoch_of_its_addressee_and_of_the_controller(setting: Setting) -> None:
    setting.send(lambda batch: batch.add_leader_and_isr([1, 2], T0, STATE, is_new=False))
    for each in setting.cluster.network.sent:
        assert each.request.broker_epoch == setting.context.broker_epoch(each.broker_id)  # type: ignore[attr-defined]
        assert each.request.controller_epoch == 1  # type: ignore[attr-defined]
        assert each.request.controller_id == 1  # type: ignore[attr-defined]


def test_brokers_that_are_gone_or_never_were_are_skipped(setting: Setting) -> None:
    sent = setting.send(
        lambda batch: batch.add_leader_and_isr([-1, 9], T0, STATE, is_new=False),
        lambda batch: batch.add_stop_replica(9, T0, delete_partition=False),
        lambda batch: batch.add_stop_replica(-1, T0, delete_partition=False),
    )
    assert {line.partition(" ")[0] for line in sent} == {"UpdateMetadata"}


def test_a_batch_that_was_not_sent_is_an_illegal_state(setting: Setting) -> None:
    setting.batch.new_batch()
    setting.batch.add_stop_replica(2, T0, delete_partition=False)
    with pytest.raises(IllegalState):
        setting.batch.new_batch()


def test_a_cleared_batch_sends_nothing(setting: Setting) -> None:
    setting.batch.add_leader_and_isr([1], T0, STATE, is_new=False)
    setting.batch.add_stop_replica(2, T0, delete_partition=False)
    setting.batch.clear()
    assert setting.send() == []


def test_partition_states_are_the_same_objects_in_the_requests_to_all_brokers(setting: Setting) -> None:
    setting.send(lambda batch: batch.add_leader_and_isr([1, 2], T0, STATE, is_new=False))
    requests = setting.cluster.sent(UpdateMetadataRequest)
    assert len({id(told(request)[T0]) for request in requests}) == 1


@pytest.mark.parametrize(
    ("ibp", "versions"),
    [
        ("0.8.2", (0, 0, 0)),
        ("0.9.0", (0, 1, 0)),
        ("0.10.0", (0, 2, 0)),
        ("0.10.2", (0, 3, 0)),
        ("1.0", (1, 4, 0)),
        ("2.2", (2, 5, 1)),
        ("2.4-IV0", (3, 5, 1)),
        ("2.4", (4, 6, 2)),
        ("2.6", (4, 6, 3)),
        ("2.8-IV0", (4, 6, 3)),
        ("2.8", (5, 7, 3)),
    ],
)
def test_versions_follow_the_inter_broker_protocol_version(ibp: str, versions: tuple[int, int, int]) -> None:
    setting = Setting(ibp)
    setting.send(lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=False), lambda batch: batch.add_stop_replica(2, T0, delete_partition=False))
    assert tuple(each.version for each in setting.cluster.network.sent if each.broker_id == 2) == versions


@pytest.mark.parametrize("ibp", IBPS)
def test_what_is_sent_can_be_written_and_read_in_its_version(ibp: str) -> None:
    setting = Setting(ibp)
    setting.send(
        lambda batch: batch.add_leader_and_isr([1, 2], T0, STATE, is_new=True),
        lambda batch: batch.add_stop_replica(2, T0, delete_partition=False),
        lambda batch: batch.add_stop_replica(2, TopicPartition("u", 1), delete_partition=True),
    )
    for each in setting.cluster.network.sent:
        decoded, _ = decode(type(each.request), each.version, encode(each.request, each.version))
        assert told(decoded).keys() == told(each.request).keys()


def test_old_versions_send_deletions_apart_from_the_others() -> None:
    setting = Setting("2.2")
    sent = setting.send(
        lambda batch: batch.add_stop_replica(2, T0, delete_partition=False),
        lambda batch: batch.add_stop_replica(2, TopicPartition("t", 1), delete_partition=True),
    )
    assert sent == ["StopReplica to 2: t-1 delete=True", "StopReplica to 2: t-0 delete=False"]


def test_topic_ids_travel_in_leader_and_isr_and_metadata(setting: Setting) -> None:
    setting.send(lambda batch: batch.add_leader_and_isr([2], T0, STATE, is_new=False))
    ids = {topic.topic_id for request in setting.cluster.sent() for topic in request.topic_states}  # type: ignore[attr-defined]
    assert ids == {setting.context.topic_ids["t"]}
