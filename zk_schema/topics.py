"""`/brokers/topics/T`: a topic and which brokers hold each of its partitions.

* Kind: persistent; below it, made by the controller and without data: `partitions`, `partitions/P`, and `partitions/P/state` (partition_state.py).
* Writers: whoever creates the topic or adds partitions (a broker, or a tool through ZooKeeper); then the controller (topic id; reassignment).
* Watchers: the controller watches the children of /brokers/topics (new topics) and each node's data (new partitions); old consumers watch the data too.

Version 1 (0.8.2 to 2.3) has `partitions` only, version 2 adds the replicas being added and removed, version 3 the topic id. `partitions` holds all replicas,
those being added or removed too; the first is the preferred leader. The two other maps hold only partitions that a reassignment moves.

Sample: `{"partitions":{"0":[0,1,2],"1":[1,2,0]},"topic_id":"uetCrP34QtSr7cuWpUS4pw","adding_replicas":{},"removing_replicas":{},"version":3}`; without the key
`topic_id` below inter.broker.protocol.version 2.8-IV0, and before the controller has seen a topic that a tool made.

Source: TopicZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; facts/coordination.md 1.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zk_schema.errors import MalformedZNode
from zk_schema.json_fields import INT_MAX, JsonFields, to_json

PATH: Final = "/brokers/topics"
FAMILY: Final = "/brokers/topics/T"
VERSION: Final = 3  # what we write, whatever inter.broker.protocol.version is: so does Kafka 2.8


@dataclass(frozen=True, slots=True)
class ReplicaAssignment:
    """The brokers of one partition."""

    replicas: tuple[int, ...]  # all; the first is the preferred leader
    adding_replicas: tuple[int, ...] = ()  # on their way in; among `replicas`
    removing_replicas: tuple[int, ...] = ()  # on their way out; among `replicas`


@dataclass(frozen=True, slots=True)
class TopicZNode:
    """A topic."""

    topic_id: str | None  # 22 characters: a UUID in base64url without padding
    assignment: Mapping[int, ReplicaAssignment]  # partition: its replicas


def path(topic: str) -> str:
    """A topic's node."""
    return f"{PATH}/{topic}"


def partitions_path(topic: str) -> str:
    """The parent of a topic's partitions."""
    return f"{path(topic)}/partitions"


def partition_path(topic: str, partition: int) -> str:
    """One partition's node."""
    return f"{partitions_path(topic)}/{partition}"


def topic_of(topic_path: str) -> str | None:
    """The topic whose node this path is; None for any other path."""
    parent, _, topic = topic_path.rpartition("/")
    return topic if parent == PATH and topic else None


def encode(value: TopicZNode) -> bytes:
    """Version 3."""
    assignment = value.assignment
    fields: dict[str, object] = {"partitions": {str(partition): list(each.replicas) for partition, each in assignment.items()}}
    if value.topic_id is not None:
        fields["topic_id"] = value.topic_id
    fields["adding_replicas"] = {str(partition): list(each.adding_replicas) for partition, each in assignment.items() if each.adding_replicas}
    fields["removing_replicas"] = {str(partition): list(each.removing_replicas) for partition, each in assignment.items() if each.removing_replicas}
    fields["version"] = VERSION
    return to_json(fields)


def decode(data: bytes | None) -> TopicZNode:
    """Any version; what a version lacks is empty."""
    fields = JsonFields.of(data, FAMILY)
    partitions = fields.optional_fields("partitions")
    adding, removing = fields.optional_fields("adding_replicas"), fields.optional_fields("removing_replicas")
    assignment = {
        _partition(key): ReplicaAssignment(
            partitions.integers(key),
            adding.integers(key) if adding.has(key) else (),
            removing.integers(key) if removing.has(key) else (),
        )
        for key, _ in partitions.items()
    }
    return TopicZNode(fields.optional_text("topic_id"), assignment)


def _partition(key: str) -> int:
    if not (key.isascii() and key.isdigit() and len(key) <= 10 and int(key) <= INT_MAX):
        raise MalformedZNode(FAMILY, f"{key!r:.80} is not a partition")
    return int(key)
