"""Apache Kafka 2.8.2 on directories that we wrote, and we on those that it wrote: kafka-dump-log, its broker, its cleaner. Fetched by Maven; skipped without.

Broker 0 of a cluster is Apache's and ours by turns, on one and the same log dir; each has to find every record where the other left it.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from confluent_kafka import Consumer, TopicPartition
from kazoo.client import KazooClient

from pykafka_classic.edges.processes import BrokerProcess, require_java
from pykafka_classic.records.record import Record
from pykafka_classic.records.record_batch import iterate_batches
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.apache import ApacheBroker, class_path
from tests.integration.conftest import assert_no_stack_traces
from tests.integration.foreign import DEADLINE_S, Load, Sent, assert_nothing_lost, collect, create_topic, eventually, send
from tests.integration.log_directories import Directory, Row, Topic, write_all, write_more_compacted
from tests.integration.witness import Witness
from zk_schema import configs, topics
from zk_schema.topics import ReplicaAssignment, TopicZNode

VERSION: Final = "2.8.2"
RUN_S: Final = 120
CLEANER: Final = {"log.cleaner.backoff.ms": "200", "log.cleaner.dedupe.buffer.size": "4000000", "log.cleaner.threads": "1"}
OVERRIDES: Final = {"zookeeper.session.timeout.ms": "3000", "offsets.topic.num.partitions": "1", "log.cleaner.enable": "false"}


@pytest.fixture(scope="module", autouse=True)
def jars() -> str:
    """Apache Kafka 2.8.2, or a skip that says why there is none."""
    return class_path(VERSION)


# kafka-dump-log


def test_kafka_dump_log_has_no_complaint_about_any_file_that_we_write(tmp_path: Path, jars: str) -> None:
    directory = write_all(tmp_path / "data")
    directory.stop()
    files = [path for path in sorted((tmp_path / "data").rglob("*")) if path.suffix in (".log", ".snapshot", ".txnindex") and path.stat().st_size]
    # Of the old formats Kafka's tool complains about Kafka's own indexes too (facts: golden/logs), so there is nothing to be learnt from them.
    indexes = [path for path in sorted((tmp_path / "data").rglob("*index")) if path.stat().st_size and not {"magic-0", "magic-1"} & named(path)]
    assert len(files) > 200 and len(indexes) > 100
    told = dump(jars, [*files, *(path for path in indexes if path.suffix != ".txnindex")])
    assert "isvalid: false" not in told.lower()
    complaints = ("mismatch", "corrupt", "out of order", "Indexed offset", "Exception", "exceeds", "invalid bytes")
    assert not [line for line in told.splitlines() if any(word.lower() in line.lower() for word in complaints)]
    expected = sum(len(topic.uncommitted) for topic in directory.topics.values() if not topic.compacted)
    assert sum(told.count(f"| offset: {number} ") for number in range(300)) >= expected


def named(path: Path) -> set[str]:
    """The format in the topic's name."""
    return {word for word in ("magic-0", "magic-1") if word in path.parent.name}


def dump(jars: str, files: list[Path]) -> str:
    command = [require_java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", jars, "kafka.tools.DumpLogSegments", "--deep-iteration", "--files"]
    done = subprocess.run([*command, ",".join(map(str, files))], capture_output=True, text=True, timeout=RUN_S, check=False)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    return done.stdout


# Brokers

TURNS: Final = ("apache", "ours", "apache", "ours")


@contextlib.contextmanager
def zookeeper_and_ports(tmp_path: Path) -> Iterator[LocalCluster]:
    """A cluster of which only ZooKeeper runs."""
    cluster = LocalCluster(tmp_path, brokers=1, overrides=OVERRIDES)
    try:
        cluster.start_zookeeper()
        yield cluster
    finally:
        cluster.kill()


def register(cluster: LocalCluster, directory: Directory) -> None:
    """What ZooKeeper must know of the topics in a log dir; the controller does the rest."""
    client = KazooClient(cluster.zookeeper.address)
    client.start(timeout=DEADLINE_S)
    for topic in directory.topics.values():
        client.create(configs.topic_path(topic.name), configs.encode(topic.config), makepath=True)
        client.create(topics.path(topic.name), topics.encode(TopicZNode(None, {0: ReplicaAssignment((0,))})), makepath=True)
    client.stop()
    client.close()


class Turns:
    """Broker 0, Apache's or ours."""

    def __init__(self, cluster: LocalCluster, directory: Directory, *, cleanly: bool) -> None:
        self._cluster = cluster
        self._directory = directory
        self._cleanly = cleanly
        self._ours = cluster.brokers[0]

    @contextlib.contextmanager
    def broker(self, kind: str) -> Iterator[BrokerProcess]:
        """It serves all topics; ends cleanly or by SIGKILL."""
        properties = self._cluster._properties(self._ours.directory.parent, 0, OVERRIDES)
        apaches = ApacheBroker(class_path(VERSION), self._ours.directory.parent / "apache", properties)
        with Witness(self._cluster.zookeeper.address) as witness:  # Apache's broker does not wait for the end of its predecessor's session
            eventually(lambda: witness.session_of(0) == 0, "the killed broker's session has ended")
        broker: BrokerProcess = self._ours if kind == "ours" else apaches  # type: ignore[assignment]  # used in the same way
        broker.start()
        try:
            broker.wait_started()
            eventually(self._all_led, f"{kind}: all topics led", seconds=60)
            yield broker
            if self._cleanly:
                assert broker.stop() in (0, 143)  # Java's way to say that SIGTERM ended it, in order
        finally:
            broker.kill()

    def _all_led(self) -> bool:
        told = self._cluster.metadata(0, list(self._directory.topics))
        return told is not None and all(not topic.error_code and topic.partitions and topic.partitions[0].leader_id == 0 for topic in told.topics)


def check_all(bootstrap: str, directory: Directory) -> None:
    """Every topic holds what it should."""
    for topic in directory.topics.values():
        for isolation in ("read_uncommitted", "read_committed"):
            found = read(bootstrap, topic.name, isolation)
            expected = topic.uncommitted if isolation == "read_uncommitted" else topic.committed
            if not topic.compacted:
                assert found == expected, f"{topic.name}, {isolation}"
                continue
            assert set(found) <= set(expected), f"{topic.name}, {isolation}"
            newest = {row[2]: row for row in found}
            if isolation == "read_committed" or not topic.hidden:
                assert newest == topic.newest(), f"{topic.name}, {isolation}"


def read(bootstrap: str, topic: str, isolation: str) -> list[Row]:
    """All records from the log start on."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "reads-all", "enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 20}
    consumer = Consumer(settings | {"isolation.level": isolation, "check.crcs": True})
    low, _ = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=DEADLINE_S)
    consumer.assign([TopicPartition(topic, 0, low)])
    try:
        found = collect(consumer, waiting_for={0}).get(0, [])
    finally:
        consumer.close()
    return [(one.offset, one.record.timestamp_ms or 0, one.record.key, one.record.value) for one in found]


def one_more(bootstrap: str, directory: Directory, text: str) -> None:
    """A record more in each topic, where the log ended."""
    for topic in directory.topics.values():
        key, value = b"key-0", f"{text} {topic.name}".encode()
        [stored] = send(bootstrap, topic.name, [Sent(key, value)], acks="all")
        assert stored.offset == topic.end, topic.name
        topic.uncommitted.append((topic.end, 0 if "magic-0" in topic.name else stored.record.timestamp_ms or 0, key, value))
        if topic.name == "transactional":
            topic.hidden.add(topic.end)  # behind the transaction that is open
        topic.end += 1


@pytest.mark.parametrize("cleanly", [True, False], ids=["stopped", "killed"])
def test_apaches_broker_and_ours_take_turns_on_one_log_dir(tmp_path: Path, cleanly: bool) -> None:
    with zookeeper_and_ports(tmp_path) as cluster:
        directory = write_all(tmp_path / "broker-0" / "data")
        if cleanly:
            directory.stop()
        else:
            directory.kill()
        register(cluster, directory)
        turns = Turns(cluster, directory, cleanly=cleanly)
        load = Load(cluster.bootstrap, "under-load", partitions=1, per_second=200, message_timeout_ms=300_000, max_in_flight_requests_per_connection=1)
        with contextlib.ExitStack() as loading:
            for number, kind in enumerate(TURNS):
                with turns.broker(kind) as broker:
                    if number == 0:
                        create_topic(cluster.bootstrap, "under-load", partitions=1, replicas=1, config={"segment.bytes": "50000"})
                        loading.enter_context(load)
                    check_all(cluster.bootstrap, directory)
                    one_more(cluster.bootstrap, directory, f"turn {number}")
                    check_all(cluster.bootstrap, directory)
                    load.wait_for_more(100)
                    assert ("Recovering unflushed segment" in broker.output()) == (not cleanly)
                    if number == len(TURNS) - 1:
                        loading.close()
                        assert_nothing_lost(load, cluster.bootstrap, "under-load")
        assert load.failed == []
        assert_no_stack_traces(cluster)


# The cleaner


def test_our_cleaner_leaves_what_apaches_leaves_and_again_in_a_second_pass(tmp_path: Path) -> None:
    with zookeeper_and_ports(tmp_path) as cluster:
        apaches, ours = tmp_path / "broker-0" / "data", tmp_path / "ours"
        directory = write_all(apaches, compacted=False)
        directory.stop()
        shutil.copytree(apaches, ours, copy_function=shutil.copy2)  # with the times: tombstones go by them
        register(cluster, directory)
        compacted = [topic for topic in directory.topics.values() if topic.compacted]
        clean_by_both(cluster, apaches, ours, compacted)
        first = {topic.name: batches(ours, topic) for topic in compacted}
        for path in (apaches, ours):  # now tombstones and markers that were kept before may go
            more = Directory(path, [Topic(topic.name, topic.config, end=topic.end) for topic in compacted])
            more.now_ms = directory.now_ms + 1000
            write_more_compacted(more)
            more.stop()
        clean_by_both(cluster, apaches, ours, compacted)
        assert all(batches(ours, topic) != first[topic.name] for topic in compacted)
        assert None in values(first["compacted-tombstones"])
        assert None not in values(batches(ours, directory.topics["compacted-tombstones"]))


def values(found: list[tuple[object, ...]]) -> list[bytes | None]:
    """Of the records in what `batches` found."""
    return [record.value for one in found for record in cast("list[Record]", one[-1])]


def clean_by_both(cluster: LocalCluster, apaches: Path, ours: Path, compacted: list[Topic]) -> None:
    """Each cleaner its copy; both leave the same."""
    again = Directory(ours, compacted)
    again.compact()
    again.stop()
    clean_by_apache(cluster, apaches, compacted)
    for topic in compacted:
        assert batches(ours, topic) == batches(apaches, topic), topic.name
        assert files(ours, topic, ".txnindex") == files(apaches, topic, ".txnindex"), topic.name
        if topic.name.endswith(("none", "transactional", "tombstones")):
            assert files(ours, topic, ".log") == files(apaches, topic, ".log"), topic.name


def clean_by_apache(cluster: LocalCluster, data: Path, compacted: list[Topic]) -> None:
    properties = {**cluster._properties(data.parent.parent, 0, OVERRIDES), **CLEANER, "log.cleaner.enable": "true"}
    broker = ApacheBroker(class_path(VERSION), data.parent.parent / "apache", properties)
    broker.start()
    try:
        broker.wait_started()
        eventually(lambda: cleaned_up_to(data) == {topic.name: active_base(data, topic) for topic in compacted}, "all cleaned by Apache's", seconds=90)
        assert broker.stop() in (0, 143)
    finally:
        broker.kill()


def cleaned_up_to(data: Path) -> dict[str, int]:
    """Apache's cleaner-offset-checkpoint."""
    path = data / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    return {topic: int(offset) for topic, _, offset in map(str.split, lines) if not topic.startswith("__")}


def active_base(data: Path, topic: Topic) -> int:
    return max(int(path.stem) for path in (data / f"{topic.name}-0").glob("*.log"))


def files(data: Path, topic: Topic, suffix: str) -> list[bytes]:
    """The files of one kind that hold anything, in order."""
    return [content for path in sorted((data / f"{topic.name}-0").glob(f"*{suffix}")) if (content := path.read_bytes())]


def batches(data: Path, topic: Topic) -> list[tuple[object, ...]]:
    """Every batch with its header's fields and its records. Only the order of the log counts, not in which segment something lies."""
    return [
        (one.base_offset, one.last_offset, one.magic, one.codec, one.producer_id, one.base_sequence, one.is_control, one.max_timestamp, list(one.records()))
        for content in files(data, topic, ".log")
        for one in iterate_batches(content)
    ]
