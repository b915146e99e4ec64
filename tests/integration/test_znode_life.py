"""A whole life of a cluster, lived again by brokers of ours: after each step ZooKeeper's tree is what stood below Apache Kafka 2.8.2, and each node got the
same values in the same order.

The recording is tests/golden/data/znodes/main: three brokers, 56 steps. Brokers are asked over the wire for what Kafka's tools asked of them; what the tools
wrote into ZooKeeper by themselves (`--zookeeper`, the authorizer's) is written as it was recorded. Processes are killed, stopped and paused where they were.

Volatile: times, ports, topic ids, the cluster's id. By chance: the replicas of topics that brokers created by themselves (their nodes are compared, not what is
in their states), and the order among partitions (of a hash map). `__transaction_state` is created as recorded. The nodes of ephemeral brokers disappear with
sessions: the log does not tell. Steps 42, 49, 53 and 54 were dumped while something was still under way; they are part of the next step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from kazoo.client import KazooClient

from tests.integration import transaction_log
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.recorded_life import STEPS, Write, by_path, kinds, recorded_tree, recorded_writes, writes
from tests.integration.znode_life import OPTIONS, WITHIN_S, Life, ThreeBrokers


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    directory = tmp_path_factory.mktemp("life")
    cluster = ThreeBrokers(directory, brokers=3, overrides=OPTIONS)
    client = KazooClient(cluster.zookeeper.address)
    cluster.start_zookeeper()
    try:
        client.start(timeout=WITHIN_S)
        lived = Life(cluster, client)
        lived.run()
        yield lived
        assert_no_stack_traces(cluster)
    finally:
        client.stop()
        client.close()
        cluster.kill()


@pytest.fixture(scope="module")
def logged(life: Life) -> dict[str, list[Write]]:
    """What was written in each step, in order."""
    marks = list(life.marks.items())
    rows: dict[str, list[tuple[str, str, str | None]]] = {step: [] for step in life.marks}
    for change in transaction_log.changes(life.cluster.zookeeper.directory / "data"):
        while marks and change.zxid > marks[0][1]:
            marks.pop(0)
        if marks:
            rows[marks[0][0]].append((change.event, change.path, None if change.data is None else change.data.decode()))
    return {step: writes(each) for step, each in rows.items()}


@pytest.mark.parametrize("step", STEPS)
def test_the_tree_is_kafkas(step: str, life: Life) -> None:
    assert life.trees[step] == recorded_tree(step)


@pytest.mark.parametrize("step", STEPS)
def test_each_node_got_kafkas_values_in_kafkas_order(step: str, logged: dict[str, list[Write]]) -> None:
    assert by_path(step, logged[step]) == by_path(step, recorded_writes(step))


# In these steps one event concerns partitions of many topics, or brokers act beside each other.
UNORDERED: Final = ("01", "35", "36", "38", "39", "40", "43", "45", "46", "50", "51", "52", "55", "56")


@pytest.mark.parametrize("step", [step for step in STEPS if not step.startswith(UNORDERED)])
def test_kinds_of_nodes_were_written_in_kafkas_order(step: str, logged: dict[str, list[Write]]) -> None:
    assert kinds(logged[step]) == kinds(recorded_writes(step))
