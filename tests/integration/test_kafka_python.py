"""kafka-python 3 against three brokers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pytest

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.foreign import DEADLINE_S, eventually

with warnings.catch_warnings():  # its own use of what Python will drop one day
    warnings.simplefilter("ignore")
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import NewTopic

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

START_MS: Final = 1_600_000_000_000

SHAPES: Final[list[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]]] = [
    (b"key", b"value", []),
    (None, b"a null key", []),
    (b"a null value", None, []),
    (b"headers", b"v", [("name", b"value"), ("name", b"again"), ("empty", b"")]),
    (b"", b"", []),
    (b"big", bytes(range(256)) * 3500, []),
]


@pytest.fixture(scope="module")
def admin(cluster: LocalCluster) -> Iterator[Any]:
    with closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as client:
        yield client


def make_topic(cluster: LocalCluster, admin: Any, name: str) -> None:
    admin.create_topics([NewTopic(name, 3, 3)])

    def led() -> bool:
        answers = [cluster.metadata(number, [name]) for number in range(3)]
        return all(answer is not None and [len(partition.isr_nodes) for partition in answer.topics[0].partitions] == [3, 3, 3] for answer in answers)

    eventually(led, f"all replicas of {name} in sync")


def read(cluster: LocalCluster, topic: str, count: int, **settings: Any) -> list[Any]:
    """So many records, by assignment of all partitions, from the beginning."""
    found: list[Any] = []
    with closing(KafkaConsumer(bootstrap_servers=cluster.bootstrap, auto_offset_reset="earliest", enable_auto_commit=False, **settings)) as consumer:
        consumer.assign([TopicPartition(topic, number) for number in range(3)])

        def enough() -> bool:
            for records in consumer.poll(500).values():
                found.extend(records)
            return len(found) >= count

        eventually(enough, f"{count} records; {len(found)} came")
    return sorted(found, key=lambda record: record.timestamp)


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_record_of_every_codec_and_acks_comes_back_equal(cluster: LocalCluster, admin: Any, acks: int | str, codec: str | None) -> None:
    topic = f"python-{acks}-{codec}"
    make_topic(cluster, admin, topic)
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap, acks=acks, compression_type=codec, enable_idempotence=False)) as producer:
        futures = [producer.send(topic, value, key, headers, number % 3, START_MS + number) for number, (key, value, headers) in enumerate(SHAPES)]
        for future in futures:
            future.get(DEADLINE_S)
    found = read(cluster, topic, len(SHAPES))
    assert [(record.key, record.value, list(record.headers)) for record in found] == SHAPES


def test_an_idempotent_producer_keeps_each_record_once_and_in_order(cluster: LocalCluster, admin: Any) -> None:
    make_topic(cluster, admin, "python-idempotent")
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap, enable_idempotence=True)) as producer:
        for future in [producer.send("python-idempotent", str(number).encode(), partition=0) for number in range(500)]:
            future.get(DEADLINE_S)
    found = sorted(read(cluster, "python-idempotent", 500), key=lambda record: record.offset)
    assert [int(record.value) for record in found] == list(range(500))


def test_a_group_consumes_everything_commits_and_goes_on_from_there(cluster: LocalCluster, admin: Any) -> None:
    make_topic(cluster, admin, "python-grouped")
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap)) as producer:
        for future in [producer.send("python-grouped", str(number).encode(), partition=number % 3) for number in range(90)]:
            future.get(DEADLINE_S)
        first = consume_as_group(cluster, 90)
        producer.send("python-grouped", b"later").get(DEADLINE_S)
        second = consume_as_group(cluster, 1)
    assert sorted(map(int, first)) == list(range(90))
    assert second == [b"later"]


def consume_as_group(cluster: LocalCluster, count: int) -> list[bytes]:
    """Join, read so many values, commit, leave."""
    found: list[bytes] = []
    settings = {"group_id": "python-readers", "auto_offset_reset": "earliest", "enable_auto_commit": False}
    with closing(KafkaConsumer("python-grouped", bootstrap_servers=cluster.bootstrap, **settings)) as consumer:

        def enough() -> bool:
            for records in consumer.poll(500).values():
                found.extend(record.value for record in records)
            return len(found) >= count

        eventually(enough, f"{count} records of the group")
        consumer.commit()
    return found


def test_offsets_are_found_by_time_and_at_both_ends(cluster: LocalCluster, admin: Any) -> None:
    make_topic(cluster, admin, "python-times")
    place = TopicPartition("python-times", 0)
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap)) as producer:
        for number in range(20):
            producer.send("python-times", b"v", partition=0, timestamp_ms=START_MS + 10 * number).get(DEADLINE_S)
    with closing(KafkaConsumer(bootstrap_servers=cluster.bootstrap)) as consumer:
        found = consumer.offsets_for_times({place: START_MS + 55})[place]
        assert (found.offset, found.timestamp) == (6, START_MS + 60)
        assert consumer.beginning_offsets([place]) == {place: 0}
        assert consumer.end_offsets([place]) == {place: 20}


def test_topics_are_listed_described_and_deleted(cluster: LocalCluster, admin: Any) -> None:
    make_topic(cluster, admin, "python-deleted")
    assert "python-deleted" in set(admin.list_topics())
    [described] = admin.describe_topics(["python-deleted"])
    assert len(described["partitions"]) == 3
    admin.delete_topics(["python-deleted"])
    eventually(lambda: "python-deleted" not in set(admin.list_topics()), "the topic is gone")
