"""librdkafka (confluent-kafka) against three brokers: every record comes back as it went."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import DEADLINE_S, Sent, Stored, as_stored, create_topic, end_offsets, eventually, read_all, send

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
START_MS: Final = 1_600_000_000_000

ALL_SHAPES: Final = [
    Sent(b"key", b"value", (), START_MS),
    Sent(None, b"a null key", (), START_MS + 1),
    Sent(b"a null value", None, (), START_MS + 2),
    Sent(None, None, (), START_MS + 3),
    Sent(b"", b"", (), START_MS + 4),
    Sent(b"with headers", b"v", (("name", b"value"), ("name", b"again"), ("empty", b""), ("null", None), ("umlaut \xe4", b"\x00\xff")), START_MS + 5),
    Sent(bytes(range(256)), bytes(range(256)) * 40, (), START_MS + 6),
]


def numbered(count: int, size: int = 100) -> list[Sent]:
    return [Sent(f"key-{number % 17}".encode(), f"{number} ".encode().ljust(size, b"."), (), START_MS + number) for number in range(count)]


def records_of(stored: Iterable[Stored]) -> list[Sent]:
    return sorted((record.record for record in stored), key=lambda record: record.timestamp_ms or 0)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_record_of_every_codec_and_acks_comes_back_equal(cluster: LocalCluster, acks: str, codec: str) -> None:
    topic = f"records-{acks}-{codec}"
    create_topic(cluster.bootstrap, topic)
    records = [*ALL_SHAPES, *(record._replace(timestamp_ms=(record.timestamp_ms or 0) + 100) for record in numbered(500))]
    send(cluster.bootstrap, topic, records, acks=acks, compression_codec=codec)
    eventually(lambda: sum(end_offsets(cluster.bootstrap, topic).values()) == len(records), "all records below the high watermarks")
    assert records_of(itertools.chain(*read_all(cluster.bootstrap, topic).values())) == records


def test_offsets_told_to_the_producer_are_those_that_the_consumer_sees(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "offsets-told")
    told = send(cluster.bootstrap, "offsets-told", numbered(1000), acks="all")
    read = list(itertools.chain(*read_all(cluster.bootstrap, "offsets-told").values()))
    assert {(stored.partition, stored.offset, stored.record.value) for stored in read} == {
        (stored.partition, stored.offset, stored.record.value) for stored in told
    }
    assert len(read) == 1000


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_records_of_900_kilobytes_come_back_equal(cluster: LocalCluster, codec: str) -> None:
    topic = f"big-{codec}"
    create_topic(cluster.bootstrap, topic)
    records = [Sent(b"big", bytes([number, *range(250)]) * 3600, (), START_MS + number) for number in range(8)]
    send(cluster.bootstrap, topic, records, acks="all", compression_codec=codec)
    assert records_of(itertools.chain(*read_all(cluster.bootstrap, topic).values())) == records


def test_a_record_larger_than_the_topic_allows_is_refused(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "small-only", config={"max.message.bytes": "10000"})
    with pytest.raises(AssertionError, match="MSG_SIZE_TOO_LARGE"):
        send(cluster.bootstrap, "small-only", [Sent(None, b"x" * 20_000)], acks="all")
    assert read_all(cluster.bootstrap, "small-only") == {}


def test_an_idempotent_producer_keeps_each_record_once_and_in_order(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "idempotent")
    records = numbered(5000)
    send(cluster.bootstrap, "idempotent", records, partition=1, enable_idempotence=True)
    assert [stored.record for stored in read_all(cluster.bootstrap, "idempotent")[1]] == records


def test_replicas_of_a_partition_hold_the_same_bytes(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "same-bytes", partitions=1)
    send(cluster.bootstrap, "same-bytes", numbered(3000), acks="all", compression_codec="zstd")
    logs = [broker.directory / "data" / "same-bytes-0" / "00000000000000000000.log" for broker in cluster.brokers]
    assert len({log.read_bytes() for log in logs}) == 1
    assert logs[0].stat().st_size > 10_000


def test_a_group_consumes_everything_commits_and_goes_on_from_there(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "grouped")
    send(cluster.bootstrap, "grouped", numbered(300), acks="all")
    first = consume_as_group(cluster.bootstrap, "grouped", 300)
    send(cluster.bootstrap, "grouped", [Sent(b"k", b"later", (), START_MS)], acks="all")
    second = consume_as_group(cluster.bootstrap, "grouped", 1)
    assert records_of(first) == numbered(300)
    assert [stored.record.value for stored in second] == [b"later"]


def consume_as_group(bootstrap: str, topic: str, count: int) -> list[Stored]:
    """Join, read so many records, commit, leave."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "readers", "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([topic])
    found: list[Stored] = []

    def enough() -> bool:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(as_stored(message))
        return len(found) >= count

    try:
        eventually(enough, f"{count} records of the group")
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()
    return found


def test_two_members_of_a_group_share_the_partitions(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "shared")
    members = [Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "sharers", "session.timeout.ms": 6000}) for _ in range(2)]
    try:
        for member in members:
            member.subscribe(["shared"])

        def shared_out() -> bool:
            for member in members:
                member.poll(0.1)
            sizes = sorted(len(member.assignment()) for member in members)
            return sizes == [1, 2]

        eventually(shared_out, "one member with one partition, the other with two")
    finally:
        for member in members:
            member.close()


def test_offsets_are_found_by_time(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "by-time", partitions=1)
    send(cluster.bootstrap, "by-time", numbered(100), acks="all")
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "asks-only"})
    try:
        found = [consumer.offsets_for_times([TopicPartition("by-time", 0, START_MS + shift)], timeout=DEADLINE_S)[0].offset for shift in (-5, 0, 42, 99, 100)]
    finally:
        consumer.close()
    assert found == [0, 0, 42, 99, -1]


def test_a_topic_appears_by_itself_when_somebody_produces_to_it(cluster: LocalCluster) -> None:
    send(cluster.bootstrap, "made-by-producing", numbered(10), acks="1")
    assert len(read_all(cluster.bootstrap, "made-by-producing")[0]) == 10


def test_topics_are_described_with_leaders_spread_and_replicas_on_all_brokers(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "described")
    told = AdminClient({"bootstrap.servers": cluster.bootstrap}).list_topics(timeout=DEADLINE_S)
    partitions = told.topics["described"].partitions
    assert {partition.leader for partition in partitions.values()} == {0, 1, 2}
    assert all(sorted(partition.replicas) == sorted(partition.isrs) == [0, 1, 2] for partition in partitions.values())
    assert {broker.port for broker in told.brokers.values()} == set(cluster.ports)


def test_creating_a_topic_twice_is_refused(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "once")
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        create_topic(cluster.bootstrap, "once")


def test_a_deleted_topic_is_gone_from_every_broker(cluster: LocalCluster) -> None:
    create_topic(cluster.bootstrap, "deleted")
    send(cluster.bootstrap, "deleted", numbered(10), acks="all")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.delete_topics(["deleted"], operation_timeout=DEADLINE_S)["deleted"].result(DEADLINE_S)

    def gone() -> bool:
        answers = [cluster.metadata(number) for number in range(3)]
        return all(answer is not None and all(topic.name != "deleted" for topic in answer.topics) for answer in answers)

    eventually(gone, "no broker tells of the topic")
