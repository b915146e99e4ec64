"""A group that an old consumer left in ZooKeeper moves to Kafka and back: real ZooKeeper, real brokers, the znodes that Kafka's own 0.8.2.2 consumer wrote."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

import pytest
from confluent_kafka import Consumer

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.client.group_offsets.values import Action, GroupIsAlive, Store
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Code, Create, GetData
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.edges.group_offsets import GroupOffsets
from pykafka_classic.testing.cluster import LocalCluster
from tests.golden.znode_dumps import dumps
from tests.integration.foreign import Sent, send

# The recorded group g while its consumers went through topic t (4 partitions).
FOLDER: Final = "consumers-0.8.2.2"
STEP: Final = "04-offsets-move"
MEMBERS_STEP: Final = "02-first-joins"
RECORDS: Final = 100


def recorded(step: str, below: str) -> dict[str, bytes | None]:
    nodes = next(dump["nodes"] for dump in dumps(FOLDER) if dump["step"] == step)
    return {node["path"]: None if node["data"] is None else node["data"].encode() for node in nodes if f"{node['path']}/".startswith(below)}


@pytest.fixture(scope="module")
def zookeeper(single_broker: LocalCluster) -> Iterator[BlockingZooKeeper]:
    """The recorded offsets are in ZooKeeper, the topics have records of a known age."""
    offsets = recorded(STEP, "/consumers/g/offsets/")
    assert offsets
    with Admin(single_broker.bootstrap) as admin:
        admin.create_topics([NewTopic("t", 4, 1)]).check()
        wait_until(lambda: len(admin.describe_topics(["t"]).values_only()) == 1, seconds=20)
    for partition in range(4):
        send(single_broker.bootstrap, "t", [Sent(None, b"v", timestamp_ms=_long_ago())] * RECORDS, partition=partition, acks="all")
    with BlockingZooKeeper(single_broker.zookeeper.address) as session:
        for path in ("/consumers", "/consumers/g", "/consumers/g/ids"):
            assert session.one(Create(path)).code in {Code.OK, Code.NODE_EXISTS}
        for path, data in sorted(offsets.items()):
            assert session.one(Create(path, data)).ok, path
        yield session


def _long_ago() -> int:
    return int(time.time() * 1000) - 3_600_000


@pytest.fixture
def offsets(single_broker: LocalCluster, zookeeper: BlockingZooKeeper) -> Iterator[GroupOffsets]:
    with GroupOffsets(single_broker.bootstrap, single_broker.zookeeper.address) as both:
        yield both


def expected_offsets() -> dict[TopicPartition, int]:
    leaves: dict[TopicPartition, int] = {}
    for path, data in recorded(STEP, "/consumers/g/offsets/").items():
        parts = path.split("/")
        if len(parts) == 6 and data is not None:
            leaves[TopicPartition(parts[4], int(parts[5]))] = int(data)
    return leaves


def test_what_the_old_consumer_left_is_read_with_its_lag(offsets: GroupOffsets) -> None:
    snapshot = offsets.read("g")
    expected = expected_offsets()
    assert {each: found.current for each, found in snapshot.partitions.items()} == expected
    assert snapshot.members == {Store.ZOOKEEPER: (), Store.KAFKA: ()}
    for partition, found in snapshot.partitions.items():
        assert found.newer is Store.ZOOKEEPER
        assert found.zookeeper is not None
        assert abs((found.zookeeper.written_ms or 0) - time.time() * 1000) < 600_000  # the znode was made by this test
        assert found.lag == RECORDS - expected[partition]
        assert found.time_lag_ms is not None
        assert 3_500_000 < found.time_lag_ms < 4_500_000 if found.lag else found.time_lag_ms == 0


def test_it_moves_to_kafka_and_back(single_broker: LocalCluster, zookeeper: BlockingZooKeeper, offsets: GroupOffsets) -> None:
    expected = expected_offsets()
    first = next(iter(expected))
    members = recorded(MEMBERS_STEP, "/consumers/g/ids/")
    (member,) = (path for path in members if path.count("/") == 4)
    with BlockingZooKeeper(single_broker.zookeeper.address) as old_consumer:
        assert old_consumer.one(Create(member, members[member], ephemeral=True)).ok
        with pytest.raises(GroupIsAlive, match="1 living member in the source"):
            offsets.migrate("g", source=Store.ZOOKEEPER)
    planned = offsets.migrate("g", source=Store.ZOOKEEPER, dry_run=True)
    assert planned.copied == expected
    assert offsets.read("g").partitions[first].kafka is None
    moved = offsets.migrate("g", source=Store.ZOOKEEPER)
    assert (moved.copied, moved.failed) == (expected, {})
    again = offsets.migrate("g", source=Store.ZOOKEEPER)
    assert {step.action for step in again.steps} == {Action.SAME}

    # The group goes on with a consumer of today, from where the old one was.
    read = read_on(single_broker.bootstrap)
    assert {(topic, partition): offset for topic, partition, offset in reversed(read)} == {
        (each.topic, each.partition): offset for each, offset in expected.items() if offset < RECORDS
    }
    snapshot = offsets.read("g")
    assert {found.lag for found in snapshot.partitions.values()} == {0}
    advanced = {each for each, offset in expected.items() if offset < RECORDS}
    assert {each for each, found in snapshot.partitions.items() if found.newer is Store.KAFKA and found.current == RECORDS} >= advanced
    repeated = offsets.migrate("g", source=Store.ZOOKEEPER)
    assert {step.partition for step in repeated.steps if step.action is Action.TARGET_NEWER} == advanced
    assert {found.lag for found in offsets.read("g").partitions.values()} == {0}  # nothing was taken back

    back = offsets.migrate("g", source=Store.KAFKA)
    assert back.copied == dict.fromkeys(advanced, RECORDS)
    assert zookeeper.one(GetData(f"/consumers/g/offsets/{first.topic}/{first.partition}")).data == str(RECORDS).encode()


def read_on(bootstrap: str) -> list[tuple[str, int, int]]:
    """Positions of what is left, read and committed as a member of group g."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "enable.auto.commit": False, "auto.offset.reset": "error", "log_level": 2})
    consumer.subscribe(["t"])
    left = sum(RECORDS - offset for offset in expected_offsets().values())
    read: list[tuple[str, int, int]] = []
    try:
        deadline = time.monotonic() + 60
        while len(read) < left and time.monotonic() < deadline:
            message = consumer.poll(1.0)
            if message is not None:
                assert message.error() is None
                topic, partition, offset = message.topic(), message.partition(), message.offset()
                assert topic is not None
                assert partition is not None
                assert offset is not None
                read.append((topic, partition, offset))
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return read


def test_while_todays_members_live_nothing_is_moved(single_broker: LocalCluster, offsets: GroupOffsets) -> None:
    consumer = Consumer({"bootstrap.servers": single_broker.bootstrap, "group.id": "g", "enable.auto.commit": False, "log_level": 2})
    consumer.subscribe(["t"])
    try:
        wait_until(lambda: consumer.poll(0.2) is None and len(consumer.assignment()) == 4, seconds=30)
        for source in Store:
            with pytest.raises(GroupIsAlive):
                offsets.migrate("g", source=source)
    finally:
        consumer.close()
