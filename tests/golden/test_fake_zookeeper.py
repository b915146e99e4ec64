"""The fake ZooKeeper, fed with the transaction log of a real one, keeps the same tree with the same versions.

The recordings (data/znodes) hold every change and, between them, dumps of the tree. Replaying the changes checks the fake's data versions, counts of
children, ephemerals, sequence numbers and the clean-up after a session against ZooKeeper's own.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

import pytest

from pykafka_classic.common.zookeeper import Check, Code, Create, Delete, Multi, SetData
from tests.fakes.znode_tree import ZNodeTree, parent_of
from tests.golden.znode_dumps import FOLDERS, dumps, watch

Operation = Create | SetData | Delete | Check


def _operation(change: dict[str, Any]) -> Operation:
    path = change["path"]
    data = change.get("data")
    encoded = None if data is None else data.encode()
    match change["event"]:
        case "create":
            return Create(path, encoded, ephemeral=change["ephemeral"])
        case "change":
            return SetData(path, encoded, change["version"] - 1)
        case "delete":
            return Delete(path)
        case _:
            return Check(path, change["version"] - 1)  # ZooKeeper logs the version that a write would have made


def _replay(tree: ZNodeTree, changes: list[dict[str, Any]]) -> None:
    session = changes[0]["session"]
    if changes[0].get("closed"):
        closed = tree.close_session(session)
        assert {change.path for change in closed.changes} == {change["path"] for change in changes}
        return
    operations = tuple(_operation(change) for change in changes)
    request = Multi(operations) if len(operations) > 1 or changes[0].get("multi") else operations[0]
    assert not isinstance(request, Check)
    assert tree.apply(request, session=session, now_ms=0).result.code is Code.OK, changes


def _nodes(tree: ZNodeTree) -> dict[str, tuple[object, ...]]:
    return {
        path: (node.data, bool(node.owner), node.version, len(node.children))
        for path, node in tree.nodes.items()
        if path != "/" and not path.startswith("/zookeeper")
    }


def _dumped(dump: dict[str, Any]) -> dict[str, tuple[object, ...]]:
    found = {}
    for node in dump["nodes"]:
        data = node["data"]
        found[node["path"]] = (None if data is None else data.encode(), node["ephemeral"], node["version"], node["numChildren"])
    return {path: value for path, value in found.items() if path != "/"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_replaying_a_real_transaction_log_gives_the_real_tree(folder: str) -> None:
    tree = ZNodeTree()
    by_step = {dump["step"]: dump for dump in dumps(folder)}
    met = 0
    for _, group in groupby(watch(folder), key=lambda line: line.get("zxid", line.get("step"))):
        lines = list(group)
        if any(line.get("failed") for line in lines):  # a multi that changed nothing: its first operations, then ZooKeeper's error code
            continue
        if "step" not in lines[0]:
            _replay(tree, lines)
        elif lines[0]["step"] in by_step:
            met += 1
            assert _nodes(tree) == _dumped(by_step[lines[0]["step"]]), lines[0]["step"]
    assert met == len(by_step)


@pytest.mark.parametrize("folder", FOLDERS)
def test_sequence_numbers_are_the_counts_of_children_ever_created(folder: str) -> None:
    created: dict[str, int] = {}
    for change in watch(folder):
        if change.get("event") != "create":
            continue
        parent = parent_of(change["path"])
        name = change["path"].rpartition("/")[2]
        if re.fullmatch(r"[a-z_]+_[0-9]{10}", name):
            assert int(name[-10:]) == created.get(parent, 0)
        created[parent] = created.get(parent, 0) + 1
