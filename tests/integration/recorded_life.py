"""What was recorded of a life of Kafka's brokers (tests/golden/data/znodes/main), made comparable: see test_znode_life.py."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from tests.golden.znode_dumps import dumps, watch
from zk_schema import topics

UNDER_WAY: Final = ("42", "49", "53", "54")
BY_CHANCE: Final = ("__consumer_offsets", "auto-created")
# The recorded broker 0 came to itself again a moment before its session ended, just in time to shrink these ISRs once more: that cannot be repeated.
CLOSE_TO_EXPIRY: Final = tuple(f"/brokers/topics/{partition}/state" for partition in ("by-broker/partitions/2", "moving/partitions/0", "moving/partitions/1"))
AFTER_IT: Final = ("55", "56")
VOLATILE: Final = ("timestamp", "topic_id", "id")

Node = tuple[object, int, bool]  # data, version, ephemeral
Tree = dict[str, Node]
Entry = dict[str, Any]


# What was recorded


def entries_by_step() -> dict[str, list[Entry]]:
    """What was written before each step's end."""
    steps: dict[str, list[Entry]] = {}
    pending: list[Entry] = []
    for entry in watch("main"):
        if "step" in entry:
            steps[entry["step"]], pending = pending, []
        elif entry["event"] in ("create", "change", "delete"):
            pending.append(entry)
    return steps


ENTRIES: Final = entries_by_step()
DUMPS: Final = {dump["step"]: dump["nodes"] for dump in dumps("main")}
STEPS: Final = [step for step in ENTRIES if not step.startswith(UNDER_WAY)]


def recorded_tree(step: str) -> Tree:
    return known(step, {node["path"]: normal(node["path"], node["data"], node["version"], node["ephemeral"]) for node in DUMPS[step]})


def known(step: str, tree: Tree) -> Tree:
    """Of a tree after a step, the nodes that can be compared."""
    left_out = CLOSE_TO_EXPIRY if step.startswith(AFTER_IT) else ()
    return {path: node for path, node in tree.items() if path not in left_out}


def assignment_of(topic: str, step: str) -> dict[int, list[int]]:
    """The replicas that the recorded topic had after a step."""
    text = next(node["data"] for node in DUMPS[step] if node["path"] == topics.path(topic))
    return {partition: list(each.replicas) for partition, each in topics.decode(text.encode()).assignment.items()}


# Comparable forms


def normal(path: str, data: str | None, version: int, ephemeral: bool = False) -> Node:
    """Parsed, and without what is volatile or chance."""
    by_chance = path.startswith(tuple(f"{topics.PATH}/{topic}" for topic in BY_CHANCE))
    if by_chance and path.endswith("/state"):
        return "some state", 0, ephemeral
    if data is None or not data.startswith("{"):
        return data, version, ephemeral
    parsed = json.loads(data)
    for key in parsed.keys() & set(VOLATILE):
        parsed[key] = f"some {key}"
    if "/brokers/ids/" in path:
        parsed["port"] = parsed["port"] > 0
        parsed["endpoints"] = [endpoint.rpartition(":")[0] for endpoint in parsed["endpoints"]]
    if by_chance and "partitions" in parsed:
        parsed["partitions"] = {partition: len(replicas) for partition, replicas in parsed["partitions"].items()}
    if path == "/config/users/alice":
        parsed["config"] = {key: "some credential" if key.startswith("SCRAM") else value for key, value in parsed["config"].items()}
    return parsed, version, ephemeral


Write = tuple[str, str, object]


def writes(rows: Sequence[tuple[str, str, str | None]]) -> list[Write]:
    """What was written to Kafka's nodes; of those that stand by chance, nothing."""
    left_out = tuple(f"{topics.PATH}/{topic}" for topic in BY_CHANCE)
    own = [row for row in rows if not row[1].startswith(("/zookeeper", *left_out)) and not ("/brokers/ids/" in row[1] and row[0] == "delete")]
    return [(event, path, normal(path, data, 0)[0]) for event, path, data in own if not (path == "/controller" and event == "delete")]


# Two replicas move beside each other: which is there first is chance, and so is what is left to be done then.
RACES: Final = {"35": ("/brokers/topics/moving",), "38": ("/brokers/topics/moving", "/admin/reassign_partitions")}


def by_path(step: str, written: Sequence[Write]) -> dict[str, list[Write]]:
    """Each node's writes; in a race only how many, and the last."""
    found: dict[str, list[Write]] = {}
    for event, path, data in written:
        found.setdefault(path, []).append((event, path, data))
    if step.startswith(AFTER_IT):
        found = {path: each for path, each in found.items() if path not in CLOSE_TO_EXPIRY}
    for path in found.keys() & set(RACES.get(step.partition("-")[0], ())):
        found[path] = [*((event, path, "one of two") for event, _, _ in found[path][:-1]), found[path][-1]]
    return found


def kinds(written: Sequence[Write]) -> list[str]:
    """The order of the kinds of nodes, repetitions apart."""
    return [kind for kind, _ in groupby(f"{event} {re.sub('/partitions/[0-9]+', '/partitions/P', path)}" for event, path, _ in written)]


def recorded_writes(step: str) -> list[Write]:
    """Of this step, and of those before it that were not over."""
    found: list[Entry] = []
    for name, entries in ENTRIES.items():
        found = [*found, *entries]
        if name == step:
            break
        if name in STEPS:
            found = []
    return writes([(entry["event"], entry["path"], entry.get("data")) for entry in found])
