"""The monitor beside Apache Kafka 2.8.2, which tells nothing itself: what ZooKeeper and the protocol show is enough. Skipped without its jars."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.request import urlopen

from confluent_kafka import Consumer

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.monitor.reading import explain, read_timeline
from pykafka_classic.monitor.store.answers import Span
from tests.integration.apache import MixedCluster
from tests.integration.foreign import Sent, send
from tests.integration.monitor_process import NAME, MonitorProcess

TOPIC = "flights"
PAGES = (
    *("", "/topics", "/topics/flights", "/topics/flights/partitions/0", "/messages?topic=flights&partition=0", "/brokers", "/brokers/0", "/groups"),
    *("/groups/radar", "/zookeeper", "/zookeeper?path=/brokers/topics/flights", "/timeline", "/alarms", "/sql", "/screen"),
)
PARTITION = TopicPartition(TOPIC, 0)


def test_a_cluster_of_apaches_is_watched_and_a_killed_broker_explained(tmp_path: Path) -> None:
    with MixedCluster(tmp_path, ["2.8.2", "2.8.2"], overrides={"log.retention.ms": "-1"}) as cluster, Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic(TOPIC, assignment={0: [0, 1]})]).check()
        send(cluster.bootstrap, TOPIC, [Sent(None, b"v", timestamp_ms=1_600_000_000_000) for _ in range(10)], partition=0)
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "radar", "auto.offset.reset": "earliest", "enable.auto.commit": False})
        consumer.subscribe([TOPIC])
        wait_until(lambda: consumer.poll(0.2) is not None, seconds=60)
        consumer.commit(asynchronous=False)
        monitor = MonitorProcess(tmp_path / "monitor", cluster, events=False)
        monitor.start()
        try:
            reader = monitor.wait_watching(seconds=60)
            wait_until(lambda: bool(reader.group_lag(NAME, "radar")), seconds=20)
            committed = admin.list_group_offsets("radar")[PARTITION].offset
            (lag,) = reader.group_lag(NAME, "radar")
            assert (lag.committed, lag.lag) == (committed, 10 - committed)
            (group,) = reader.groups_at(NAME)
            assert (group.state, [member.partitions for member in group.members]) == ("Stable", [((TOPIC, 0),)])
            assert reader.partitions_at(NAME, topic=TOPIC)[0].isr == (0, 1)
            for path in PAGES:
                with urlopen(f"{monitor.address.rstrip('/')}/c/{NAME}{path}", timeout=20) as page:
                    assert (page.status, b"</html>" in page.read()) == (200, True), path
            consumer.close()
            cluster.brokers[1].kill()
            wait_until(lambda: reader.partitions_at(NAME, topic=TOPIC)[0].isr == (0,), seconds=60)
            told = explain(reader, NAME, f"{TOPIC}-0").sentences
            gone = r"broker 1 is gone: its session 0x[0-9a-f]+ ended \(it expired, or the broker was stopped\) at [\d:]+"
            assert re.fullmatch(rf"ISR of {TOPIC}-0 is \[0\] since [\d:]+: {gone}\.", told[0]), told
            names = [line.name for line in read_timeline(reader, NAME, Span(), subject="broker 1")]
            assert names.index("broker-silent") < names.index("session-ended") < names.index("broker-left")
        finally:
            monitor.stop()
        assert "Traceback" not in monitor.output()
