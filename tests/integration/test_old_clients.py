"""Clients of Apache Kafka 0.8.2, 0.9 and 0.10 against our broker, on topics of each message format.

| client | Produce | Fetch | writes |
|---|---|---|---|
| 0.8.2.2 | v0 | v0 | magic 0 |
| 0.9.0.1 | v1 | v1 | magic 0 |
| 0.10.2.2 | v2 | v3 | magic 1 |

Every producer writes with every codec it knows into a topic of format 0.9 (magic 0), one of 0.10 (magic 1) and one of 2.8 (magic 2); every consumer reads all
of it, 0.8.2 also over ZooKeeper, as does a client of today. So each line was converted up or down or neither on its way in, and again on its way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from pykafka_classic.protocol.schema import join_records
from pykafka_classic.records.compression import CompressionType
from pykafka_classic.records.record_batch import AnyBatch, iterate_batches
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import create_topic, read_all
from tests.integration.java_tools import JavaTools, needs_maven, tools_class_path

PRODUCERS: Final = ("0.8.2.2", "0.9.0.1", "0.10.2.2")
CODECS: Final = ("none", "gzip", "snappy", "lz4")
FORMATS: Final = {"0.9.0": 0, "0.10.0": 1, "2.8": 2}
LINES: Final = 60  # per producer and codec; as long that several blocks and batches come together
SENT: Final = [f"{version} {codec} {number:03} {'0123456789abcdef' * (number % 60)}" for version in PRODUCERS for codec in CODECS for number in range(LINES)]

pytestmark = needs_maven


def run(version: str, main_class: str, *arguments: str, stdin: str = "") -> list[str]:
    """Lines of standard output."""
    return JavaTools(tools_class_path(version)).run(main_class, *arguments, stdin=stdin).splitlines()


def topic_of(message_format: str) -> str:
    return f"format-{message_format}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """A broker to which all producers have sent all their lines, to each of the topics."""
    with LocalCluster(tmp_path_factory.mktemp("old-clients"), brokers=1) as running:
        for message_format in FORMATS:
            create_topic(running.bootstrap, topic_of(message_format), partitions=1, replicas=1, config={"message.format.version": message_format})
            for version in PRODUCERS:
                for codec in CODECS:
                    compression = () if codec == "none" else ("--compression-codec", codec)
                    lines = [line for line in SENT if line.startswith(f"{version} {codec} ")]
                    options = ("--broker-list", running.bootstrap, "--topic", topic_of(message_format), "--request-required-acks", "1", *compression)
                    run(version, "kafka.tools.ConsoleProducer", *options, stdin="\n".join(lines) + "\n")
        yield running
    assert_no_stack_traces(running)


def stored_batches(cluster: LocalCluster, topic: str) -> list[AnyBatch]:
    """What lies in the log: Fetch v11 gives it as it is."""
    found: list[AnyBatch] = []
    with BlockingClient("127.0.0.1", cluster.ports[0], client_id="old-clients") as client:
        while True:
            partition = FetchPartition(partition=0, fetch_offset=found[-1].last_offset + 1 if found else 0, partition_max_bytes=1 << 20)
            request = FetchRequest(replica_id=-1, max_wait_ms=0, max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=[partition])])
            response = client.send(request, 11)
            assert isinstance(response, FetchResponse)
            [answer] = response.responses[0].partition_responses
            if not answer.record_set:
                return found
            found += iterate_batches(join_records([answer.record_set]))


@pytest.mark.parametrize(("message_format", "magic"), FORMATS.items())
def test_the_log_holds_the_topics_format_and_the_producers_codecs(cluster: LocalCluster, message_format: str, magic: int) -> None:
    batches = stored_batches(cluster, topic_of(message_format))
    assert {batch.magic for batch in batches} == {magic}
    assert {CompressionType(batch.codec).label for batch in batches} == set(CODECS)
    assert all(batch.is_valid() for batch in batches)
    assert [(record.value or b"").decode() for batch in batches for record in batch.records()] == SENT


@pytest.mark.parametrize("message_format", FORMATS)
def test_0_8_2_reads_everything_with_its_simple_consumer(cluster: LocalCluster, message_format: str) -> None:
    options = ("--broker-list", cluster.bootstrap, "--topic", topic_of(message_format), "--partition", "0", "--offset", "-2", "--no-wait-at-logend")
    printed = run("0.8.2.2", "kafka.tools.SimpleConsumerShell", *options)
    assert printed[:-1] == SENT
    assert printed[-1].endswith(f"at offset {len(SENT)}")


@pytest.mark.parametrize("message_format", FORMATS)
def test_0_8_2_reads_everything_with_its_zookeeper_consumer(cluster: LocalCluster, message_format: str) -> None:
    options = ("--zookeeper", cluster.zookeeper.address, "--topic", topic_of(message_format), "--from-beginning", "--max-messages", str(len(SENT)))
    assert run("0.8.2.2", "kafka.tools.ConsoleConsumer", *options) == SENT


@pytest.mark.parametrize("message_format", FORMATS)
@pytest.mark.parametrize(("version", "flag"), [("0.9.0.1", "--new-consumer"), ("0.10.2.2", "--new-consumer")])
def test_0_9_and_0_10_read_everything(cluster: LocalCluster, version: str, flag: str, message_format: str) -> None:
    options = (flag, "--bootstrap-server", cluster.bootstrap, "--topic", topic_of(message_format), "--from-beginning", "--max-messages", str(len(SENT)))
    assert run(version, "kafka.tools.ConsoleConsumer", *options) == SENT


@pytest.mark.parametrize("message_format", FORMATS)
def test_a_client_of_today_reads_everything(cluster: LocalCluster, message_format: str) -> None:
    [records] = read_all(cluster.bootstrap, topic_of(message_format)).values()
    assert [(stored.record.value or b"").decode() for stored in records] == SENT
