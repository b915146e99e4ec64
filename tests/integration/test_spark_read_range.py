"""What a Spark task reads of a partition, against our brokers and one of Apache Kafka 2.8.2: the same records as librdkafka is given."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from pykafka_classic.clients import Admin, TopicPartition
from pykafka_classic.testing.cluster import LocalCluster
from spark_integration.executor.fetching import DataLoss, RangeUnreadable
from spark_integration.executor.read import read_range
from spark_integration.executor.schema import TYPES
from spark_integration.ranges import OffsetRange, ReadSettings
from tests.golden.arrow_rows import records_in
from tests.integration.apache import MixedCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Sent, create_topic, end_offsets, read_all, send
from tests.integration.test_own_clients import SHAPES

FORMATS: Final = ("0.9.0", "0.10.2")
_topics = itertools.count()


@pytest.fixture(scope="module", params=["ours", "2.8.2"])
def cluster(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    """Three brokers of ours, or one of Apache's."""
    directory = tmp_path_factory.mktemp("ranges")
    with MixedCluster(directory, [request.param] * (3 if request.param == "ours" else 1), overrides=KEEP) as running:
        yield running
        if request.param == "ours":
            assert_no_stack_traces(running)


def make(cluster: LocalCluster, **config: str) -> str:
    """A topic of one partition."""
    name = f"t{next(_topics)}"
    create_topic(cluster.bootstrap, name, partitions=1, replicas=len(cluster.ports), config={key.replace("_", "."): each for key, each in config.items()})
    return name


def settings(cluster: LocalCluster, *, isolation: str = "read_uncommitted", lenient: bool = False, timeout_ms: int = 20_000) -> ReadSettings:
    return ReadSettings(cluster.bootstrap, isolation, True, not lenient, 200_000, timeout_ms, tuple(TYPES))


def read(cluster: LocalCluster, topic: str, start: int = 0, end: int | None = None, **more: str | bool | int) -> list[tuple[int, Sent]]:
    """The records of a range (to the end of now), with their offsets."""
    end = end_offsets(cluster.bootstrap, topic)[0] if end is None else end
    return as_sent(read_range(OffsetRange(topic, 0, start, end), settings(cluster, **more)))  # type: ignore[arg-type]


def as_sent(batches: Iterable[pa.RecordBatch]) -> list[tuple[int, Sent]]:
    return [(offset, Sent(key, value, tuple(map(tuple, headers)), time)) for offset, time, key, value, headers in records_in(batches)]  # type: ignore[arg-type]


def seen_by_librdkafka(cluster: LocalCluster, topic: str, **more: str) -> list[tuple[int, Sent]]:
    return [(each.offset, each.record) for each in read_all(cluster.bootstrap, topic, **more)[0]]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_record_of_every_codec_is_read(cluster: LocalCluster, codec: str) -> None:
    topic = make(cluster)
    send(cluster.bootstrap, topic, SHAPES, compression_type=codec)
    many = [Sent(b"k%d" % number, b"v" * (number % 300), (("n", str(number)),) * (number % 3)) for number in range(3_000)]
    send(cluster.bootstrap, topic, many, compression_type=codec, batch_num_messages=700)
    found = read(cluster, topic)
    assert [record for _, record in found[: len(SHAPES)]] == list(SHAPES)
    assert found == seen_by_librdkafka(cluster, topic)
    assert read(cluster, topic, 5, 1_234) == found[5:1_234]


@pytest.mark.parametrize("version", FORMATS)
def test_old_message_formats_are_read(cluster: LocalCluster, version: str) -> None:
    topic = make(cluster, message_format_version=version)
    for codec in ("none", "gzip"):
        send(cluster.bootstrap, topic, [each for each in SHAPES if not each.headers], compression_type=codec)
    found = read(cluster, topic)
    assert len(found) == 12
    seen = seen_by_librdkafka(cluster, topic)
    if version == "0.9.0":  # which has no timestamps; librdkafka says 0
        seen = [(offset, record._replace(timestamp_ms=-1)) for offset, record in seen]
    assert found == seen
    assert read(cluster, topic, 2, 9) == found[2:9]


def test_records_that_were_deleted_are_loss_or_passed_over(cluster: LocalCluster) -> None:
    topic = make(cluster)
    send(cluster.bootstrap, topic, [Sent(None, b"%d" % number) for number in range(100)], batch_num_messages=10)
    with Admin(cluster.bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): 42}).check()
    with pytest.raises(DataLoss, match=f"offsets 7 to 41 of {topic}-0 are gone: the partition begins at offset 42"):
        read(cluster, topic, 7)
    assert [offset for offset, _ in read(cluster, topic, 7, 90, lenient=True)] == list(range(42, 90))
    assert read(cluster, topic, 7, 20, lenient=True) == []


def test_a_range_behind_the_end_is_loss(cluster: LocalCluster) -> None:
    topic = make(cluster)
    send(cluster.bootstrap, topic, [Sent(None, b"v")])
    with pytest.raises(DataLoss, match=f"offsets 1 to 4 of {topic}-0 are gone: the partition ends at offset 1"):
        read(cluster, topic, 0, 5, timeout_ms=1_000)
    with pytest.raises(DataLoss, match=f"offsets 3 to 4 of {topic}-0 are gone: the partition ends before them"):
        read(cluster, topic, 3, 5, timeout_ms=1_000)


def test_a_topic_that_is_not_there_is_loss(cluster: LocalCluster) -> None:
    with pytest.raises(DataLoss, match="offsets 0 to 4 of nowhere-0 are gone: there is no such partition any more"):
        read(cluster, "nowhere", 0, 5, timeout_ms=1_000)


def test_read_committed_shows_what_transactions_committed(cluster: LocalCluster) -> None:
    topic = make(cluster)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "radar", "linger.ms": 0})
    producer.init_transactions(DEADLINE_S)
    for number in range(6):
        producer.begin_transaction()
        for record in range(5):
            producer.produce(topic, b"%d of %d" % (record, number))
        producer.flush(DEADLINE_S)
        if number % 2:
            producer.abort_transaction(DEADLINE_S)
        else:
            producer.commit_transaction(DEADLINE_S)
        send(cluster.bootstrap, topic, [Sent(None, b"outside of all")])
    found = read(cluster, topic, isolation="read_committed")
    assert len(found) == 3 * 5 + 6
    assert found == seen_by_librdkafka(cluster, topic, isolation_level="read_committed")
    assert len(read(cluster, topic)) == 6 * 5 + 6
    end = end_offsets(cluster.bootstrap, topic)[0]
    producer.begin_transaction()
    producer.produce(topic, b"not decided")
    producer.flush(DEADLINE_S)
    with pytest.raises(RangeUnreadable, match=f"offset {end} of {topic}-0 cannot be read yet: a transaction is open there"):
        read(cluster, topic, 0, end + 1, isolation="read_committed", timeout_ms=1_000)
    producer.abort_transaction(DEADLINE_S)


def test_a_range_is_read_to_its_end_though_the_leader_dies(cluster: LocalCluster) -> None:
    if len(cluster.ports) == 1:
        pytest.skip("one broker of Apache's has nobody to follow it")
    topic = make(cluster)
    send(cluster.bootstrap, topic, [Sent(None, b"%06d" % number * 20) for number in range(30_000)], acks="all")
    batches = read_range(OffsetRange(topic, 0, 0, 30_000), settings(cluster))
    first = next(batches)
    told = cluster.metadata(0, [topic])
    assert told is not None
    leader = told.topics[0].partitions[0].leader_id
    cluster.brokers[leader].kill()
    rest = as_sent(batches)
    assert [offset for offset, _ in rest] == list(range(first.num_rows, 30_000))
    cluster.restart(leader)


def test_a_broker_that_nobody_serves_is_told_when_the_time_is_up(tmp_path: Path) -> None:
    nobody = ReadSettings("127.0.0.1:1", "read_uncommitted", False, True, 1000, 300, ("value",))
    with pytest.raises(RangeUnreadable, match=r"offset 0 of t-0 could not be read for 0.3 s; the last error: no broker at 127.0.0.1:1"):
        list(read_range(OffsetRange("t", 0, 0, 1), nobody))
