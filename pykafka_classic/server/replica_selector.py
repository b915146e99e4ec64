"""Which replica a consumer should read (KIP-392): `replica.selector.class`.

Mirrors org.apache.kafka.common.replica.RackAwareReplicaSelector; facts/coordination.md 4.11. The class is known by Kafka's name, no code is loaded by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pykafka_classic.cluster.broker import Node
from pykafka_classic.cluster.partition import Partition
from pykafka_classic.server.fetch_values import ClientMetadata
from pykafka_classic.server.metadata_cache import MetadataCache

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER: Final = "org.apache.kafka.common.replica.LeaderSelector"


@dataclass(frozen=True, slots=True)
class _ReplicaView:
    """A replica that has the wanted offset. Ordered by how much it has, then by how recently it had all."""

    node: Node
    log_end_offset: int
    since_caught_up_ms: float
    is_leader: bool

    def rank(self) -> tuple[int, float, int]:
        """The larger the better."""
        return self.log_end_offset, -self.since_caught_up_ms, self.node.id


class RackAwareReplicaSelector:
    """Prefers the client's rack; within it the leader, else the most caught-up replica."""

    def __init__(self, metadata_cache: MetadataCache) -> None:
        self._metadata_cache = metadata_cache

    def preferred_read_replica(self, partition: Partition, client: ClientMetadata, fetch_offset: int, now_ms: float) -> int | None:
        """The broker to read from; None: stay with the leader. Only for the partition's leader."""
        if not client.rack_id or not partition.is_leader:
            return None
        views = self._views(partition, client.listener, fetch_offset, now_ms)
        in_rack = [view for view in views if view.node.rack == client.rack_id]
        if not in_rack or any(view.is_leader for view in in_rack):
            return None
        return max(in_rack, key=_ReplicaView.rank).node.id

    def _views(self, partition: Partition, listener: str, fetch_offset: int, now_ms: float) -> list[_ReplicaView]:
        nodes = self._metadata_cache.replica_nodes(partition.topic_partition, listener)
        views = [
            _ReplicaView(nodes[replica.broker_id], replica.log_end_offset, now_ms - replica.last_caught_up_ms, is_leader=False)
            for replica in partition.in_sync.remote.values()
            if replica.broker_id in nodes and replica.log_start_offset <= fetch_offset <= replica.log_end_offset
        ]
        leader_log = partition.leader_log
        if leader_log is not None and partition.local_broker_id in nodes:
            views.append(_ReplicaView(nodes[partition.local_broker_id], leader_log.log_end_offset, 0, is_leader=True))
        return views


def make_replica_selector(class_name: str | None, metadata_cache: MetadataCache) -> RackAwareReplicaSelector | None:
    """The selector of a configuration; None: consumers read from the leader. Raises ValueError for an unknown class."""
    if class_name in (None, LEADER):
        return None
    if class_name == RACK_AWARE:
        return RackAwareReplicaSelector(metadata_cache)
    raise ValueError(f"replica.selector.class {class_name} is not known; allowed: {RACK_AWARE}, {LEADER}")
