"""kafka-reassign-partitions with --zookeeper: /admin/reassign_partitions is the order, the controller carries it out; throttles are configurations.

Source: facts/tools.md 9; 2.8 ReassignPartitionsCommand.scala.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, NoReturn, Self

from pykafka_classic.assignors.replica_placement import BrokerMetadata
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.reassign_partitions import (
    BROKERS,
    EXISTING,
    NO_THROTTLE,
    PLAN,
    RUN_VERIFY,
    THROTTLE,
    TOPICS,
    PartitionStatus,
    Terse,
    file_of,
    status_lines,
)
from pykafka_classic.cli.reassign_plan import BadPlan, Plan, check_generate, check_plan, joined, parse_plan, parse_topics, throttles
from pykafka_classic.cli.reassign_texts import rack_aware, say_clearing, say_current, say_proposal, say_started
from pykafka_classic.cli.zookeeper_session import ZooKeeperSession
from pykafka_classic.common.java import properties_order
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create
from pykafka_classic.server.dynamic_broker_config import ALTER_LOG_DIRS_RATE, FOLLOWER_RATE, LEADER_RATE
from zk_schema import broker_ids, configs, reassign_partitions, topics
from zk_schema.configs import ConfigEntity

LEADER_REPLICAS: Final = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS: Final = "follower.replication.throttled.replicas"
BROKER_THROTTLES: Final = (LEADER_RATE, FOLLOWER_RATE, ALTER_LOG_DIRS_RATE)
TOPIC_THROTTLES: Final = (LEADER_REPLICAS, FOLLOWER_REPLICAS)

NEEDS_BROKER: Final = "bootstrap-server needs to be provided when replica reassignments are present."


class ZooKeeperReassigner:
    """Implements `reassign_partitions.Reassigner`."""

    def __init__(self, connect: str, console: Console) -> None:
        self._zk = ZooKeeperSession(connect)
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._zk.__exit__(kind, error, trace)

    def generate(self, options: Options) -> None:
        """Propose where topics could go. Topics that are not there are left out."""
        wanted = parse_topics(file_of(options, TOPICS))
        chosen = check_generate(wanted, options.text(BROKERS))
        ids = sorted(set(chosen) & set(self._brokers()))
        found = zip(ids, self._zk.data_of(map(broker_ids.path, ids)), strict=True)
        brokers = [BrokerMetadata(broker, broker_ids.decode(result.data).rack) for broker, result in found if result.ok]
        say_proposal(self._console, self._replicas(wanted), rack_aware(brokers, disabled=options.has("disable-rack-aware")))

    def execute(self, options: Options) -> None:
        """Write the order."""
        plan = parse_plan(file_of(options, PLAN))
        check_plan(plan)
        if plan.log_dirs:
            raise BadPlan(NEEDS_BROKER)
        current = self._replicas(plan.topics)
        self._check_known(plan, current)
        if self._zk.exists(reassign_partitions.PATH):
            raise Terse(EXISTING)
        say_current(self._console, current, plan)
        rate = options.integer(THROTTLE)
        if rate > NO_THROTTLE:
            self._console.say(RUN_VERIFY)
            self._throttle(plan, current, rate)
            self._console.say(f"The inter-broker throttle limit was set to {rate} B/s")
        order = reassign_partitions.encode(plan.replicas)
        self._zk.create_parents(reassign_partitions.PATH)
        if self._zk.one(Create(reassign_partitions.PATH, order), Code.NODE_EXISTS).code is Code.NODE_EXISTS:
            raise Terse(EXISTING)
        say_started(self._console, plan)

    def _check_known(self, plan: Plan, current: Mapping[TopicPartition, Sequence[int]]) -> None:
        unknown = [str(partition) for partition, _ in plan.rows if partition not in current]
        if unknown:
            raise BadPlan(f"The proposed assignment contains non-existent partitions: List({', '.join(unknown)})")
        strangers = [broker for broker in plan.brokers if broker not in self._brokers()]
        if strangers:
            raise BadPlan(f"The proposed assignment contains non-existent brokerIDs: {joined(strangers)}")

    def _throttle(self, plan: Plan, current: Mapping[TopicPartition, Sequence[int]], rate: int) -> None:
        wanted = throttles(plan.replicas, current, {})
        for topic, leaders in wanted.leaders.items():
            self._set(ConfigEntity.of(configs.TOPICS, topic), {LEADER_REPLICAS: leaders, FOLLOWER_REPLICAS: wanted.followers[topic]})
        for broker in wanted.brokers:
            self._set(ConfigEntity.of(configs.BROKERS, str(broker)), {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)})

    def _set(self, entity: ConfigEntity, changes: Mapping[str, str | None]) -> None:
        """Change some keys of an entity (None: remove), and write only where that changes something."""
        stored = self._zk.entity_config(entity)
        changed = {key: value for key, value in {**stored, **changes}.items() if value is not None}
        if changed != stored:
            self._zk.change_config(entity, {key: changed[key] for key in properties_order(changed)})

    def verify(self, options: Options) -> None:
        """How it stands; where nothing moves any more, throttles are lifted."""
        plan = parse_plan(file_of(options, PLAN))
        if plan.log_dirs:
            raise BadPlan(NEEDS_BROKER)
        self._console.say(
            "Warning: because you are using the deprecated --zookeeper option, the results may be incomplete.  "
            "Use --bootstrap-server instead for more accurate results."
        )
        data = self._zk.data(reassign_partitions.PATH)
        moving = reassign_partitions.decode(data) if data else {}
        current = self._replicas(plan.topics)
        states = {partition: PartitionStatus(current.get(partition, ()), target, partition not in moving) for partition, target in plan.replicas.items()}
        self._console.say("\n".join(status_lines(states)))
        if not moving and not options.has("preserve-throttles"):
            self._clear(plan)

    def _clear(self, plan: Plan) -> None:
        brokers = list(dict.fromkeys([*self._brokers(), *plan.brokers]))
        say_clearing(self._console, "broker", brokers)
        for broker in brokers:
            self._set(ConfigEntity.of(configs.BROKERS, str(broker)), dict.fromkeys(BROKER_THROTTLES))
        say_clearing(self._console, "topic", plan.topics)
        for topic in plan.topics:
            self._set(ConfigEntity.of(configs.TOPICS, topic), dict.fromkeys(TOPIC_THROTTLES))

    def cancel(self, options: Options) -> NoReturn:
        """Not with --zookeeper: the command line does not let it through."""
        raise BadPlan(f"--cancel needs --bootstrap-server ({len(options.order)} options given).")

    def list_moves(self) -> NoReturn:
        """Not with --zookeeper: the command line does not let it through."""
        raise BadPlan("--list needs --bootstrap-server.")

    def _brokers(self) -> list[int]:
        return sorted(int(child) for child in self._zk.children(broker_ids.PATH))

    def _replicas(self, names: Sequence[str]) -> dict[TopicPartition, Sequence[int]]:
        """Of all partitions of those topics that are there."""
        found: dict[TopicPartition, Sequence[int]] = {}
        for name, result in zip(names, self._zk.data_of(map(topics.path, names)), strict=True):
            if result.ok and result.data:
                assignment = topics.decode(result.data).assignment
                found |= {TopicPartition(name, number): each.replicas for number, each in sorted(assignment.items())}
        return found
