"""`/admin/preferred_replica_election`: partitions whose preferred replica (the first of the list) shall lead again.

* Kind: persistent; at most one.
* Writers: a tool (`kafka-preferred-replica-election.sh --zookeeper`) creates it; the controller deletes it after the election.
* Watcher: the controller, for its creation.
* Sample: `{"version":1,"partitions":[{"topic":"moving","partition":0}]}`.

Source: PreferredReplicaElectionZNode in 2.8:core/src/main/scala/kafka/zk/ZkData.scala.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from zk_schema.partition_lists import decode_partitions, encode_partitions

PATH: Final = "/admin/preferred_replica_election"


def encode(value: Iterable[tuple[str, int]]) -> bytes:
    """The partitions, in the order given."""
    return encode_partitions(value)


def decode(data: bytes | None) -> tuple[tuple[str, int], ...]:
    """(topic, partition) pairs, each once."""
    return decode_partitions(data, PATH)
