"""What our controller sends to each broker, and in what order, compared with a real one (data/controller).

The scenarios are done again on a cluster that has the scenario's topic alone. Requests of both sides are reduced to that topic; UpdateMetadata without any
partition is left out, for whether one is sent depends on the other topics of the recorded cluster.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.events import ElectionType
from pykafka_classic.protocol.api_keys import ApiKey, spec_of
from pykafka_classic.protocol.messages.stop_replica import StopReplicaRequest
from tests.golden.protocol_data import to_json
from tests.unit.controller.cluster import ControlCluster, Sent

DATA = Path(__file__).parent / "data" / "controller" / "requests.jsonl.gz"


def recorded(scenario: str) -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        requests = [json.loads(line) for line in lines]
    return [request for request in requests if request["scenario"] == scenario]


def started(*broker_ids: int) -> ControlCluster:
    """The first is the controller."""
    return ControlCluster({"auto.leader.rebalance.enable": "false"}, brokers=broker_ids)


def s4() -> ControlCluster:
    """A leader is killed and returns; preferred election; the controller hangs until its session ends, and returns."""
    cluster, partition = started(1, 0, 2), TopicPartition("s4", 0)
    cluster.create_topic("s4", [[0, 1, 2]])
    cluster.kill(0)
    cluster.start(0)
    cluster.alter_isr(1, (partition, [1, 2, 0]))
    cluster.controller.elect_leaders([partition], ElectionType.PREFERRED)
    cluster.settle()
    cluster.kill_controller(successor=2)
    cluster.start(1)
    cluster.alter_isr(0, (partition, [2, 0, 1]))
    return cluster


def s5() -> ControlCluster:
    """Controlled shutdown and return of a broker, then of the controller."""
    cluster, (zero, one, two) = started(2, 0, 1), (TopicPartition("s5", index) for index in range(3))
    cluster.create_topic("s5", [[0, 2, 1], [1, 0, 2], [2, 1, 0]])
    cluster.controller.controlled_shutdown(0, -1)
    while not cluster.sent(StopReplicaRequest, to=0):
        cluster.network.deliver()
    cluster.network.down.add(0)  # it stopped as soon as it had its answer: the last two requests no longer reached it
    cluster.settle()
    cluster.kill(0)
    cluster.start(0)
    cluster.alter_isr(2, (two, [2, 1, 0]), (zero, [2, 1, 0]))
    cluster.alter_isr(1, (one, [1, 2, 0]))
    cluster.controller.controlled_shutdown(2, -1)
    cluster.settle()
    cluster.kill_controller(successor=1)
    cluster.start(2)
    cluster.alter_isr(0, (zero, [1, 0, 2]))
    cluster.alter_isr(1, (two, [1, 0, 2]), (one, [1, 0, 2]))
    return cluster


def s6() -> ControlCluster:
    """Reassignment."""
    cluster, partition = started(1, 0, 2), TopicPartition("s6", 0)
    cluster.create_topic("s6", [[0, 1]])
    cluster.controller.alter_partition_reassignments({partition: (1, 2)})
    cluster.settle()
    cluster.alter_isr(0, (partition, [0, 1, 2]))
    return cluster


def s7() -> ControlCluster:
    """Topic deletion."""
    cluster = started(1, 0, 2)
    cluster.create_topic("s7", [[1, 2, 0], [2, 0, 1]])
    cluster.delete_topic("s7")
    return cluster


SCENARIOS: dict[str, Callable[[], ControlCluster]] = {"s4": s4, "s5": s5, "s6": s6, "s7": s7}


def of_ours(sent: Sent) -> dict[str, Any]:
    """A request of ours in the form of the recording."""
    content = to_json(sent.request, sent.version)
    states = [state for topic in content["topicStates"] for state in topic["partitionStates"]]
    return {
        "sender": sent.sender,
        "api": spec_of(ApiKey(sent.request.API_KEY)).request.__name__.removesuffix("Request"),
        "version": sent.version,
        "controllerEpoch": content["controllerEpoch"],
        "liveBrokers": [broker["id"] for broker in content["liveBrokers"]] if "liveBrokers" in content else None,
        "partitions": {str(state["partitionIndex"]): {key: value for key, value in state.items() if key != "partitionIndex"} for state in states},
    }


def relative_to(first: int, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Controller epochs counted from the scenario's first one; the recorded cluster had had controllers before."""
    for request in requests:
        request["controllerEpoch"] -= first
        for state in request["partitions"].values():
            if "controllerEpoch" in state:
                state["controllerEpoch"] -= first
    return [request for request in requests if request["partitions"]]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_broker_is_sent_what_kafka_sent_it_in_the_same_order(scenario: str) -> None:
    theirs, ours = recorded(scenario), SCENARIOS[scenario]().network.sent
    first = min(request["controllerEpoch"] for request in theirs)
    for broker_id in range(3):
        expected = [{key: value for key, value in each.items() if key not in ("scenario", "broker")} for each in theirs if each["broker"] == broker_id]
        sent = [of_ours(each) for each in ours if each.broker_id == broker_id]
        assert relative_to(1, sent) == relative_to(first, expected), f"to broker {broker_id}"
