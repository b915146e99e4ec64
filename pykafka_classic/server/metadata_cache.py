"""What this broker knows of the cluster, as the controller told it by UpdateMetadata: live brokers, topics, leaders, ISRs.

Every Metadata answer comes from here, so it may be behind, and is empty until the controller has found a new broker.

Each request replaces the live brokers entirely and merges partitions; leader -2 removes one. What a Metadata answer says of a topic is kept ready for each
listener until the topic or the brokers change: clients ask far more often than that. `kept` has answers about all topics, whole, until anything changes.

Mirrors kafka.server.ZkMetadataCache; facts/coordination.md 3.13, 3.14.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from pykafka_classic.cluster.broker import Broker, Node
from pykafka_classic.common import kafka_uuid, topic_name
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.listeners import SECURITY_PROTOCOLS, EndPoint
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from pykafka_classic.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from pykafka_classic.protocol.shared_encoding import KeptMetadata

log = logging.getLogger("kafka.server.MetadataCache")
state_change_log = logging.getLogger("state.change.logger")

NO_LEADER: Final = -1
LEADER_DURING_DELETE: Final = -2
NO_CONTROLLER: Final = -1


class _View(NamedTuple):
    """Who asks, as far as it changes the answer."""

    listener: str
    error_unavailable_endpoints: bool  # v0: brokers that cannot be reached are an error, and not listed
    error_unavailable_listeners: bool  # v6+: a leader that lives, but not at this listener, is told apart from a dead one


class MetadataCache:
    """Invariants: no topic without partitions; `_answers` and `kept` hold only what the present state would give again."""

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self._controller_id = NO_CONTROLLER
        self._brokers: dict[int, Broker] = {}
        self._topics: dict[str, dict[int, UpdateMetadataPartitionState]] = {}
        self._topic_ids: dict[str, bytes] = {}
        self._answers: dict[_View, dict[str, list[MetadataResponsePartition]]] = {}
        self.kept: dict[Hashable, KeptMetadata] = {}  # by what its maker tells them apart

    # Brokers

    def controller_id(self) -> int:
        """The controller that last spoke, if it is alive; else -1."""
        return self._controller_id if self._controller_id in self._brokers else NO_CONTROLLER

    def alive_brokers(self) -> list[Broker]:
        """All live brokers."""
        return list(self._brokers.values())

    def is_alive(self, broker_id: int) -> bool:
        """Whether this broker lives, as far as we know."""
        return broker_id in self._brokers

    def alive_nodes(self, listener: str) -> list[Node]:
        """Live brokers that have this listener."""
        return [node for node in (broker.node(listener) for broker in self._brokers.values()) if node is not None]

    def node(self, broker_id: int, listener: str) -> Node | None:
        """A live broker's address at a listener."""
        broker = self._brokers.get(broker_id)
        return None if broker is None else broker.node(listener)

    # Topics

    def all_topics(self) -> list[str]:
        """Names of all topics."""
        return list(self._topics)

    def contains_topic(self, name: str) -> bool:
        """Whether the topic exists."""
        return name in self._topics

    def contains(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition exists."""
        return topic_partition.partition in self._topics.get(topic_partition.topic, {})

    def partition_count(self, name: str) -> int:
        """Number of the topic's partitions; 0 where there is no such topic."""
        return len(self._topics.get(name, ()))

    def partitions(self, name: str) -> list[int]:
        """The topic's partitions in ascending order."""
        return sorted(self._topics.get(name, ()))

    def topic_id(self, name: str) -> bytes:
        """16 bytes; zero where the topic has none."""
        return self._topic_ids.get(name, kafka_uuid.ZERO)

    def partition_state(self, topic_partition: TopicPartition) -> UpdateMetadataPartitionState | None:
        """Leader, epoch, ISR and replicas. Not to be changed by the caller."""
        return self._topics.get(topic_partition.topic, {}).get(topic_partition.partition)

    def has_leader(self, name: str, partition: int) -> bool:
        """Whether a leader has been elected."""
        state = self._topics.get(name, {}).get(partition)
        return state is not None and state.leader >= 0

    def leader_node(self, name: str, partition: int, listener: str) -> Node | None:
        """The leader's address; None where there is no leader, or none alive at this listener."""
        state = self._topics.get(name, {}).get(partition)
        return None if state is None else self.node(state.leader, listener)

    def replica_nodes(self, topic_partition: TopicPartition, listener: str) -> dict[int, Node]:
        """Addresses of the partition's live replicas at a listener (KIP-392)."""
        state = self.partition_state(topic_partition)
        nodes = [] if state is None else [self.node(broker_id, listener) for broker_id in state.replicas]
        return {node.id: node for node in nodes if node is not None}

    def topic_metadata(
        self, names: Iterable[str], listener: str, *, error_unavailable_endpoints: bool = False, error_unavailable_listeners: bool = False
    ) -> list[MetadataResponseTopic]:
        """What Metadata answers of these topics; unknown ones are left out. The topics are fresh objects, their partitions are shared: do not change those."""
        view = _View(listener, error_unavailable_endpoints, error_unavailable_listeners)
        ready = self._answers.setdefault(view, {})
        answer = []
        for name in names:
            partitions = ready.get(name)
            if partitions is None:
                states = self._topics.get(name)
                if states is None:
                    continue
                partitions = ready[name] = [self._partition_metadata(index, state, view) for index, state in states.items()]
            answer.append(MetadataResponseTopic(name=name, topic_id=self.topic_id(name), is_internal=topic_name.is_internal(name), partitions=partitions))
        return answer

    def _partition_metadata(self, index: int, state: UpdateMetadataPartitionState, view: _View) -> MetadataResponsePartition:
        replicas, isr = state.replicas, state.isr
        if view.error_unavailable_endpoints:
            replicas = [broker_id for broker_id in replicas if self.node(broker_id, view.listener) is not None]
            isr = [broker_id for broker_id in isr if self.node(broker_id, view.listener) is not None]
        has_leader = self.node(state.leader, view.listener) is not None
        if not has_leader:
            listener_missing = state.leader in self._brokers and view.error_unavailable_listeners
            error = ErrorCode.LISTENER_NOT_FOUND if listener_missing else ErrorCode.LEADER_NOT_AVAILABLE
        elif len(replicas) < len(state.replicas) or len(isr) < len(state.isr):
            error = ErrorCode.REPLICA_NOT_AVAILABLE
        else:
            error = ErrorCode.NONE
        return MetadataResponsePartition(
            error_code=error,
            partition_index=index,
            leader_id=state.leader if has_leader else NO_LEADER,
            leader_epoch=state.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=state.offline_replicas,
        )

    # The controller's word

    def update(self, request: UpdateMetadataRequest) -> list[TopicPartition]:
        """Take over what the controller says; the partitions that it removed."""
        self.kept.clear()
        self._controller_id = request.controller_id
        brokers = {broker.id: _broker(broker) for broker in request.live_brokers}
        if brokers != self._brokers:
            self._brokers = brokers
            self._answers.clear()
            self._check_listeners()
        for topic in request.topic_states:
            if topic.topic_id != kafka_uuid.ZERO:
                self._topic_ids[topic.topic_name] = topic.topic_id
        removed: list[TopicPartition] = []
        for name, states in _states_by_topic(request):
            removed += self._merge(name, states)
        return removed

    def forget(self, names: Iterable[str]) -> list[TopicPartition]:
        """Drop topics of which the controller tells nothing any more; their partitions."""
        self.kept.clear()
        removed = []
        for name in names:
            removed += [TopicPartition(name, partition) for partition in self._topics.pop(name, ())]
            self._topic_ids.pop(name, None)
            for ready in self._answers.values():
                ready.pop(name, None)
        return removed

    def _merge(self, name: str, states: Sequence[UpdateMetadataPartitionState]) -> list[TopicPartition]:
        partitions = self._topics.setdefault(name, {})
        removed = []
        for state in states:
            if state.leader == LEADER_DURING_DELETE:
                partitions.pop(state.partition_index, None)
                removed.append(TopicPartition(name, state.partition_index))
                state_change_log.debug("[Broker id=%d] Deleted partition %s-%d from the metadata cache", self._broker_id, name, state.partition_index)
            else:
                partitions[state.partition_index] = state
        for ready in self._answers.values():
            ready.pop(name, None)
        if not partitions:
            del self._topics[name]
            self._topic_ids.pop(name, None)
        return removed

    def _check_listeners(self) -> None:
        mine = self._brokers.get(self._broker_id)
        if mine is not None and any(broker.end_points.keys() != mine.end_points.keys() for broker in self._brokers.values()):
            listeners = {broker.id: sorted(broker.end_points) for broker in self._brokers.values()}
            log.error("[MetadataCache brokerId=%d] Listeners are not identical across brokers: %s", self._broker_id, listeners)


def _states_by_topic(request: UpdateMetadataRequest) -> Iterable[tuple[str, Sequence[UpdateMetadataPartitionState]]]:
    yield from ((topic.topic_name, topic.partition_states) for topic in request.topic_states)
    ungrouped: dict[str, list[UpdateMetadataPartitionState]] = {}
    for state in request.ungrouped_partition_states:  # up to v4 the list is flat
        ungrouped.setdefault(state.topic_name, []).append(state)
    yield from ungrouped.items()


def _broker(broker: UpdateMetadataBroker) -> Broker:
    if not broker.endpoints:  # v0 knows of one plain address only
        return Broker.of(broker.id, [EndPoint(broker.v0_host, broker.v0_port, "PLAINTEXT", "PLAINTEXT")], broker.rack)
    return Broker.of(broker.id, map(_end_point, broker.endpoints), broker.rack)


def _end_point(endpoint: UpdateMetadataEndpoint) -> EndPoint:
    protocol = SECURITY_PROTOCOLS[endpoint.security_protocol]
    return EndPoint(endpoint.host, endpoint.port, endpoint.listener or protocol, protocol)  # before v3 a listener is named by its protocol
