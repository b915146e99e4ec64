"""Our own Producer and Consumer against our brokers, and against one of Apache Kafka 2.8.2: what one is true of holds for the other."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Producer as ConfluentProducer

from pykafka_classic.client.consuming.offset_lookup import FoundOffset
from pykafka_classic.clients import (
    ClientTimeout,
    Consumer,
    ConsumerRecord,
    ErrorCode,
    KafkaError,
    NoBrokers,
    NoOffset,
    Producer,
    RecordMetadata,
    TopicPartition,
)
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.apache import MixedCluster
from tests.integration.conftest import KEEP, assert_no_stack_traces
from tests.integration.foreign import Sent, create_topic, eventually, read_all, send
from tests.reading import read_on

START_MS: Final = 1_600_000_000_000
SHAPES: Final[Sequence[Sent]] = (
    Sent(b"key", b"value", (), START_MS),
    Sent(None, b"a null key", (), START_MS + 1),
    Sent(b"a null value", None, (), START_MS + 2),
    Sent(b"headers", b"v", (("name", b"value"), ("name", b"again"), ("empty", b""), ("null", None)), START_MS + 3),
    Sent(b"", b"", (), START_MS + 4),
    Sent(b"older than the first", b"v", (), START_MS - 5),
    Sent(b"big", bytes(range(256)) * 3_500, (), START_MS + 6),
)


@pytest.fixture(scope="module", params=["ours", "2.8.2"])
def cluster(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    """Three brokers of ours, or one of Apache's."""
    directory = tmp_path_factory.mktemp("own-clients")
    overrides = {**KEEP, "auto.create.topics.enable": "false"}
    with MixedCluster(directory, [request.param] * (3 if request.param == "ours" else 1), overrides=overrides) as running:
        yield running
        if request.param == "ours":
            assert_no_stack_traces(running)


def make(cluster: LocalCluster, topic: str, *, partitions: int = 3, **config: str) -> str:
    create_topic(
        cluster.bootstrap, topic, partitions=partitions, replicas=len(cluster.ports), config={key.replace("_", "."): each for key, each in config.items()}
    )
    return topic


def as_sent(record: ConsumerRecord) -> Sent:
    return Sent(record.key, record.value, tuple(tuple(header) for header in record.headers), record.timestamp)  # type: ignore[misc]  # pairs


def read(cluster: LocalCluster, topic: str, *, count: int = 0, **settings: Any) -> list[ConsumerRecord]:
    """Everything, by assignment, up to the ends of now (`count` records at least: without acks nobody knows when they are there)."""
    with Consumer(cluster.bootstrap, start="earliest", **settings) as consumer:
        partitions = consumer.partitions_of(topic)
        eventually(lambda: sum(consumer.end_offsets(partitions).values()) >= count, f"{count} records in {topic}")
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        found: list[ConsumerRecord] = []
        while any(consumer.position(each) < end for each, end in ends.items()):
            records = consumer.poll(timeout_ms=20_000)
            assert records or all(consumer.position(each) >= end for each, end in ends.items()), "nothing comes"
            found += records
    return found


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_every_record_of_every_codec_and_acks_comes_back_equal(cluster: LocalCluster, acks: int | str, codec: str) -> None:
    topic = make(cluster, f"shapes-{acks}-{codec}", partitions=1)
    with Producer(cluster.bootstrap, acks=acks, compression_type=codec, linger_ms=20) as producer:
        places = [producer.send(topic, each.value, each.key, headers=each.headers, timestamp_ms=each.timestamp_ms) for each in SHAPES]  # type: ignore[arg-type]
    assert [each.result().offset for each in places] == ([-1] * len(SHAPES) if acks == 0 else list(range(len(SHAPES))))
    assert [as_sent(each) for each in read(cluster, topic, count=len(SHAPES))] == list(SHAPES)
    assert [stored.record for stored in read_all(cluster.bootstrap, topic)[0]] == list(SHAPES)  # librdkafka's view


def test_keys_go_where_librdkafkas_murmur2_puts_them(cluster: LocalCluster) -> None:
    topic = make(cluster, "keys", partitions=7)
    keys = [f"key {number}".encode() * (number % 5 + 1) for number in range(300)]
    theirs = {stored.record.key: stored.partition for stored in send(cluster.bootstrap, topic, [Sent(key, b"") for key in keys], partitioner="murmur2_random")}
    with Producer(cluster.bootstrap, acks="all") as producer:
        ours = {key: producer.send(topic, b"", key) for key in keys}
    assert {key: future.result().partition for key, future in ours.items()} == theirs


def test_offsets_by_time_first_last_and_the_starts(cluster: LocalCluster) -> None:
    topic = make(cluster, "times", partitions=2)
    with Producer(cluster.bootstrap, acks="all") as producer:
        for number in range(20):
            producer.send(topic, str(number), partition=number % 2, timestamp_ms=START_MS + 1000 * number)
    with Consumer(cluster.bootstrap) as consumer:
        zero, one = partitions = consumer.partitions_of(topic)
        assert consumer.beginning_offsets(partitions) == {zero: 0, one: 0}
        assert consumer.end_offsets(partitions) == {zero: 10, one: 10}
        found = consumer.offsets_for_times({zero: START_MS + 3_500, one: START_MS + 99_000})
        assert found[one] is None
        assert found[zero] == FoundOffset(2, START_MS + 4_000, 0)
        assert consumer.offsets_of(f"@{START_MS + 3_500}", partitions) == {zero: 2, one: 2}
        assert consumer.offsets_of("-3", partitions) == {zero: 7, one: 7}
        assert consumer.offsets_of('{"times": {"0": -2, "1": 4}}', partitions) == {zero: 0, one: 4}
        consumer.assign(partitions)
        consumer.seek_to("-1")
        assert sorted(record.offset for record in read_on(consumer, 2)) == [9, 9]
        consumer.seek(zero, 8)
        assert [(record.partition, record.offset) for record in read_on(consumer, 2)] == [(0, 8), (0, 9)]
        consumer.seek_to_beginning(one)
        consumer.pause(one)
        assert consumer.poll(timeout_ms=1_000) == []
        consumer.resume(one)
        assert [record.offset for record in read_on(consumer, 10)] == list(range(10))


def test_an_offset_that_is_gone_is_the_reset_policys_business(cluster: LocalCluster) -> None:
    topic = make(cluster, "gone", partitions=1)
    send(cluster.bootstrap, topic, [Sent(None, b"1"), Sent(None, b"2")], acks="all")
    for policy, expected in (("earliest", [0, 1]), ("latest", [])):
        with Consumer(cluster.bootstrap, start="77", auto_offset_reset=policy) as consumer:
            consumer.assign([(topic, 0)])
            assert [record.offset for record in read_on(consumer, len(expected))] == expected
    with Consumer(cluster.bootstrap, start="77", auto_offset_reset="none") as consumer:
        consumer.assign([(topic, 0)])
        with pytest.raises(NoOffset, match="offset 77 of gone-0 is not in the log"):
            consumer.poll(timeout_ms=5_000)


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0"])
@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "snappy"])
def test_topics_in_an_old_format_are_written_and_read(cluster: LocalCluster, version: str, codec: str) -> None:
    topic = make(cluster, f"old-{version}-{codec}", partitions=1, message_format_version=version)
    sent = [Sent(f"k{number}".encode(), f"v{number}".encode() * 50) for number in range(50)]
    with Producer(cluster.bootstrap, acks="all", compression_type=codec, linger_ms=20) as producer:
        for each in sent:
            producer.send(topic, each.value, each.key)
    found = read(cluster, topic)
    assert [(record.key, record.value, record.offset) for record in found] == [(each.key, each.value, number) for number, each in enumerate(sent)]
    assert all((record.timestamp == -1) == (version == "0.9.0") for record in found)


def test_aborted_transactions_are_hidden_from_read_committed(cluster: LocalCluster) -> None:
    if len(cluster.ports) > 1:
        pytest.skip("transactions are written by librdkafka to Apache's broker here; that both read alike is what is asked")
    topic = make(cluster, "transactions", partitions=1)
    producer = ConfluentProducer({"bootstrap.servers": cluster.bootstrap, "transactional.id": "tx"})
    producer.init_transactions(30)
    for number in range(6):
        producer.begin_transaction()
        for part in range(3):
            producer.produce(topic, f"{number}.{part}".encode())
        producer.flush(30)
        send(cluster.bootstrap, topic, [Sent(None, f"plain {number}".encode())])
        if number % 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    committed = [record.value for record in read(cluster, topic, isolation_level="read_committed")]
    expected = [text.encode() for number in range(6) for text in [*(f"{number}.{part}" for part in range(3) if number % 2 == 0), f"plain {number}"]]
    assert committed == expected
    assert committed == [stored.record.value for stored in read_all(cluster.bootstrap, topic, isolation_level="read_committed")[0]]
    assert len(read(cluster, topic)) == 24
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush(30)
    with Consumer(cluster.bootstrap, isolation_level="read_committed", start="latest") as consumer:
        last = TopicPartition(topic, 0)
        stable = consumer.end_offsets([last])[last]
    with Consumer(cluster.bootstrap) as consumer:
        assert consumer.end_offsets([last])[last] == stable + 1  # the open transaction's record
    producer.abort_transaction(30)


def test_what_a_broker_refuses_is_told_in_words(cluster: LocalCluster) -> None:
    topic = make(cluster, "small-only", partitions=1, max_message_bytes="1000")
    with Producer(cluster.bootstrap, max_block_ms=1_500) as producer:
        good = producer.send(topic, b"x" * 100)
        with pytest.raises(KafkaError) as refused:
            producer.send(topic, b"x" * 5_000).result()
        assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
        with pytest.raises(KafkaError, match=r"larger than max\.request\.size"):
            producer.send(topic, b"x" * 2_000_000).result()
        with pytest.raises(KafkaError, match="there is no partition 5 of small-only, which has 1"):
            producer.send(topic, b"", partition=5).result()
        with pytest.raises(ClientTimeout, match="'not-there'"):
            producer.send("not-there", b"").result()
        with pytest.raises(KafkaError, match="'bad topic!'"):
            producer.send("bad topic!", b"").result()
        assert good.result().offset == 0
    with pytest.raises(NoBrokers, match="is a ZooKeeper server, not a broker"):
        Consumer(cluster.zookeeper.address)


def test_a_batch_that_is_too_large_for_its_topic_is_split(cluster: LocalCluster) -> None:
    topic = make(cluster, "split", partitions=1, max_message_bytes="4000")
    for idempotent in (False, True):
        with Producer(cluster.bootstrap, acks="all", enable_idempotence=idempotent, batch_size=100_000, linger_ms=50) as producer:
            futures = [producer.send(topic, f"{number:0200}") for number in range(100)]
            producer.flush()
            offsets = [each.result().offset for each in futures]
        assert offsets == list(range(offsets[0], offsets[0] + 100))
    assert [int(record.value or b"-1") for record in read(cluster, topic)] == [*range(100), *range(100)]


def test_callbacks_come_before_flush_returns_and_in_order(cluster: LocalCluster) -> None:
    topic = make(cluster, "callbacks", partitions=1)
    told: list[tuple[int, int | str]] = []

    def note(number: int, where: RecordMetadata | None, error: Exception | None) -> None:
        told.append((number, where.offset if where else str(error)))

    with Producer(cluster.bootstrap, acks="all") as producer:
        for number in range(1_000):
            producer.send(topic, str(number), on_delivery=partial(note, number))
        producer.flush()
        assert told == [(number, number) for number in range(1_000)]


def test_a_buffer_that_is_full_makes_senders_wait_and_loses_nothing(cluster: LocalCluster) -> None:
    topic = make(cluster, "full", partitions=2)
    with Producer(cluster.bootstrap, acks="all", buffer_memory=50_000, batch_size=5_000) as producer:
        threads = [threading.Thread(target=lambda: [producer.send(topic, b"x" * 100) for _ in range(3_000)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read(cluster, topic, max_poll_records=5_000)) == 9_000


def test_a_producer_that_is_open_at_exit_and_one_made_after_a_fork_lose_nothing(cluster: LocalCluster) -> None:
    topic = make(cluster, "exit", partitions=1)
    script = f"""
import os
from pykafka_classic.client.consuming.offset_lookup import FoundOffset
from pykafka_classic.clients import ClientClosed, Producer
parents = Producer({cluster.bootstrap!r}, acks="all", linger_ms=60000, request_timeout_ms=10000, compression_type="lz4", batch_size=10**6)
parents.send({topic!r}, b"parent " * 9000)
child = os.fork()
if not child:
    try:
        parents.flush()
    except ClientClosed:
        with Producer({cluster.bootstrap!r}, acks="all") as own:
            own.send({topic!r}, b"child")
    os._exit(0)
os.waitpid(child, 0)
"""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(record.value or b"" for record in read(cluster, topic)) == [b"child", b"parent " * 9000]
