"""What kafka-reassign-partitions says in both of its forms, and the proposal that both make."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

from pykafka_classic.assignors.replica_placement import BrokerMetadata, assign_replicas_to_brokers
from pykafka_classic.cli.command import Console
from pykafka_classic.cli.reassign_plan import Assignment, BadPlan, Plan, as_json, joined, plural
from pykafka_classic.common.topic_partition import TopicPartition


def say_proposal(console: Console, current: Assignment, brokers: Sequence[BrokerMetadata]) -> None:
    """Where partitions are, and where they could go: each topic placed anew, by lot."""
    proposed: dict[TopicPartition, Sequence[int]] = {}
    for topic in dict.fromkeys(partition.topic for partition in current):
        mine = {partition: replicas for partition, replicas in current.items() if partition.topic == topic}
        factor = len(next(iter(mine.values())))
        placed = assign_replicas_to_brokers(brokers, partitions=range(len(mine)), replication_factor=factor, random=random.Random())
        proposed |= {TopicPartition(topic, number): replicas for number, replicas in placed.items()}
    console.say(f"Current partition replica assignment\n{as_json(current)}\n")
    console.say(f"Proposed partition reassignment configuration\n{as_json(proposed)}")


def rack_aware(brokers: Sequence[BrokerMetadata], *, disabled: bool) -> list[BrokerMetadata]:
    """The brokers, without racks where these shall not matter. BadPlan where only some have one."""
    if disabled:
        return [BrokerMetadata(broker.id) for broker in brokers]
    if len({broker.rack is None for broker in brokers}) > 1:
        raise BadPlan("Not all brokers have rack information. Add --disable-rack-aware in command line to make replica assignment without rack information.")
    return list(brokers)


def say_current(console: Console, current: Assignment, plan: Plan) -> None:
    """The way back."""
    mine = {partition: replicas for partition, replicas in current.items() if partition in plan.replicas}
    console.say(f"Current partition replica assignment\n\n{as_json(mine)}\n\nSave this to use as the --reassignment-json-file option during rollback")


def say_started(console: Console, plan: Plan) -> None:
    """It has begun."""
    partitions = sorted(plan.replicas)
    console.say(f"Successfully started partition reassignment{plural(partitions)} for {joined(partitions)}")


def say_clearing(console: Console, kind: str, what: Collection[object]) -> None:
    """Throttles of a `kind`, broker or topic, are lifted."""
    console.say(f"Clearing {kind}-level throttles on {kind}{plural(what)} {joined(what)}")


def failures(errors: Mapping[TopicPartition, Exception]) -> str:
    """A line for each."""
    return "\n".join(f"{partition}: {error}" for partition, error in sorted(errors.items(), key=lambda item: item[0]))
