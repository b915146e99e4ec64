"""What must hold after each step, whatever happened (Kafka's promises, facts/coordination.md 4.7 and 8).

* `Expectations`: what a producer was told, and what a consumer saw, stays what it is.
* `ZooKeeperChecker`: one leader per epoch, epochs and controller epochs never fall, nobody joins the ISR who is no replica, a leader comes from the ISR
  before.
* `ReplicaChecker`: one leader per epoch among the brokers too; no broker goes back to an older leader or controller; a leader's
  HighWatermark never falls; below it all logs agree; a new leader has all that is committed. What is committed is what any leader's HighWatermark has passed.

The checkers stand outside of the code under test and look only at znodes, log files and what partitions say of themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pykafka_classic.cluster.partition import Partition
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.log.batch_header import iterate_headers
from pykafka_classic.log.log import Log
from tests.fakes.znode_tree import Change
from tests.simulation.cluster import SimBroker, SimCluster
from zk_schema import partition_state, topics
from zk_schema.partition_state import NO_LEADER, TopicPartitionStateZNode

# Topics that come and go: what is promised of records ends with the topic, so only the controller's part is checked.
NOT_KEPT = frozenset({"scratch", "__consumer_offsets"})


class Violation(AssertionError):
    """A promise is broken."""


def require(holds: bool, text: str) -> None:
    """Raise Violation unless it holds."""
    if not holds:
        raise Violation(text)


class Entry(NamedTuple):
    """One batch, as far as replicas must agree on it."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    crc: int


@dataclass(slots=True)
class Committed:
    """What is committed of one partition: whole batches from offset 0 on."""

    entries: list[Entry] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)  # base offset -> position in `entries`

    @property
    def end_offset(self) -> int:
        """The offset after the last."""
        return self.entries[-1].last_offset + 1 if self.entries else 0

    def append(self, entry: Entry) -> None:
        """A leader's high watermark has passed it."""
        self.index[entry.base_offset] = len(self.entries)
        self.entries.append(entry)

    def at(self, offset: int) -> Entry | None:
        """The batch that begins there."""
        position = self.index.get(offset)
        return None if position is None else self.entries[position]


class Expectations:
    """What clients rely on: at this offset lies the batch with this CRC."""

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, Committed] = {}
        self.expected: dict[TopicPartition, dict[int, tuple[int, str]]] = {}

    def of(self, topic_partition: TopicPartition) -> Committed:
        """What is committed of a partition."""
        return self.committed.setdefault(topic_partition, Committed())

    def expect(self, topic_partition: TopicPartition, offset: int, crc: int, how: str) -> None:
        """A client was told so."""
        expected = self.expected.setdefault(topic_partition, {})
        known, known_how = expected.setdefault(offset, (crc, how))
        require(known == crc, f"{topic_partition} offset {offset}: one batch was {known_how}, another is {how}")
        committed = self.of(topic_partition)
        if committed.end_offset > offset:
            entry = committed.at(offset)
            require(entry is not None and entry.crc == crc, f"{topic_partition} offset {offset}: the batch {how} is not the one committed")

    def commit(self, topic_partition: TopicPartition, entry: Entry) -> None:
        """A batch is committed."""
        crc, how = self.expected.get(topic_partition, {}).get(entry.base_offset, (entry.crc, ""))
        require(crc == entry.crc, f"{topic_partition} offset {entry.base_offset}: the batch that was {how} is lost, another one is committed there")
        self.of(topic_partition).append(entry)

    def require_complete(self) -> None:
        """At the end of a run everything that clients were told is committed."""
        for topic_partition, expected in self.expected.items():
            committed = self.of(topic_partition)
            for offset, (crc, how) in expected.items():
                entry = committed.at(offset)
                require(entry is not None and entry.crc == crc, f"{topic_partition} offset {offset}: the batch that was {how} is lost")


class ZooKeeperChecker:
    """Looks at every change of the tree, in order."""

    def __init__(self, cluster: SimCluster) -> None:
        self.leaders: dict[tuple[TopicPartition, int], int] = {}
        self.epochs: dict[TopicPartition, int] = {}
        self._zookeeper = cluster.zookeeper
        self._looked_at = 0
        self._states: dict[str, TopicPartitionStateZNode] = {}
        self._replicas: dict[str, dict[int, tuple[int, ...]]] = {}
        self._controller_epoch = 0

    def look(self) -> None:
        """Check what is new."""
        log = self._zookeeper.log
        while self._looked_at < len(log):
            change = log[self._looked_at]
            self._looked_at += 1
            if change.event in ("create", "change"):
                self._check(change)
            elif change.event == "delete":
                self._forget(change.path)

    def _check(self, change: Change) -> None:
        if change.path == "/controller_epoch":
            epoch = int(change.data or b"0")
            require(epoch in (0, self._controller_epoch + 1), f"the controller epoch went from {self._controller_epoch} to {epoch}")
            self._controller_epoch = max(self._controller_epoch, epoch)
        elif change.path.startswith("/brokers/topics/") and change.path.count("/") == 3:
            assignment = topics.decode(change.data or b"").assignment
            self._replicas[change.path.rpartition("/")[2]] = {index: each.replicas for index, each in assignment.items()}
        else:
            found = partition_state.partition_of(change.path)
            if found is not None:
                self._check_state(change.path, TopicPartition(*found), partition_state.decode(change.data))

    def _forget(self, path: str) -> None:
        """A topic is being deleted: another one of the same name begins anew."""
        found = partition_state.partition_of(path)
        if found is not None:
            topic_partition = TopicPartition(*found)
            self._states.pop(path, None)
            self.leaders = {key: leader for key, leader in self.leaders.items() if key[0] != topic_partition}

    def _check_state(self, path: str, topic_partition: TopicPartition, new: TopicPartitionStateZNode) -> None:
        old = self._states.get(path)
        require(bool(new.isr), f"{topic_partition}: nobody is in sync")
        require(new.leader in (NO_LEADER, *new.isr), f"{topic_partition}: leader {new.leader} is not in the ISR {new.isr}")
        replicas = self._replicas[topic_partition.topic][topic_partition.partition]
        # A move that overrides another writes the new replicas first, and takes those of the other move out of the ISR afterwards
        # (facts/coordination.md 3.11: U1, U3).
        leaving = () if old is None else old.isr
        require(set(new.isr) <= {*replicas, *leaving}, f"{topic_partition}: the ISR {new.isr} is not within the replicas {replicas}")
        require(
            new.controller_epoch <= self._controller_epoch, f"{topic_partition}: written under controller epoch {new.controller_epoch} before there was one"
        )
        leader = self.leaders.setdefault((topic_partition, new.leader_epoch), new.leader)
        require(leader == new.leader, f"{topic_partition}: brokers {leader} and {new.leader} lead in epoch {new.leader_epoch}")
        if old is not None:
            require(new.leader_epoch >= old.leader_epoch, f"{topic_partition}: the leader epoch fell from {old.leader_epoch} to {new.leader_epoch}")
            require(new.controller_epoch >= old.controller_epoch, f"{topic_partition}: a former controller wrote")
            require(new.leader in (NO_LEADER, *old.isr), f"{topic_partition}: leader {new.leader} was not in the ISR {old.isr}")
        self._states[path] = new
        self.epochs[topic_partition] = new.leader_epoch


@dataclass(slots=True)
class Seen:
    """What was last seen of one replica of one process."""

    verified: int = 0  # all below agrees with what is committed
    version: int = -1  # of the log: it grows when the log is cut
    leader_epoch: int = -1
    led: bool = False
    high_watermark: int = 0


class ReplicaChecker:
    """Looks at the partitions of a broker in which something has happened."""

    def __init__(self, zookeeper: ZooKeeperChecker, expectations: Expectations) -> None:
        self._zookeeper = zookeeper
        self._expectations = expectations
        self._seen: dict[tuple[int, TopicPartition], Seen] = {}
        self._leaders: dict[tuple[TopicPartition, int], int] = {}
        self._controller_epochs: dict[int, int] = {}  # by incarnation: the highest seen

    def look(self, broker: SimBroker) -> None:
        """Check all partitions of a broker."""
        parts = broker.parts
        if parts is None:
            return
        controller_epoch = parts.replica_manager.controller_epoch
        known = self._controller_epochs.get(broker.incarnation, 0)
        require(controller_epoch >= known, f"{broker.process} obeys the controller of epoch {controller_epoch} after that of epoch {known}")
        self._controller_epochs[broker.incarnation] = controller_epoch
        for partition in parts.replica_manager.partitions():
            if partition.log is not None and partition.topic_partition.topic not in NOT_KEPT:
                self._check(broker, partition, partition.log)

    def _check(self, broker: SimBroker, partition: Partition, log: Log) -> None:
        topic_partition = partition.topic_partition
        seen = self._seen.setdefault((broker.incarnation, topic_partition), Seen())
        high_watermark = log.high_watermark
        if log.version != seen.version:
            seen.version, seen.verified = log.version, 0
        leads = partition.is_leader
        text = f"{broker.process}: the leader epoch of {topic_partition} fell from {seen.leader_epoch} to {partition.leader_epoch}"
        require(partition.leader_epoch >= seen.leader_epoch, text)
        if leads and (not seen.led or partition.leader_epoch != seen.leader_epoch):
            self._elected(broker, partition, log)
        elif leads:
            require(high_watermark >= seen.high_watermark, f"{broker.process}: the high watermark of {topic_partition} fell on its leader")
        seen.led, seen.leader_epoch, seen.high_watermark = leads, partition.leader_epoch, high_watermark
        if high_watermark > seen.verified:
            self._verify(broker, partition, log, seen.verified, high_watermark)
            seen.verified = high_watermark

    def _elected(self, broker: SimBroker, partition: Partition, log: Log) -> None:
        topic_partition, epoch = partition.topic_partition, partition.leader_epoch
        leader = self._leaders.setdefault((topic_partition, epoch), broker.id)
        require(leader == broker.id, f"brokers {leader} and {broker.id} lead {topic_partition} in epoch {epoch}")
        told = self._zookeeper.leaders.get((topic_partition, epoch))
        require(told == broker.id, f"broker {broker.id} leads {topic_partition} in epoch {epoch}, of which ZooKeeper says {told}")
        committed = self._expectations.of(topic_partition)
        if epoch == self._zookeeper.epochs[topic_partition]:
            text = f"broker {broker.id} leads {topic_partition} in epoch {epoch} up to {log.log_end_offset}, but {committed.end_offset} are committed"
            require(log.log_end_offset >= committed.end_offset, text)
            self._compare(broker, topic_partition, log, (0, committed.end_offset))

    def _verify(self, broker: SimBroker, partition: Partition, log: Log, begin: int, end: int) -> None:
        committed = self._expectations.of(partition.topic_partition)
        if not partition.is_leader:
            text = f"{broker.process} follows {partition.topic_partition} with high watermark {end}, but only {committed.end_offset} are committed"
            require(end <= committed.end_offset, text)
        self._compare(broker, partition.topic_partition, log, (begin, end))

    def _compare(self, broker: SimBroker, topic_partition: TopicPartition, log: Log, offsets: tuple[int, int]) -> None:
        committed = self._expectations.of(topic_partition)
        for entry in entries_of(log, *offsets):
            if entry.base_offset >= committed.end_offset:
                self._expectations.commit(topic_partition, entry)
                continue
            found = committed.at(entry.base_offset)
            require(found == entry, f"{broker.process}: {topic_partition} offset {entry.base_offset} holds {entry}, but {found} is committed")


def entries_of(log: Log, begin: int, end: int) -> list[Entry]:
    """The batches of a log that begin in [begin, end)."""
    entries: list[Entry] = []
    offset = begin
    while offset < end:
        info = log.read(offset, max_length=1 << 20, max_offset=end, min_one_message=True, include_aborted=False)
        data = info.records.read() if info.records is not None else b""
        if not data:
            break
        for header in iterate_headers(memoryview(data)):
            if begin <= header.base_offset < end:
                entries.append(Entry(header.base_offset, header.last_offset, header.leader_epoch, header.crc))
            offset = header.last_offset + 1
    return entries
