"""A group over ZooKeeper, lived again: our members leave the znodes that Kafka's own high-level consumers of 0.8.2.2 and 1.1.1 left at the same steps.

Not compared: time stamps; null against empty data of folders (the two releases differ in it); offsets that depend on when the recorded consumer committed
are taken from the recording, as how far the member had read.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pykafka_classic.assignors.zookeeper_assignors import Dialect
from pykafka_classic.client.consumer_settings import ConsumerSettings
from pykafka_classic.client.subscription import Subscription
from tests.golden.znode_dumps import dumps
from tests.unit.client.members import Member, World
from zk_schema import consumers

Nodes = dict[str, tuple[str, bool]]  # path: data, ephemeral

SETTINGS = ConsumerSettings("g", auto_commit_interval_ms=1000)


def recorded(folder: str, step: str, group: str) -> Nodes:
    """The nodes of a group in a dump."""
    nodes = next(dump["nodes"] for dump in dumps(folder) if dump["step"] == step)
    return {node["path"]: (normal(node["data"] or ""), node["ephemeral"]) for node in nodes if f"{node['path']}/".startswith(f"/consumers/{group}/")}


def ours(world: World, group: str) -> Nodes:
    tree = world.server.tree(f"/consumers/{group}")
    return {path: (normal((data or b"").decode()), world.server.stat(path).ephemeral_owner != 0) for path, data in tree.items()}


def normal(data: str) -> str:
    if not data.startswith("{"):
        return data
    fields: dict[str, Any] = json.loads(data)
    assert fields.pop("timestamp").isdigit()
    return json.dumps(fields, sort_keys=True)


def read_as_recorded(member: Member, nodes: Nodes, group: str = "g") -> None:
    """Let a member have read what the dump says is committed."""
    for partition in member.reads:
        stored = nodes.get(consumers.offset_path(group, partition.topic, partition.partition))
        if stored is not None:
            member.readers.at[partition] = int(stored[0])


@pytest.mark.parametrize("folder", ["consumers-0.8.2.2", "consumers-1.1.1"])
def test_members_come_and_go_as_recorded(folder: str) -> None:
    world = World({"t": 4, "t2": 2})
    first = world.join("first", Subscription.white_list("t"), SETTINGS)
    read_as_recorded(first, recorded(folder, "02-first-joins", "g"))
    world.clock.advance(1000)
    assert ours(world, "g") == recorded(folder, "02-first-joins", "g")
    second = world.join("second", Subscription.white_list("t"), SETTINGS)
    world.clock.advance(1000)
    assert ours(world, "g") == recorded(folder, "03-second-joins", "g")
    for member in (first, second):
        read_as_recorded(member, recorded(folder, "04-offsets-move", "g"))
    world.clock.advance(1000)
    assert ours(world, "g") == recorded(folder, "04-offsets-move", "g")
    world.server.close_session(second.kill())
    world.clock.advance(10_000)
    assert ours(world, "g") == recorded(folder, "07-second-killed", "g")
    first.connector.close().result()
    # The recorded 0.8.2.2 left owner nodes of a session that it had forgotten to close (the leak of old clients); ours are gone.
    left = recorded(folder, "08-all-left", "g")
    assert ours(world, "g") == {path: node for path, node in left.items() if not node[1]}
    assert not any(ephemeral for _, ephemeral in ours(world, "g").values())


@pytest.mark.parametrize(("folder", "dialect"), [("consumers-0.8.2.2", Dialect.KAFKA_0_8), ("consumers-1.1.1", Dialect.KAFKA_1_0)])
def test_a_white_list_with_round_robin_as_recorded(folder: str, dialect: Dialect) -> None:
    world = World({"t": 4, "t2": 2})
    settings = replace(SETTINGS, group_id="g-pattern", partition_assignment_strategy="roundrobin", round_robin_dialect=dialect)
    member = world.join("pattern", Subscription.white_list("t.*"), settings)
    expected = recorded(folder, "05-white-list", "g-pattern")
    read_as_recorded(member, expected, "g-pattern")
    world.clock.advance(1000)
    assert ours(world, "g-pattern") == expected
