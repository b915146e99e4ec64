"""What ZooKeeper's nodes tell of a cluster at present, kept decoded: who leads what, who is alive, what groups have committed to ZooKeeper. Pure.

Nodes that hold something else than they should are as good as missing here: the store has them as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pykafka_classic.common.java import abs_java, string_hash
from pykafka_classic.common.topic_name import GROUP_METADATA_TOPIC
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.monitor.znodes import Change, name_of
from zk_schema import broker_ids, consumers, controller, partition_state, topics
from zk_schema.broker_ids import SecurityProtocol
from zk_schema.errors import MalformedZNode

_CONFIG: Final = "/config/"
_OFFSETS: Final = "offsets"


@dataclass(frozen=True, slots=True)
class Committed:
    """A group's offset in ZooKeeper."""

    offset: int
    t_ms: int


class ClusterView:
    """The present state, as changes make it.

    Attributes: replicas, in_sync, leaders: of all partitions; leader -1: nobody. brokers: address of those alive, of a plaintext listener; None: it has none.
    zookeeper_offsets: by group. configs_changed: a node below /config has changed since somebody set this to False.
    """

    def __init__(self) -> None:
        self.replicas: dict[TopicPartition, tuple[int, ...]] = {}
        self.in_sync: dict[TopicPartition, tuple[int, ...]] = {}
        self.leaders: dict[TopicPartition, int] = {}
        self.has_controller = False
        self.brokers: dict[int, tuple[str, int] | None] = {}
        self.zookeeper_offsets: dict[str, dict[TopicPartition, Committed]] = {}
        self.configs_changed = True
        self._offsets_partitions = 0

    def update(self, changes: Iterable[Change]) -> None:
        """Take these in."""
        for change in changes:
            path = change.path
            if (name := partition_state.partition_of(path)) is not None:
                self._state_changed(TopicPartition(*name), change)
            elif (topic := topics.topic_of(path)) is not None:
                self._topic_changed(topic, change)
            elif path == controller.PATH:
                self.has_controller = change.after is not None
            elif path.startswith(f"{broker_ids.PATH}/"):
                self._broker_changed(change)
            elif path.startswith(_CONFIG):
                self.configs_changed = True
            elif path.startswith(f"{consumers.PATH}/"):
                self._consumer_changed(change)

    def by_leader(self) -> dict[int, list[TopicPartition]]:
        """The partitions of each leader that is alive."""
        found: dict[int, list[TopicPartition]] = {}
        for partition, leader in self.leaders.items():
            if leader in self.brokers:
                found.setdefault(leader, []).append(partition)
        return found

    def coordinator_of(self, group: str) -> int | None:
        """The broker that leads the group's partition of __consumer_offsets; None: nobody does."""
        if not self._offsets_partitions:
            return None
        leader = self.leaders.get(TopicPartition(GROUP_METADATA_TOPIC, abs_java(string_hash(group)) % self._offsets_partitions))
        return leader if leader in self.brokers else None

    def _state_changed(self, partition: TopicPartition, change: Change) -> None:
        if change.after is None:
            self.leaders.pop(partition, None)
            self.in_sync.pop(partition, None)
        else:
            try:
                state = partition_state.decode(change.after.data)
                self.leaders[partition], self.in_sync[partition] = state.leader, state.isr
            except MalformedZNode:
                self.leaders[partition], self.in_sync[partition] = partition_state.NO_LEADER, ()
        if partition.topic == GROUP_METADATA_TOPIC:
            self._offsets_partitions = sum(each.topic == GROUP_METADATA_TOPIC for each in self.leaders)

    def _topic_changed(self, topic: str, change: Change) -> None:
        before, after = (_assignment(node.data) if node is not None else {} for node in (change.before, change.after))
        for number in before.keys() - after.keys():
            self.replicas.pop(TopicPartition(topic, number), None)
        for number, replicas in after.items():
            self.replicas[TopicPartition(topic, number)] = replicas

    def _broker_changed(self, change: Change) -> None:
        name = name_of(change.path)
        if not name.isdecimal():
            return
        if change.after is None:
            self.brokers.pop(int(name), None)
            return
        try:
            endpoints = broker_ids.decode(change.after.data).endpoints
        except MalformedZNode:
            endpoints = ()
        plain = [each for each in endpoints if each.security_protocol is SecurityProtocol.PLAINTEXT]
        self.brokers[int(name)] = (plain[0].host, plain[0].port) if plain else None

    def _consumer_changed(self, change: Change) -> None:
        parts = change.path.split("/")
        if len(parts) != 6 or parts[3] != _OFFSETS or not parts[5].isdecimal():
            return
        group, partition = parts[2], TopicPartition(parts[4], int(parts[5]))
        offsets = self.zookeeper_offsets.setdefault(group, {})
        try:
            offset = None if change.after is None else consumers.decode_offset(change.after.data)
        except MalformedZNode:
            offset = None
        if offset is None or change.after is None:
            offsets.pop(partition, None)
        else:
            offsets[partition] = Committed(offset, change.after.mtime_ms)
        if not offsets:
            del self.zookeeper_offsets[group]


def _assignment(data: bytes | None) -> dict[int, tuple[int, ...]]:
    try:
        return {number: each.replicas for number, each in topics.decode(data).assignment.items()}
    except MalformedZNode:
        return {}
