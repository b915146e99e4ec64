"""The offsets and members of old consumers, as they lie in ZooKeeper: read from the recorded trees of Kafka's own consumers of 0.8.2.2 and 1.1.1."""

from __future__ import annotations

import pytest

from pykafka_classic.client.group_offsets.stores import ZooKeeperStore
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from tests.fakes.zookeeper import FakeZooKeeperServer
from tests.golden.znode_dumps import FOLDERS, dumps


def recorded_groups(folder: str) -> list[tuple[str, list[dict[str, object]]]]:
    """Each step of a folder that has groups."""
    found = [(dump["step"], [node for node in dump["nodes"] if node["path"].startswith("/consumers")]) for dump in dumps(folder)]
    return [(step, nodes) for step, nodes in found if len(nodes) > 1]


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if folder.startswith("consumers")])
def test_every_offset_and_every_member_is_found(folder: str) -> None:
    steps = recorded_groups(folder)
    assert steps
    for step, nodes in steps:
        server = FakeZooKeeperServer()
        for node in nodes:
            server.put(str(node["path"]), None if node["data"] is None else str(node["data"]).encode())
        groups = {str(node["path"]).split("/")[2] for node in nodes if str(node["path"]).count("/") >= 2}
        for group in groups:
            found = spawn(ZooKeeperStore(server.connect()).read(group)).result()
            prefix = f"/consumers/{group}/"
            parts = {str(node["path"]).removeprefix(prefix): node["data"] for node in nodes if str(node["path"]).startswith(prefix)}
            offsets = {tuple(path.split("/")[1:]): data for path, data in parts.items() if path.startswith("offsets/") and path.count("/") == 2}
            expected = {TopicPartition(topic, int(number)): int(str(data)) for (topic, number), data in offsets.items()}
            assert {each: stored.offset for each, stored in found.offsets.items()} == expected, f"{step}, {group}"
            assert set(found.members) == {path.removeprefix("ids/") for path in parts if path.startswith("ids/")}, f"{step}, {group}"
            assert found.unreadable == {}
