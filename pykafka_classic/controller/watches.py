"""Which event a fired watch stands for.

A watch says only that something happened at a path; the event's handler reads again, and with that sets the watch anew.

    /controller                                 created, changed: ControllerChange; deleted: Reelect
    /brokers/ids, /brokers/ids/N                children: BrokerChange; changed: BrokerModifications
    /brokers/topics, /brokers/topics/T          children: TopicChange; changed: PartitionModifications
    /brokers/topics/T/partitions/P/state        changed: PartitionReassignmentIsrChange
    /admin/delete_topics                        children: TopicDeletion
    /admin/reassign_partitions                  created: ZkPartitionReassignment (changed and deleted by the controller alone)
    /admin/preferred_replica_election           created: ReplicaLeaderElection
    /isr_change_notification                    children: IsrChangeNotification
    /log_dir_event_notification                 children: LogDirEventNotification

Source: facts/coordination.md 1.2; the ...Handler classes at the end of Kafka's controller/KafkaController.scala.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import WatchEvent, WatchKind
from pykafka_classic.controller.events import (
    BrokerChange,
    BrokerModifications,
    ControllerChange,
    ControllerEvent,
    ElectionTrigger,
    ElectionType,
    IsrChangeNotification,
    LogDirEventNotification,
    PartitionModifications,
    PartitionReassignmentIsrChange,
    Reelect,
    ReplicaLeaderElection,
    TopicChange,
    TopicDeletion,
    ZkPartitionReassignment,
)
from zk_schema import (
    broker_ids,
    controller,
    delete_topics,
    isr_change_notification,
    log_dir_event_notification,
    partition_state,
    preferred_replica_election,
    reassign_partitions,
    topics,
)

_CHILDREN: Final[Mapping[str, ControllerEvent]] = {
    broker_ids.PATH: BrokerChange(),
    topics.PATH: TopicChange(),
    delete_topics.PATH: TopicDeletion(),
    isr_change_notification.PATH: IsrChangeNotification(),
    log_dir_event_notification.PATH: LogDirEventNotification(),
}


def event_of(watch: WatchEvent) -> ControllerEvent | None:
    """The event to queue; None: nothing that the controller cares about."""
    match watch.kind:
        case WatchKind.CHILDREN:
            return _CHILDREN.get(watch.path)
        case WatchKind.DELETED:
            return Reelect() if watch.path == controller.PATH else None
        case WatchKind.CREATED:
            return _created(watch.path)
        case WatchKind.CHANGED:
            return _changed(watch.path)


def _created(path: str) -> ControllerEvent | None:
    if path == controller.PATH:
        return ControllerChange()
    if path == reassign_partitions.PATH:
        return ZkPartitionReassignment()
    if path == preferred_replica_election.PATH:
        return ReplicaLeaderElection(None, ElectionType.PREFERRED, ElectionTrigger.ZK)
    return None


def _changed(path: str) -> ControllerEvent | None:
    if path == controller.PATH:
        return ControllerChange()
    parent = path.rpartition("/")[0]
    if parent == broker_ids.PATH:
        return BrokerModifications(broker_ids.broker_id_of(path))
    topic = topics.topic_of(path)
    if topic is not None:
        return PartitionModifications(topic)
    partition = partition_state.partition_of(path)
    return None if partition is None else PartitionReassignmentIsrChange(TopicPartition(*partition))
