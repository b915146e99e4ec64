"""What Kafka keeps in ZooKeeper: one module for each family of nodes, with its paths, its value, and its bytes from 0.8 to 3.9.

Idea: ZooKeeper's tree is the cluster's shared memory, and its schema is the contract between brokers of all versions, old consumers and tools. So it stands
alone here, without I/O and without the rest of the project: `path(...)` says where, a frozen value says what, `encode` and `decode` give and take Kafka's own
bytes. Data that is not what it should be raises MalformedZNode.

Reading order: README.md (the tree), controller and controller_epoch (the election), broker_ids, topics, partition_state, then configs and config_changes for
the pattern "write the node, then a sequential notification"; consumers for the groups of the first generation. families.py lists all of them;
paths_to_create.py says what a broker makes when it starts.

Mirrors: 2.8:core/src/main/scala/kafka/zk/ZkData.scala.

Differs from Kafka: a decoder raises where Kafka's sometimes takes malformed JSON for an empty value; old formats that Kafka no longer writes (registration
version 1, notifications of 0.8 and 0.9) can be written too.
"""

from __future__ import annotations

from zk_schema.errors import MalformedZNode
from zk_schema.families import FAMILIES, Family, Kind, family_of
from zk_schema.paths_to_create import PERSISTENT_PATHS

__all__ = ["FAMILIES", "PERSISTENT_PATHS", "Family", "Kind", "MalformedZNode", "family_of"]
