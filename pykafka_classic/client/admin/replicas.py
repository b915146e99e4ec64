"""Replicas: elect leaders, move replicas between brokers and between the log directories of one, see where they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from pykafka_classic.client.admin.offsets import by_topic
from pykafka_classic.client.admin.outcomes import Outcomes, error_of, missing, outcome
from pykafka_classic.client.admin.requests import Broker, Call, ClusterRequests, Controller, raise_error
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.promise import gather, spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from pykafka_classic.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from pykafka_classic.protocol.messages.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsResult
from pykafka_classic.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from pykafka_classic.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)
from pykafka_classic.protocol.schema import UnsupportedVersion


class ElectionType(IntEnum):
    """Who may become leader: the first replica if it is in sync; or, where none in sync is alive, any that is, at the price of records."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A move under way."""

    replicas: tuple[int, ...]  # those added and those that go are among them
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class Replica(NamedTuple):
    """One replica. Prints as Kafka prints it: `flights-0-2`, the last number the broker."""

    topic: str
    partition: int
    broker: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.broker}"


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """A replica in a log directory."""

    size_bytes: int
    offset_lag: int  # records behind its high watermark; of a future replica, behind the present one
    is_future: bool  # it is being moved here


@dataclass(frozen=True, slots=True)
class LogDirDescription:
    """A log directory of a broker."""

    error: KafkaError | None = None  # KAFKA_STORAGE_ERROR: it has failed
    replicas: Mapping[TopicPartition, ReplicaInfo] = field(default_factory=dict)


class ReplicaOperations:
    """The part of the admin client that is about replicas."""

    _requests: ClusterRequests

    async def elect_leaders(self, election_type: ElectionType, partitions: Collection[TopicPartition] | None = None) -> Outcomes[TopicPartition, None]:
        """Have leaders elected for these partitions, or (None) for all that need it; only those for which something was to be done are then told.

        ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE, ELIGIBLE_LEADERS_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION.
        """
        deadline = self._requests.deadline()
        wanted = None if partitions is None else [TopicPartitions(topic, [each.partition for each in some]) for topic, some in by_topic(partitions).items()]

        def build(version: int) -> ElectLeadersRequest:
            if version < 1 and election_type is not ElectionType.PREFERRED:
                raise UnsupportedVersion("This broker elects preferred leaders only")
            return ElectLeadersRequest(election_type, wanted, self._requests.left_ms(deadline))

        call = Call("electLeaders", ElectLeadersResponse, build, lambda told: [told.error_code])
        response = await self._requests.ask(Controller(), call, deadline=deadline)
        raise_error(response.error_code)
        return Outcomes(
            {
                TopicPartition(topic.topic, each.partition_id): outcome(None, each.error_code, each.error_message)
                for topic in response.replica_election_results
                for each in topic.partition_result
            }
        )

    async def alter_partition_reassignments(self, moves: Mapping[TopicPartition, Sequence[int] | None]) -> Outcomes[TopicPartition, None]:
        """Begin to move partitions to these replicas, or (None) call the move off. Accepted is not finished: see `list_partition_reassignments`.

        INVALID_REPLICA_ASSIGNMENT, NO_REASSIGNMENT_IN_PROGRESS, UNKNOWN_TOPIC_OR_PARTITION.
        """
        deadline = self._requests.deadline()
        topics = [
            ReassignableTopic(topic, [ReassignablePartition(each.partition, _listed(moves[each])) for each in some]) for topic, some in by_topic(moves).items()
        ]
        call = Call(
            "alterPartitionReassignments",
            AlterPartitionReassignmentsResponse,
            lambda _: AlterPartitionReassignmentsRequest(self._requests.left_ms(deadline), topics),
            lambda told: [told.error_code],
        )
        response = await self._requests.ask(Controller(), call, deadline=deadline)
        raise_error(response.error_code, response.error_message)
        outcomes: Outcomes[TopicPartition, None] = Outcomes()
        for topic in response.responses:
            for each in topic.partitions:
                outcomes[TopicPartition(topic.name, each.partition_index)] = outcome(None, each.error_code, each.error_message)
        missing(moves, outcomes)
        return outcomes

    async def list_partition_reassignments(self, partitions: Collection[TopicPartition] | None = None) -> dict[TopicPartition, Reassignment]:
        """The moves under way, of these partitions or (None) of all."""
        deadline = self._requests.deadline()
        wanted = (
            None
            if partitions is None
            else [ListPartitionReassignmentsTopics(topic, [each.partition for each in some]) for topic, some in by_topic(partitions).items()]
        )
        call = Call(
            "listPartitionReassignments",
            ListPartitionReassignmentsResponse,
            lambda _: ListPartitionReassignmentsRequest(self._requests.left_ms(deadline), wanted),
            lambda told: [told.error_code],
        )
        response = await self._requests.ask(Controller(), call, deadline=deadline)
        raise_error(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, each.partition_index): Reassignment(tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas))
            for topic in response.topics
            for each in topic.partitions
        }

    async def describe_log_dirs(self, brokers: Iterable[int]) -> Outcomes[int, dict[str, LogDirDescription]]:
        """By broker and path: the log directories, and which replicas lie in them, in the broker's order."""

        async def ask(broker: int) -> dict[str, LogDirDescription] | KafkaError:
            call = Call("describeLogDirs", DescribeLogDirsResponse, lambda _: DescribeLogDirsRequest(topics=None))
            try:
                response = await self._requests.ask(Broker(broker), call)
            except KafkaError as error:
                return error
            return {each.log_dir: _log_dir(each) for each in response.results}

        wanted = list(brokers)
        return Outcomes(dict(zip(wanted, await gather([spawn(ask(broker)) for broker in wanted]), strict=True)))

    async def alter_replica_log_dirs(self, moves: Mapping[Replica, str]) -> Outcomes[Replica, None]:
        """Move replicas to other log directories of their brokers, by absolute path. Accepted is not finished: `describe_log_dirs` shows future replicas.

        LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE (it is not there yet, but will be made in that directory).
        """

        async def ask(broker: int) -> Outcomes[Replica, None]:
            mine = {replica: path for replica, path in moves.items() if replica.broker == broker}
            call = Call("alterReplicaLogDirs", AlterReplicaLogDirsResponse, lambda _: AlterReplicaLogDirsRequest(_dirs(mine)))
            try:
                response = await self._requests.ask(Broker(broker), call)
            except KafkaError as error:
                return Outcomes(dict.fromkeys(mine, error))
            outcomes: Outcomes[Replica, None] = Outcomes()
            for topic in response.results:
                for each in topic.partitions:
                    outcomes[Replica(topic.topic_name, each.partition_index, broker)] = outcome(None, each.error_code)
            missing(mine, outcomes)
            return outcomes

        brokers = dict.fromkeys(replica.broker for replica in moves)
        told = await gather([spawn(ask(broker)) for broker in brokers])
        return Outcomes({replica: found for each in told for replica, found in each.items()})


def _listed(replicas: Sequence[int] | None) -> list[int] | None:
    return None if replicas is None else list(replicas)


def _log_dir(told: DescribeLogDirsResult) -> LogDirDescription:
    error = None if told.error_code == ErrorCode.NONE else error_of(told.error_code)
    replicas = {
        TopicPartition(topic.name, each.partition_index): ReplicaInfo(each.partition_size, each.offset_lag, each.is_future_key)
        for topic in told.topics
        for each in topic.partitions
    }
    return LogDirDescription(error, replicas)


def _dirs(moves: Mapping[Replica, str]) -> list[AlterReplicaLogDir]:
    found: dict[str, dict[str, list[int]]] = {}
    for replica, path in moves.items():
        found.setdefault(path, {}).setdefault(replica.topic, []).append(replica.partition)
    return [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(*each) for each in topics.items()]) for path, topics in found.items()]
