"""A group under chance: members and two brokers on one fake clock, with slow and lost messages, a log that may lose what was not replicated, and coordinators
that do not know yet that they are none any more.

The coordinators are the real ones; members do what Kafka's clients do (join, sync, heartbeat, commit, leave), without sockets. What must hold is checked where
it happens, with the log as witness.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from pykafka_classic.common.config import KafkaConfig
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import Promise
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.coordinator.group import group_records
from pykafka_classic.coordinator.group.group_records import OffsetKey
from pykafka_classic.coordinator.group.service import GroupService
from pykafka_classic.coordinator.internal_topic import Appended
from pykafka_classic.records.record_batch import iterate_batches
from tests.fakes.clock import FakeClock, SeededRandom
from tests.unit.coordinator.helpers import MemoryLog

GROUP: Final = "readers"
PARTITIONS: Final = 5
DELAY_MS: Final = 40
REPLICATION_MS: Final = 60


class Broker:
    """One broker: its replica of `__consumer_offsets`-0 and its coordinator."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number
        self.epoch = -1  # the last one that it was told
        self.log_of_partition = MemoryLog()
        self.waiting: list[tuple[int, Promise[Appended], int]] = []  # offset behind the batch, its promise, its base offset
        config = replace(KafkaConfig(zookeeper_connect="none:2181"), group_initial_rebalance_delay_ms=100)
        self.groups = GroupService(config, world.clock, SeededRandom(world.random.getrandbits(32)), self)
        self.groups.store.active = True

    # the seam to the replica manager

    def partition_count(self) -> int:
        """One."""
        return 1

    def log(self, partition: int) -> Any:
        """This replica."""
        del partition
        return self.log_of_partition

    def append(self, partition: int, records: bytes, *, required_acks: int, timeout_ms: int) -> Promise[Appended]:
        """Acknowledged when the follower has it, in the log's order; never, while somebody else leads."""
        del partition, required_acks, timeout_ms
        promise: Promise[Appended] = Promise()
        if self.epoch < 0 or not self.groups.store.owned:
            promise.resolve(Appended(ErrorCode.NOT_LEADER_OR_FOLLOWER))
            return promise
        base_offset = self.log_of_partition.append(records)
        end, epoch = self.log_of_partition.log_end_offset, self.epoch
        self.waiting.append((end, promise, base_offset))
        self.world.clock.call_later(self.world.random.randrange(REPLICATION_MS), lambda: self.world.replicate(self, epoch, end))
        return promise

    def acknowledge(self, high_watermark: int) -> None:
        """Answer what is replicated."""
        done = [each for each in self.waiting if each[0] <= high_watermark]
        self.waiting = self.waiting[len(done) :]
        for _, promise, base_offset in done:
            promise.resolve(Appended(ErrorCode.NONE, base_offset))

    def resign(self, epoch: int) -> None:
        """Learn that the other one leads."""
        if epoch > self.epoch:
            self.epoch = -1
            self.groups.loader.on_resignation(0, epoch)
            lost, self.waiting = self.waiting, []
            for _, promise, _ in lost:
                promise.resolve(Appended(ErrorCode.NOT_LEADER_OR_FOLLOWER))


class World:
    """See the module. `calm`: messages are not lost any more."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.clock = FakeClock()
        self.calm = False
        self.epoch = 0
        self.high_watermark = 0
        self.brokers = [Broker(self, 0), Broker(self, 1)]
        self.leader = self.brokers[0]
        self.owners: dict[tuple[int, int], str] = {}  # (generation, partition) -> who was given it
        self.frontier = dict.fromkeys(range(PARTITIONS), 0)  # records below were processed by somebody
        self.acknowledged: list[tuple[int, int, str]] = []  # commits that a member was told to be stored: partition, offset, tag
        self._become_leader()

    # the cluster

    def replicate(self, broker: Broker, epoch: int, end: int) -> None:
        """The follower has fetched."""
        if broker is self.leader and epoch == self.epoch and end > self.high_watermark:
            self.high_watermark = end
            broker.acknowledge(end)

    def fail_over(self) -> None:
        """The other broker leads. Records that were not replicated survive, or do not; the former leader learns it later."""
        former, self.leader = self.leader, self.brokers[1 - self.leader.number]
        kept = self.random.randint(self.high_watermark, former.log_of_partition.log_end_offset)
        self.leader.log_of_partition = survivors(former.log_of_partition, kept)
        self.leader.resign(self.epoch)  # it has followed: else it would not be in sync
        self.epoch += 1
        epoch = self.epoch
        self.clock.call_later(self.random.randrange(1500), lambda: former.resign(epoch))
        self._become_leader()
        self.check_log()

    def _become_leader(self) -> None:
        self.high_watermark = self.leader.log_of_partition.log_end_offset
        self.leader.epoch = self.epoch
        self.leader.groups.loader.on_election(0, self.epoch)

    def crash(self) -> None:
        """The leader's process dies and comes back; the other one leads meanwhile."""
        self.fail_over()
        former = self.brokers[1 - self.leader.number]
        former.groups.shutdown()
        former.waiting.clear()
        self.brokers[former.number] = Broker(self, former.number)

    # the network

    def send(self, ask: Callable[[Broker], Promise[Any]], to: Broker, answered: Callable[[Any], None]) -> None:
        """Ask a broker; the answer comes late, or never."""
        if self._lost():
            return
        delay_ms = self.random.randrange(DELAY_MS)

        def arrive() -> None:
            if to is self.brokers[to.number]:  # the process that the connection went to still lives
                ask(to).when_settled(back)

        def back(outcome: Promise[Any]) -> None:
            if not self._lost():
                self.clock.call_later(self.random.randrange(DELAY_MS), lambda: answered(outcome.result()))

        self.clock.call_later(delay_ms, arrive)

    def _lost(self) -> bool:
        return not self.calm and self.random.random() < 0.02

    # what must hold

    def hand_out(self, generation: int, owner: str, partitions: list[int]) -> None:
        """The coordinator gives partitions to a member."""
        for partition in partitions:
            known = self.owners.setdefault((generation, partition), owner)
            assert known == owner, f"partition {partition} belongs to {known} and {owner} in generation {generation}"

    def check_log(self) -> None:
        """Zombies have written nothing, and nothing acknowledged is lost."""
        last: dict[int, tuple[int, int]] = {}
        found: set[tuple[int, int, str]] = set()
        for partition, offset, tag in commits_in(self.leader.log_of_partition):
            generation, incarnation = map(int, tag.split("."))
            assert (generation, incarnation) >= last.get(partition, (0, 0)), f"partition {partition}: {tag} after {last[partition]}"
            last[partition] = generation, incarnation
            found.add((partition, offset, tag))
        assert not set(self.acknowledged) - found

    def committed(self) -> dict[int, int]:
        """As the coordinator tells."""
        _, found = self.leader.groups.offsets.fetch(GROUP, [TopicPartition("t", number) for number in range(PARTITIONS)], require_stable=True)
        return {place.partition: each.offset for place, each in found.items()}


def survivors(log: MemoryLog, end: int) -> MemoryLog:
    """A replica that has the whole batches up to an offset."""
    kept = MemoryLog()
    kept.batches = [each for each in log.batches if each[0] <= end]
    kept.log_end_offset = kept.batches[-1][0] if kept.batches else 0
    return kept


def commits_in(log: MemoryLog) -> list[tuple[int, int, str]]:
    """Partition, offset and tag (the metadata) of each commit, in the log's order."""
    found = []
    for _, raw in log.batches:
        for record in next(iterate_batches(raw)).records():
            key = group_records.read_key(record.key or b"")
            if isinstance(key, OffsetKey) and record.value is not None:
                value = group_records.read_offset_value(record.value)
                found.append((key.topic_partition.partition, value.offset, value.metadata))
    return found
