"""Work that has to wait for other threads, one piece after the other per partition.

While an append of a partition is looked at in a thread, those behind it must not overtake: offsets go by order of arrival, and so do an idempotent producer's
sequence numbers. Partitions without a queue cost one look into an empty dictionary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from pykafka_classic.common.promise import Promise, spawn
from pykafka_classic.common.topic_partition import TopicPartition

T = TypeVar("T")


class Turns(Generic[T]):
    """Queues by partition.

    Invariant: a partition has a queue exactly while work of it is under way. How long it may grow is bounded by who asks: a connection has at most
    PIPELINED_PRODUCE_MAX requests in progress.
    """

    def __init__(self) -> None:
        self._queues: dict[TopicPartition, deque[tuple[Callable[[], Coroutine[Any, None, T]], Promise[T]]]] = {}

    def is_busy(self, topic_partition: TopicPartition) -> bool:
        """Is there work that others have to wait for?"""
        return topic_partition in self._queues

    def take(self, topic_partition: TopicPartition, work: Callable[[], Coroutine[Any, None, T]]) -> Promise[T]:
        """Do `work` when all that was asked before for this partition is done; its outcome."""
        outcome: Promise[T] = Promise()
        queue = self._queues.get(topic_partition)
        if queue is not None:
            queue.append((work, outcome))
            return outcome
        self._queues[topic_partition] = deque([(work, outcome)])
        spawn(self._go_through(topic_partition))
        return outcome

    async def _go_through(self, topic_partition: TopicPartition) -> None:
        queue = self._queues[topic_partition]
        while queue:
            work, outcome = queue[0]
            try:
                value = await work()
            except Exception as error:  # noqa: BLE001  # whatever it is belongs to who waits for the outcome
                queue.popleft()
                outcome.fail(error)
            else:
                queue.popleft()
                outcome.resolve(value)
        del self._queues[topic_partition]
