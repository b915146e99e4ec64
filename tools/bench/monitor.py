"""What the monitor costs: `python tools/bench/monitor.py [topics] [groups] [clusters]`: by default 200 topics of 10 partitions and 100 groups in one cluster.

The monitor runs as a process of its own, beside a cluster into which records come for every partition in each interval, so that nothing is ever as it was. Its
CPU time and memory are the kernel's figures for the process, from the second round on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import confluent_kafka

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.common.topic_partition import TopicPartition
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import wait_until
from pykafka_classic.monitor.store.connections import StoreMissing
from pykafka_classic.monitor.store.queries import UnknownCluster
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.testing.cluster import LocalCluster

PARTITIONS = 10
INTERVAL_S = 5.0
MEASURED_S = 60.0
TICKS = os.sysconf("SC_CLK_TCK")


def fill(cluster: LocalCluster, topics: int, groups: int) -> None:
    """Topics, and groups that have each committed for two of them."""
    with Admin(cluster.bootstrap) as admin:
        for begin in range(0, topics, 50):
            wanted = [NewTopic(f"topic-{number}", partitions=PARTITIONS, replication_factor=1) for number in range(begin, min(begin + 50, topics))]
            admin.create_topics(wanted).check()
        for number in range(groups):
            mine = [TopicPartition(f"topic-{(2 * number + each) % topics}", partition) for each in (0, 1) for partition in range(PARTITIONS)]
            admin.alter_group_offsets(f"group-{number}", dict.fromkeys(mine, 0)).check()


def keep_writing(cluster: LocalCluster, topics: int, stop: threading.Event) -> None:
    """A record into each partition, again and again."""
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 100, "log_level": 0})
    while not stop.is_set():
        began = time.monotonic()
        for topic in range(topics):
            for partition in range(PARTITIONS):
                producer.produce(f"topic-{topic}", b"x" * 100, partition=partition)
            producer.poll(0)
        producer.flush(INTERVAL_S)
        stop.wait(max(0.0, INTERVAL_S - (time.monotonic() - began)))


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid: int) -> float:
    """Memory at its largest."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def has_lag(store: Path, name: str) -> bool:
    """Whether a round is in the store."""
    try:
        return bool(StoreReader(store).lag_ranking(name))
    except (StoreMissing, UnknownCluster):
        return False


def measure(folder: Path, clusters: list[LocalCluster]) -> None:
    """Run the monitor, and say what it took."""
    names = [f"c{number}" for number in range(len(clusters))]
    lines = [f"clusters={','.join(names)}", f"data.dir={folder}/data", f"interval.ms={INTERVAL_S * 1000:.0f}", "port=0"]
    lines += [f"{name}.zookeeper.connect={cluster.zookeeper.address}" for name, cluster in zip(names, clusters, strict=True)]
    config = folder / "monitor.properties"
    config.write_text("\n".join(lines))
    process = subprocess.Popen([sys.executable, "-m", "pykafka_classic.cli.eagle", "start", str(config)], env={**os.environ, "LOG_DIR": str(folder)})
    try:
        store = folder / "data" / "monitor.db"
        wait_until(lambda: all(has_lag(store, name) for name in names), seconds=60)
        begin_cpu, begin = cpu_s(process.pid), time.monotonic()
        time.sleep(MEASURED_S)
        used, passed = cpu_s(process.pid) - begin_cpu, time.monotonic() - begin
        print(f"CPU {100 * used / passed:.1f} % of one core, {resident_mib(process.pid):.0f} MiB at most, in {passed:.0f} s")
        reader = StoreReader(store)
        rows = {table: reader.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("partition_sample", "group_sample", "znode_change")}
        size = sum(each.stat().st_size for each in store.parent.iterdir())
        print(f"rows {rows}; {size / 1e6:.1f} MB on disk; state {[each.state for each in reader.clusters()]}")
        for name in ("topics_at", "partitions_at", "ends_at", "groups_at", "lag_ranking"):
            began = time.monotonic()
            getattr(reader, name)(names[0])
            print(f"  {name}: {1000 * (time.monotonic() - began):.0f} ms")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def main(topics: int = 200, groups: int = 100, count: int = 1) -> None:
    """All of it."""
    with tempfile.TemporaryDirectory(prefix="bench-monitor-") as name, ExitStack() as stack:
        folder, stop = Path(name), threading.Event()
        clusters = [stack.enter_context(LocalCluster(folder / f"cluster-{number}", brokers=3 if count == 1 else 1)) for number in range(count)]
        for cluster in clusters:
            fill(cluster, topics, groups)
        print(f"{count} cluster(s), each {topics} topics of {PARTITIONS} partitions, {groups} groups, asked every {INTERVAL_S:g} s", flush=True)
        writers = [threading.Thread(target=keep_writing, args=(cluster, topics, stop)) for cluster in clusters]
        for writer in writers:
            writer.start()
        try:
            measure(folder, clusters)
        finally:
            stop.set()
            for writer in writers:
                writer.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
