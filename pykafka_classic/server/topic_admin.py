"""Creating topics, adding partitions, marking topics for deletion: what a broker writes to ZooKeeper on behalf of a client.

The broker only writes the wish (`/config/topics/T`, `/brokers/topics/T`, `/admin/delete_topics/T`); the controller sees the znode and does the rest. The
answer waits until this broker's metadata cache shows the outcome, or until the client's time-out (REQUEST_TIMED_OUT; the topic is created all the same).
Mirrors kafka.server.ZkAdminManager and kafka.zk.AdminZkClient; facts/coordination.md 3.7.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pykafka_classic.assignors.replica_placement import BrokerMetadata, assign_replicas_to_brokers
from pykafka_classic.common import kafka_uuid, topic_name
from pykafka_classic.common.api_version import KAFKA_2_8_IV0
from pykafka_classic.common.clock import Random
from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.java import array_buffer
from pykafka_classic.common.log_config import LogConfig
from pykafka_classic.common.zookeeper import Code, Create, Exists, SetData, ZooKeeper
from pykafka_classic.server.metadata_cache import MetadataCache
from pykafka_classic.server.topic_waiters import TopicWaiters
from pykafka_classic.server.zk_operations import children_or_none, data_or_none, raise_unless, set_or_create, submit_one
from zk_schema import broker_ids, configs, delete_topics, topics
from zk_schema.topics import ReplicaAssignment, TopicZNode

log = logging.getLogger("kafka.server.ZkAdminManager")

UNSET = -1  # num_partitions or replication_factor: take the broker's default


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic that a client asks for. `assignment`: partition -> brokers, where the client chose them."""

    name: str
    num_partitions: int = UNSET
    replication_factor: int = UNSET
    assignment: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicOutcome:
    """What became of one topic of a request; `num_partitions` and the rest only where it was (or would be) created."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    num_partitions: int = UNSET
    replication_factor: int = UNSET
    topic_id: bytes = kafka_uuid.ZERO


class TopicAdmin:
    """Writes the wishes of clients about topics into ZooKeeper and waits until they came true."""

    def __init__(self, config: KafkaConfig, zk: ZooKeeper, metadata_cache: MetadataCache, random: Random, waiters: TopicWaiters) -> None:
        self._config = config
        self._zk = zk
        self._metadata_cache = metadata_cache
        self._random = random
        self._waiters = waiters

    async def create_topics(self, wanted: Sequence[NewTopic], *, timeout_ms: int, validate_only: bool) -> dict[str, TopicOutcome]:
        """Create each topic that can be created; the others' outcomes say why not."""
        outcomes = {topic.name: await self._outcome(self._create_topic(topic, validate_only), topic.name) for topic in wanted}
        if validate_only:
            return outcomes
        return await self._wait_for(outcomes, timeout_ms, self._every_partition_has_a_leader(outcomes))

    async def create_partitions(
        self, topic: str, count: int, assignments: Sequence[Sequence[int]] | None, *, timeout_ms: int, validate_only: bool
    ) -> TopicOutcome:
        """Let `topic` have `count` partitions; `assignments` are the brokers of the new ones, in order."""
        outcome = await self._outcome(self._add_partitions(topic, count, assignments, validate_only), topic)
        if validate_only:
            return outcome
        waiting = {topic: outcome}
        return (await self._wait_for(waiting, timeout_ms, self._every_partition_has_a_leader(waiting)))[topic]

    async def delete_topics(self, names: Sequence[str], *, timeout_ms: int) -> dict[str, TopicOutcome]:
        """Mark topics for deletion and wait until this broker knows them no more."""
        outcomes = {name: await self._outcome(self._mark_for_deletion(name), name) for name in names}

        def gone() -> bool:
            return not any(self._metadata_cache.contains_topic(name) for name, outcome in outcomes.items() if not outcome.error)

        return await self._wait_for(outcomes, timeout_ms, gone)

    async def _outcome(self, operation: Awaitable[TopicOutcome], name: str) -> TopicOutcome:
        try:
            return await operation
        except KafkaError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                log.info("[Admin Manager on Broker %d]: Topic %s: %s (%s)", self._config.broker_id, name, error, error.code.name)
            return TopicOutcome(error.code, str(error))

    async def _wait_for(self, outcomes: dict[str, TopicOutcome], timeout_ms: int, done: Callable[[], bool]) -> dict[str, TopicOutcome]:
        pending = [name for name, outcome in outcomes.items() if not outcome.error]
        if not pending or (timeout_ms > 0 and await self._waiters.wait(pending, done, timeout_ms)):
            return outcomes
        return {name: outcome if outcome.error else replace(outcome, error=ErrorCode.REQUEST_TIMED_OUT, message=None) for name, outcome in outcomes.items()}

    def _every_partition_has_a_leader(self, outcomes: Mapping[str, TopicOutcome]) -> Callable[[], bool]:
        wanted = [(name, outcome.num_partitions) for name, outcome in outcomes.items() if not outcome.error]
        return lambda: all(self._metadata_cache.has_leader(name, partition) for name, count in wanted for partition in range(count))

    # creation

    async def _create_topic(self, topic: NewTopic, validate_only: bool) -> TopicOutcome:
        if self._metadata_cache.contains_topic(topic.name):
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
        overrides = _configs_without_null(topic)
        assignment = self._assignment_of(topic)
        await self._check_name(topic.name)
        _check_assignment(assignment)
        LogConfig.validate(overrides)  # raises INVALID_CONFIG
        outcome = TopicOutcome(num_partitions=len(assignment), replication_factor=len(assignment[0]))
        if validate_only:
            return outcome
        log.info("Creating topic %s with configuration %s and initial partition assignment %s", topic.name, overrides, assignment)
        # The config first: a topic's znode is the signal, and whoever sees it must find the config there.
        await set_or_create(self._zk, configs.topic_path(topic.name), configs.encode(overrides))
        topic_id = kafka_uuid.random_uuid(self._random) if self._config.inter_broker_api_version >= KAFKA_2_8_IV0 else None
        znode = TopicZNode(
            topic_id=kafka_uuid.to_text(topic_id) if topic_id is not None else None,
            assignment={partition: ReplicaAssignment(replicas) for partition, replicas in assignment.items()},
        )
        result = await submit_one(self._zk, Create(topics.path(topic.name), topics.encode(znode)))
        if result.code is Code.NODE_EXISTS and not await self._is_ours(topic.name, topic_id):
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic.name}' already exists.")
        raise_unless(result, Code.NODE_EXISTS)
        return replace(outcome, topic_id=topic_id or kafka_uuid.ZERO)

    async def _is_ours(self, name: str, topic_id: bytes | None) -> bool:
        """True where NODE_EXISTS was the echo of our own create, sent twice after a lost connection."""
        stored = await data_or_none(self._zk, topics.path(name))
        return topic_id is not None and stored is not None and topics.decode(stored.data or b"").topic_id == kafka_uuid.to_text(topic_id)

    def _assignment_of(self, topic: NewTopic) -> dict[int, tuple[int, ...]]:
        if topic.assignment:
            if (topic.num_partitions, topic.replication_factor) != (UNSET, UNSET):
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    "Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used at the same time.",
                )
            return dict(topic.assignment)  # brokers that do not exist are accepted, as Kafka does
        brokers = [BrokerMetadata(broker.id, broker.rack) for broker in self._metadata_cache.alive_brokers()]
        partitions = self._config.num_partitions if topic.num_partitions == UNSET else topic.num_partitions
        factor = self._config.default_replication_factor if topic.replication_factor == UNSET else topic.replication_factor
        return assign_replicas_to_brokers(brokers, partitions=range(partitions), replication_factor=factor, random=self._random)

    async def _check_name(self, name: str) -> None:
        topic_name.validate(name)
        existing = set(await children_or_none(self._zk, topics.PATH))
        if name in existing:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        colliding = sorted(other for other in existing if topic_name.has_collision(name, other))
        if colliding:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topics: {', '.join(colliding)}")

    # more partitions

    async def _add_partitions(self, topic: str, count: int, assignments: Sequence[Sequence[int]] | None, validate_only: bool) -> TopicOutcome:
        stored = await data_or_none(self._zk, topics.path(topic))
        if stored is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist.")
        znode = topics.decode(stored.data or b"")
        if any(assignment.adding_replicas or assignment.removing_replicas for assignment in znode.assignment.values()):
            # The controller rewrites this znode while it moves replicas: adding partitions now would race with it.
            raise KafkaError(ErrorCode.REASSIGNMENT_IN_PROGRESS, f"A partition reassignment is in progress for the topic '{topic}'.")
        existing = len(znode.assignment)
        if count < existing:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic currently has {existing} partitions, which is higher than the requested {count}.")
        if count == existing:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {existing} partitions.")
        added = await self._assignment_of_new_partitions(znode, count - existing, assignments)
        combined = {**znode.assignment, **{partition: ReplicaAssignment(replicas) for partition, replicas in added.items()}}
        if not validate_only:
            log.info("Creating %d partitions for '%s' with the following replica assignment: %s.", len(added), topic, added)
            raise_unless(await submit_one(self._zk, SetData(topics.path(topic), topics.encode(replace(znode, assignment=combined)))))
        return TopicOutcome(num_partitions=count, replication_factor=len(znode.assignment[0].replicas))

    async def _assignment_of_new_partitions(self, znode: TopicZNode, increase: int, assignments: Sequence[Sequence[int]] | None) -> dict[int, tuple[int, ...]]:
        existing, first = len(znode.assignment), znode.assignment[0].replicas
        brokers = await self._brokers_in_zookeeper()
        if assignments is None:
            start = max(0, next((index for index, broker in enumerate(brokers) if broker.id >= first[0]), -1))
            return assign_replicas_to_brokers(
                brokers,
                partitions=range(existing, existing + increase),
                replication_factor=len(first),
                random=self._random,
                fixed_start_index=start,
            )
        _check_new_assignments(assignments, existing, increase, len(first), {broker.id for broker in brokers})
        return {existing + index: tuple(replicas) for index, replicas in enumerate(assignments)}

    async def _brokers_in_zookeeper(self) -> list[BrokerMetadata]:
        ids = sorted(int(child) for child in await children_or_none(self._zk, broker_ids.PATH))
        found = [(broker_id, await data_or_none(self._zk, broker_ids.path(broker_id))) for broker_id in ids]
        return [BrokerMetadata(broker_id, broker_ids.decode(result.data or b"").rack) for broker_id, result in found if result is not None]

    # deletion

    async def _mark_for_deletion(self, name: str) -> TopicOutcome:
        if not (await submit_one(self._zk, Exists(topics.path(name)))).ok:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Topic `{name}` to delete does not exist")
        raise_unless(await submit_one(self._zk, Create(delete_topics.path(name))), Code.NODE_EXISTS)
        return TopicOutcome()


def _configs_without_null(topic: NewTopic) -> dict[str, str]:
    without_value = [name for name, value in topic.configs.items() if value is None]
    if without_value:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for topic configs : {','.join(without_value)}")
    return {name: value for name, value in topic.configs.items() if value is not None}


def _check_assignment(assignment: Mapping[int, Sequence[int]]) -> None:
    if len({len(replicas) for replicas in assignment.values()}) != 1:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "All partitions should have the same number of replicas")
    for replicas in assignment.values():
        if len(set(replicas)) != len(replicas):
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Duplicate replica assignment found: {_as_scala(assignment)}")
    if sorted(assignment) != list(range(len(assignment))):
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partitions should be a consecutive 0-based integer sequence")
    if not all(assignment.values()):
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "a partition needs at least one replica")


def _as_scala(assignment: Mapping[int, Sequence[int]]) -> str:
    return f"HashMap({', '.join(f'{partition} -> {array_buffer(replicas)}' for partition, replicas in assignment.items())})"


def _check_new_assignments(assignments: Sequence[Sequence[int]], existing: int, increase: int, factor: int, known: set[int]) -> None:
    unknown = sorted({broker for replicas in assignments for broker in replicas} - known)
    if unknown:
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.")
    if len(assignments) != increase:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Increasing the number of partitions by {increase} but {len(assignments)} assignments provided.",
        )
    for partition, replicas in enumerate(assignments, existing):
        if not replicas:
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Cannot have replication factor of 0 for partition id {partition}.")
        if len(set(replicas)) != len(replicas):
            named = ", ".join(map(str, replicas))
            message = f"Duplicate brokers not allowed in replica assignment: {named} for partition id {partition}."
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    others = {partition: len(replicas) for partition, replicas in enumerate(assignments, existing) if len(replicas) != factor}
    if others:
        partitions, factors = ", ".join(map(str, others)), ", ".join(map(str, others.values()))
        message = f"partition 0 has {factor} while partitions [{partitions}] have replication factors [{factors}], respectively."
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Inconsistent replication factor between partitions, {message}")
