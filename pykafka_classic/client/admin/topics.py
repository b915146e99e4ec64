"""Topics: create, delete, enlarge, list, describe. All but the last two go to the controller."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from pykafka_classic.client.admin.configs import ConfigEntry
from pykafka_classic.client.admin.outcomes import Outcomes, missing, outcome
from pykafka_classic.client.admin.requests import UNKNOWN_TOPIC_PATIENCE_MS, Call, ClusterRequests, Controller
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.protocol.config_numbers import ConfigSource
from pykafka_classic.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from pykafka_classic.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from pykafka_classic.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from pykafka_classic.protocol.messages.metadata import MetadataResponseTopic
from pykafka_classic.protocol.schema import UnsupportedVersion

V = TypeVar("V")

BROKER_DEFAULT: Final = -1
DEFAULTS_SINCE: Final = 4  # version of CreateTopics in which the broker's defaults can be asked for (KIP-464)
_NOT_YET: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE})

Attempt: TypeAlias = Coroutine[Any, Any, tuple[Outcomes[str, V], int]]


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create: numbers (None: the broker's default), or the replicas of each partition, the preferred leader first."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Mapping[int, Sequence[int]] | None = None
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A topic as it was created. Brokers before 2.4 tell no more than that: numbers are then -1, `configs` is None; so is it where one may not see them."""

    name: str
    topic_id: bytes  # zero from brokers before 2.8
    partitions: int
    replication_factor: int
    configs: tuple[ConfigEntry, ...] | None


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """How many partitions a topic shall have in the end; `assignment` gives the replicas of each new one."""

    total: int
    assignment: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class TopicListing:
    """A topic that exists."""

    name: str
    topic_id: bytes
    is_internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """A partition as the brokers' metadata tells. Replicas are broker ids, alive or not."""

    partition: int
    leader: int | None  # None: it has none, or the leader is not alive
    replicas: tuple[int, ...]  # the first is the preferred leader
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic and its partitions, by number."""

    name: str
    topic_id: bytes
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]


class TopicOperations:
    """The part of the admin client that is about topics."""

    _requests: ClusterRequests

    async def create_topics(self, topics: Sequence[NewTopic], *, validate_only: bool = False) -> Outcomes[str, CreatedTopic]:
        """Create topics, or with `validate_only` say only whether they could be.

        Each outcome is the topic as created, or a KafkaError: TOPIC_ALREADY_EXISTS, INVALID_TOPIC_EXCEPTION, INVALID_REPLICATION_FACTOR, INVALID_PARTITIONS,
        INVALID_REPLICA_ASSIGNMENT, INVALID_CONFIG, POLICY_VIOLATION, REQUEST_TIMED_OUT (it is being created, but not all leaders are there yet).

        >>> created = admin.create_topics([NewTopic("flights", 3, 2, configs={"cleanup.policy": "compact"})])  # doctest: +SKIP
        >>> created.check()["flights"].partitions  # doctest: +SKIP
        3
        """
        deadline = self._requests.deadline()

        def build(names: Iterable[str], version: int) -> CreateTopicsRequest:
            wanted = [_creatable(by_name[name], version) for name in names]
            return CreateTopicsRequest(wanted, timeout_ms=self._requests.left_ms(deadline), validate_only=validate_only)

        async def attempt(names: list[str]) -> tuple[Outcomes[str, CreatedTopic], int]:
            call = Call("createTopics", CreateTopicsResponse, lambda version: build(names, version), lambda told: _not_controller(told.topics))
            response = await self._requests.ask(Controller(), call, deadline=deadline)
            return Outcomes({each.name: outcome(_created(each), each.error_code, each.error_message) for each in response.topics}), response.throttle_time_ms

        by_name = {topic.name: topic for topic in topics}
        return await self._throttled(by_name, attempt, deadline)

    async def delete_topics(self, names: Sequence[str]) -> Outcomes[str, None]:
        """Mark topics for deletion; brokers delete them soon after.

        UNKNOWN_TOPIC_OR_PARTITION, TOPIC_DELETION_DISABLED (INVALID_REQUEST from old brokers).
        """
        deadline = self._requests.deadline()

        def build(wanted: list[str], version: int) -> DeleteTopicsRequest:
            states = [DeleteTopicState(name) for name in wanted] if version >= 6 else []
            return DeleteTopicsRequest(states, [] if states else wanted, timeout_ms=self._requests.left_ms(deadline))

        async def attempt(wanted: list[str]) -> tuple[Outcomes[str, None], int]:
            call = Call("deleteTopics", DeleteTopicsResponse, lambda version: build(wanted, version), lambda told: _not_controller(told.responses))
            response = await self._requests.ask(Controller(), call, deadline=deadline)
            outcomes = Outcomes({each.name or "": outcome(None, each.error_code, each.error_message) for each in response.responses})
            return outcomes, response.throttle_time_ms

        return await self._throttled(dict.fromkeys(names), attempt, deadline)

    async def create_partitions(self, topics: Mapping[str, NewPartitions], *, validate_only: bool = False) -> Outcomes[str, None]:
        """Give topics more partitions.

        INVALID_PARTITIONS where there are as many or more already, UNKNOWN_TOPIC_OR_PARTITION, REASSIGNMENT_IN_PROGRESS, INVALID_REPLICA_ASSIGNMENT.
        """
        deadline = self._requests.deadline()

        def build(names: list[str]) -> CreatePartitionsRequest:
            wanted = [CreatePartitionsTopic(name, topics[name].total, _new_replicas(topics[name])) for name in names]
            return CreatePartitionsRequest(wanted, self._requests.left_ms(deadline), validate_only)

        async def attempt(names: list[str]) -> tuple[Outcomes[str, None], int]:
            call = Call("createPartitions", CreatePartitionsResponse, lambda _: build(names), lambda told: _not_controller(told.results))
            response = await self._requests.ask(Controller(), call, deadline=deadline)
            return Outcomes({each.name: outcome(None, each.error_code, each.error_message) for each in response.results}), response.throttle_time_ms

        return await self._throttled(topics, attempt, deadline)

    async def list_topics(self, *, internal: bool = False) -> dict[str, TopicListing]:
        """All topics, the brokers' own ones (`__consumer_offsets`) only with `internal`."""
        response = await self._requests.metadata(None)
        return {each.name: TopicListing(each.name, each.topic_id, each.is_internal) for each in response.topics if internal or not each.is_internal}

    async def describe_topics(self, names: Sequence[str]) -> Outcomes[str, TopicDescription]:
        """Partitions, leaders, replicas, as the brokers know them. UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION.

        A topic created a moment ago may not be known to every broker: an unknown one is looked for again for a second.
        """
        until = self._requests.deadline(UNKNOWN_TOPIC_PATIENCE_MS)
        while True:
            response = await self._requests.metadata(names)
            told = {each.name: outcome(_description(each), each.error_code) for each in response.topics if each.name in names}
            outcomes = Outcomes({name: told.get(name, KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)) for name in names})
            if not any(error.code in _NOT_YET for error in outcomes.errors().values()):
                return outcomes
            try:
                await self._requests.pause(until, next(iter(outcomes.errors().values())))
            except KafkaError:
                return outcomes

    async def _throttled(self, wanted: Mapping[str, object], attempt: Callable[[list[str]], Attempt[V]], deadline: float) -> Outcomes[str, V]:
        """What a quota on changes of the cluster holds up (KIP-599) is asked again, after the time that the controller says."""
        done: Outcomes[str, V] = Outcomes()
        pending = list(wanted)
        while True:
            outcomes, throttle_ms = await attempt(pending)
            missing(dict.fromkeys(pending), outcomes)
            done.update(outcomes)
            pending = [name for name, error in outcomes.errors().items() if error.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED]
            if not pending or self._requests.left_ms(deadline) <= throttle_ms:
                return done
            await self._requests.pause(deadline, KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED), delay_ms=throttle_ms)


class _Result(Protocol):
    error_code: int


def _not_controller(results: Iterable[_Result]) -> Iterable[int]:
    """Where one says so, all do: nothing was done."""
    return (each.error_code for each in results if each.error_code == ErrorCode.NOT_CONTROLLER)


def _creatable(topic: NewTopic, version: int) -> CreatableTopic:
    defaults = topic.assignment is None and (topic.partitions is None or topic.replication_factor is None)
    if defaults and version < DEFAULTS_SINCE:
        raise UnsupportedVersion(f"This broker knows no default number of partitions or replicas: both must be given for topic {topic.name}")
    return CreatableTopic(
        topic.name,
        BROKER_DEFAULT if topic.partitions is None or topic.assignment is not None else topic.partitions,
        BROKER_DEFAULT if topic.replication_factor is None or topic.assignment is not None else topic.replication_factor,
        [CreatableReplicaAssignment(number, list(replicas)) for number, replicas in (topic.assignment or {}).items()],
        [CreateableTopicConfig(name, value) for name, value in topic.configs.items()],
    )


def _created(told: CreatableTopicResult) -> CreatedTopic:
    configs = None if told.configs is None or told.topic_config_error_code else tuple(map(_config, told.configs))
    return CreatedTopic(told.name, told.topic_id, told.num_partitions, told.replication_factor, configs)


def _config(told: CreatableTopicConfigs) -> ConfigEntry:
    source = ConfigSource.of(told.config_source)
    return ConfigEntry(told.name, told.value, source, is_sensitive=told.is_sensitive, is_read_only=told.read_only)


def _new_replicas(topic: NewPartitions) -> list[CreatePartitionsAssignment] | None:
    return None if topic.assignment is None else [CreatePartitionsAssignment(list(replicas)) for replicas in topic.assignment]


def _description(told: MetadataResponseTopic) -> TopicDescription:
    partitions = [
        PartitionDescription(
            each.partition_index,
            None if each.leader_id < 0 else each.leader_id,
            tuple(each.replica_nodes),
            tuple(each.isr_nodes),
            tuple(each.offline_replicas),
        )
        for each in sorted(told.partitions, key=lambda each: each.partition_index)
    ]
    return TopicDescription(told.name, told.topic_id, told.is_internal, tuple(partitions))
