"""What a stream is to its group: the seam, and the way without membership."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pykafka_classic.common.errors import KafkaError
from pykafka_classic.common.topic_partition import TopicPartition
from spark_integration.cluster import Cluster


class CommitRefused(Exception):
    """The group has gone on without this member: what it did will be done again by another."""


class CommitLater(Exception):
    """Not stored now; it may be tried again, and the next commit stores it too."""


class Membership(Protocol):
    """A place in a group. Methods may wait; all are called by one thread at a time."""

    @property
    def epoch(self) -> int:
        """The number of the assignment that stands, or stood last; never waits."""
        ...

    def assignment(self) -> tuple[int, frozenset[TopicPartition] | None]:
        """What is to be read now (None: everything), with a number that changes whenever it was given anew. Waits while the group rebalances.

        Raises CannotPlan where the membership has ended for good.
        """
        ...

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store. CommitRefused, CommitLater, CannotPlan."""
        ...

    def batch_began(self) -> None:
        """Partitions are not to be given up until `batch_ended`."""
        ...

    def batch_ended(self) -> None:
        """They may be."""
        ...

    def close(self) -> None:
        """Leave."""
        ...


class NoMembership:
    """Everything is read; offsets are committed from outside, which works while the group has no members."""

    epoch = 0

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def assignment(self) -> tuple[int, frozenset[TopicPartition] | None]:
        """Everything."""
        return 0, None

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """See the seam."""
        if self._cluster.options.group is None:
            return
        try:
            self._cluster.commit(offsets)
        except KafkaError as error:
            if error.code.retriable:
                raise CommitLater(str(error)) from error
            raise

    def batch_began(self) -> None:
        """Nothing."""

    batch_ended = close = batch_began
