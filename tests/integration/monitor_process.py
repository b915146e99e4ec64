"""The monitor as a process, for tests: its configuration, its life, its store."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.edges.admin import Admin
from pykafka_classic.edges.child_processes import ChildProcess, wait_until
from pykafka_classic.monitor.store.connections import StoreMissing
from pykafka_classic.monitor.store.queries import UnknownCluster
from pykafka_classic.monitor.store.reader import StoreReader
from pykafka_classic.testing.cluster import LocalCluster

NAME = "here"


class MonitorProcess(ChildProcess):
    """Watches one cluster every half second. Brokers of ours are read too, where `events` says so: their log files hold their events."""

    def __init__(self, folder: Path, cluster: LocalCluster, *, events: bool = True, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._cluster = cluster
        lines = {"clusters": NAME, f"{NAME}.zookeeper.connect": cluster.zookeeper.address, "data.dir": str(folder / "data"), "interval.ms": "500", "port": "0"}
        if events:
            lines |= {f"{NAME}.events.{number}": str(broker.directory / "server.log") for number, broker in enumerate(cluster.brokers)}
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "monitor.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in (lines | dict(settings or {})).items()))
        command = [sys.executable, "-m", "pykafka_classic.cli.eagle", "start", str(config)]
        super().__init__(command, log_path=folder / "monitor.log", environment={"LOG_DIR": str(folder)})

    @property
    def store(self) -> Path:
        """Its file."""
        return self.folder / "data" / "monitor.db"

    @property
    def address(self) -> str:
        """Of its pages: http://127.0.0.1:PORT."""
        found = re.findall(r"The monitor's pages are on (\S+)", self.output())
        return str(found[-1])

    @property
    def reader(self) -> StoreReader:
        """Of its store."""
        return StoreReader(self.store)

    def wait_watching(self, *, seconds: float = 30.0) -> StoreReader:
        """Wait until ZooKeeper was looked at, and brokers have answered after that."""
        self.wait_ready(self._is_watching, seconds=seconds)
        return self.reader

    def _is_watching(self) -> bool:
        try:
            states = [each.state for each in self.reader.clusters() if each.name == NAME]
            return states == ["connected"] and bool(self.reader.log_dirs(NAME))
        except (StoreMissing, UnknownCluster):
            return False


@contextmanager
def watching(cluster: LocalCluster, folder: Path, topic: str) -> Iterator[MonitorProcess]:
    """A monitor of a cluster in which this topic was made: two partitions, three replicas. In the end it has stopped, and printed no stack trace."""
    with Admin(cluster.bootstrap) as admin:
        admin.create_topics([NewTopic(topic, partitions=2, replication_factor=3)]).check()
        wait_until(lambda: len(admin.describe_topics([topic]).values_only()) == 1, seconds=20)
    monitor = MonitorProcess(folder, cluster)
    monitor.start()
    try:
        monitor.wait_watching()
        yield monitor
    finally:
        if monitor.running:
            monitor.stop()
    assert "Traceback" not in monitor.output()


def wait_for(condition: object, *, seconds: float = 15.0) -> None:
    """Wait until a callable is true."""
    assert callable(condition)
    wait_until(lambda: bool(condition()), seconds=seconds)
