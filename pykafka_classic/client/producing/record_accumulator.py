"""Where records wait: for each partition a queue of batches, the last of them open; and a second queue of those that must be sent again.

A partition's batch is due when it is full or has waited `linger_ms`; when another waits behind it; when somebody flushes. A batch that must be sent again
goes before all others and alone, after `retry_backoff_ms`.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterator

from pykafka_classic.client.producing.delivery import Batch, Delivery
from pykafka_classic.client.producing.producer_identity import PartitionSequences
from pykafka_classic.client.producing.producer_settings import ProducerSettings
from pykafka_classic.common.topic_partition import TopicPartition

NEVER = float("inf")


class PartitionQueue:
    """The batches of one partition that are not settled."""

    def __init__(self, partition: TopicPartition, settings: ProducerSettings) -> None:
        self.partition = partition
        self.waiting: deque[Batch] = deque()
        self.retries: list[Batch] = []  # in the order of their sequences
        self.in_flight: list[Batch] = []
        self.active = False  # whether the sender looks at it
        self.node_id = -1  # whom those in flight were sent to
        self.sequences = PartitionSequences()
        self.not_before_ms = 0.0  # retries wait so long
        self._settings = settings
        self._alone = settings.max_in_flight_requests_per_connection == 1

    def add(self, record: Delivery, now_ms: float) -> bool:
        """Into the open batch; True where a batch was closed for it, or became full."""
        batch = self.waiting[-1] if self.waiting else None
        opened = batch is None or (batch.size + record.size > self._settings.batch_size)
        if batch is None or opened:
            batch = Batch(self.partition, now_ms)
            self.waiting.append(batch)
        batch.add(record)
        return len(self.waiting) > 1 or batch.size >= self._settings.batch_size

    def would_open(self, record: Delivery) -> bool:
        """Whether `add` would make a new batch beside one that is full: then a sticky partitioner goes elsewhere."""
        return bool(self.waiting) and self.waiting[-1].size + record.size > self._settings.batch_size

    def due_ms(self, *, flushing: bool) -> float:
        """When its next batch may be sent (`monotonic_ms`); NEVER where nothing waits, or something else must end first."""
        if self.retries:
            return NEVER if self.in_flight else self.not_before_ms
        if not self.waiting or (self.in_flight and (self._alone or self.sequences.must_wait)):
            return NEVER
        first = self.waiting[0]
        if flushing or len(self.waiting) > 1 or first.size >= self._settings.batch_size:
            return 0.0
        return first.created_ms + self._settings.linger_ms

    def take(self, node_id: int) -> Batch:
        """The next batch, which is on its way to this broker from now on. Only when it is due."""
        batch = self.retries.pop(0) if self.retries else self.waiting.popleft()
        self.node_id = node_id
        self.in_flight.append(batch)
        return batch

    def next_size(self) -> int:
        """Bytes of what `take` would give."""
        return (self.retries[0] if self.retries else self.waiting[0]).size

    def again(self, batch: Batch, not_before_ms: float) -> None:
        """A batch that came back without success."""
        insort(self.retries, batch, key=lambda each: each.base_sequence)
        self.not_before_ms = not_before_ms

    def is_oldest(self, batch: Batch) -> bool:
        """Whether no other batch on its way has an earlier sequence."""
        return all(each.base_sequence >= batch.base_sequence for each in (*self.in_flight, *self.retries) if each.producer == batch.producer)

    def expired(self, now_ms: float) -> list[Batch]:
        """Takes out what has waited longer than `delivery_timeout_ms`."""
        limit_ms = now_ms - self._settings.delivery_timeout_ms
        found = [batch for batch in self.retries if batch.created_ms <= limit_ms]
        self.retries = [batch for batch in self.retries if batch.created_ms > limit_ms]
        while self.waiting and self.waiting[0].created_ms <= limit_ms:
            found.append(self.waiting.popleft())
        return found

    def oldest_ms(self) -> float:
        """When its oldest batch that is not in flight was made; NEVER where there is none."""
        return min((batch.created_ms for batch in (*self.retries, *list(self.waiting)[:1])), default=NEVER)

    def __iter__(self) -> Iterator[Batch]:
        return iter((*self.in_flight, *self.retries, *self.waiting))

    def __bool__(self) -> bool:
        return bool(self.in_flight or self.retries or self.waiting)
