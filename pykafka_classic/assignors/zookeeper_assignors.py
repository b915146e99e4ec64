"""`range` and `roundrobin` of the consumers that coordinate over ZooKeeper: not members but threads get partitions.

Every member reads the same znodes and computes the whole assignment for itself, so all must come to the same answer: threads are sorted by member id, and those
of one member **as strings** (`x-10` before `x-2`). Round robin deals partitions out in the order of a hash of their names, so that the partitions of one topic
do not all go to one member; the name hashed is `[topic,partition]` in 0.8 to 0.10 and `topic-partition` from 1.0 on, so that a group whose members are of both
kinds never agrees (each takes what another owns): all must speak one dialect.

Source: 0.8.2 and 1.1:core/src/main/scala/kafka/consumer/PartitionAssignor.scala; facts/coordination.md 5.1. Compared with both in tests/golden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import cycle
from typing import Final, Protocol, TypeAlias

from pykafka_classic.assignors import range as range_assignor
from pykafka_classic.assignors import round_robin
from pykafka_classic.common.java import string_hash
from pykafka_classic.common.topic_partition import TopicPartition

ThreadAssignment: TypeAlias = dict[TopicPartition, str]  # the thread that reads a partition
Threads: TypeAlias = Mapping[str, Sequence[str]]  # by topic: ids of the threads of all members that subscribe to it, in any order


class AssignmentImpossible(Exception):
    """The group's subscriptions do not suit the assignor; no rebalance can succeed until a member changes. The text is for the user."""


class Dialect(Enum):
    """Which release's round robin."""

    KAFKA_0_8 = "0.8"
    KAFKA_1_0 = "1.0"

    def name_of(self, partition: TopicPartition) -> str:
        """The text that is hashed."""
        return f"[{partition.topic},{partition.partition}]" if self is Dialect.KAFKA_0_8 else str(partition)


class ThreadAssignor(Protocol):
    """One way to divide partitions among threads."""

    def __call__(self, partitions: Mapping[str, Sequence[int]], threads: Threads) -> ThreadAssignment:
        """Every partition of the topics in `threads` that has a thread. May raise AssignmentImpossible."""
        ...


def thread_ids(consumer_id: str, streams: int) -> list[str]:
    """The ids of a member's threads for a topic."""
    return [f"{consumer_id}-{index}" for index in range(streams)]


def assign_ranges(partitions: Mapping[str, Sequence[int]], threads: Threads) -> ThreadAssignment:
    """Of each topic, consecutive partitions to each thread; the first ones get the surplus."""
    assignment: ThreadAssignment = {}
    for topic, takers in threads.items():
        numbers = sorted(partitions.get(topic, ()))
        for thread, share in range_assignor.ranges(sorted(takers), len(numbers)) if takers else ():
            assignment.update({TopicPartition(topic, numbers[index]): thread for index in share})
    return assignment


def assign_round_robin(partitions: Mapping[str, Sequence[int]], threads: Threads, *, dialect: Dialect = Dialect.KAFKA_0_8) -> ThreadAssignment:
    """All partitions in the order of their hashes, dealt out to the threads in turn.

    0.8 wants every topic to have the same threads, else AssignmentImpossible; 1.0 passes over threads that do not read the topic.
    """
    if dialect is Dialect.KAFKA_0_8:
        _require_same_threads(threads)
    takers = sorted({thread for some in threads.values() for thread in some})
    if not takers:
        return {}
    dealt = [TopicPartition(topic, number) for topic in threads if threads[topic] for number in partitions.get(topic, ())]
    dealt.sort(key=lambda partition: (string_hash(dialect.name_of(partition)), partition))
    round_table = cycle(takers)
    readers = {topic: frozenset(some) for topic, some in threads.items()}
    return {partition: next(thread for thread in round_table if thread in readers[partition.topic]) for partition in dealt}


def thread_assignor(strategy: str, dialect: Dialect = Dialect.KAFKA_0_8) -> ThreadAssignor:
    """The assignor that `partition.assignment.strategy` names. ValueError for a name that is none."""
    if strategy == range_assignor.NAME:
        return assign_ranges
    if strategy == round_robin.NAME:
        return lambda partitions, threads: assign_round_robin(partitions, threads, dialect=dialect)
    raise ValueError(f"partition.assignment.strategy {strategy!r:.80} is not one of {', '.join(STRATEGIES)}")


STRATEGIES: Final = (range_assignor.NAME, round_robin.NAME)


def _require_same_threads(threads: Threads) -> None:
    if len({frozenset(some) for some in threads.values()}) > 1:
        lines = [f"Topic {topic} has the threads {', '.join(sorted(some))}" for topic, some in sorted(threads.items())]
        text = "roundrobin needs all members of the group to subscribe to the same topics with the same number of streams for each"
        raise AssignmentImpossible("; ".join([text, *lines]))
