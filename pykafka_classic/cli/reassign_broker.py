"""kafka-reassign-partitions with --bootstrap-server: the brokers move replicas, between themselves and between their log directories.

Source: facts/tools.md 9; 2.8 ReassignPartitionsCommand.scala.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from pykafka_classic.assignors.replica_placement import BrokerMetadata
from pykafka_classic.cli.broker_session import open_admin
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.command_options import Options
from pykafka_classic.cli.reassign_moves import LogDirMove, log_dir_moves, move_line
from pykafka_classic.cli.reassign_partitions import (
    BROKERS,
    DIRS_THROTTLE,
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
from pykafka_classic.cli.reassign_plan import BadPlan, Plan, check_generate, check_plan, joined, parse_plan, parse_topics, plural, throttles
from pykafka_classic.cli.reassign_texts import failures, rack_aware, say_clearing, say_current, say_proposal, say_started
from pykafka_classic.cli.reassign_zookeeper import BROKER_THROTTLES, FOLLOWER_REPLICAS, LEADER_REPLICAS, TOPIC_THROTTLES
from pykafka_classic.cli.topics_broker import values_of
from pykafka_classic.client.admin.configs import ConfigChange, ConfigResource
from pykafka_classic.client.admin.replicas import Reassignment, Replica
from pykafka_classic.common.errors import ErrorCode, KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.config_numbers import AlterOp
from pykafka_classic.server.dynamic_broker_config import ALTER_LOG_DIRS_RATE, FOLLOWER_RATE, LEADER_RATE

RETRY_S: Final = 0.1  # a replica that is just being made on another broker can be told its directory only when it is there


class BrokerReassigner:
    """Implements `reassign_partitions.Reassigner`."""

    def __init__(self, bootstrap: str, properties_file: str | None, console: Console) -> None:
        self._admin = open_admin(bootstrap, properties_file)
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._admin.close()

    # generate

    def generate(self, options: Options) -> None:
        """Propose where topics could go."""
        wanted = parse_topics(file_of(options, TOPICS))
        chosen = check_generate(wanted, options.text(BROKERS))
        nodes = sorted(self._admin.describe_cluster().nodes, key=lambda node: node.id)
        brokers = [BrokerMetadata(node.id, node.rack) for node in nodes if node.id in chosen]
        say_proposal(self._console, self._replicas(wanted), rack_aware(brokers, disabled=options.has("disable-rack-aware")))

    def _replicas(self, names: Sequence[str]) -> dict[TopicPartition, Sequence[int]]:
        described = values_of(self._admin.describe_topics(names)) if names else {}
        return {TopicPartition(name, each.partition): each.replicas for name, topic in described.items() for each in topic.partitions}

    # execute

    def execute(self, options: Options) -> None:
        """Begin."""
        plan = parse_plan(file_of(options, PLAN))
        check_plan(plan)
        moving = self._admin.list_partition_reassignments()
        if moving and not options.has("additional"):
            raise Terse(EXISTING)
        known = {node.id for node in self._admin.describe_cluster().nodes}
        for broker in plan.brokers:
            if broker not in known:
                raise BadPlan(f"Unknown broker id {broker}")
        current = self._replicas(plan.topics)
        say_current(self._console, current, plan)
        self._throttle(options, plan, current, moving)
        errors = self._admin.alter_partition_reassignments(plan.replicas).errors()
        if errors:
            raise Terse(f"Error reassigning partition(s):\n{failures(errors)}")
        say_started(self._console, plan)
        self._move({Replica(*replica): path for replica, path in plan.log_dirs.items()}, options.integer("timeout"))

    def _throttle(self, options: Options, plan: Plan, current: Mapping[TopicPartition, Sequence[int]], moving: Mapping[TopicPartition, Reassignment]) -> None:
        rate, dirs_rate = options.integer(THROTTLE), options.integer(DIRS_THROTTLE)
        if max(rate, dirs_rate) > NO_THROTTLE:
            self._console.say(RUN_VERIFY)
        if rate > NO_THROTTLE:
            under_way = {partition: (set(move.replicas) - set(move.adding), move.adding) for partition, move in moving.items()}
            wanted = throttles(plan.replicas, current, under_way)
            for topic, leaders in wanted.leaders.items():
                self._set(ConfigResource.topic(topic), {LEADER_REPLICAS: leaders, FOLLOWER_REPLICAS: wanted.followers[topic]})
            for broker in wanted.brokers:
                self._set(ConfigResource.broker(broker), {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)})
            self._console.say(f"The inter-broker throttle limit was set to {rate} B/s")
        if dirs_rate > NO_THROTTLE:
            for broker in sorted({broker for _, _, broker in plan.log_dirs}):
                self._set(ConfigResource.broker(broker), {ALTER_LOG_DIRS_RATE: str(dirs_rate)})
            self._console.say(f"The replica-alter-dir throttle limit was set to {dirs_rate} B/s")

    def _set(self, resource: ConfigResource, changes: Mapping[str, str | None]) -> None:
        edits = [ConfigChange(name, value, AlterOp.DELETE if value is None else AlterOp.SET) for name, value in changes.items()]
        values_of(self._admin.incremental_alter_configs({resource: edits}))

    def _move(self, pending: dict[Replica, str], timeout_ms: int) -> None:
        """Have replicas moved to other directories; those that are not there yet are tried again until the time is up."""
        deadline = time.monotonic() + timeout_ms / 1000
        while pending:
            started = []
            for replica, outcome in self._admin.alter_replica_log_dirs(pending).items():
                if isinstance(outcome, KafkaError) and outcome.code is not ErrorCode.REPLICA_NOT_AVAILABLE:
                    raise BadPlan(f"Failed to alter dir for {replica}")
                if outcome is None:
                    started.append(replica)
            if started:
                self._console.say(f"Successfully started log directory move{plural(started)} for: {joined(sorted(started))}")
            pending = {replica: path for replica, path in pending.items() if replica not in started}
            if not pending:
                return
            if time.monotonic() >= deadline:
                raise Terse(f"Timed out before log directory move{plural(pending)} could be started for {joined(sorted(pending))}")
            time.sleep(RETRY_S)

    # verify, cancel, list

    def verify(self, options: Options) -> None:
        """How it stands; where nothing moves any more, throttles are lifted."""
        plan = parse_plan(file_of(options, PLAN))
        moving = self._admin.list_partition_reassignments()
        states = {partition: self._status(partition, target, moving) for partition, target in plan.replicas.items()}
        self._console.say("\n".join(status_lines(states)))
        moves = self._log_dir_moves(plan)
        self._console.say("\n".join(move_line(move) for _, move in sorted(moves.items())))
        if not moving and all(move.done for move in moves.values()) and not options.has("preserve-throttles"):
            self._clear(plan)

    def _status(self, partition: TopicPartition, target: Sequence[int], moving: Mapping[TopicPartition, Reassignment]) -> PartitionStatus:
        if partition in moving:
            return PartitionStatus(moving[partition].replicas, target, done=False)
        found = self._admin.describe_topics([partition.topic])[partition.topic]
        if isinstance(found, KafkaError):
            if found.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise found
            return PartitionStatus((), target, done=True)
        current = {each.partition: each.replicas for each in found.partitions}
        return PartitionStatus(current.get(partition.partition, ()), target, done=True)

    def _log_dir_moves(self, plan: Plan) -> dict[Replica, LogDirMove]:
        wanted = {Replica(*replica): path for replica, path in plan.log_dirs.items()}
        if not wanted:
            return {}
        return log_dir_moves(wanted, values_of(self._admin.describe_log_dirs(sorted({replica.broker for replica in wanted}))))

    def _clear(self, plan: Plan) -> None:
        brokers = list(dict.fromkeys([*sorted(node.id for node in self._admin.describe_cluster().nodes), *plan.brokers]))
        say_clearing(self._console, "broker", brokers)
        for broker in brokers:
            self._set(ConfigResource.broker(broker), dict.fromkeys(BROKER_THROTTLES))
        say_clearing(self._console, "topic", plan.topics)
        for topic in plan.topics:
            self._set(ConfigResource.topic(topic), dict.fromkeys(TOPIC_THROTTLES))

    def cancel(self, options: Options) -> None:
        """Call moves off, between brokers and between directories."""
        plan = parse_plan(file_of(options, PLAN))
        moving = sorted(self._admin.list_partition_reassignments(list(plan.replicas)))
        if moving:
            errors = self._admin.alter_partition_reassignments(dict.fromkeys(moving)).errors()
            if errors:
                raise Terse(f"Error cancelling partition reassignment{plural(errors)} for:\n{failures(errors)}")
            self._console.say(f"Successfully cancelled partition reassignment{plural(moving)} for: {joined(moving)}")
        else:
            self._console.say("None of the specified partition reassignments are active.")
        back = {replica: move.current for replica, move in self._log_dir_moves(plan).items() if move.current is not None and move.future is not None}
        if back:
            self._move(back, options.integer("timeout"))
        else:
            self._console.say("None of the specified partition moves are active.")
        if not options.has("preserve-throttles"):
            self._clear(plan)

    def list_moves(self) -> None:
        """What is under way."""
        moving = self._admin.list_partition_reassignments()
        if not moving:
            self._console.say("No partition reassignments found.")
            return
        self._console.say("Current partition reassignments:")
        for partition, move in sorted(moving.items()):
            adding = f" adding: {joined(move.adding)}." if move.adding else ""
            removing = f" removing: {joined(move.removing)}." if move.removing else ""
            self._console.say(f"{partition}: replicas: {joined(move.replicas)}.{adding}{removing}")
