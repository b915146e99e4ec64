"""New topics, vanished topics, and more partitions for known ones.

Creation is a wish that somebody wrote: /brokers/topics/T with an assignment. The controller sees it and brings it to life in four steps: partitions -> New,
replicas -> New, partitions -> Online (which creates the `state` znodes and sends LeaderAndIsr), replicas -> Online. Further partitions in a known topic's
znode go the same way; what the znode says about partitions that exist already is ignored: only the controller moves them.
Source: facts/coordination.md 3.7;
Kafka's processTopicChange, processPartitionModifications, onNewPartitionCreation.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.core import ControllerCore
from pykafka_classic.controller.election import OfflinePartitionLeaderElection
from pykafka_classic.controller.partition_state_machine import PartitionStateMachine
from pykafka_classic.controller.replica_state_machine import ReplicaStateMachine
from pykafka_classic.controller.states import PartitionState, ReplicaState
from pykafka_classic.controller.zk_cluster import StoredTopic


class TopicChanges:
    """Handlers of TopicChange and PartitionModifications."""

    def __init__(self, core: ControllerCore, replicas: ReplicaStateMachine, partitions: PartitionStateMachine) -> None:
        self._core = core
        self._context = core.context
        self._replicas = replicas
        self._partitions = partitions

    async def read_topics(self, names: Sequence[str]) -> list[StoredTopic]:
        """Read topics into the context, giving an id to those without one. Used at failover too."""
        stored = await self._core.cluster.stored_topics(names)
        if self._core.uses_topic_ids:
            stored = await self._core.cluster.add_topic_ids(stored)
        for topic in stored:
            if topic.topic_id is not None:
                self._context.set_topic_id(topic.topic, topic.topic_id)
            for partition, assignment in topic.assignment.items():
                self._context.set_assignment(TopicPartition(topic.topic, partition), assignment)
        return stored

    async def process_topic_change(self) -> None:
        """The list of topics changed."""
        names = await self._core.cluster.topic_names()
        new = sorted(names - self._context.all_topics)
        deleted = sorted(self._context.all_topics - names)
        for topic in deleted:
            self._context.remove_topic(topic)
        self._context.all_topics = names
        stored = await self.read_topics(new)
        self._core.log.info(
            "New topics: [%s], deleted topics: [%s], new partition replica assignment [%s]", *map(", ".join, (new, deleted, map(_describe, stored)))
        )
        await self._on_new_partition_creation([TopicPartition(topic.topic, partition) for topic in stored for partition in topic.assignment])

    async def process_partition_modifications(self, topic: str) -> None:
        """A topic's znode changed."""
        if topic not in self._context.all_topics:
            return  # deleted meanwhile; if it was created again, TopicChange comes
        for stored in await self._core.cluster.stored_topics([topic]):
            await self._compare(stored)

    async def _compare(self, stored: StoredTopic) -> None:
        known = self._context.assignments.get(stored.topic, {})
        added = {partition: assignment for partition, assignment in stored.assignment.items() if partition not in known}
        if self._context.is_topic_queued_up_for_deletion(stored.topic):
            if added:
                self._core.log.warning(
                    "Skipping adding partitions %s for topic %s since it is currently being deleted", ",".join(map(str, sorted(added))), stored.topic
                )
                await self._restore(stored)
            else:
                self._core.log.info("Ignoring partition change during topic deletion as no new partitions are added")
        elif added:
            self._core.log.info("New partitions to be added %s", _describe(StoredTopic(stored.topic, stored.topic_id, added)))
            partitions = [TopicPartition(stored.topic, partition) for partition in added]
            for partition in partitions:
                self._context.set_assignment(partition, added[partition.partition])
            await self._on_new_partition_creation(partitions)

    async def _restore(self, stored: StoredTopic) -> None:
        """Write back what the topic had before: its deletion has to know all of its partitions."""
        self._core.log.info("Restoring the partition replica assignment for topic %s", stored.topic)
        existing = await self._core.cluster.partitions_with_znode(stored.topic)
        assignment = {partition: self._context.assignment(TopicPartition(stored.topic, partition)) for partition in stored.assignment if partition in existing}
        await self._core.cluster.write_topic(StoredTopic(stored.topic, self._context.topic_ids.get(stored.topic), assignment))

    async def _on_new_partition_creation(self, partitions: Sequence[TopicPartition]) -> None:
        if not partitions:
            return
        self._core.log.info("New partition creation callback for %s", ",".join(map(str, partitions)))
        await self._partitions.handle_state_changes(partitions, PartitionState.NEW)
        await self._replicas.handle_state_changes(self._context.replicas_of(partitions), ReplicaState.NEW)
        await self._partitions.handle_state_changes(partitions, PartitionState.ONLINE, OfflinePartitionLeaderElection())
        await self._replicas.handle_state_changes(self._context.replicas_of(partitions), ReplicaState.ONLINE)


def _describe(topic: StoredTopic) -> str:
    return ", ".join(f"{topic.topic}-{partition} -> {assignment}" for partition, assignment in topic.assignment.items())
