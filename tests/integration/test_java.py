"""Apache Kafka 2.8.2's own console tools and clients (Java). Runs where Maven is installed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import Sent, create_topic, eventually, read_all, send
from tests.integration.java_tools import JavaTools, needs_maven, tools_class_path

pytestmark = needs_maven


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path_factory.mktemp("java"), brokers=3, overrides={"delete.topic.enable": "true"}) as running:
        yield running
    assert_no_stack_traces(running)


@pytest.fixture(scope="module")
def tools() -> JavaTools:
    return JavaTools(tools_class_path("2.8.2"))


def test_what_the_console_producer_sends_the_console_consumer_reads(cluster: LocalCluster, tools: JavaTools) -> None:
    create_topic(cluster.bootstrap, "console")
    lines = [f"line {number} äöü" for number in range(200)]
    tools.run(
        "kafka.tools.ConsoleProducer",
        "--bootstrap-server",
        cluster.bootstrap,
        "--topic",
        "console",
        "--request-required-acks",
        "all",
        stdin="\n".join(lines) + "\n",
    )
    read = tools.run("kafka.tools.ConsoleConsumer", "--bootstrap-server", cluster.bootstrap, "--topic", "console", "--from-beginning", "--max-messages", "200")
    assert sorted(read.splitlines()) == sorted(lines)
    stored = [record.record.value for records in read_all(cluster.bootstrap, "console").values() for record in records]
    assert sorted(stored, key=lambda value: value or b"") == sorted(line.encode() for line in lines)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_java_and_librdkafka_read_each_others_compressed_records(cluster: LocalCluster, tools: JavaTools, codec: str) -> None:
    topic = f"java-{codec}"
    create_topic(cluster.bootstrap, topic, partitions=1)
    send(cluster.bootstrap, topic, [Sent(None, b"from librdkafka " * 20)] * 50, acks="all", compression_codec=codec)
    tools.run(
        "kafka.tools.ConsoleProducer",
        "--bootstrap-server",
        cluster.bootstrap,
        "--topic",
        topic,
        "--compression-codec",
        codec,
        stdin=("from Java " * 20 + "\n") * 50,
    )
    expected = ["from librdkafka " * 20] * 50 + ["from Java " * 20] * 50
    read = tools.run("kafka.tools.ConsoleConsumer", "--bootstrap-server", cluster.bootstrap, "--topic", topic, "--from-beginning", "--max-messages", "100")
    assert read.splitlines() == expected
    assert [(stored.record.value or b"").decode() for stored in read_all(cluster.bootstrap, topic)[0]] == expected


def test_topics_are_made_described_listed_and_deleted_through_a_broker(cluster: LocalCluster, tools: JavaTools) -> None:
    where = ("--bootstrap-server", cluster.bootstrap)
    made = tools.topics(*where, "--create", "--topic", "by-broker", "--partitions", "3", "--replication-factor", "3", "--config", "retention.ms=3600000")
    assert "Created topic by-broker." in made
    described = tools.topics(*where, "--describe", "--topic", "by-broker")
    assert "PartitionCount: 3\tReplicationFactor: 3\t" in described and "retention.ms=3600000" in described
    assert described.count("\tIsr: ") == 3
    assert "by-broker" in tools.topics(*where, "--list").splitlines()
    tools.topics(*where, "--delete", "--topic", "by-broker")
    eventually(lambda: "by-broker" not in tools.topics(*where, "--list").splitlines(), "the topic is gone")


def test_topics_are_made_described_listed_and_deleted_through_zookeeper(cluster: LocalCluster, tools: JavaTools) -> None:
    where = ("--zookeeper", cluster.zookeeper.address)
    assert "Created topic by-zookeeper." in tools.topics(*where, "--create", "--topic", "by-zookeeper", "--partitions", "2", "--replication-factor", "3")
    described = tools.topics(*where, "--describe", "--topic", "by-zookeeper")
    assert "PartitionCount: 2\tReplicationFactor: 3\t" in described and described.count("\tLeader: ") == 2 and "Leader: none" not in described
    assert "by-zookeeper" in tools.topics(*where, "--list").splitlines()
    send(cluster.bootstrap, "by-zookeeper", [Sent(None, b"v")] * 10, acks="all")
    tools.topics(*where, "--delete", "--topic", "by-zookeeper")
    eventually(lambda: "by-zookeeper" not in tools.topics(*where, "--list").splitlines(), "the topic is gone")


def test_the_console_consumer_reads_as_a_group_and_the_group_is_described(cluster: LocalCluster, tools: JavaTools) -> None:
    create_topic(cluster.bootstrap, "java-grouped")
    send(cluster.bootstrap, "java-grouped", [Sent(None, str(number).encode()) for number in range(100)], acks="all")
    options = ("--bootstrap-server", cluster.bootstrap, "--topic", "java-grouped", "--group", "java-readers", "--max-messages", "100")
    read = tools.run("kafka.tools.ConsoleConsumer", *options, "--consumer-property", "auto.offset.reset=earliest")
    assert sorted(map(int, read.splitlines())) == list(range(100))
    described = tools.run("kafka.admin.ConsumerGroupCommand", "--bootstrap-server", cluster.bootstrap, "--describe", "--group", "java-readers")
    rows = [line.split() for line in described.splitlines() if line.startswith("java-readers")]
    # A row for each partition with a commit: the last poll may come before the others' positions are known.
    assert rows and sum(int(row[3]) for row in rows) == 100 and {row[5] for row in rows} == {"0"}


def test_an_idempotent_java_producer_goes_on_with_the_performance_tool(cluster: LocalCluster, tools: JavaTools) -> None:
    create_topic(cluster.bootstrap, "performance")
    properties = ("acks=all", "enable.idempotence=true", f"bootstrap.servers={cluster.bootstrap}")
    told = tools.run(
        "org.apache.kafka.tools.ProducerPerformance",
        "--topic",
        "performance",
        "--num-records",
        "20000",
        "--record-size",
        "100",
        "--throughput",
        "-1",
        "--producer-props",
        *properties,
    )
    assert "20000 records sent" in told
    assert sum(map(len, read_all(cluster.bootstrap, "performance").values())) == 20_000


def test_replicas_move_between_log_dirs_as_kafkas_tools_ask(tmp_path: Path, tools: JavaTools) -> None:
    dirs = [str(tmp_path / "one"), str(tmp_path / "two")]
    with LocalCluster(tmp_path, brokers=1, overrides={"log.dirs": ",".join(dirs)}) as cluster:
        create_topic(cluster.bootstrap, "moving", partitions=1, replicas=1)
        send(cluster.bootstrap, "moving", [Sent(None, str(number).encode()) for number in range(500)], acks="all")
        before = log_dirs_of(tools, cluster, "moving")
        [(here, size)] = [(path, size) for path, size in before.items() if size]
        [there] = set(dirs) - {here}
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps({"version": 1, "partitions": [{"topic": "moving", "partition": 0, "replicas": [0], "log_dirs": [there]}]}))
        where = ("--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", str(plan))
        assert "Successfully started log directory move for: moving-0-0" in tools.run("kafka.admin.ReassignPartitionsCommand", *where, "--execute")
        done = "Reassignment of replica moving-0-0 completed successfully."
        eventually(lambda: done in tools.run("kafka.admin.ReassignPartitionsCommand", *where, "--verify"), "the move is done")
        assert log_dirs_of(tools, cluster, "moving") == {here: 0, there: size}
        read = [int(stored.record.value or b"-1") for stored in read_all(cluster.bootstrap, "moving")[0]]
        assert read == list(range(500))
    assert_no_stack_traces(cluster)


def log_dirs_of(tools: JavaTools, cluster: LocalCluster, topic: str) -> dict[str, int]:
    """Bytes of a topic by log dir, as kafka-log-dirs tells."""
    told = tools.run("kafka.admin.LogDirsCommand", "--bootstrap-server", cluster.bootstrap, "--describe", "--topic-list", topic)
    described = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    [broker] = described["brokers"]
    assert [each["error"] for each in broker["logDirs"]] == [None, None]
    return {each["logDir"]: sum(partition["size"] for partition in each["partitions"]) for each in broker["logDirs"]}


def test_kafkas_dump_log_has_no_complaint_about_our_files(cluster: LocalCluster, tools: JavaTools) -> None:
    create_topic(cluster.bootstrap, "dumped", partitions=1, config={"segment.bytes": "100000", "index.interval.bytes": "1000"})
    noise = random.Random(28)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        records = [Sent(str(number).encode(), noise.randbytes(1000), (("h", b"v"),)) for number in range(200)]
        send(cluster.bootstrap, "dumped", records, acks="all", compression_codec=codec, enable_idempotence=True, batch_num_messages=20)
    folder = cluster.brokers[0].directory / "data" / "dumped-0"
    *closed, active = sorted(folder.glob("*.log"))
    assert len(closed) > 5, "the topic has several segments"
    indexes = [log.with_suffix(suffix) for log in closed for suffix in (".index", ".timeindex")]
    files = ",".join(map(str, [*closed, *indexes, active]))  # not the active segment's indexes: the tool dies on preallocated ones
    told = tools.run("kafka.tools.DumpLogSegments", "--deep-iteration", "--files", files)
    assert "isvalid: true" in told.lower() and "isvalid: false" not in told.lower()
    assert not [
        line for line in told.splitlines() if "mismatch" in line.lower() or "corrupt" in line.lower() or "Indexed offset" in line or "out of order" in line
    ]
    assert told.count("| offset: ") == 1000
