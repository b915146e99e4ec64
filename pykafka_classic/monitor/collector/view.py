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
from zk_schema import broker_ids, configs, consumers, partition_state
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

    Attributes: leaders: of all partitions; -1: nobody. brokers: address of those alive, of a plaintext listener; None: it has none. zookeeper_offsets: by
    group.     configs_changed: a node below /config has changed since somebody set this to False.
    """

    def __init__(self) -> None:
        self.leaders: dict[TopicPartition, int] = {}
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
        else:
            try:
                self.leaders[partition] = partition_state.decode(change.after.data).leader
            except MalformedZNode:
                self.leaders[partition] = partition_state.NO_LEADER
        if partition.topic == GROUP_METADATA_TOPIC:
            self._offsets_partitions = sum(each.topic == GROUP_METADATA_TOPIC for each in self.leaders)

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


def config_entity(path: str) -> configs.ConfigEntity | None:
    """Whose config a node holds."""
    return configs.ConfigEntity.parse(path.removeprefix(_CONFIG))
