"""What kafka-topics prints of topics, whoever told of them: ZooKeeper or a broker. Lines and their order are Kafka's; other programs parse them.

Source: facts/tools.md 4; 2.8 TopicCommand.scala (TopicDescription, PartitionDescription, DescribeOptions).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pykafka_classic.cli.command_options import Options

UNDER_REPLICATED = "under-replicated-partitions"
UNAVAILABLE = "unavailable-partitions"
UNDER_MIN_ISR = "under-min-isr-partitions"
AT_MIN_ISR = "at-min-isr-partitions"
WITH_OVERRIDES = "topics-with-overrides"
FILTERS = (UNDER_REPLICATED, UNDER_MIN_ISR, AT_MIN_ISR, UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """One partition.

    Attributes:
        leader: None: it has none.
        min_isr: the topic's min.insync.replicas; None: not known.
        moves: replicas being added and being removed; None: it is not being moved.
    """

    topic: str
    partition: int
    leader: int | None
    replicas: Sequence[int]
    isr: Sequence[int]
    min_isr: int | None = None
    moves: tuple[Sequence[int], Sequence[int]] | None = None
    marked_for_deletion: bool = False

    @property
    def replication_factor(self) -> int:
        """Replicas that it shall have: those on their way in do not count yet."""
        return len(self.replicas) - (len(self.moves[0]) if self.moves else 0)

    def matches(self, options: Options, live_brokers: Collection[int]) -> bool:
        """Whether one of the filters given wants it."""
        in_sync = len(self.isr)
        found = {
            UNDER_REPLICATED: in_sync < self.replication_factor,
            UNAVAILABLE: self.leader is None or self.leader not in live_brokers,
            UNDER_MIN_ISR: self.leader is None or (self.min_isr is not None and in_sync < self.min_isr),
            AT_MIN_ISR: self.min_isr is not None and in_sync == self.min_isr,
        }
        return any(options.has(name) and found[name] for name in FILTERS)

    def line(self) -> str:
        """As printed."""
        parts = [
            f"\tTopic: {self.topic}",
            f"Partition: {self.partition}",
            f"Leader: {'none' if self.leader is None else self.leader}",
            f"Replicas: {joined(self.replicas)}",
            f"Isr: {joined(self.isr)}",
        ]
        if self.moves is not None:
            parts += [f"Adding Replicas: {joined(self.moves[0])}", f"Removing Replicas: {joined(self.moves[1])}"]
        return "\t".join([*parts, *(["MarkedForDeletion: true"] if self.marked_for_deletion else [])])


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic; `configs` in the order in which they are printed."""

    name: str
    topic_id: str | None
    partitions: Sequence[PartitionRow]
    configs: Sequence[tuple[str, str]]
    marked_for_deletion: bool = False

    def line(self) -> str:
        """As printed."""
        parts = [
            f"Topic: {self.name}",
            *([f"TopicId: {self.topic_id}"] if self.topic_id else []),
            f"PartitionCount: {len(self.partitions)}",
            f"ReplicationFactor: {self.partitions[0].replication_factor if self.partitions else 0}",
            "Configs: " + ",".join(f"{name}={value}" for name, value in self.configs),
        ]
        return "\t".join([*parts, *(["MarkedForDeletion: true"] if self.marked_for_deletion else [])])


def described(topics: Iterable[TopicRow], options: Options, live_brokers: Collection[int]) -> list[str]:
    """The lines of `--describe`: with a filter only partitions, with --topics-with-overrides only topics."""
    filtered = any(map(options.has, FILTERS))
    lines = []
    for topic in topics:
        if not filtered and (topic.configs or not options.has(WITH_OVERRIDES)):
            lines.append(topic.line())
        if not options.has(WITH_OVERRIDES):
            lines += [row.line() for row in topic.partitions if not filtered or row.matches(options, live_brokers)]
    return lines


def joined(ids: Iterable[int]) -> str:
    """`1,2,3`."""
    return ",".join(map(str, ids))
