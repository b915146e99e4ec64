"""All that the active controller knows, in memory: a cache of ZooKeeper plus the states of partitions and replicas.

Owner: the controller's event handlers, one at a time. Everything in here is thrown away (`reset`) when the controller resigns, and read again by whoever is
next.

Two notions of a broker being there (facts/coordination.md 3.3):
* *live or shutting down*: it has a znode; it is sent requests and is listed in UpdateMetadata;
* *live*: that, and it has not announced its departure; only these may become leaders.
A replica is *online* if its broker is live and has not reported the replica's disk as failed.

Mirrors Kafka's controller/ControllerContext.scala.
Differs from Kafka: brokers are kept by id, so that no lookup walks over all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.leader_and_isr import LeaderAndIsr
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.controller.states import PartitionState, ReplicaState
from zk_schema.broker_ids import BrokerIdZNode

NO_CONTROLLER_EPOCH: Final = 0
NO_ASSIGNMENT: Final = ReplicaAssignment()
_NO_PARTITIONS: Final[frozenset[TopicPartition]] = frozenset()


class PartitionAndReplica(NamedTuple):
    """One replica: a partition on a broker."""

    partition: TopicPartition
    replica: int

    @property
    def topic(self) -> str:
        """The partition's topic."""
        return self.partition.topic

    def __str__(self) -> str:
        return f"[Topic={self.partition.topic},Partition={self.partition.partition},Replica={self.replica}]"


class LiveBroker(NamedTuple):
    """A broker's registration, and its epoch: the zxid that created its znode, by which an earlier life of the same broker is told apart."""

    registration: BrokerIdZNode
    epoch: int


class ControllerContext:
    """See the module's text. Plain containers are read freely; what has rules is changed by the methods only."""

    def __init__(self) -> None:
        self.epoch = NO_CONTROLLER_EPOCH  # of this controller; 0 while not active
        self.epoch_zk_version = 0  # data version of /controller_epoch when it was won: the fence of all writes
        self.live_or_shutting_down_brokers: dict[int, LiveBroker] = {}
        self.shutting_down_broker_ids: set[int] = set()
        self.all_topics: set[str] = set()
        self.topic_ids: dict[str, bytes] = {}  # 16 bytes each
        self.topic_names: dict[bytes, str] = {}  # the inverse of topic_ids
        self.assignments: dict[str, dict[int, ReplicaAssignment]] = {}  # topic -> partition -> replicas
        self.leadership: dict[TopicPartition, LeaderAndIsr] = {}
        self.partitions_being_reassigned: dict[TopicPartition, None] = {}  # a set that keeps its order
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        self.replica_states: dict[PartitionAndReplica, ReplicaState] = {}
        self.replicas_on_offline_dirs: dict[int, frozenset[TopicPartition]] = {}  # broker -> partitions whose disk failed there
        self.topics_to_be_deleted: dict[str, None] = {}  # in the order in which they were queued
        self.topics_with_deletion_started: set[str] = set()
        self.topics_ineligible_for_deletion: set[str] = set()  # subset of topics_to_be_deleted: something is in the way

    def reset(self) -> None:
        """Forget everything: the controller has resigned."""
        self.__init__()  # type: ignore[misc]  # the one list of fields

    # Brokers

    @property
    def live_broker_ids(self) -> frozenset[int]:
        """Brokers that may lead."""
        return frozenset(self.live_or_shutting_down_brokers.keys() - self.shutting_down_broker_ids)

    @property
    def live_or_shutting_down_broker_ids(self) -> list[int]:
        """Brokers that are sent requests, in order of their ids."""
        return sorted(self.live_or_shutting_down_brokers)

    def add_live_brokers(self, brokers: Mapping[int, LiveBroker]) -> None:
        """Brokers that registered, or registered again."""
        self.live_or_shutting_down_brokers.update(brokers)

    def remove_live_brokers(self, broker_ids: Iterable[int]) -> None:
        """Brokers whose znode is gone."""
        for broker_id in broker_ids:
            self.live_or_shutting_down_brokers.pop(broker_id, None)

    def broker_epoch(self, broker_id: int) -> int | None:
        """The epoch under which a broker is registered; None: it is not."""
        broker = self.live_or_shutting_down_brokers.get(broker_id)
        return None if broker is None else broker.epoch

    def is_replica_online(self, broker_id: int, partition: TopicPartition, *, include_shutting_down: bool = False) -> bool:
        """Whether this broker could serve this partition now."""
        if broker_id not in self.live_or_shutting_down_brokers:
            return False
        if broker_id in self.shutting_down_broker_ids and not include_shutting_down:
            return False
        return partition not in self.replicas_on_offline_dirs.get(broker_id, _NO_PARTITIONS)

    def online_replicas(self, partition: TopicPartition, replicas: Iterable[int], *, include_shutting_down: bool = False) -> tuple[int, ...]:
        """Those of `replicas` that are online, in their order."""
        return tuple(broker for broker in replicas if self.is_replica_online(broker, partition, include_shutting_down=include_shutting_down))

    # Topics and assignments

    def set_topic_id(self, topic: str, topic_id: bytes) -> None:
        """Remember a topic's id. One id for one name: anything else means that two topics were mixed up."""
        assert self.topic_ids.get(topic, topic_id) == topic_id, f"topic {topic} has the id {self.topic_ids[topic]!r} already, not {topic_id!r}"
        assert self.topic_names.get(topic_id, topic) == topic, f"topic id {topic_id!r} belongs to {self.topic_names[topic_id]} already, not to {topic}"
        self.topic_ids[topic] = topic_id
        self.topic_names[topic_id] = topic

    def assignment(self, partition: TopicPartition) -> ReplicaAssignment:
        """The partition's replicas; an empty assignment where it is unknown."""
        return self.assignments.get(partition.topic, {}).get(partition.partition, NO_ASSIGNMENT)

    def set_assignment(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        """Remember the partition's replicas."""
        self.assignments.setdefault(partition.topic, {})[partition.partition] = assignment

    def remove_topic(self, topic: str) -> None:
        """Forget a topic that is gone from ZooKeeper, with the states of its partitions and replicas."""
        self.topics_to_be_deleted.pop(topic, None)
        self.topics_with_deletion_started.discard(topic)
        self.topics_ineligible_for_deletion.discard(topic)
        self.all_topics.discard(topic)
        topic_id = self.topic_ids.pop(topic, None)
        if topic_id is not None:
            self.topic_names.pop(topic_id, None)
        for partition, assignment in self.assignments.pop(topic, {}).items():
            self._forget_partition(TopicPartition(topic, partition), assignment)

    def _forget_partition(self, partition: TopicPartition, assignment: ReplicaAssignment) -> None:
        self.leadership.pop(partition, None)
        self.partition_states.pop(partition, None)
        self.partitions_being_reassigned.pop(partition, None)
        for replica in assignment.replicas:
            self.replica_states.pop(PartitionAndReplica(partition, replica), None)

    def all_partitions(self) -> Iterator[tuple[TopicPartition, ReplicaAssignment]]:
        """Every known partition with its replicas."""
        for topic, partitions in self.assignments.items():
            for partition, assignment in partitions.items():
                yield TopicPartition(topic, partition), assignment

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """The known partitions of a topic."""
        return [TopicPartition(topic, partition) for partition in self.assignments.get(topic, {})]

    def partitions_on(self, broker_id: int) -> list[TopicPartition]:
        """The partitions that have a replica on this broker."""
        return [partition for partition, assignment in self.all_partitions() if broker_id in assignment.replicas]

    # Replicas

    def replicas_of(self, partitions: Iterable[TopicPartition]) -> list[PartitionAndReplica]:
        """All assigned replicas of these partitions."""
        return [PartitionAndReplica(partition, replica) for partition in partitions for replica in self.assignment(partition).replicas]

    def replicas_of_topic(self, topic: str) -> list[PartitionAndReplica]:
        """All assigned replicas of a topic."""
        return self.replicas_of(self.partitions_of(topic))

    def replicas_on_brokers(self, broker_ids: Collection[int]) -> list[PartitionAndReplica]:
        """All replicas assigned to these brokers, broker by broker."""
        return [PartitionAndReplica(partition, broker_id) for broker_id in broker_ids for partition in self.partitions_on(broker_id)]

    def replicas_in_state(self, topic: str, state: ReplicaState) -> list[PartitionAndReplica]:
        """The replicas of a topic that are in this state."""
        return [replica for replica in self.replicas_of_topic(topic) if self.replica_state(replica) is state]

    def replica_state(self, replica: PartitionAndReplica) -> ReplicaState:
        """The replica's state; an unknown one does not exist."""
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def partition_state(self, partition: TopicPartition) -> PartitionState:
        """The partition's state; an unknown one does not exist."""
        return self.partition_states.get(partition, PartitionState.NON_EXISTENT)

    def partitions_in_states(self, states: AbstractSet[PartitionState]) -> list[TopicPartition]:
        """The partitions of all topics that are in one of these states."""
        return [partition for partition, state in self.partition_states.items() if state in states]

    # Leaders

    def leader(self, partition: TopicPartition) -> int | None:
        """The partition's leader (NO_LEADER if it has none now); None where nothing is known of a leader."""
        current = self.leadership.get(partition)
        return None if current is None else current.leader

    def partitions_with_leaders(self) -> list[TopicPartition]:
        """Partitions that brokers can be told about: with a stored state, and not being deleted."""
        return [partition for partition in self.leadership if partition.topic not in self.topics_to_be_deleted]

    def partitions_with_offline_leader(self) -> list[TopicPartition]:
        """Partitions whose leader cannot serve (or that have none), and that may have another."""
        return [
            partition
            for partition, current in self.leadership.items()
            if self.may_have_a_leader(partition) and not self.is_replica_online(current.leader, partition)
        ]

    def partitions_led_by(self, broker_id: int) -> frozenset[TopicPartition]:
        """Partitions with further replicas, not being deleted, that this broker leads: those that it could hand over."""
        return frozenset(
            partition
            for partition, current in self.leadership.items()
            if current.leader == broker_id and partition.topic not in self.topics_to_be_deleted and len(self.assignment(partition).replicas) > 1
        )

    # Topic deletion

    def is_topic_queued_up_for_deletion(self, topic: str) -> bool:
        """True from the moment the deletion was asked for until the topic is gone."""
        return topic in self.topics_to_be_deleted

    def may_have_a_leader(self, partition: TopicPartition) -> bool:
        """Whether leaders are sought for it.

        Not once its topic is to be deleted, unless that waits for the partition's move, which cannot end without a leader.
        """
        if partition.topic not in self.topics_to_be_deleted:
            return True
        return partition in self.partitions_being_reassigned and partition.topic not in self.topics_with_deletion_started

    def are_all_replicas_in_state(self, topic: str, state: ReplicaState) -> bool:
        """Whether every replica of the topic is in this state (true for a topic without replicas)."""
        return all(self.replica_state(replica) is state for replica in self.replicas_of_topic(topic))

    def is_any_replica_in_state(self, topic: str, state: ReplicaState) -> bool:
        """Whether some replica of the topic is in this state."""
        return any(self.replica_state(replica) is state for replica in self.replicas_of_topic(topic))
