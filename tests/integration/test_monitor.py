"""The monitor beside a real cluster: what it stores is what is true, and what it says of a killed leader is why."""

from __future__ import annotations

import io
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from pykafka_classic.cli.command import Console, execute
from pykafka_classic.cli.consumer_groups import TOOL
from pykafka_classic.cli.pkc.main import execute as execute_pkc
from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.common.zookeeper import Create, SetData
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.blocking_zookeeper import BlockingZooKeeper
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.monitor.reading import explain, read_timeline
from pykafka_classic.monitor.store.answers import Span
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.testing.cluster import LocalCluster
from tests.integration.monitor_process import NAME, MonitorProcess, watching

TOPIC, GROUP, OLD_GROUP = "flights", "radar", "old-radar"
PARTITION = TopicPartition(TOPIC, 0)
STEPS = 8  # of writing and committing
ROUND_MS = 1_500  # a round of questions takes less, on a busy machine too
SEEN_WITHIN_MS = 2_000


@pytest.fixture(scope="module")
def watched(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalCluster, MonitorProcess]]:
    """Three brokers with a topic, and a monitor."""
    with watching(cluster, tmp_path_factory.mktemp("monitor"), TOPIC) as monitor:
        yield cluster, monitor


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_the_store_agrees_with_the_cluster(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    reader = monitor.reader
    with Admin(cluster.bootstrap) as admin:
        told = admin.describe_topics([TOPIC]).check()[TOPIC]
        controller = admin.describe_cluster().controller
    stored = reader.partitions_at(NAME, topic=TOPIC)
    assert [(each.partition, each.leader, set(each.isr)) for each in stored] == [(each.partition, each.leader, set(each.isr)) for each in told.partitions]
    at = reader.controller_at(NAME)
    assert controller is not None and at is not None and at.broker == controller.id
    assert [(each.broker, each.alive, each.address) for each in reader.brokers_at(NAME)] == [
        (number, True, f"127.0.0.1:{port}") for number, port in enumerate(cluster.ports)
    ]
    config = reader.config_at(NAME, "broker", "0")
    assert config is not None and config.entries["replica.lag.time.max.ms"] == ("30000", "DEFAULT_CONFIG")
    assert len({each.broker for each in reader.log_dirs(NAME)}) == 3 and all(each.total for each in reader.log_dirs(NAME))


class Truth:
    """What the log's end and both commits were, from when to when: this test alone changes them. A change may be seen from its begin to its end."""

    def __init__(self, cluster: LocalCluster, zk: BlockingZooKeeper) -> None:
        self.end = self.kafka = self.zookeeper = 0
        self.changes: list[tuple[int, int, str, int]] = []  # begin, end, what, value from then on
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 0})
        self._admin = Admin(cluster.bootstrap)
        self._zk = zk

    def produce(self, count: int) -> None:
        self._change("end", self.end + count, lambda: self._produce(count))

    def _produce(self, count: int) -> None:
        for number in range(count):
            self._producer.produce(TOPIC, f'{{"n":{number}}}', partition=0)
        assert self._producer.flush(20) == 0

    def commit(self, offset: int) -> None:
        self._change("kafka", offset, lambda: self._admin.alter_group_offsets(GROUP, {PARTITION: offset}).check())

    def commit_to_zookeeper(self, offset: int) -> None:
        path = f"/consumers/{OLD_GROUP}/offsets/{TOPIC}/0"
        self._change("zookeeper", offset, lambda: self._zk.submit(SetData(path, str(offset).encode())))

    def _change(self, what: str, value: int, act: Any) -> None:
        begin = now_ms()
        act()
        self.changes.append((begin, now_ms(), what, value))
        setattr(self, what, value)

    def possible(self, what: str, from_ms: int, to_ms: int) -> set[int]:
        """Values that somebody who looked in this time may have seen; 0 at the beginning."""
        mine = [(begin, end, value) for begin, end, name, value in self.changes if name == what]
        before = [value for _, end, value in mine if end < from_ms]
        return {before[-1] if before else 0, *(value for begin, end, value in mine if begin <= to_ms and end >= from_ms)}

    def close(self) -> None:
        self._admin.close()


def described(cluster: LocalCluster, group: str) -> tuple[int, int, int]:
    """Committed offset, end and lag as kafka-consumer-groups tells them."""
    output, errors = io.StringIO(), io.StringIO()
    assert execute(TOOL, ["--bootstrap-server", cluster.bootstrap, "--describe", "--group", group], Console(io.StringIO(), output, errors)) == 0, (
        errors.getvalue()
    )
    found = re.search(rf"{group}\s+{TOPIC}\s+0\s+(\d+)\s+(\d+)\s+(\d+)", output.getvalue())
    assert found is not None, output.getvalue()
    return int(found[1]), int(found[2]), int(found[3])


def test_no_sample_of_lag_is_wrong(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    """Writing and committing in steps: every stored sample was true in its round, and quiet moments agree with kafka-consumer-groups."""
    cluster, monitor = watched
    begin_ms = now_ms()
    with BlockingZooKeeper(cluster.zookeeper.address) as zk:
        parts = f"/consumers/{OLD_GROUP}/offsets/{TOPIC}/0".split("/")[1:]
        zk.submit(*(Create("/" + "/".join(parts[: depth + 1]), b"0" if depth == len(parts) - 1 else None) for depth in range(len(parts))))
        truth = Truth(cluster, zk)
        truth.commit(0)
        for step in range(STEPS):
            truth.produce(7 + step)
            truth.commit(truth.end - step % 8)
            truth.commit_to_zookeeper(truth.end // 2)
            if step % 2:  # a quiet moment
                changed_ms = now_ms()
                wait_until(lambda at=changed_ms: _looked_after(monitor.reader, at), seconds=20)  # type: ignore[misc]
                committed, end, lag = described(cluster, GROUP)
                (stored,) = [each for each in monitor.reader.group_lag(NAME, GROUP) if each.store == "kafka"]
                assert (stored.committed, stored.committed + stored.lag, stored.lag) == (committed, end, lag)
                (old,) = monitor.reader.group_lag(NAME, OLD_GROUP)
                assert (old.store, old.committed, old.lag) == ("zookeeper", truth.zookeeper, truth.end - truth.zookeeper)
        truth.close()
    samples = [*monitor.reader.lag_history(NAME, GROUP, Span(begin_ms)), *monitor.reader.lag_history(NAME, OLD_GROUP, Span(begin_ms))]
    assert len(samples) >= STEPS
    for sample in samples:
        until_ms = sample.t_ms + ROUND_MS
        from_ms = sample.t_ms - (ROUND_MS if sample.store == "zookeeper" else 0)  # a watch has told it some time before
        assert sample.committed in truth.possible(sample.store, from_ms, until_ms), sample
        assert sample.committed + sample.lag in truth.possible("end", sample.t_ms, until_ms), sample
        if sample.lag and sample.lag_ms is not None:
            assert _was_end_ms(truth, sample.committed, sample.t_ms) - 2 * ROUND_MS <= sample.t_ms - sample.lag_ms, sample


def _looked_after(reader: StoreReader, t_ms: int) -> bool:
    """Whether two rounds have begun and ended since."""
    return reader.beat_ms() > t_ms + ROUND_MS


def _was_end_ms(truth: Truth, offset: int, until_ms: int) -> int:
    """When the log last ended at or before this offset."""
    later = [begin for begin, _, what, value in truth.changes if what == "end" and value > offset]
    return min([*later, until_ms])


def test_a_topic_can_be_asked_in_sql(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, _ = watched
    output, errors = io.StringIO(), io.StringIO()
    status = execute_pkc(
        ["sql", "-b", cluster.bootstrap, "--json", "select count(*) as n, max(n) as m from topic flights"], Console(io.StringIO(), output, errors)
    )
    assert (status, errors.getvalue()) == (0, "")
    with Admin(cluster.bootstrap) as admin:
        end = admin.list_offsets({PARTITION: -1}).check()[PARTITION].offset
    assert output.getvalue() == f'{{"n":{end},"m":13}}\n'  # the last of eight steps wrote 14 records, numbered from 0


def test_what_is_deleted_is_no_longer_told_but_was(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    reader, partition = monitor.reader, TopicPartition("passing", 0)
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic("passing", partitions=1, replication_factor=1)]).check()
        wait_until(lambda: ("passing", 0) in reader.ends_at(NAME), seconds=20)
        admin.alter_group_offsets("passers", {partition: 0, PARTITION: 1}).check()
        wait_until(lambda: len(reader.group_lag(NAME, "passers")) == 2 and any(each.group == "passers" for each in reader.groups_at(NAME)), seconds=20)
        there_ms = now_ms()
        admin.delete_topics(["passing"]).check()
        wait_until(lambda: [each.topic for each in reader.group_lag(NAME, "passers")] == [TOPIC], seconds=20)
        admin.delete_groups(["passers"]).check()
    wait_until(lambda: not any(each.group == "passers" for each in reader.groups_at(NAME)), seconds=20)
    wait_until(lambda: not any(each.group == "passers" for each in reader.lag_ranking(NAME)), seconds=20)
    wait_until(lambda: ("passing", 0) not in reader.ends_at(NAME), seconds=20)
    assert len(reader.group_lag(NAME, "passers", there_ms)) == 2
    assert ("passing", 0) in reader.ends_at(NAME, there_ms)


class Hook(BaseHTTPRequestHandler):
    """Takes the alarms' notices."""

    told: list[bytes] = []  # noqa: RUF012  # of all instances

    def do_POST(self) -> None:
        self.told.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def test_a_killed_leader_is_seen_and_explained(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    reader = monitor.reader
    wait_until(lambda: all(set(each.isr) == {0, 1, 2} for each in reader.partitions_at(NAME, topic=TOPIC)), seconds=30)
    before = reader.partitions_at(NAME, topic=TOPIC)[0]
    leader = before.leader
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "alive", "log_level": 0})
    consumer.subscribe([TOPIC])
    wait_until(lambda: bool(consumer.poll(0.2) is None and consumer.assignment()), seconds=30)
    killed_ms = now_ms()
    cluster.brokers[leader].kill()
    wait_until(lambda: any(line.name == "broker-silent" for line in read_timeline(reader, NAME, Span(killed_ms))), seconds=20)
    assert "does not answer since" in explain(reader, NAME, f"broker {leader}").sentences[0]
    _wait_until_moved(cluster, leader)
    wait_until(lambda: reader.partitions_at(NAME, topic=TOPIC)[0].leader not in (-1, leader), seconds=20)
    epoch = reader.partitions_at(NAME, topic=TOPIC)[0].leader_epoch
    wait_until(lambda: len(_steps(reader, killed_ms, epoch, "leader-and-isr-applied")) == 2, seconds=20)
    consumer.close()
    _assert_seen_soon(reader, killed_ms)
    (ended,) = [place for place, line in enumerate(_of(reader, killed_ms)) if line.name == "session-ended" and f"broker {leader}" in line.subjects]
    (elected,), (written,) = (_steps(reader, killed_ms, epoch, name) for name in ("leader-elected", "state-written"))
    (moved,) = [place for place, line in enumerate(_of(reader, killed_ms)) if line.name == "leader-moved"]
    sent, applied = (_steps(reader, killed_ms, epoch, name) for name in ("leader-and-isr-sent", "leader-and-isr-applied"))
    assert ended < elected < written < moved < min(sent)
    assert min(sent) < min(applied)  # the controller may send a state twice
    told = explain(reader, NAME, f"{TOPIC}-0").sentences
    session = next(each.session for each in reader.brokers_at(NAME) if each.broker == leader)
    isr = reader.partitions_at(NAME, topic=TOPIC)[0].isr
    assert re.fullmatch(
        rf"ISR of {TOPIC}-0 is \[{isr[0]},{isr[1]}\] since [\d:]+: broker {leader} is gone: its session {session} expired at [\d:]+\.", told[0]
    ), told
    assert f"broker {leader} led before, and its session {session} expired" in told[1]
    assert explain(reader, NAME, f"{TOPIC}-0", killed_ms).well  # as it was
    assert reader.partitions_at(NAME, killed_ms, topic=TOPIC)[0] == before
    cluster.restart(leader)
    wait_until(lambda: explain(reader, NAME, f"{TOPIC}-0").sentences[0].startswith("Broker"), seconds=40)


def _assert_seen_soon(reader: StoreReader, killed_ms: int) -> None:
    """By the times in the store: how long this test took to look does not matter."""
    (silent_ms, *_) = [line.t_ms for line in read_timeline(reader, NAME, Span(killed_ms)) if line.name == "broker-silent"]
    late_ms = [change.seen_ms - change.t_ms for change in reader.znode_changes(NAME, Span(killed_ms))]
    assert silent_ms - killed_ms < SEEN_WITHIN_MS
    assert late_ms and max(late_ms) < SEEN_WITHIN_MS


def _steps(reader: StoreReader, since_ms: int, epoch: int, name: str) -> list[int]:
    """The places in the timeline of what was told of this partition and leader epoch."""
    lines = _of(reader, since_ms)
    return [place for place, line in enumerate(lines) if line.name == name and line.facts.get("leader_epoch") == epoch and f"{TOPIC}-0" in line.subjects]


def _of(reader: StoreReader, since_ms: int) -> list[Any]:
    return list(read_timeline(reader, NAME, Span(since_ms), subject=f"{TOPIC}-0"))


def _wait_until_moved(cluster: LocalCluster, leader: int) -> None:
    """As a broker tells it that lives."""
    other = next(number for number in range(3) if number != leader)

    def moved() -> bool:
        told = cluster.metadata(other, [TOPIC])
        return told is not None and bool(told.topics) and told.topics[0].partitions[0].leader_id not in (-1, leader)

    wait_until(moved, seconds=40)


def test_pkc_why_asks_the_monitor_or_looks_for_itself(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    store = ["--store", str(monitor.store)]
    for words in (store, ["-b", cluster.bootstrap], [*store, "-b", cluster.bootstrap], [*store, "-z", cluster.zookeeper.address]):
        output, errors = io.StringIO(), io.StringIO()
        assert execute_pkc(["why", f"{TOPIC}-0", *words], Console(io.StringIO(), output, errors)) == 0, errors.getvalue()
        assert re.match(rf"Broker \d leads {TOPIC}-0 since [\d:]+ \(leader epoch \d+, controller epoch \d+\)", output.getvalue()), output.getvalue()
        assert ("No monitor watches" in errors.getvalue()) == (words[0] == "-b")
    for words, sentence in (
        (["nonsense-7", *store], "There is no partition nonsense-7, as far as is known.\n"),
        ([f"{TOPIC}-0", *store, "-b", "127.0.0.1:1"], f"The monitor of {monitor.store} has not watched this cluster; --cluster says which one is meant.\n"),
    ):
        errors = io.StringIO()
        assert execute_pkc(["why", *words], Console(io.StringIO(), io.StringIO(), errors)) == 1
        assert errors.getvalue() == sentence


def test_a_monitor_that_is_killed_goes_on_where_it_was(watched: tuple[LocalCluster, MonitorProcess]) -> None:
    cluster, monitor = watched
    reader = monitor.reader
    changes = reader.latest(NAME)
    monitor.kill()
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic("made-meanwhile", partitions=1, replication_factor=1)]).check()
    connection = sqlite3.connect(monitor.store)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    started_ms = now_ms()
    monitor.start()
    wait_until(lambda: reader.beat_ms() > started_ms and any(each.topic == "made-meanwhile" for each in reader.topics_at(NAME)), seconds=30)
    assert reader.gaps()[-1].to_ms >= started_ms
    lines = read_timeline(reader, NAME, Span(started_ms - 60_000), subject="topic made-meanwhile")
    assert [line.name for line in lines if line.name == "topic-created"] == ["topic-created"]
    assert all(new >= old for new, old in zip(reader.latest(NAME), changes, strict=True))
    nodes = [change.path for change in reader.znode_changes(NAME, Span(limit=100_000)) if change.kind.name == "CREATED"]
    assert len([path for path in nodes if path == "/brokers/topics/made-meanwhile"]) == 1


def test_alarms_are_told_to_a_webhook_and_end(watched: tuple[LocalCluster, MonitorProcess], tmp_path: Path) -> None:
    cluster, _ = watched
    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    settings = {
        "alarm.webhook.url": f"http://127.0.0.1:{server.server_port}/",
        "alarm.group.lag.records": "3",
        "alarm.clear.after.ms": "500",
        "alarm.disk.used.percent": "101",
    }
    monitor = MonitorProcess(tmp_path / "alarms", cluster, events=False, settings=settings)
    monitor.start()
    try:
        reader = monitor.wait_watching()
        with Admin(cluster.bootstrap) as admin:
            end = admin.list_offsets({PARTITION: -1}).check()[PARTITION].offset
            admin.alter_group_offsets(GROUP, {PARTITION: end - 4}).check()
            wait_until(lambda: any(b'"raised"' in body and b"group radar" in body for body in Hook.told), seconds=15)
            assert [each.rule for each in reader.alarms(NAME, only_on=True) if each.subject == f"group {GROUP}"] == ["group-lag-records"]
            admin.alter_group_offsets(GROUP, {PARTITION: end}).check()
        wait_until(lambda: any(b'"cleared"' in body and b"group radar" in body for body in Hook.told), seconds=15)
        assert all(each.cleared_ms for each in reader.alarms(NAME) if each.subject == f"group {GROUP}")
    finally:
        monitor.stop()
        server.shutdown()
        thread.join()
        server.server_close()
