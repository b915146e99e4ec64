"""A rebalance listener that calls the user's functions, by name; how they are called is the face's matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition

Told: TypeAlias = Callable[[tuple[TopicPartition, ...]], Any]


class ToldListener:
    """Implements `rebalance.RebalanceListener`. `told` has the functions for assigned, revoked and lost; None for one that nobody wants."""

    def __init__(self, told: Mapping[str, Told | None]) -> None:
        self._told = told

    def assigned(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """New ones."""
        return self._tell("assigned", partitions)

    def revoked(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """About to be given up."""
        return self._tell("revoked", partitions)

    def lost(self, partitions: Sequence[TopicPartition]) -> Promise[None]:
        """Others' already; as in Kafka, `on_revoked` hears of it where there is no `on_lost`."""
        return self._tell("lost" if self._told["lost"] is not None else "revoked", partitions)

    def _tell(self, name: str, partitions: Sequence[TopicPartition]) -> Promise[None]:
        told = self._told[name]
        return Promise.resolved(None) if told is None else self.call(told, tuple(partitions))

    def call(self, told: Told, partitions: tuple[TopicPartition, ...]) -> Promise[None]:
        """Call it where it belongs; settled when it has returned, failed with what it raised."""
        raise NotImplementedError
