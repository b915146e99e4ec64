"""All that can happen to the controller: the entries of its one queue, in the order in which they came.

Most events are only hints ("something changed below /brokers/ids"): their handler reads ZooKeeper again. Events with an `answer` have a caller that waits:
the promise is settled once, also where the controller is not active, is deposed meanwhile, or its session ends (`refuse`).
Source: facts/coordination.md 3.3;
Kafka's ControllerEvent and its `preempt`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias, TypeVar

from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.controller.replica_assignment import ReplicaAssignment
from pykafka_classic.protocol.messages.alter_isr import AlterIsrRequest, AlterIsrResponse
from pykafka_classic.protocol.messages.leader_and_isr import LeaderAndIsrResponse
from pykafka_classic.protocol.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from pykafka_classic.protocol.messages.update_metadata import UpdateMetadataResponse

T = TypeVar("T")


class ElectionType(Enum):
    """What kind of election a client may ask for (KIP-183, KIP-460); the values are the wire's."""

    PREFERRED = 0
    UNCLEAN = 1


class ElectionTrigger(Enum):
    """Who asked for an election."""

    AUTO = "AutoTriggered"  # the periodic check of the leaders' balance
    ZK = "ZkTriggered"  # the znode /admin/preferred_replica_election
    ADMIN_CLIENT = "AdminClientTriggered"  # an ElectLeaders request


@dataclass(frozen=True, slots=True)
class ApiError:
    """The outcome for one partition of a request; `message` is shown to the user."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None


@dataclass(frozen=True, slots=True)
class ElectionResult:
    """The outcome of an election that a client asked for: the new leader, or why there is none."""

    leader: int | None
    error: ApiError = ApiError()


PartitionErrors: TypeAlias = dict[TopicPartition, ApiError]
ElectionResults: TypeAlias = dict[TopicPartition, ElectionResult]
Reassignments: TypeAlias = dict[TopicPartition, ReplicaAssignment]


@dataclass(frozen=True, slots=True)
class Startup:
    """The broker is up: look at /controller and try to become it."""


@dataclass(frozen=True, slots=True)
class ControllerChange:
    """/controller was created or changed."""


@dataclass(frozen=True, slots=True)
class Reelect:
    """/controller is gone."""


@dataclass(frozen=True, slots=True)
class RegisterBrokerAndReelect:
    """A new session stands after an expiry: the broker's own znode is gone and has to be made again."""


@dataclass(frozen=True, slots=True)
class Expire:
    """The session has ended, and with it the right to act as controller."""


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """The children of /brokers/ids changed."""


@dataclass(frozen=True, slots=True)
class BrokerModifications:
    """The data of /brokers/ids/N changed."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class TopicChange:
    """The children of /brokers/topics changed."""


@dataclass(frozen=True, slots=True)
class PartitionModifications:
    """The data of /brokers/topics/T changed: more partitions, perhaps."""

    topic: str


@dataclass(frozen=True, slots=True)
class TopicDeletion:
    """The children of /admin/delete_topics changed."""


@dataclass(frozen=True, slots=True)
class LogDirEventNotification:
    """The children of /log_dir_event_notification changed."""


@dataclass(frozen=True, slots=True)
class IsrChangeNotification:
    """The children of /isr_change_notification changed (inter.broker.protocol.version below 2.7-IV2)."""


@dataclass(frozen=True, slots=True)
class ZkPartitionReassignment:
    """/admin/reassign_partitions was created, or may have been."""


@dataclass(frozen=True, slots=True)
class PartitionReassignmentIsrChange:
    """The `state` znode of a partition being reassigned changed (inter.broker.protocol.version below 2.7-IV2)."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class AutoPreferredReplicaLeaderElection:
    """Time to check whether the brokers lead their fair share."""


@dataclass(frozen=True, slots=True)
class UncleanLeaderElectionEnable:
    """The broker default of unclean.leader.election.enable became true."""


@dataclass(frozen=True, slots=True)
class TopicUncleanLeaderElectionEnable:
    """The topic's unclean.leader.election.enable became true."""

    topic: str


@dataclass(frozen=True, slots=True)
class LeaderAndIsrResponseReceived:
    """A broker answered LeaderAndIsr."""

    response: LeaderAndIsrResponse
    broker_id: int


@dataclass(frozen=True, slots=True)
class UpdateMetadataResponseReceived:
    """A broker answered UpdateMetadata."""

    response: UpdateMetadataResponse
    broker_id: int


@dataclass(frozen=True, slots=True)
class TopicDeletionStopReplicaResponseReceived:
    """A broker answered a StopReplica that deletes replicas of topics being deleted."""

    broker_id: int
    request_error: ErrorCode
    partition_errors: Mapping[TopicPartition, ErrorCode]


@dataclass(frozen=True, slots=True)
class ControlledShutdown:
    """A broker asks to be relieved. Answer: the partitions that it still leads."""

    broker_id: int
    broker_epoch: int
    answer: Promise[frozenset[TopicPartition]] = field(default_factory=Promise, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AlterIsrReceived:
    """A leader asks for another ISR."""

    request: AlterIsrRequest
    answer: Promise[AlterIsrResponse] = field(default_factory=Promise, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ReplicaLeaderElection:
    """Elect leaders: of the given partitions (a client asks), or of those that /admin/preferred_replica_election names."""

    partitions: frozenset[TopicPartition] | None
    election_type: ElectionType
    trigger: ElectionTrigger
    answer: Promise[ElectionResults] = field(default_factory=Promise, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ApiPartitionReassignment:
    """Move partitions to these brokers; None: cancel the move under way."""

    reassignments: Mapping[TopicPartition, tuple[int, ...] | None]
    answer: Promise[PartitionErrors] = field(default_factory=Promise, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListPartitionReassignments:
    """Which of these partitions (None: of all) are being moved, and how?"""

    partitions: frozenset[TopicPartition] | None
    answer: Promise[Reassignments] = field(default_factory=Promise, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UpdateFeatures:
    """Change finalized features (KIP-584)."""

    request: UpdateFeaturesRequest
    answer: Promise[UpdateFeaturesResponse] = field(default_factory=Promise, compare=False, repr=False)


EventWithCaller: TypeAlias = (
    ControlledShutdown | AlterIsrReceived | ReplicaLeaderElection | ApiPartitionReassignment | ListPartitionReassignments | UpdateFeatures
)

EventOfOffice: TypeAlias = Startup | ControllerChange | Reelect | RegisterBrokerAndReelect | Expire  # about who is controller

EventOfActiveController: TypeAlias = (
    BrokerChange
    | BrokerModifications
    | TopicChange
    | PartitionModifications
    | TopicDeletion
    | LogDirEventNotification
    | IsrChangeNotification
    | ZkPartitionReassignment
    | PartitionReassignmentIsrChange
    | AutoPreferredReplicaLeaderElection
    | UncleanLeaderElectionEnable
    | TopicUncleanLeaderElectionEnable
    | LeaderAndIsrResponseReceived
    | UpdateMetadataResponseReceived
    | TopicDeletionStopReplicaResponseReceived
    | EventWithCaller
)

ControllerEvent: TypeAlias = EventOfOffice | EventOfActiveController

# Those that come all the time, in answer to what the controller itself did, or to a look.
ROUTINE: Final = (
    LeaderAndIsrResponseReceived,
    UpdateMetadataResponseReceived,
    TopicDeletionStopReplicaResponseReceived,
    PartitionReassignmentIsrChange,
    AlterIsrReceived,
    ListPartitionReassignments,
)


def refuse(event: ControllerEvent, error: ErrorCode) -> None:
    """Answer the caller of `event` with a failure, if it has one that still waits. The server turns it into the response of its API."""
    if isinstance(event, ReplicaLeaderElection) and event.trigger is not ElectionTrigger.ADMIN_CLIENT:
        return  # nobody waits for an election that a znode or the timer started
    if isinstance(event, EventWithCaller) and not event.answer.settled:
        event.answer.fail(KafkaError(error))
