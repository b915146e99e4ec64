"""The office: winning it, holding it, losing it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Multi
from pykafka_classic.controller.controller import NO_CONTROLLER, KafkaController
from pykafka_classic.controller.events import ElectionType, Reelect, TopicChange
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.fakes.clock import SeededRandom
from tests.unit.controller.cluster import ControlCluster

PARTITION = TopicPartition("t", 0)


def error_of(promise: Promise[Any]) -> ErrorCode:
    """The code with which a call failed."""
    error = promise.error()
    assert isinstance(error, KafkaError)
    return ErrorCode(error.code)


# Election


def test_the_first_broker_becomes_controller_with_epoch_1() -> None:
    cluster = ControlCluster(brokers=[1])
    assert (cluster.controller.is_active, cluster.controller.epoch) == (True, 1)
    assert cluster.server.data("/controller_epoch") == b"1"
    stored = json.loads(cluster.server.data("/controller") or b"")
    assert stored == {"version": 1, "brokerid": 1, "timestamp": str(cluster.clock.now_ms())}


def test_one_broker_wins_and_all_know_it() -> None:
    cluster = ControlCluster(brokers=[1, 2, 3])
    assert [node.controller.is_active for node in cluster.nodes.values()] == [True, False, False]
    assert {node.controller.active_controller_id for node in cluster.nodes.values()} == {1}


def test_the_death_of_the_controller_makes_another_one_with_the_next_epoch() -> None:
    cluster = ControlCluster(brokers=[1, 2, 3])
    cluster.kill(1)
    assert cluster.controller.epoch == 2
    assert {node.controller.active_controller_id for node in cluster.nodes.values()} == {cluster.active.broker_id}


def test_a_broker_that_is_not_controller_knows_nothing_and_has_epoch_0() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    other = cluster.nodes[2].controller
    assert other.epoch == 0
    assert other.context.live_or_shutting_down_brokers == {}


def test_removing_the_controller_node_by_hand_calls_for_an_election() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.server.remove("/controller")
    cluster.settle()
    assert cluster.controller.epoch == 2


def test_a_race_for_the_office_has_one_winner() -> None:
    cluster = ControlCluster()
    cluster.server.held = True
    for broker_id in (1, 2, 3):
        cluster.start(broker_id, settle=False)
    cluster.server.deliver()  # all three read that there is no controller before any of them tries
    cluster.settle()
    assert [node.controller.is_active for node in cluster.nodes.values()].count(True) == 1
    assert cluster.controller.epoch == 1


# Fencing


def deposed(cluster: ControlCluster) -> None:
    """Another process takes the office of broker 1 while that one does not listen."""
    cluster.server.remove("/controller")
    cluster.server.put("/controller", b'{"version":1,"brokerid":9,"timestamp":"1"}')
    cluster.server.put("/controller_epoch", b"7")


def test_a_deposed_controller_that_has_not_noticed_cannot_write_and_resigns() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[2, 1]])
    zombie = cluster.nodes[1]
    cluster.server.held = True
    deposed(cluster)
    zombie.zk._incoming.clear()  # it never hears of it: what it does next is done in good faith
    cluster.server.held = False
    cluster.forget()
    answer = zombie.controller.elect_leaders([PARTITION], ElectionType.UNCLEAN)
    assert answer.result()[PARTITION].error.error is ErrorCode.ELECTION_NOT_NEEDED
    zombie.controller.controlled_shutdown(2, -1)
    cluster.settle()
    assert not zombie.controller.is_active
    assert cluster.server.changes("/brokers/topics") == []
    assert cluster.sent(LeaderAndIsrRequest) == []


def test_a_call_that_meets_the_fence_is_answered_not_controller() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[2, 1]])
    zombie = cluster.nodes[1]
    cluster.server.held = True
    deposed(cluster)
    zombie.zk._incoming.clear()
    cluster.server.held = False
    answer = zombie.controller.controlled_shutdown(2, -1)
    cluster.settle()
    assert error_of(answer) is ErrorCode.NOT_CONTROLLER
    assert zombie.controller.active_controller_id == 9


def test_every_write_of_the_controller_but_the_feature_node_stands_behind_a_check_of_the_epoch() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[1, 2], [2, 1]])
    cluster.kill(2)
    cluster.delete_topic("t")
    written = [change for change in cluster.server.changes("/brokers/topics") if change.session == cluster.active.zk.session_id]
    checked = {change.zxid for change in cluster.server.log if change.event == "check" and change.path == "/controller_epoch"}
    assert written
    assert {change.zxid for change in written} <= checked


# Resigning


def test_a_controller_whose_node_names_another_broker_resigns() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.server.put("/controller", b'{"version":1,"brokerid":9,"timestamp":"1"}')
    cluster.settle()
    controller = cluster.nodes[1].controller
    assert (controller.is_active, controller.active_controller_id, controller.epoch) == (False, 9, 0)


def test_resigning_drops_the_requests_that_wait_and_stops_the_timers() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.network.down.add(2)
    cluster.create_topic("t", [[1, 2]])
    cluster.server.put("/controller", b'{"version":1,"brokerid":9,"timestamp":"1"}')
    cluster.settle()
    cluster.network.down.clear()
    cluster.forget()
    cluster.advance(600_000)
    assert cluster.sent() == []
    assert cluster.clock.pending == 0


def test_a_failure_while_taking_over_gives_the_office_up_for_another_try() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    other = cluster.nodes[2].controller
    setup, failures = other._handlers.features.setup, [RuntimeError("disk on fire")]

    async def fail_once() -> None:
        if failures:
            raise failures.pop()
        await setup()

    other._handlers.features.setup = fail_once  # type: ignore[method-assign]
    cluster.kill(1)
    assert failures == []
    assert (other.is_active, other.epoch) == (True, 3)


def test_unreadable_znodes_are_not_in_the_way_of_a_failover() -> None:
    cluster = ControlCluster()
    cluster.server.put("/feature", b"{}")
    cluster.server.put("/brokers/topics/broken", b"{")
    cluster.server.put("/brokers/ids/7", b"?")
    cluster.create_topic("t", [[1]])
    cluster.server.put("/brokers/topics/t/partitions/0/state", b"no state")
    cluster.start(1)
    assert cluster.controller.is_active
    assert cluster.controller.context.live_broker_ids == {1}


def test_a_batch_left_over_makes_the_controller_resign_and_run_again_from_the_start() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.controller._core.batch.add_update_metadata([1], [])
    cluster.create_topic("t", [[1]])
    assert (cluster.controller.is_active, cluster.controller.epoch) == (True, 2)
    assert cluster.state("t", 0).leader == 1


# Sessions


def test_disconnection_is_not_expiry() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.nodes[1].zk.disconnect()
    cluster.settle()
    assert cluster.nodes[1].controller.is_active
    cluster.nodes[1].zk.reconnect()
    cluster.settle()
    assert (cluster.controller.epoch, cluster.active.broker_id) == (1, 1)


def test_expiry_ends_the_office_at_once() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.nodes[1].zk.expire(renew=False)
    assert not cluster.nodes[1].controller.is_active
    assert cluster.nodes[1].controller.active_controller_id == NO_CONTROLLER
    assert cluster.nodes[1].controller.epoch == 0


def test_after_an_expiry_the_broker_registers_again_under_a_new_epoch_and_takes_part_in_the_election() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.nodes[1].zk.expire()
    cluster.settle()
    first, second = cluster.nodes[1].registrations
    assert second > first
    assert (cluster.controller.is_active, cluster.controller.epoch) == (True, 2)


def test_an_expired_controller_is_followed_by_another_broker_which_sees_it_bounce() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[1, 2]])
    cluster.nodes[1].zk.expire()
    cluster.settle()
    assert cluster.active.broker_id == 2
    assert cluster.controller.context.live_broker_ids == {1, 2}
    assert cluster.controller.context.broker_epoch(1) == cluster.nodes[1].registrations[-1]


def test_callers_that_wait_are_refused_when_the_session_ends() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.create_topic("t", [[1]])
    cluster.server.held = True
    answers: list[Promise[Any]] = [cluster.controller.alter_partition_reassignments({PARTITION: (1,)}), cluster.controller.list_partition_reassignments()]
    cluster.nodes[1].zk.expire(renew=False)
    assert [error_of(answer) for answer in answers] == [ErrorCode.NOT_CONTROLLER] * 2


def test_nothing_is_sent_to_brokers_after_the_session_ended_in_the_middle_of_an_event() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[1, 2]])
    cluster.forget()
    cluster.server.held = True
    cluster.controller.controlled_shutdown(2, -1)
    cluster.nodes[1].zk.expire(renew=False)
    cluster.network.deliver()
    assert cluster.sent(LeaderAndIsrRequest) == []


def test_events_queued_when_the_session_ends_are_dropped() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.server.held = True
    controller = cluster.controller
    controller._events.put(TopicChange())
    for _ in range(5):
        controller._events.put(Reelect())
    cluster.nodes[1].zk.expire(renew=False)
    assert controller.is_idle


# Not active


@pytest.mark.parametrize(
    "call",
    [
        lambda controller: controller.controlled_shutdown(1, -1),
        lambda controller: controller.elect_leaders([PARTITION], ElectionType.PREFERRED),
        lambda controller: controller.alter_partition_reassignments({PARTITION: (1,)}),
        lambda controller: controller.list_partition_reassignments(),
    ],
)
def test_a_broker_that_is_not_controller_answers_not_controller(call: Callable[[KafkaController], Promise[Any]]) -> None:
    cluster = ControlCluster(brokers=[1, 2])
    answer = call(cluster.nodes[2].controller)
    assert error_of(answer) is ErrorCode.NOT_CONTROLLER


def test_alter_isr_to_a_broker_that_is_not_controller_is_answered_in_the_response() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    assert cluster.nodes[2].controller.alter_isr(AlterIsrRequest(1, 1, [])).result().error_code == ErrorCode.NOT_CONTROLLER


def test_after_shutdown_nothing_is_handled() -> None:
    cluster = ControlCluster(brokers=[1])
    controller = cluster.controller
    controller.shutdown()
    assert not controller.is_active
    assert error_of(controller.controlled_shutdown(1, -1)) is ErrorCode.NOT_CONTROLLER
    cluster.forget()
    cluster.create_topic("t", [[1]])
    assert cluster.sent() == []


def test_a_bug_in_a_handler_does_not_stop_the_loop() -> None:
    cluster = ControlCluster(brokers=[1])
    cluster.controller._handlers.shutdown.process = None  # type: ignore[method-assign,assignment]
    answer = cluster.controller.controlled_shutdown(1, -1)
    assert error_of(answer) is ErrorCode.UNKNOWN_SERVER_ERROR
    cluster.create_topic("t", [[1]])
    assert cluster.state("t", 0).leader == 1


# Failover


def test_a_new_controller_first_tells_all_brokers_of_each_other_then_what_to_lead() -> None:
    cluster = ControlCluster(brokers=[1, 2, 3])
    cluster.create_topic("t", [[2, 3]])
    cluster.forget()
    cluster.kill(1)
    first, *others = cluster.sent(to=3)
    assert isinstance(first, UpdateMetadataRequest)
    assert first.topic_states == []
    assert isinstance(others[0], LeaderAndIsrRequest)


def test_a_new_controller_repeats_the_whole_state_to_every_broker() -> None:
    cluster = ControlCluster(brokers=[1, 2, 3])
    cluster.create_topic("t", [[2, 3], [3, 2]])
    cluster.forget()
    cluster.kill(1)
    [request] = [request for request in cluster.sent(LeaderAndIsrRequest, to=2) if isinstance(request, LeaderAndIsrRequest)]
    assert [state.partition_index for state in request.topic_states[0].partition_states] == [0, 1]
    assert not any(state.is_new for state in request.topic_states[0].partition_states)


def test_what_the_dead_controller_led_goes_through_leaderless_to_a_new_leader() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[1, 2]])
    cluster.forget()
    cluster.kill(1)
    epochs = [json.loads(change.data or b"") for change in cluster.server.changes("/brokers/topics/t/partitions/0/state")]
    assert [(each["leader"], each["leader_epoch"], each["isr"]) for each in epochs] == [(-1, 1, [2]), (2, 2, [2])]


def test_a_topic_created_without_a_controller_is_brought_to_life_by_the_next_one() -> None:
    cluster = ControlCluster()
    cluster.create_topic("t", [[1]])
    cluster.start(1)
    assert cluster.state("t", 0).leader == 1


def test_old_notifications_are_removed_unread() -> None:
    cluster = ControlCluster()
    cluster.server.put("/isr_change_notification/isr_change_0000000000", b"rubbish")
    cluster.server.put("/log_dir_event_notification/log_dir_event_0000000000", b"rubbish")
    cluster.start(1)
    assert cluster.server.children("/isr_change_notification") == []
    assert cluster.server.children("/log_dir_event_notification") == []


def test_a_failover_reads_partition_states_in_one_pipelined_request() -> None:
    cluster = ControlCluster(brokers=[1, 2])
    cluster.create_topic("t", [[1, 2]] * 20)
    submitted: list[int] = []
    submit = cluster.nodes[2].zk.submit

    def count(requests: list[Multi]) -> object:
        submitted.append(len(requests))
        return submit(requests)

    cluster.nodes[2].zk.submit = count  # type: ignore[method-assign,assignment]
    cluster.kill(1)
    assert max(submitted) == 20
    assert len(submitted) < 40


def test_a_controller_znode_left_over_from_an_earlier_session_of_ours_is_no_office() -> None:
    cluster = ControlCluster(brokers=[1])
    session = cluster.kill(1, expire=False)
    cluster.start(1)
    assert not cluster.nodes[1].controller.is_active
    cluster.server.close_session(session)
    cluster.settle()
    assert cluster.nodes[1].controller.is_active


@pytest.mark.parametrize("seed", range(60))
def test_however_fast_the_controller_znode_is_deleted_by_hand_there_is_one_controller_in_the_end(seed: int) -> None:
    cluster, random = ControlCluster(brokers=[1, 2, 3]), SeededRandom(seed)
    cluster.create_topic("t", [[1, 2, 3]])
    cluster.server.held = True
    for _ in range(400):
        cluster.server.step(random)
        if cluster.server.exists("/controller") and random.randrange(20) == 0:
            cluster.server.remove("/controller")
    cluster.server.held = False
    cluster.settle()
    assert cluster.server.exists("/controller")
    assert [node.controller.is_active for node in cluster.nodes.values()].count(True) == 1
    epochs = [int(change.data or b"") for change in cluster.server.changes("/controller_epoch")]
    assert epochs == list(range(len(epochs))) and cluster.controller.epoch == epochs[-1] > 2
