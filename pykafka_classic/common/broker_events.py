"""What a broker tells of its own decisions: one line of JSON for each, to the logger `kafka.events`. docs/events.md is made of the table below.

    {"time_ms":1700000000123,"broker":1,"event":"isr-shrink","partition":"flights-0","from":[1,2,3],"to":[1,2],...}

A line says what was decided and why, at the place that decides; the monitor puts them in order beside what ZooKeeper tells. Lines are told for changes of state
only: never for a batch, a request of a client, or a heartbeat. Where nobody listens a line costs one look at the logger's level.

Deciders know neither the time nor, some of them, whose process they run in: `edges.logging_setup` adds both when the line is written.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

LOGGER: Final = "kafka.events"
PARTITIONS_MAX: Final = 500  # in one line; `partitions_left_out` tells how many more there were

log = logging.getLogger(LOGGER)


@dataclass(frozen=True, slots=True)
class EventKind:
    """A kind of event.

    Attributes:
        name: in lines.
        meaning: a sentence.
        facts: name to meaning.
        places: where it is told: module and function, below pykafka_classic.
        page: of docs/, for those who want to know more.
    """

    name: str
    meaning: str
    facts: Mapping[str, str]
    places: tuple[str, ...]
    page: str


class EventLine:
    """An event, not written yet."""

    __slots__ = ("facts", "name")

    def __init__(self, name: str, facts: Mapping[str, Any]) -> None:
        self.name = name
        self.facts = facts

    def __str__(self) -> str:
        return json.dumps({"event": self.name, **self.facts}, separators=(",", ":"), ensure_ascii=False)

    def written(self, time_ms: int, broker: int) -> str:
        """The whole line."""
        return json.dumps({"time_ms": time_ms, "broker": broker, "event": self.name, **self.facts}, separators=(",", ":"), ensure_ascii=False)


def emit(kind: EventKind, /, **facts: Any) -> None:
    """Tell an event. Facts are JSON: numbers, texts, lists."""
    if log.isEnabledFor(logging.INFO):
        log.info("%s", EventLine(kind.name, facts))


def shortened(partitions: Iterable[list[Any]]) -> dict[str, Any]:
    """Rows of partitions as facts, so many that a line stays a line."""
    rows = list(partitions)
    found: dict[str, Any] = {"partitions": rows[:PARTITIONS_MAX]}
    return found | ({"partitions_left_out": len(rows) - PARTITIONS_MAX} if len(rows) > PARTITIONS_MAX else {})


def is_told() -> bool:
    """Whether anybody listens: for facts that cost something to put together."""
    return log.isEnabledFor(logging.INFO)


_PARTITION: Final = "TOPIC-NUMBER"
_SESSION: Final = "id of the session with ZooKeeper, in hexadecimal digits as ZooKeeper writes it"
_ROWS: Final = "a row for each partition, at most 500; `partitions_left_out`: how many more there were. In a row: "

BROKER_STARTED: Final = EventKind("broker-started", "The broker serves.", {"session": _SESSION}, ("kafka_server.py:KafkaServer.startup",), "starts.md")
BROKER_STOPPING: Final = EventKind(
    "broker-stopping",
    "The broker was told to stop, cleanly: its session ends because of that, not because it died.",
    {"session": _SESSION},
    ("kafka_server.py:KafkaServer.shutdown",),
    "controller.md",
)
BROKER_REGISTERED: Final = EventKind(
    "broker-registered",
    "The broker has made its ephemeral node /brokers/ids/N.",
    {"session": _SESSION, "broker_epoch": "transaction that made the node: tells one life of the broker from the next"},
    ("server/broker_registration.py:BrokerRegistration._registered",),
    "zookeeper.md",
)
SESSION_EXPIRED: Final = EventKind(
    "session-expired",
    "ZooKeeper has ended the broker's session: its ephemeral nodes are gone.",
    {"session": _SESSION},
    ("kafka_server.py:KafkaServer._on_session",),
    "zookeeper.md",
)
SESSION_RENEWED: Final = EventKind(
    "session-renewed", "The broker has a new session.", {"session": _SESSION}, ("kafka_server.py:KafkaServer._on_session",), "zookeeper.md"
)
LOG_DIR_FAILED: Final = EventKind(
    "log-dir-failed",
    "A log directory can no longer be used: its replicas are offline.",
    {"log_dir": "its path"},
    ("kafka_server.py:KafkaServer._log_dir_failed",),
    "recovery.md",
)
WATCH_FIRED: Final = EventKind(
    "watch-fired",
    "A watch of the controller has fired: it puts an event into its queue.",
    {"path": "of the node", "watch": "created, deleted, changed, children", "controller_event": "name of the event"},
    ("controller/controller.py:KafkaController.on_watch",),
    "controller.md",
)
CONTROLLER_EVENT: Final = EventKind(
    "controller-event",
    "The controller begins to handle an event of its queue. Answers of brokers are not told.",
    {"controller_event": "name of the event", "controller_epoch": "of the controller"},
    ("controller/controller.py:KafkaController._handle",),
    "controller.md",
)
CONTROLLER_ELECTED: Final = EventKind(
    "controller-elected",
    "This broker has made /controller, and is the controller.",
    {"controller_epoch": "its epoch, one more than the one before it", "zk_version": "version of /controller_epoch: the fence of all its writes"},
    ("controller/controller.py:KafkaController._become_controller",),
    "controller.md",
)
CONTROLLER_RESIGNED: Final = EventKind(
    "controller-resigned",
    "This broker is the controller no more.",
    {"controller_epoch": "its last epoch"},
    ("controller/failover.py:Failover.resign",),
    "controller.md",
)
BROKERS_CHANGED: Final = EventKind(
    "brokers-changed",
    "The controller has compared /brokers/ids with what it knew.",
    {"new": "brokers that came", "dead": "brokers that are gone", "bounced": "brokers that went and came again", "alive": "all that are registered"},
    ("controller/broker_changes.py:BrokerChanges.process_broker_change",),
    "controller.md",
)
CONTROLLED_SHUTDOWN: Final = EventKind(
    "controlled-shutdown",
    "A broker has asked the controller to relieve it before it stops.",
    {"stopping": "the broker", "led": "how many partitions it leads"},
    ("controller/controlled_shutdown.py:BrokerShutdown.process",),
    "controller.md",
)
LEADER_ELECTED: Final = EventKind(
    "leader-elected",
    "The controller has chosen a leader, and ZooKeeper has taken the choice.",
    {
        "partition": _PARTITION,
        "strategy": "OfflinePartition, ReassignPartition, PreferredReplicaPartition or ControlledShutdownPartition: why it was chosen",
        "leader": "the broker; -1: nobody qualified",
        "before": "who led until then; -1: nobody",
        "isr": "in sync, the leader first",
        "leader_epoch": "of this leadership",
        "zk_version": "of the state node, as written",
        "unclean": "true where the leader was not in the ISR: records may be lost",
    },
    ("controller/partition_state_machine.py:PartitionStateMachine._tell_elected",),
    "controller.md",
)
ELECTION_FAILED: Final = EventKind(
    "election-failed",
    "A partition got no leader.",
    {"partition": _PARTITION, "strategy": "as above", "why": "a sentence"},
    ("controller/partition_state_machine.py:PartitionStateMachine._elect",),
    "controller.md",
)
STATE_WRITTEN: Final = EventKind(
    "state-written",
    "The controller has written states of partitions to ZooKeeper, each on condition of its version.",
    {"controller_epoch": "of the writer", "partitions": _ROWS + "name, leader, leader epoch, ISR, zkVersion of the node afterwards"},
    ("controller/zk_partition_states.py:PartitionStates.update", "controller/zk_partition_states.py:PartitionStates.create"),
    "zookeeper.md",
)
STATE_REFUSED: Final = EventKind(
    "state-refused",
    "ZooKeeper has refused states, for their nodes had other versions: somebody else decided meanwhile, or the answer to our own write was lost.",
    {"controller_epoch": "of the writer", "partitions": _ROWS + "name, zkVersion that was expected"},
    ("controller/zk_partition_states.py:PartitionStates.update",),
    "zookeeper.md",
)
LEADER_AND_ISR_SENT: Final = EventKind(
    "leader-and-isr-sent",
    "The controller tells a broker its roles.",
    {"to": "the broker", "controller_epoch": "of the sender", "partitions": _ROWS + "name, leader, leader epoch, ISR, zkVersion"},
    ("controller/broker_request_batch.py:BrokerRequestBatch._tell_sent",),
    "controller.md",
)
LEADER_AND_ISR_APPLIED: Final = EventKind(
    "leader-and-isr-applied",
    "The broker has taken over the roles that a LeaderAndIsr gave it.",
    {"partitions": _ROWS + "name, leader, leader epoch, end of the log, high watermark"},
    ("server/replica_roles.py:ReplicaRoles._tell_applied",),
    "replication.md",
)
ISR_SHRINK: Final = EventKind(
    "isr-shrink",
    "The leader proposes to drop followers that have not caught up for replica.lag.time.max.ms.",
    {
        "partition": _PARTITION,
        "from": "the ISR",
        "to": "what it is to be",
        "leader_epoch": "of the leader",
        "leader_end": "end of the leader's log",
        "high_watermark": "of the leader",
        "replica_lag_time_max_ms": "the limit",
        "out": "a row for each follower: broker, ms since it last caught up (-1: never under this leader), end of its log (-1: not known)",
    },
    ("cluster/partition.py:Partition.maybe_shrink_isr",),
    "replication.md",
)
ISR_EXPAND: Final = EventKind(
    "isr-expand",
    "The leader proposes a follower that has caught up.",
    {
        "partition": _PARTITION,
        "from": "the ISR",
        "to": "what it is to be",
        "leader_epoch": "of the leader",
        "follower": "the broker",
        "follower_end": "end of its log",
        "high_watermark": "of the leader",
    },
    ("cluster/partition.py:Partition._maybe_expand_isr",),
    "replication.md",
)
ISR_APPLIED: Final = EventKind(
    "isr-applied",
    "The leader goes on with the ISR that was written.",
    {"partition": _PARTITION, "isr": "as written", "leader_epoch": "of the leader", "zk_version": "of the state node"},
    ("cluster/partition.py:Partition._apply",),
    "replication.md",
)
ISR_WRITTEN: Final = EventKind(
    "isr-written",
    "A leader has written an ISR to ZooKeeper itself, as brokers before inter.broker.protocol.version 2.7 do.",
    {"partition": _PARTITION, "isr": "as written", "leader_epoch": "of the leader", "zk_version": "of the state node afterwards"},
    ("server/isr_manager.py:ZkIsrManager._write",),
    "zookeeper.md",
)
LOG_TRUNCATED: Final = EventKind(
    "log-truncated",
    "A follower has cut its log where it leaves the leader's.",
    {
        "partition": _PARTITION,
        "from": "end of the log before",
        "to": "end of the log now",
        "high_watermark": "of this log before",
        "leader": "the broker",
        "leader_epoch": "of the leader",
    },
    ("cluster/partition.py:Partition.truncate_to",),
    "replication.md",
)
HIGH_WATERMARK_ADVANCED: Final = EventKind(
    "high-watermark-advanced",
    "The high watermark has moved for the first time under this leadership: the new ISR acknowledges. Told once for each leader epoch.",
    {"partition": _PARTITION, "leader_epoch": "of the leader", "to": "the high watermark now", "epoch_start": "end of the log when the leadership began"},
    ("cluster/partition.py:Partition._tell_first_advance",),
    "replication.md",
)
GROUP_REBALANCING: Final = EventKind(
    "group-rebalancing",
    "A group's members have to join again.",
    {"group": "its name", "generation": "the one that ends", "why": "a sentence", "members": "how many there are"},
    ("coordinator/group/rebalance.py:Rebalancer.prepare",),
    "groups.md",
)
GROUP_STABILIZED: Final = EventKind(
    "group-stabilized",
    "All members have joined: a generation begins.",
    {"group": "its name", "generation": "the new one", "leader": "member that assigns partitions", "members": "ids of the members"},
    ("coordinator/group/rebalance.py:Rebalancer._answer_joins",),
    "groups.md",
)
GROUP_EMPTY: Final = EventKind(
    "group-empty",
    "The last member is gone.",
    {"group": "its name", "generation": "the new one"},
    ("coordinator/group/rebalance.py:Rebalancer._store_empty",),
    "groups.md",
)
MEMBER_FAILED: Final = EventKind(
    "member-failed",
    "A member has sent no heartbeat for its session.timeout.ms.",
    {"group": "its name", "member": "id of the member", "client": "client.id", "host": "where it runs", "session_timeout_ms": "the limit"},
    ("coordinator/group/rebalance.py:Rebalancer._session_expired",),
    "groups.md",
)
MEMBER_LEFT: Final = EventKind(
    "member-left",
    "A member has said that it leaves.",
    {"group": "its name", "member": "id of the member", "client": "client.id", "host": "where it runs"},
    ("coordinator/group/group_coordinator.py:GroupCoordinator._leave_one",),
    "groups.md",
)
COORDINATOR_ELECTED: Final = EventKind(
    "coordinator-elected",
    "This broker leads a partition of __consumer_offsets (or of __transaction_state), and loads what it coordinates.",
    {"partition": _PARTITION, "leader_epoch": "of the leadership"},
    ("coordinator/partition_loader.py:PartitionLoader.on_election",),
    "groups.md",
)
COORDINATOR_RESIGNED: Final = EventKind(
    "coordinator-resigned",
    "This broker leads such a partition no more, and forgets what it coordinated.",
    {"partition": _PARTITION, "leader_epoch": "of the new leadership; null where the topic is being deleted"},
    ("coordinator/partition_loader.py:PartitionLoader.on_resignation",),
    "groups.md",
)

KINDS: Final[Mapping[str, EventKind]] = {kind.name: kind for kind in list(globals().values()) if isinstance(kind, EventKind)}
