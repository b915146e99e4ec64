"""Reading and writing the two stores: what is not there, what is garbage, what somebody else wrote meanwhile."""

from __future__ import annotations

from struct import pack

import pytest

from pykafka_classic.client.group_offsets.group_offsets import GroupOffsetsCore
from pykafka_classic.client.group_offsets.stores import OFFSETS_TOPIC, KafkaStore, ZooKeeperStore
from pykafka_classic.client.group_offsets.values import Action, GroupIsAlive, Store, StoredOffset
from pykafka_classic.common.errors import ErrorCode
from pykafka_classic.common.promise import spawn
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.protocol.api_keys import ApiKey
from pykafka_classic.protocol.codec import encode
from pykafka_classic.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from pykafka_classic.protocol.messages.fetch import FetchablePartitionResponse, FetchableTopicResponse, FetchRequest, FetchResponse
from pykafka_classic.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from pykafka_classic.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from pykafka_classic.protocol.messages.offset_commit_key import OffsetCommitKey
from pykafka_classic.protocol.messages.offset_commit_value import OffsetCommitValue
from pykafka_classic.protocol.messages.offset_fetch import OffsetFetchResponse, OffsetFetchResponsePartition, OffsetFetchResponseTopic
from pykafka_classic.records.batch_builder import build_batch
from pykafka_classic.records.record import Record
from tests.fakes.broker_connections import FakeBrokers
from tests.fakes.clock import FakeClock
from tests.fakes.zookeeper import FakeZooKeeperServer
from tests.unit.client.admin.test_topics import topic

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def zookeeper_with(clock: FakeClock | None = None, **offsets: str) -> FakeZooKeeperServer:
    server = FakeZooKeeperServer(clock)
    for name, data in offsets.items():
        server.put(f"/consumers/g/offsets/t/{name.removeprefix('p')}", data.encode())
    return server


def test_a_group_that_is_not_there_has_nothing() -> None:
    found = spawn(ZooKeeperStore(FakeZooKeeperServer().connect()).read("nobody")).result()
    assert (found.offsets, found.members, found.unreadable) == ({}, (), {})


def test_garbage_is_told_and_the_rest_is_read() -> None:
    server = zookeeper_with(p0="12", p1="twelve")
    server.put("/consumers/g/offsets/t/not-a-partition", b"1")
    found = spawn(ZooKeeperStore(server.connect()).read("g")).result()
    assert {each: stored.offset for each, stored in found.offsets.items()} == {T0: 12}
    assert list(found.unreadable) == [T1]


def test_a_write_makes_what_is_missing_and_spares_what_somebody_else_wrote() -> None:
    server = zookeeper_with(p0="1", p1="1")
    store = ZooKeeperStore(server.connect())
    before = spawn(store.read("g")).result().offsets
    other = server.connect()
    spawn(ZooKeeperStore(other).write("g", {T1: 50}, before)).result()
    failed = spawn(store.write("g", {T0: 7, T1: 8, T2: 9}, before)).result()
    assert failed == {T1: "/consumers/g/offsets/t/1 was not written: BAD_VERSION"}
    assert [server.data(f"/consumers/g/offsets/t/{number}") for number in range(3)] == [b"7", b"50", b"9"]


class Coordinator:
    """A group at a fake coordinator, with its records in __consumer_offsets."""

    def __init__(self) -> None:
        self.brokers = FakeBrokers()
        self.committed: dict[int, int] = {}
        self.members: list[str] = []
        self.records: list[Record] = []
        self.brokers.topics = [topic("t", [0, 0, 0]), topic(OFFSETS_TOPIC, [1])]
        answers = self.brokers.on
        answers[ApiKey.OFFSET_FETCH] = lambda _, __: self._fetched()
        answers[ApiKey.OFFSET_COMMIT] = lambda _, request: self._commit(request)
        answers[ApiKey.DESCRIBE_GROUPS] = lambda _, __: self._described()
        answers[ApiKey.LIST_OFFSETS] = lambda _, request: self._listed(request)
        answers[ApiKey.FETCH] = lambda _, request: self._records(request)

    def write(self, partition: int, offset: int, at_ms: int, *, group: str = "g") -> None:
        """A commit and its record."""
        key = pack(">h", 1) + encode(OffsetCommitKey(group, "t", partition), 1)
        value = pack(">h", 3) + encode(OffsetCommitValue(offset, commit_timestamp=at_ms), 3)
        self.records.append(Record(len(self.records), at_ms, key, value))
        if group == "g":
            self.committed[partition] = offset

    def forget(self, partition: int) -> None:
        """A tombstone."""
        key = pack(">h", 1) + encode(OffsetCommitKey("g", "t", partition), 1)
        self.records.append(Record(len(self.records), 0, key, None))
        del self.committed[partition]

    def _fetched(self) -> OffsetFetchResponse:
        partitions = [OffsetFetchResponsePartition(number, offset, metadata="") for number, offset in self.committed.items()]
        return OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", partitions)])

    def _commit(self, request: OffsetCommitRequest) -> OffsetCommitResponse:
        code = ErrorCode.UNKNOWN_MEMBER_ID if self.members else ErrorCode.NONE
        told = request.topics[0].partitions
        if not self.members:
            for each in told:
                self.write(each.partition_index, each.committed_offset, self.brokers.clock.now_ms())
        return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", [OffsetCommitResponsePartition(each.partition_index, code) for each in told])])

    def _described(self) -> DescribeGroupsResponse:
        members = [DescribedGroupMember(each) for each in self.members]
        return DescribeGroupsResponse(groups=[DescribedGroup(ErrorCode.NONE, "g", "Stable" if members else "Empty", "consumer", "", members)])

    def _listed(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """Partitions of t end at 100."""
        topics = [
            ListOffsetsTopicResponse(
                each.name,
                [ListOffsetsPartitionResponse(one.partition_index, offset=0 if one.timestamp == -2 else 100) for one in each.partitions],
            )
            for each in request.topics
        ]
        return ListOffsetsResponse(topics=topics)

    def _records(self, request: FetchRequest) -> FetchResponse:
        """Each record of t was written so many seconds ago as it stands before the end."""
        wanted = request.topics[0]
        start = wanted.partitions[0].fetch_offset
        now = self.brokers.clock.now_ms()
        records = self.records[start : start + 2] if wanted.topic == OFFSETS_TOPIC else [Record(start, now - 1000 * (100 - start), None, b"v")]
        end = len(self.records) if wanted.topic == OFFSETS_TOPIC else 100
        data = build_batch(records) if records else b""
        partition = FetchablePartitionResponse(wanted.partitions[0].partition, high_watermark=end, record_set=data)
        return FetchResponse(responses=[FetchableTopicResponse(wanted.topic, [partition])])


def test_commits_are_told_with_the_times_of_their_records() -> None:
    coordinator = Coordinator()
    coordinator.write(0, 5, 1000)
    coordinator.write(0, 9, 9000, group="another")
    coordinator.write(1, 6, 2000)
    coordinator.write(2, 4, 2500)
    coordinator.write(0, 7, 3000)
    coordinator.forget(2)
    coordinator.committed[1] = 99  # of a transaction whose record another replica has: its time is not known
    found = coordinator.brokers.run(KafkaStore(coordinator.brokers.admin()).read("g"))
    assert found == {T0: StoredOffset(7, 3000), T1: StoredOffset(99, None)}


def core_of(server: FakeZooKeeperServer, coordinator: Coordinator) -> GroupOffsetsCore:
    return GroupOffsetsCore(coordinator.brokers.admin(), server.connect())


def test_lag_is_told_in_records_and_in_time() -> None:
    coordinator = Coordinator()
    coordinator.write(0, 90, coordinator.brokers.clock.now_ms() + 1000)
    snapshot = coordinator.brokers.run(core_of(zookeeper_with(coordinator.brokers.clock, p0="40", p1="100"), coordinator).read("g"))
    first, second = snapshot.partitions[T0], snapshot.partitions[T1]
    assert (first.newer, first.current, first.lag, first.time_lag_ms) == (Store.KAFKA, 90, 10, 10_000)
    assert (second.newer, second.current, second.lag, second.time_lag_ms) == (Store.ZOOKEEPER, 100, 0, 0)


def test_a_migration_may_be_repeated_and_takes_nothing_back() -> None:
    coordinator = Coordinator()
    server = zookeeper_with(coordinator.brokers.clock, p0="40", p1="50")
    core, run = core_of(server, coordinator), coordinator.brokers.run
    planned = run(core.migrate("g", source=Store.ZOOKEEPER, dry_run=True))
    assert (planned.copied, coordinator.committed) == ({T0: 40, T1: 50}, {})
    coordinator.brokers.clock.advance(1000)
    assert run(core.migrate("g", source=Store.ZOOKEEPER)).copied == {T0: 40, T1: 50}
    assert coordinator.committed == {0: 40, 1: 50}
    again = run(core.migrate("g", source=Store.ZOOKEEPER))
    assert {step.action for step in again.steps} == {Action.SAME}
    coordinator.brokers.clock.advance(1000)
    coordinator.write(0, 60, coordinator.brokers.clock.now_ms())  # the group goes on in Kafka
    third = run(core.migrate("g", source=Store.ZOOKEEPER))
    assert [step.action for step in third.steps] == [Action.TARGET_NEWER, Action.SAME]
    assert coordinator.committed == {0: 60, 1: 50}
    back = run(core.migrate("g", source=Store.KAFKA))
    assert back.copied == {T0: 60}
    assert server.data("/consumers/g/offsets/t/0") == b"60"


def test_forced_although_the_group_lives_the_coordinator_has_the_last_word() -> None:
    coordinator, server = Coordinator(), zookeeper_with(p0="40")
    coordinator.members = ["m1"]
    core, run = core_of(server, coordinator), coordinator.brokers.run
    with pytest.raises(GroupIsAlive):
        run(core.migrate("g", source=Store.ZOOKEEPER))
    forced = run(core.migrate("g", source=Store.ZOOKEEPER, force=True))
    assert forced.copied == {}
    assert forced.failed == {T0: "the group has members at its coordinator, which refuses commits from outside"}
