"""Queries over the history of znodes: who was alive, who led what, what was configured, and the tree itself, at any moment.

`t_ms` None means now. What lies before the first change that the store has of a node is not known: a node found at the monitor's start counts from its latest
write on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar

from pykafka_classic.common.zookeeper import session_name
from pykafka_classic.monitor.store.answers import ALL, BrokerState, ControllerState, PartitionState, Span, TopicState, ZNode, ZNodeChange
from pykafka_classic.monitor.store.queries import Queries, until
from pykafka_classic.monitor.store.rows import ChangeKind
from zk_schema import broker_ids, controller, controller_epoch, partition_state, topics
from zk_schema.errors import MalformedZNode

T = TypeVar("T")

_AT: Final = """
SELECT z.path, c.kind, c.t_ms, c.zxid, c.version, c.owner, c.czxid, c.data FROM znode z JOIN znode_change c ON c.id =
(SELECT id FROM znode_change WHERE znode_id = z.id AND t_ms <= ? ORDER BY t_ms DESC, id DESC LIMIT 1) WHERE z.cluster_id = ?
"""
_CHANGES: Final = """
SELECT c.id, z.path, c.kind, c.t_ms, c.seen_ms, c.zxid, c.version, c.owner, c.data,
(SELECT data FROM znode_change b WHERE b.znode_id = c.znode_id AND b.t_ms <= c.t_ms AND b.id < c.id ORDER BY b.t_ms DESC, b.id DESC LIMIT 1)
FROM znode_change c JOIN znode z ON z.id = c.znode_id WHERE c.cluster_id = ?
"""
DECODED_MAX: Final = 8_192
LAST_CHARACTER: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class _Stored:
    """The latest change of a node up to a moment."""

    path: str
    kind: int
    t_ms: int
    zxid: int
    version: int
    owner: int
    czxid: int
    data: bytes | None

    @property
    def there(self) -> bool:
        return self.kind != ChangeKind.REMOVED


class HistoryQueries(Queries):
    """The part of the reader that is about znodes, and what they tell."""

    # the tree

    def znode_at(self, cluster: str, path: str, t_ms: int | None = None) -> ZNode | None:
        """A node; None where there was none, or nothing of it is known."""
        found = [each for each in self._at(cluster, t_ms, " AND z.path = ?", path) if each.there]
        if not found:
            return None
        ((count,),) = [(len(self.children_at(cluster, path, t_ms)),)]
        return _node(found[0], count)

    def children_at(self, cluster: str, path: str, t_ms: int | None = None) -> tuple[ZNode, ...]:
        """The nodes right below a path, by name; each with the number of its own children."""
        prefix = f"{path.rstrip('/')}/"
        below = [each for each in self._below(cluster, prefix, t_ms) if each.there and each.path != path]
        counts: dict[str, int] = {}
        for each in below:
            parent = each.path.rpartition("/")[0]
            counts[parent] = counts.get(parent, 0) + 1
        return tuple(_node(each, counts.get(each.path, 0)) for each in sorted(below, key=lambda found: found.path) if "/" not in each.path[len(prefix) :])

    def tree_at(self, cluster: str, path: str = "/", t_ms: int | None = None) -> tuple[ZNode, ...]:
        """A node and all below it, parents first."""
        prefix = f"{path.rstrip('/')}/"
        found = [*self._at(cluster, t_ms, " AND z.path = ?", path), *(each for each in self._below(cluster, prefix, t_ms) if each.path != path)]
        there = sorted((each for each in found if each.there), key=lambda each: each.path.split("/"))
        counts: dict[str, int] = {}
        for each in there:
            parent = each.path.rpartition("/")[0] or "/"
            counts[parent] = counts.get(parent, 0) + (each.path != "/")
        return tuple(_node(each, counts.get(each.path, 0)) for each in there)

    def znode_history(self, cluster: str, path: str, span: Span = ALL) -> tuple[ZNodeChange, ...]:
        """The changes of one node, the latest first."""
        sql = f"{_CHANGES} AND c.znode_id = (SELECT id FROM znode WHERE cluster_id = ? AND path = ?)"
        number = self.cluster_id(cluster)
        rows = self.rows(f"{sql} AND c.t_ms >= ? AND c.t_ms <= ? ORDER BY c.id DESC LIMIT ?", number, number, path, span.since_ms, span.end_ms, span.limit)
        return tuple(_change(row) for row in rows)

    def znode_changes(self, cluster: str, span: Span, *, offsets: bool = True) -> tuple[ZNodeChange, ...]:
        """The changes of all nodes in an interval, the latest first; those found at the monitor's start are not among them.

        `offsets` False: without the commits of groups in ZooKeeper, of which there may be very many.
        """
        others = "" if offsets else " AND z.path NOT GLOB '/consumers/*/offsets/*'"
        sql = f"{_CHANGES} AND c.t_ms >= ? AND c.t_ms <= ? AND c.kind != 0{others} ORDER BY c.t_ms DESC, c.id DESC LIMIT ?"
        return tuple(_change(row) for row in self.rows(sql, self.cluster_id(cluster), span.since_ms, span.end_ms, span.limit))

    # what it tells

    def brokers_at(self, cluster: str, t_ms: int | None = None) -> tuple[BrokerState, ...]:
        """Every broker that was ever seen up to then, alive or gone, by id."""
        found = []
        for each in self._below(cluster, f"{broker_ids.PATH}/", t_ms):
            state = _decoded(_broker, each)
            if state is not None:
                found.append(state)
        return tuple(sorted(found, key=lambda state: state.broker))

    def controller_at(self, cluster: str, t_ms: int | None = None) -> ControllerState | None:
        """The controller; None where nothing is known."""
        found = self._at(cluster, t_ms, " AND z.path = ?", controller.PATH)
        epochs = self._at(cluster, t_ms, " AND z.path = ?", controller_epoch.PATH)
        epoch = _decoded(lambda each: controller_epoch.decode(each.data), epochs[0]) if epochs else None
        return ControllerState(_controller(found[0]), epoch, found[0].t_ms) if found else None

    def controller_history(self, cluster: str, span: Span = ALL) -> tuple[ControllerState, ...]:
        """Who was the controller, the latest first."""
        epochs = sorted((each.zxid, _int(each.data)) for each in self.znode_history(cluster, controller_epoch.PATH))
        states = []
        for each in self.znode_history(cluster, controller.PATH, span):
            stored = _Stored(each.path, each.kind, each.t_ms, each.zxid, each.version, each.owner, 0, each.data)
            # The epoch is written together with the node (one multi), or in Kafka before 2.3 after it.
            epoch = next((epoch for zxid, epoch in epochs if zxid >= each.zxid), None)
            states.append(ControllerState(_controller(stored), epoch if stored.there else None, each.t_ms))
        return tuple(states)

    def partitions_at(self, cluster: str, t_ms: int | None = None, *, topic: str | None = None) -> tuple[PartitionState, ...]:
        """All partitions (of one topic) with leader and ISR. A partition whose state was not written yet has leader -1, epoch -1 and no ISR."""
        topics_there = self._topic_nodes(cluster, t_ms, topic)
        states: dict[tuple[str, int], _Stored] = {}
        prefix = f"{topics.PATH}/" if topic is None else f"{topics.partitions_path(topic)}/"
        for each in self._below(cluster, prefix, t_ms, " AND z.path GLOB '*/state'"):
            name = partition_state.partition_of(each.path)
            if name is not None and each.there:
                states[name] = each
        found = []
        for title, (stored, node) in topics_there.items():
            for number, assignment in sorted(node.assignment.items()):
                found.append(_partition(title, number, assignment, states.get((title, number)) or stored))
        return tuple(sorted(found, key=lambda state: (state.topic, state.partition)))

    def partition_history(self, cluster: str, topic: str, partition: int, span: Span = ALL) -> tuple[PartitionState, ...]:
        """The states of one partition (ISR, leader, epoch), the latest first; each counts from its `since_ms` to the next one's."""
        assignments = self.znode_history(cluster, topics.path(topic))
        found = []
        for each in self.znode_history(cluster, partition_state.path(topic, partition), span):
            if each.kind is ChangeKind.REMOVED:
                continue
            nodes = [other for other in assignments if other.t_ms <= each.t_ms] or assignments[-1:]
            assignment = _assignment(nodes[0].data if nodes else None, partition)
            state = _decoded(
                lambda stored, assignment=assignment: _partition(topic, partition, assignment, stored),  # type: ignore[misc]
                _Stored(each.path, each.kind, each.t_ms, each.zxid, each.version, each.owner, 0, each.data),
            )
            found += [state] if state is not None else []
        return tuple(found)

    def topics_at(self, cluster: str, t_ms: int | None = None) -> tuple[TopicState, ...]:
        """All topics in numbers, by name."""
        by_topic: dict[str, list[PartitionState]] = {}
        for each in self.partitions_at(cluster, t_ms):
            by_topic.setdefault(each.topic, []).append(each)
        return tuple(_topic(name, partitions) for name, partitions in sorted(by_topic.items()))

    # inside

    def _topic_nodes(self, cluster: str, t_ms: int | None, topic: str | None) -> dict[str, tuple[_Stored, topics.TopicZNode]]:
        if topic is not None:
            stored = self._at(cluster, t_ms, " AND z.path = ?", topics.path(topic))
        else:
            stored = self._below(cluster, f"{topics.PATH}/", t_ms, " AND z.path NOT GLOB '/brokers/topics/*/*'")
        found = {}
        for each in stored:
            node = _decoded(lambda at: _topic_of(at.data), each) if each.there else None
            if node is not None:
                found[each.path.rpartition("/")[2]] = (each, node)
        return found

    def _below(self, cluster: str, prefix: str, t_ms: int | None, condition: str = "") -> list[_Stored]:
        return self._at(cluster, t_ms, f" AND z.path >= ? AND z.path < ?{condition}", prefix, prefix + LAST_CHARACTER)

    def _at(self, cluster: str, t_ms: int | None, condition: str, *values: Any) -> list[_Stored]:
        return [_Stored(*row) for row in self.rows(_AT + condition, until(t_ms), self.cluster_id(cluster), *values)]


# The same bytes are decoded for every page that is looked at: what they mean is kept. Values are frozen.
_state_of: Final = lru_cache(maxsize=DECODED_MAX)(partition_state.decode)
_topic_of: Final = lru_cache(maxsize=DECODED_MAX)(topics.decode)


def _node(stored: _Stored, children: int) -> ZNode:
    return ZNode(stored.path, stored.data, stored.version, stored.owner, stored.czxid, stored.zxid, stored.t_ms, children)


def _change(row: tuple[Any, ...]) -> ZNodeChange:
    number, path, kind, *others = row
    return ZNodeChange(number, path, ChangeKind(kind), *others)


def _decoded(decode: Callable[[_Stored], T | None], stored: _Stored) -> T | None:
    """None for a node that holds something else than it should: a cluster may be damaged."""
    try:
        return decode(stored)
    except MalformedZNode:
        return None


def _broker(stored: _Stored) -> BrokerState:
    told = broker_ids.decode(stored.data)
    endpoints = tuple(f"{each.listener_name}://{each.host}:{each.port}" for each in told.endpoints)
    return BrokerState(broker_ids.broker_id_of(stored.path.rpartition("/")[2]), stored.there, endpoints, told.rack, stored.t_ms, session_name(stored.owner))


def _controller(stored: _Stored) -> int | None:
    told = _decoded(lambda each: controller.decode(each.data), stored) if stored.there else None
    return None if told is None else told.broker_id


def _partition(topic: str, partition: int, assignment: topics.ReplicaAssignment, stored: _Stored) -> PartitionState:
    """From the state's node; from the topic's where there is no state yet, or one that nobody can read."""
    told = None
    if stored.path.endswith("/state"):
        told = _decoded(lambda each: _state_of(each.data), stored)
    if told is None:
        told = partition_state.TopicPartitionStateZNode(partition_state.NO_LEADER, -1, (), -1)
    return PartitionState(
        topic,
        partition,
        assignment.replicas,
        told.leader,
        told.leader_epoch,
        told.isr,
        told.controller_epoch,
        stored.version,
        stored.t_ms,
        assignment.adding_replicas,
        assignment.removing_replicas,
    )


def _assignment(data: bytes | None, partition: int) -> topics.ReplicaAssignment:
    try:
        return _topic_of(data).assignment.get(partition, topics.ReplicaAssignment(()))
    except MalformedZNode:
        return topics.ReplicaAssignment(())


def _topic(name: str, partitions: list[PartitionState]) -> TopicState:
    return TopicState(
        name,
        len(partitions),
        max(len(each.replicas) for each in partitions),
        sum(each.under_replicated for each in partitions),
        sum(each.offline for each in partitions),
        sum(each.leader != each.preferred_leader for each in partitions),
    )


def _int(data: bytes | None) -> int:
    try:
        return controller_epoch.decode(data)
    except MalformedZNode:
        return -1


def pairs(items: list[T]) -> Iterator[tuple[T | None, T]]:
    """Each with the one before it."""
    before: T | None = None
    for each in items:
        yield before, each
        before = each
