"""What is known of a group's offsets in both stores, and what became of a migration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pykafka_classic.common.topic_partition import TopicPartition


class Store(Enum):
    """Where a group keeps its offsets."""

    ZOOKEEPER = "zookeeper"
    KAFKA = "kafka"

    @property
    def other(self) -> Store:
        """The other one."""
        return Store.KAFKA if self is Store.ZOOKEEPER else Store.ZOOKEEPER


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """An offset in one store: of the next record to read."""

    offset: int
    written_ms: int | None  # when it was written; None: not known
    metadata: str = ""  # Kafka's note of the consumer; ZooKeeper keeps none
    version: int = 0  # of the znode


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """One partition of a group.

    Attributes:
        zookeeper, kafka: what each store holds.
        log_start, log_end: the first offset that is there, and the next to be readable; None where the cluster does not know the partition.
        time_lag_ms: how long the first unread record has been waiting; 0 where all is read, None where the record has no time or is gone.
    """

    zookeeper: StoredOffset | None = None
    kafka: StoredOffset | None = None
    log_start: int | None = None
    log_end: int | None = None
    time_lag_ms: int | None = None

    def of(self, store: Store) -> StoredOffset | None:
        """What that store holds."""
        return self.zookeeper if store is Store.ZOOKEEPER else self.kafka

    @property
    def newer(self) -> Store | None:
        """The store that was written later, or that alone has an offset; None where that cannot be said: no offset, the same time, a time not known."""
        if self.zookeeper is None or self.kafka is None:
            return Store.ZOOKEEPER if self.zookeeper else Store.KAFKA if self.kafka else None
        times = self.zookeeper.written_ms, self.kafka.written_ms
        if times[0] is None or times[1] is None or times[0] == times[1]:
            return None
        return Store.ZOOKEEPER if times[0] > times[1] else Store.KAFKA

    @property
    def current(self) -> int | None:
        """The newer offset. Where neither is newer: the smaller one, for what is read twice does less harm than what is never read."""
        newer = self.newer
        if newer is not None:
            found = self.of(newer)
            return None if found is None else found.offset
        return min((each.offset for each in (self.zookeeper, self.kafka) if each is not None), default=None)

    @property
    def lag(self) -> int | None:
        """Records that can be read and were not; None where an end is not known. What retention has deleted counts no more."""
        current = self.current
        if current is None or self.log_end is None:
            return None
        return max(0, self.log_end - max(current, self.log_start or 0))

    @property
    def is_gone(self) -> bool:
        """True where the next record to read has been deleted, or never was: auto.offset.reset would decide."""
        current = self.current
        if current is None or self.log_start is None or self.log_end is None:
            return False
        return not self.log_start <= current <= self.log_end


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """A group in both stores, as it was read.

    Attributes:
        zookeeper_members: consumer ids in /consumers/G/ids, whichever store they commit to.
        kafka_members: member ids at the coordinator.
        unreadable: znodes that hold no offset, with the reason.
    """

    group: str
    partitions: Mapping[TopicPartition, PartitionOffsets]
    zookeeper_members: tuple[str, ...] = ()
    kafka_members: tuple[str, ...] = ()
    unreadable: Mapping[TopicPartition, str] = field(default_factory=dict)

    @property
    def members(self) -> Mapping[Store, tuple[str, ...]]:
        """The members of each generation."""
        return {Store.ZOOKEEPER: self.zookeeper_members, Store.KAFKA: self.kafka_members}


class Action(Enum):
    """What a migration does with a partition, or why it does nothing."""

    COPY = "copy"
    SAME = "both stores have this offset"
    TARGET_NEWER = "the target was written later"
    TIME_UNKNOWN = "it is not known which was written later"
    UNREADABLE = "the source holds no offset"


@dataclass(frozen=True, slots=True)
class Step:
    """One partition of a migration.

    Attributes:
        before: the target's offset until now.
        failed: why the copy did not succeed; None where it did, or was not tried.
    """

    partition: TopicPartition
    action: Action
    source: StoredOffset | None
    before: StoredOffset | None
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did or, in a dry run, would do."""

    group: str
    source: Store
    dry_run: bool
    steps: tuple[Step, ...]

    @property
    def copied(self) -> dict[TopicPartition, int]:
        """The offsets that the target has now; in a dry run, would have."""
        return {step.partition: step.source.offset for step in self.steps if step.action is Action.COPY and step.source and step.failed is None}

    @property
    def failed(self) -> dict[TopicPartition, str]:
        """What could not be written, and why. The migration may be run again."""
        return {step.partition: step.failed for step in self.steps if step.failed is not None}


class GroupIsAlive(Exception):
    """A migration was refused, for the group has members that go on committing; the text is for the user."""


class OffsetsUnavailable(Exception):
    """A store could not be read; the text is for the user."""
