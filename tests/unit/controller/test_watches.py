"""Which event a fired watch stands for."""

from __future__ import annotations

import pytest

from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import WatchEvent, WatchKind
from pykafka_classic.controller import events
from pykafka_classic.controller.events import ControllerEvent, ElectionTrigger, ElectionType
from pykafka_classic.controller.watches import event_of

ELECTION = events.ReplicaLeaderElection(None, ElectionType.PREFERRED, ElectionTrigger.ZK)


@pytest.mark.parametrize(
    ("kind", "path", "event"),
    [
        (WatchKind.CREATED, "/controller", events.ControllerChange()),
        (WatchKind.CHANGED, "/controller", events.ControllerChange()),
        (WatchKind.DELETED, "/controller", events.Reelect()),
        (WatchKind.CHILDREN, "/brokers/ids", events.BrokerChange()),
        (WatchKind.CHANGED, "/brokers/ids/12", events.BrokerModifications(12)),
        (WatchKind.DELETED, "/brokers/ids/12", None),
        (WatchKind.CHILDREN, "/brokers/topics", events.TopicChange()),
        (WatchKind.CHANGED, "/brokers/topics/a.b-c", events.PartitionModifications("a.b-c")),
        (WatchKind.DELETED, "/brokers/topics/t", None),
        (WatchKind.CHILDREN, "/brokers/topics/t", None),
        (WatchKind.CHANGED, "/brokers/topics/t/partitions/3/state", events.PartitionReassignmentIsrChange(TopicPartition("t", 3))),
        (WatchKind.CHILDREN, "/admin/delete_topics", events.TopicDeletion()),
        (WatchKind.CREATED, "/admin/reassign_partitions", events.ZkPartitionReassignment()),
        (WatchKind.CHANGED, "/admin/reassign_partitions", None),
        (WatchKind.DELETED, "/admin/reassign_partitions", None),
        (WatchKind.CREATED, "/admin/preferred_replica_election", ELECTION),
        (WatchKind.DELETED, "/admin/preferred_replica_election", None),
        (WatchKind.CHILDREN, "/isr_change_notification", events.IsrChangeNotification()),
        (WatchKind.CHILDREN, "/log_dir_event_notification", events.LogDirEventNotification()),
        (WatchKind.CHANGED, "/feature", None),
        (WatchKind.CHILDREN, "/config/changes", None),
    ],
)
def test_a_watch_stands_for_an_event(kind: WatchKind, path: str, event: ControllerEvent | None) -> None:
    assert event_of(WatchEvent(kind, path)) == event
