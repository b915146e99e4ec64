"""Plans of kafka-reassign-partitions: JSON in and out, what is wrong with a plan, and which replicas a throttle is for. No I/O.

| file | form |
|---|---|
| topics to move | `{"version":1,"topics":[{"topic":"t"}]}` |
| reassignment | `{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","/data"]}]}` |

`version` may be missing; `log_dirs` too, and where it is there it has a word for each replica: a directory, or `any`.

Source: facts/tools.md 9; 2.8 ReassignPartitionsCommand.scala.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pykafka_classic.cli.java_texts import java_int, java_split
from pykafka_classic.cli.kafka_json import as_array, as_number, as_object, as_text, field, parse_object
from pykafka_classic.common.topic_partition import TopicPartition
from zk_schema.json_fields import to_json

ANY_LOG_DIR: Final = "any"
VERSION: Final = 1

T = TypeVar("T")

Assignment = Mapping[TopicPartition, Sequence[int]]


class BadPlan(Exception):
    """A plan that cannot be carried out; the text is Kafka's."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A reassignment file. `rows` as written, a partition named twice twice; `log_dirs` by (topic, partition, broker), where one is named."""

    rows: Sequence[tuple[TopicPartition, tuple[int, ...]]]
    log_dirs: Mapping[tuple[str, int, int], str]

    @property
    def replicas(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Wanted replicas by partition."""
        return dict(self.rows)

    @property
    def topics(self) -> list[str]:
        """Each once, as they come."""
        return list(dict.fromkeys(partition.topic for partition, _ in self.rows))

    @property
    def brokers(self) -> list[int]:
        """Each once, as they come."""
        return list(dict.fromkeys(broker for _, replicas in self.rows for broker in replicas))


def parse_plan(text: str) -> Plan:
    """A reassignment file. Raises BadPlan, WrongJson."""
    rows: list[tuple[TopicPartition, tuple[int, ...]]] = []
    log_dirs: dict[tuple[str, int, int], str] = {}
    for row in _rows(text, "partitions"):
        partition = TopicPartition(as_text(field(row, "topic")), as_number(field(row, "partition")))
        replicas = tuple(as_number(broker) for broker in as_array(field(row, "replicas")))
        dirs = [as_text(each) for each in as_array(row["log_dirs"])] if "log_dirs" in row else [ANY_LOG_DIR] * len(replicas)
        if len(dirs) != len(replicas):
            raise BadPlan(
                f"Size of replicas list List({', '.join(map(str, replicas))}) is different from size of log dirs list "
                f"List({', '.join(map(str, dirs))}) for partition {partition}"
            )
        rows.append((partition, replicas))
        log_dirs |= {(*partition, broker): name for broker, name in zip(replicas, dirs, strict=True) if name != ANY_LOG_DIR}
    return Plan(rows, log_dirs)


def parse_topics(text: str) -> list[str]:
    """A file of topics to move. Raises BadPlan, WrongJson."""
    return [as_text(field(row, "topic")) for row in _rows(text, "topics", otherwise="The input string is not a valid JSON")]


def _rows(text: str, name: str, *, otherwise: str | None = None) -> list[Mapping[str, Any]]:
    try:
        stored = parse_object(text)
    except ValueError as error:
        raise BadPlan(otherwise or f"Not JSON: {error}") from error
    version = as_number(stored.get("version", VERSION))
    if version != VERSION:
        raise BadPlan(f"Not supported version field value {version}")
    return [as_object(row) for row in as_array(stored.get(name, []))]


def check_plan(plan: Plan) -> None:
    """Raise BadPlan for what no cluster could do."""
    if not plan.rows:
        raise BadPlan("Partition reassignment list cannot be empty")
    if any(not replicas for _, replicas in plan.rows):
        raise BadPlan("Partition replica list cannot be empty")
    twice = repeated([partition for partition, _ in plan.rows])
    if twice:
        raise BadPlan(f"Partition reassignment contains duplicate topic partitions: {','.join(map(str, twice))}")
    complaints = [f"{partition} contains multiple entries for {joined(repeated(replicas))}" for partition, replicas in plan.rows if repeated(replicas)]
    if complaints:
        raise BadPlan(f"Partition replica lists may not contain duplicate entries: {'. '.join(complaints)}")


def check_generate(topics: Sequence[str], broker_list: str) -> list[int]:
    """The brokers to move to. Raises BadPlan."""
    try:
        brokers = [java_int(word) for word in java_split(broker_list, ",")]
    except ValueError as error:
        raise BadPlan(str(error)) from error
    if repeated(brokers):
        raise BadPlan(f"Broker list contains duplicate entries: {joined(repeated(brokers))}")
    if repeated(topics):
        raise BadPlan(f"List of topics to reassign contains duplicate entries: {','.join(repeated(topics))}")
    return brokers


def repeated(items: Sequence[T]) -> list[T]:
    """Those that come more than once, each once."""
    return list(dict.fromkeys(item for index, item in enumerate(items) if item in items[:index]))


def as_json(assignment: Assignment) -> str:
    """As the tool prints it: on one line, by topic and partition."""
    rows = [
        {"topic": partition.topic, "partition": partition.partition, "replicas": list(replicas), "log_dirs": [ANY_LOG_DIR] * len(replicas)}
        for partition, replicas in sorted(assignment.items())
    ]
    return to_json({"version": VERSION, "partitions": rows}).decode()


@dataclass(frozen=True, slots=True)
class Throttles:
    """Which replicas are throttled while a plan is carried out, by topic; and on which brokers."""

    leaders: Mapping[str, str]  # leader.replication.throttled.replicas: where the data comes from
    followers: Mapping[str, str]  # follower.replication.throttled.replicas: where it goes to
    brokers: Sequence[int]


def throttles(proposed: Assignment, current: Assignment, moving: Mapping[TopicPartition, tuple[Collection[int], Collection[int]]]) -> Throttles:
    """The throttles of a plan. `moving`: of partitions that are being moved already, where from and where to."""
    moves = {partition: (set(sources), set(targets)) for partition, (sources, targets) in moving.items()}
    for partition, replicas in proposed.items():
        sources = moves[partition][0] if partition in moves else set(current.get(partition, ()))
        moves[partition] = (sources, set(replicas) - sources)
    leaders: dict[str, set[str]] = {}
    followers: dict[str, set[str]] = {}
    for (topic, number), (sources, targets) in moves.items():
        leaders.setdefault(topic, set()).update(f"{number}:{broker}" for broker in sources)
        followers.setdefault(topic, set()).update(f"{number}:{broker}" for broker in targets - sources)
    brokers = {broker for sources, targets in moves.values() for broker in sources | targets}
    return Throttles(_texts(leaders), _texts(followers), sorted(brokers))


def _texts(found: Mapping[str, set[str]]) -> dict[str, str]:
    return {topic: ",".join(sorted(parts)) for topic, parts in found.items()}


def joined(items: Iterable[object]) -> str:
    """`1,2,3`."""
    return ",".join(map(str, items))


def plural(items: Collection[object]) -> str:
    """The letter behind a noun."""
    return "" if len(items) == 1 else "s"
