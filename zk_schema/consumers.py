"""`/consumers/G/...`: consumer groups of the first generation, which coordinate through ZooKeeper alone.

| path | kind | data | written by |
|---|---|---|---|
| /consumers/G/ids/<consumer id> | ephemeral | what the member subscribes to | the member, when it starts |
| /consumers/G/owners/<topic>/<partition> | ephemeral | the thread that reads the partition: `<consumer id>-<n>` | the member that claims it in a rebalance |
| /consumers/G/offsets/<topic>/<partition> | persistent | the next offset to read, in digits | the owner; a broker on OffsetCommit version 0 |

* Watchers: each member watches the children of `ids`, and the data of /brokers/topics/T of its topics: any change means a rebalance, which every member
  computes for itself. A partition is taken by creating its owner node; NODE_EXISTS with another's name means that somebody is not done yet: release, wait,
  try again.
* Sample of `ids`: `{"version":1,"subscription":{"t":1},"pattern":"white_list","timestamp":"1795238972674"}`: number of threads by topic (pattern `static`) or
  by regular expression (`white_list`, `black_list`). 0.8.2 and 1.1.1 write the same.
* The folders have null data when 0.8.2 makes them, empty data when 1.1.1 does.
* A broker of any version keeps offsets here for OffsetCommit and OffsetFetch version 0.

Source: 0.8.2:core/src/main/scala/kafka/consumer/{TopicCount,ZookeeperConsumerConnector}.scala, kafka/utils/ZkUtils.scala; ConsumerOffset in
2.8:core/src/main/scala/kafka/zk/ZkData.scala; facts/coordination.md 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from zk_schema.json_fields import JsonFields, decimal, text, to_json

PATH: Final = "/consumers"
IDS_FAMILY: Final = "/consumers/G/ids/<consumer id>"
OWNERS_FAMILY: Final = "/consumers/G/owners/<topic>/<partition>"
OFFSETS_FAMILY: Final = "/consumers/G/offsets/<topic>/<partition>"
VERSION: Final = 1
STATIC: Final = "static"  # subscription names topics
WHITE_LIST: Final = "white_list"  # ... all topics that match
BLACK_LIST: Final = "black_list"  # ... all that do not
PATTERNS: Final = (STATIC, WHITE_LIST, BLACK_LIST)


@dataclass(frozen=True, slots=True)
class ConsumerIdZNode:
    """A member of a group and what it reads."""

    subscription: Mapping[str, int]  # topic, or one regular expression: number of threads
    pattern: str  # one of PATTERNS
    timestamp_ms: int  # when registered; -1: not stored


def group_path(group: str) -> str:
    """A group."""
    return f"{PATH}/{group}"


def ids_path(group: str) -> str:
    """The parent of a group's members."""
    return f"{group_path(group)}/ids"


def id_path(group: str, consumer_id: str) -> str:
    """A member."""
    return f"{ids_path(group)}/{consumer_id}"


def owners_path(group: str, topic: str) -> str:
    """The parent of the owners of a topic's partitions."""
    return f"{group_path(group)}/owners/{topic}"


def owner_path(group: str, topic: str, partition: int) -> str:
    """Who reads a partition."""
    return f"{owners_path(group, topic)}/{partition}"


def offsets_parent_path(group: str) -> str:
    """The parent of the topics in which a group has come somewhere."""
    return f"{group_path(group)}/offsets"


def offsets_path(group: str, topic: str) -> str:
    """The parent of the offsets of a topic's partitions."""
    return f"{group_path(group)}/offsets/{topic}"


def offset_path(group: str, topic: str, partition: int) -> str:
    """How far a group has come in a partition."""
    return f"{offsets_path(group, topic)}/{partition}"


def encode_id(value: ConsumerIdZNode) -> bytes:
    """The JSON of a member."""
    return to_json({"version": VERSION, "subscription": dict(value.subscription), "pattern": value.pattern, "timestamp": str(value.timestamp_ms)})


def decode_id(data: bytes | None) -> ConsumerIdZNode:
    """A member; the pattern must be a known one."""
    fields = JsonFields.of(data, IDS_FAMILY)
    pattern = fields.text("pattern")
    if pattern not in PATTERNS:
        fields.fail(f"pattern {pattern!r:.80} is not one of {', '.join(PATTERNS)}")
    return ConsumerIdZNode(fields.fields("subscription").integer_map(), pattern, fields.decimal("timestamp", default=-1))


def encode_owner(value: str) -> bytes:
    """The thread's id, plain."""
    return value.encode()


def decode_owner(data: bytes | None) -> str:
    """The thread's id."""
    return text(data, OWNERS_FAMILY)


def encode_offset(value: int) -> bytes:
    """The offset in digits."""
    return str(value).encode()


def decode_offset(data: bytes | None) -> int:
    """The offset."""
    return decimal(data, OFFSETS_FAMILY)
