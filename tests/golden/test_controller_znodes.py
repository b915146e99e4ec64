"""The life of a real cluster, lived again: our controller writes to ZooKeeper what Kafka 2.8.2's controller wrote.

The recording (data/znodes/main) holds every change that three brokers, their tools and their controller made in 56 steps: topics by both kinds of tool, more
partitions, reassignments of both forms (one cancelled), a killed leader, a pending deletion, a killed controller, elections, a hung follower, controlled
shutdowns. Here everything that was *not* the controller's decision is done again at the same place (znodes of tools, sessions, AlterIsr of leaders, calls of
the admin API), and for each step the fenced writes of our controllers are compared with the recorded ones: the values in the order in which each path got
them, and the order of the kinds of nodes.

Not compared: the order among partitions (chance, in Kafka: the order of a hash map), timestamps, topic ids that a controller invented, who won an election
(made equal).
"""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ElectionType
from tests.fakes.znode_tree import Change
from tests.golden.znode_dumps import watch
from tests.unit.controller.cluster import ControlCluster
from zk_schema import partition_state

Write = tuple[str, str, str | None]  # event, path, data

CONTROLLERS_PATHS = ("/brokers/topics", "/admin", "/config/topics", "/isr_change_notification", "/log_dir_event_notification")
MADE_BY_US = ("/controller", "/brokers/ids", "/feature")
PROPERTIES = {"auto.leader.rebalance.enable": "false"}


def _steps() -> dict[str, list[dict[str, Any]]]:
    """What was written before each step's end."""
    steps: dict[str, list[dict[str, Any]]] = {}
    pending: list[dict[str, Any]] = []
    for entry in watch("main"):
        if "step" in entry:
            steps[entry["step"]], pending = pending, []
        else:
            pending.append(entry)
    return steps


def _is_fenced(entry: dict[str, Any]) -> bool:
    return bool(entry.get("multi")) and entry["event"] in ("create", "change", "delete") and entry["path"].startswith(CONTROLLERS_PATHS)


def _normal(event: str, path: str, data: str | None) -> Write:
    """Comparable: JSON without the order of its keys, without topic ids."""
    if data is None or not data.startswith("{"):
        return event, path, data
    parsed = json.loads(data)
    parsed.pop("topic_id", None)
    return event, path, json.dumps(parsed, sort_keys=True)


class Replay:
    """One cluster that is led through all steps."""

    def __init__(self) -> None:
        self.cluster = ControlCluster(PROPERTIES)

    def run_step(self, step: str, entries: list[dict[str, Any]]) -> tuple[list[Write], list[Write]]:
        """Do a step; returns what Kafka's controller wrote, and what ours wrote."""
        self.cluster.forget()
        self._before(step)
        for entry in entries:
            if entry["event"] in ("check", "error"):
                continue
            if _is_fenced(entry):
                self._maybe_alter_isr(entry)
            else:
                self._input(step, entry)
        recorded = [_normal(entry["event"], entry["path"], entry.get("data")) for entry in entries if _is_fenced(entry)]
        return recorded, [_of_change(change) for change in self.cluster.server.log if _is_ours(change)]

    def _before(self, step: str) -> None:
        """Calls of the admin API, which leave no trace in ZooKeeper."""
        controller = self.cluster.controller if self.cluster.nodes else None
        first, second = TopicPartition("moving", 0), TopicPartition("moving", 1)
        if controller is None:
            return
        match step.partition("-")[0]:
            case "34":
                controller.alter_partition_reassignments({first: (2, 0), second: (0, 2)})
            case "39":
                controller.alter_partition_reassignments({first: (2, 0)})
            case "40":
                controller.alter_partition_reassignments({first: None})
            case "52":
                controller.elect_leaders([partition for partition, _ in controller.context.all_partitions()], ElectionType.PREFERRED)
            case "55":
                controller.controlled_shutdown(0, -1)
            case "56":
                controller.controlled_shutdown(1, -1)
        self.cluster.settle()

    def _input(self, step: str, entry: dict[str, Any]) -> None:
        """Done by somebody else than the controller."""
        path, event = entry["path"], entry["event"]
        broker = re.fullmatch(r"/brokers/ids/(\d+)", path)
        if broker and event == "create":
            self.cluster.start(int(broker[1]))
        elif broker and event == "delete":
            self._stop(int(broker[1]), step)
        elif path.startswith(MADE_BY_US):
            return
        elif event == "delete":
            self.cluster.server.remove(path)
        else:
            data = entry["data"]
            self.cluster.server.put(path, None if data is None else data.encode())
        self.cluster.settle()

    def _stop(self, broker_id: int, step: str) -> None:
        if step.startswith("55"):
            self.cluster.controller.controlled_shutdown(broker_id, -1)  # the second attempt: the first left partitions behind
            self.cluster.settle()
        if not self.cluster.nodes[broker_id].controller.is_active or len(self.cluster.nodes) == 1:
            self.cluster.kill(broker_id)
        else:
            self.cluster.kill_controller(successor=1 if broker_id == 0 else 2)

    def _maybe_alter_isr(self, entry: dict[str, Any]) -> None:
        """A write of the controller that changed nothing but the ISR: a leader had asked for it."""
        found = partition_state.partition_of(entry["path"])
        if found is None or entry["event"] != "change":
            return
        partition = TopicPartition(*found)
        wanted = partition_state.decode(entry["data"].encode())
        current = self.cluster.controller.context.leadership.get(partition)
        if current is None or (wanted.leader, wanted.leader_epoch) != (current.leader, current.leader_epoch) or wanted.isr == current.isr:
            return
        self.cluster.alter_isr(wanted.leader, (partition, wanted.isr))


def _is_ours(change: Change) -> bool:
    return change.multi and change.event != "check" and change.path.startswith(CONTROLLERS_PATHS)


def _of_change(change: Change) -> Write:
    return _normal(change.event, change.path, None if change.data is None else change.data.decode())


def _by_path(writes: list[Write]) -> dict[str, list[Write]]:
    found: dict[str, list[Write]] = {}
    for write in writes:
        found.setdefault(write[1], []).append(write)
    return dict(sorted(found.items()))


def _kinds(writes: list[Write]) -> list[str]:
    """The order of the kinds of nodes written, repetitions apart: `partitions`, `partitions/P`, `state`, ..."""
    kinds = [f"{event} {re.sub(r'/partitions/[0-9]+', '/partitions/P', path)}" for event, path, _ in writes]
    return [kind for kind, _ in groupby(kinds)]


STEPS = _steps()


@pytest.fixture(scope="module")
def written() -> dict[str, tuple[list[Write], list[Write]]]:
    replay = Replay()
    return {step: replay.run_step(step, entries) for step, entries in STEPS.items()}


@pytest.mark.parametrize("step", STEPS)
def test_each_znode_gets_the_values_that_kafka_gave_it_in_the_same_order(step: str, written: dict[str, tuple[list[Write], list[Write]]]) -> None:
    recorded, ours = written[step]
    assert _by_path(ours) == _by_path(recorded)


# In these steps one event moves partitions of many topics, in the order of a hash map.
UNORDERED = ("43", "45", "46", "50", "51", "52", "53", "54", "55", "56")


@pytest.mark.parametrize("step", [step for step in STEPS if not step.startswith(UNORDERED)])
def test_kinds_of_znodes_are_written_in_the_order_in_which_kafka_wrote_them(step: str, written: dict[str, tuple[list[Write], list[Write]]]) -> None:
    recorded, ours = written[step]
    assert _kinds(ours) == _kinds(recorded)
