"""What the controller reads about brokers and topics, and the few things that it writes about topics.

Every read that feeds the controller's memory sets a watch at the same time, so that no change between the read and the watch can be missed.
Mirrors parts of Kafka's zk/KafkaZkClient.scala; facts/coordination.md 1.2 to 1.5.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pykafka_classic.common import kafka_uuid
from pykafka_classic.common.clock import Random
from pykafka_classic.common.zookeeper import Code, GetChildren, GetData, Result, SetData
from pykafka_classic.controller.controller_context import LiveBroker
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.zk_client import ControllerZkClient, expect
from zk_schema import broker_ids, configs, delete_topics, topics
from zk_schema.errors import MalformedZNode
from zk_schema.topics import TopicZNode

log = logging.getLogger("kafka.zk.KafkaZkClient")

UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"


@dataclass(frozen=True, slots=True)
class StoredTopic:
    """A topic's znode: its id (None where none is stored yet) and its partitions."""

    topic: str
    topic_id: bytes | None
    assignment: Mapping[int, ReplicaAssignment]


class ZkCluster:
    """Brokers and topics as ZooKeeper has them."""

    def __init__(self, zk: ControllerZkClient, random: Random) -> None:
        self._zk = zk
        self._random = random

    # Brokers

    async def brokers_and_epochs(self) -> dict[int, LiveBroker]:
        """All registered brokers; watches the list and each of them."""
        [children] = await self._zk.submit([GetChildren(broker_ids.PATH, watch=True)])
        ids = sorted(int(child) for child in expect(children, Code.NO_NODE).children)
        results = await self._zk.submit([GetData(broker_ids.path(broker_id), watch=True) for broker_id in ids])
        found = {broker_id: _live_broker(expect(result, Code.NO_NODE)) for broker_id, result in zip(ids, results, strict=True)}
        return {broker_id: broker for broker_id, broker in found.items() if broker is not None}

    async def broker(self, broker_id: int) -> LiveBroker | None:
        """One broker, watched; None: it is not registered."""
        return _live_broker(await self._zk.get(broker_ids.path(broker_id), watch=True))

    # Topics

    async def topic_names(self) -> set[str]:
        """All topics; watches the list."""
        [children] = await self._zk.submit([GetChildren(topics.PATH, watch=True)])
        return set(expect(children, Code.NO_NODE).children)

    async def stored_topics(self, names: Collection[str]) -> list[StoredTopic]:
        """The znodes of these topics, watched; those that vanished meanwhile are left out. One that cannot be read is logged and left out."""
        results = await self._zk.submit([GetData(topics.path(name), watch=True) for name in names])
        found: list[StoredTopic] = []
        for name, result in zip(names, results, strict=True):
            if not expect(result, Code.NO_NODE).ok:
                continue
            try:
                found.append(_stored_topic(name, topics.decode(result.data)))
            except ValueError as error:  # MalformedZNode, or a topic id that is none
                log.error("Ignoring topic %s: %s", name, error)
        return found

    async def add_topic_ids(self, stored: Sequence[StoredTopic]) -> list[StoredTopic]:
        """Give an id to those topics that have none, as topics made by an old tool: a fenced rewrite of their znodes."""
        named = [each if each.topic_id is not None else StoredTopic(each.topic, kafka_uuid.random_uuid(self._random), each.assignment) for each in stored]
        changed = [new for old, new in zip(stored, named, strict=True) if old.topic_id is None]
        for result in await self._zk.fenced([SetData(topics.path(each.topic), _encode_topic(each)) for each in changed]):
            expect(result, Code.NO_NODE)
        return named

    async def write_topic(self, stored: StoredTopic) -> None:
        """Replace a topic's assignment, fenced, whatever the znode's version. Raises KeeperError where the topic is gone."""
        for result in await self._zk.fenced([SetData(topics.path(stored.topic), _encode_topic(stored))]):
            expect(result)

    async def partitions_with_znode(self, topic: str) -> set[int]:
        """The partitions that the controller has created below a topic."""
        [children] = await self._zk.submit([GetChildren(topics.partitions_path(topic))])
        return {int(child) for child in expect(children, Code.NO_NODE).children}

    # Deletion

    async def topic_deletions(self) -> list[str]:
        """The topics that somebody wants deleted; watches the list."""
        [children] = await self._zk.submit([GetChildren(delete_topics.PATH, watch=True)])
        return sorted(expect(children, Code.NO_NODE).children)

    async def remove_deletion_marks(self, names: Collection[str]) -> None:
        """Take topics off the list of those to delete."""
        await self._zk.delete_fenced([delete_topics.path(name) for name in names])

    async def delete_topic(self, topic: str) -> None:
        """Remove what ZooKeeper holds of a topic: its tree, then its config, then the mark.

        Not atomic: the mark goes last, so that a successor goes on with it.
        """
        tree = await self._tree(topics.path(topic))
        await self._zk.delete_fenced(tree)
        await self._zk.delete_fenced([configs.topic_path(topic)])
        await self.remove_deletion_marks([topic])

    async def _tree(self, root: str) -> list[str]:
        """All nodes from `root` down, each one's children right before it."""
        found, level = [root], [root]
        while level:
            results = await self._zk.submit([GetChildren(path) for path in level])
            level = [f"{path}/{child}" for path, result in zip(level, results, strict=True) for child in result.children]
            found += level
        return sorted(found, key=_children_first)

    # Configs

    async def topics_that_allow_unclean_election(self, names: Sequence[str], *, default: bool) -> frozenset[str]:
        """Those whose config allows it, or says nothing while the broker's default allows it. A config that cannot be read allows nothing."""
        results = await self._zk.submit([GetData(configs.topic_path(name)) for name in names])
        allowed = set()
        for name, result in zip(names, results, strict=True):
            if result.code is Code.NO_NODE:
                value = default
            else:
                try:
                    value = _boolean(configs.decode(expect(result).data).get(UNCLEAN_LEADER_ELECTION_ENABLE), default)
                except MalformedZNode as error:
                    log.error("The config of topic %s cannot be read, so it allows no unclean leader election: %s", name, error)
                    value = False
            if value:
                allowed.add(name)
        return frozenset(allowed)


def _live_broker(result: Result) -> LiveBroker | None:
    """None where there is no such node, or one that cannot be read."""
    if not result.ok or result.stat is None:
        return None
    try:
        return LiveBroker(broker_ids.decode(result.data), result.stat.czxid)
    except MalformedZNode as error:
        log.error("Ignoring a broker: %s", error)
        return None


def _children_first(path: str) -> tuple[str, ...]:
    """A sort key that puts a node right behind all that is below it: no name sorts behind the last character of Unicode."""
    return (*path.split("/"), "\U0010ffff")


def _boolean(text: str | None, default: bool) -> bool:
    return default if text is None else text.strip().lower() == "true"


def _stored_topic(name: str, znode: TopicZNode) -> StoredTopic:
    assignment = {
        partition: ReplicaAssignment(tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas))
        for partition, each in znode.assignment.items()
    }
    return StoredTopic(name, None if znode.topic_id is None else kafka_uuid.from_text(znode.topic_id), assignment)


def _encode_topic(stored: StoredTopic) -> bytes:
    assignment = {
        partition: topics.ReplicaAssignment(each.replicas, each.adding_replicas, each.removing_replicas) for partition, each in stored.assignment.items()
    }
    return topics.encode(TopicZNode(topic_id=None if stored.topic_id is None else kafka_uuid.to_text(stored.topic_id), assignment=assignment))
