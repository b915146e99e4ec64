"""`/admin/reassign_partitions`: partitions to move to other brokers, as tools before KIP-455 (and `--zookeeper`) ask for it.

* Kind: persistent; there is at most one, so at most one such reassignment at a time.
* Writers: a tool creates it (NODE_EXISTS: one is running); the controller takes partitions out as they finish and deletes it with the last (fenced).
* Watcher: the controller, for its creation only.
* Sample: `{"version":1,"partitions":[{"topic":"moving","partition":0,"replicas":[1,0]},{"topic":"moving","partition":1,"replicas":[0,2,1]}]}`.

Source: ReassignPartitionsZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala; facts/coordination.md 3.11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from zk_schema.json_fields import JsonFields, to_json

PATH: Final = "/admin/reassign_partitions"
VERSION: Final = 1

P = TypeVar("P", bound=tuple[str, int])  # a partition


def encode(value: Mapping[P, Sequence[int]]) -> bytes:
    """Target replicas by partition, in the order given."""
    return to_json(
        {"version": VERSION, "partitions": [{"topic": topic, "partition": partition, "replicas": list(ids)} for (topic, partition), ids in value.items()]}
    )


def decode(data: bytes | None) -> dict[tuple[str, int], tuple[int, ...]]:
    """Target replicas by (topic, partition); of a partition named twice, the last."""
    stored = JsonFields.of(data, PATH).objects("partitions")
    return {(fields.text("topic"), fields.integer("partition")): fields.integers("replicas") for fields in stored}
