"""Controllers under a seed: brokers die, hang, lose their sessions and return while topics are made, moved and deleted; messages arrive in any order.

After each step the checkers look at every change in ZooKeeper (`StateChecker`); at the end all brokers are brought back, everything comes to rest, and then the
cluster must be whole: one controller, a leader for every partition, no deletion or move left over, and every broker's metadata what ZooKeeper says.

A failing seed is in the test's name: run it alone with `-k`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ElectionType
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.fakes.znode_tree import Change
from tests.unit.controller.cluster import ControlCluster, told
from zk_schema import partition_state, topics
from zk_schema.partition_state import NO_LEADER, TopicPartitionStateZNode

BROKERS = (1, 2, 3, 4)
TOPICS = ("a", "b", "c")
STEPS = 400
ACTION_PROBABILITY = 0.15
SEEDS = range(40)


@dataclass
class StateChecker:
    """What must hold for every write of a partition's state."""

    states: dict[str, TopicPartitionStateZNode] = field(default_factory=dict)
    leaders: dict[tuple[str, int], int] = field(default_factory=dict)  # (path, leader epoch) -> leader
    looked_at: int = 0

    def look(self, log: list[Change]) -> None:
        """Check what is new in ZooKeeper's log."""
        checked = {change.zxid for change in log if change.event == "check"}
        for change in log[self.looked_at :]:
            if partition_state.partition_of(change.path) is None or change.event == "check":
                continue
            assert change.zxid in checked, "a controller wrote without a look at the epoch"
            if change.event == "delete":
                self._forget(change.path)
            else:
                self._check(change.path, partition_state.decode(change.data))
        self.looked_at = len(log)

    def _forget(self, path: str) -> None:
        self.states.pop(path, None)
        self.leaders = {key: leader for key, leader in self.leaders.items() if key[0] != path}

    def _check(self, path: str, new: TopicPartitionStateZNode) -> None:
        old = self.states.get(path)
        assert new.isr, "nobody is in sync"
        assert new.leader in (NO_LEADER, *new.isr), "the leader is not in sync"
        assert self.leaders.setdefault((path, new.leader_epoch), new.leader) == new.leader, "two leaders in one epoch"
        if old is not None:
            assert new.leader_epoch >= old.leader_epoch, "the leader epoch fell"
            assert new.controller_epoch >= old.controller_epoch, "a former controller wrote"
            assert new.leader in (NO_LEADER, *old.isr), "a leader that was not in sync"
        self.states[path] = new


class Simulation:
    """A cluster, chance, and what chance may do."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.cluster = ControlCluster({"leader.imbalance.check.interval.seconds": "10"})
        self.server = self.cluster.server
        self.checker = StateChecker()
        self.dead_sessions: dict[int, int] = {}  # broker -> the session that it left behind
        for broker_id in BROKERS:
            self.start(broker_id)
        self.server.held = True

    def run(self) -> None:
        """All steps, each followed by the checks."""
        actions = (self.kill, self.time_out, self.restart, self.disconnect, self.reconnect, self.expire, self.create, self.delete, self.move)
        more = (self.alter_isr, self.alter_isr, self.elect, self.leave, self.let_time_pass)
        for _ in range(STEPS):
            if self.random.random() < ACTION_PROBABILITY:
                self.random.choice(actions + more)()
            self.some_progress()
            self.checker.look(self.server.log)

    def some_progress(self) -> None:
        """A few messages arrive."""
        for _ in range(self.random.randrange(12)):
            if self.random.random() < 0.8:
                self.server.step(self.random)
            else:
                self.cluster.network.deliver()

    # What may happen

    def start(self, broker_id: int) -> None:
        self.cluster.start(broker_id, settle=not self.server.held)

    def kill(self) -> None:
        if len(self.cluster.nodes) > 1:
            broker_id = self.random.choice(sorted(self.cluster.nodes))
            self.dead_sessions[broker_id] = self.cluster.kill(broker_id, expire=False)

    def time_out(self) -> None:
        for broker_id, session in self.dead_sessions.items():
            if self.server.has_session(session):
                self.server.close_session(session)
                return
            assert broker_id in BROKERS

    def restart(self) -> None:
        for broker_id, session in list(self.dead_sessions.items()):
            if not self.server.has_session(session):
                del self.dead_sessions[broker_id]
                self.start(broker_id)
                return

    def disconnect(self) -> None:
        self.some_node().zk.disconnect()

    def reconnect(self) -> None:
        for node in list(self.cluster.nodes.values()):
            node.zk.reconnect()

    def expire(self) -> None:
        self.some_node().zk.expire()

    def create(self) -> None:
        topic = self.random.choice(TOPICS)
        if not self.server.exists(topics.path(topic)):
            assignment = [self.random.sample(BROKERS, self.random.randint(1, 3)) for _ in range(self.random.randint(1, 3))]
            self.cluster.create_topic_unsettled(topic, assignment)

    def delete(self) -> None:
        topic = self.random.choice(TOPICS)
        if self.server.exists(topics.path(topic)):
            self.server.put(f"/admin/delete_topics/{topic}")

    def move(self) -> None:
        target = tuple(self.random.sample(BROKERS, self.random.randint(1, 3))) if self.random.random() < 0.8 else None
        partition = self.some_partition()
        if partition is not None:
            _ignore(self.some_active().alter_partition_reassignments({partition: target}))

    def alter_isr(self) -> None:
        """The leader of a partition finds others in sync, or no longer."""
        partition = self.some_partition()
        controller = self.some_active()
        if partition is None or not controller.is_active or partition not in controller.context.leadership:
            return
        current, assignment = controller.context.leadership[partition], controller.context.assignment(partition)
        if current.leader in controller.context.live_or_shutting_down_brokers:
            others = [replica for replica in assignment.replicas if replica != current.leader and replica in controller.context.live_broker_ids]
            isr = [current.leader, *self.random.sample(others, self.random.randint(0, len(others)))]
            self.cluster.ask_alter_isr(controller, current.leader, (partition, isr))

    def elect(self) -> None:
        partition = self.some_partition()
        if partition is not None:
            _ignore(self.some_active().elect_leaders([partition], ElectionType.PREFERRED))

    def leave(self) -> None:
        _ignore(self.some_active().controlled_shutdown(self.random.choice(BROKERS), -1))

    def let_time_pass(self) -> None:
        self.cluster.clock.advance(self.random.randrange(20_000))

    def some_node(self) -> Any:
        return self.cluster.nodes[self.random.choice(sorted(self.cluster.nodes))]

    def some_active(self) -> Any:
        """A controller that believes in its office, if there is one."""
        nodes = [node for _, node in sorted(self.cluster.nodes.items()) if node.controller.is_active]
        return self.random.choice(nodes).controller if nodes else self.some_node().controller

    def some_partition(self) -> TopicPartition | None:
        found = [TopicPartition(topic, index) for topic in TOPICS if self.server.exists(topics.path(topic)) for index in self.cluster.topic(topic).assignment]
        return self.random.choice(found) if found else None

    # The end

    def come_to_rest(self) -> None:
        """Bring everybody back, restart those that were leaving, and let everything happen."""
        self.server.held = False
        self.reconnect()
        while self.dead_sessions:
            self.time_out()
            self.restart()
        self.cluster.settle()
        for broker_id in sorted(self.cluster.controller.context.shutting_down_broker_ids):
            self.dead_sessions[broker_id] = self.cluster.kill(broker_id)
            self.restart()
            self.cluster.settle()
        self.cluster.advance(1000)
        self.checker.look(self.server.log)

    def finish_moves(self) -> None:
        """Every move's target catches up."""
        controller = self.cluster.controller
        for partition, assignment in controller.list_partition_reassignments().result().items():
            if partition not in controller.context.leadership:
                continue  # its topic's deletion waited for the move before, and is done
            current = controller.context.leadership[partition]
            isr = [current.leader, *(replica for replica in assignment.replicas if replica != current.leader)]
            self.cluster.ask_alter_isr(controller, current.leader, (partition, isr))
            self.cluster.settle()
        self.checker.look(self.server.log)

    def metadata_of(self, broker_id: int) -> dict[TopicPartition, tuple[int, int]]:
        """What a broker would answer: it begins anew when it registers, and follows the highest controller epoch that it has seen."""
        epoch, found = 0, dict[TopicPartition, tuple[int, int]]()
        registration = self.cluster.nodes[broker_id].registrations[-1]
        for sent in self.cluster.network.sent:
            if sent.broker_id != broker_id or sent.request.broker_epoch != registration or sent.request.controller_epoch < epoch:  # type: ignore[attr-defined]
                continue
            epoch = sent.request.controller_epoch  # type: ignore[attr-defined]
            if isinstance(sent.request, UpdateMetadataRequest):
                found |= {partition: (state.leader, state.leader_epoch) for partition, state in told(sent.request).items()}
                found = {partition: leader for partition, leader in found.items() if leader[0] != -2}
        return found


def _ignore(promise: Any) -> None:
    promise.when_settled(lambda settled: settled.error())


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_the_states_are_sound_and_the_cluster_comes_to_rest_whole(seed: int) -> None:
    simulation = Simulation(seed)
    simulation.run()
    simulation.come_to_rest()
    simulation.finish_moves()
    cluster = simulation.cluster
    controller = cluster.controller
    assert [node.controller.is_active for node in cluster.nodes.values()].count(True) == 1
    assert cluster.server.children("/admin/delete_topics") == []
    assert controller.list_partition_reassignments().result() == {}
    stored = {
        TopicPartition(topic, index): cluster.state(topic, index)
        for topic in cluster.server.children("/brokers/topics")
        for index in cluster.topic(topic).assignment
    }
    assert all(state.leader != NO_LEADER for state in stored.values())
    in_memory = {partition: (state.leader, state.leader_epoch, state.isr) for partition, state in controller.context.leadership.items()}
    assert in_memory == {partition: (state.leader, state.leader_epoch, state.isr) for partition, state in stored.items()}
    for broker_id in BROKERS:
        assert simulation.metadata_of(broker_id) == {partition: (state.leader, state.leader_epoch) for partition, state in stored.items()}
