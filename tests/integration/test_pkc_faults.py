"""What waits in a terminal says in a sentence that brokers or ZooKeeper are gone, and goes on when they are back."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import pytest

from pykafka_classic.client.admin.topics import NewTopic
from pykafka_classic.edges.admin import Admin
from pykafka_classic.testing.cluster import LocalCluster

PKC: Final = [sys.executable, "-m", "pykafka_classic.cli.pkc.main"]
TOLD_S: Final = 45.0
WATCHES: Final = (["znodes", "/brokers", "--watch"], ["follow"], ["lag", "g", "--watch", "-i", "0.2"])


class Started:
    """A command that goes on."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen([*PKC, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._read = {"stdout": b"", "stderr": b""}

    def wait_for(self, stream: str, text: bytes) -> None:
        """Until this has been printed; it then counts no more."""
        deadline = time.monotonic() + TOLD_S
        source: IO[bytes] = getattr(self.process, stream)
        while text not in self._read[stream]:
            assert time.monotonic() < deadline and self.process.poll() is None, (text, self._read)
            if select.select([source], [], [], 0.2)[0]:
                self._read[stream] += os.read(source.fileno(), 65536)
        self._read[stream] = self._read[stream].partition(text)[2]

    def end(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 130
        self.process.communicate()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with LocalCluster(tmp_path, brokers=1) as running:
        with Admin(running.bootstrap) as admin:
            admin.create_topics([NewTopic("flights", partitions=1, replication_factor=1)]).check()
        yield running


def produce(cluster: LocalCluster, text: str) -> None:
    subprocess.run([*PKC, "produce", "flights", "-b", cluster.bootstrap], input=text.encode(), check=True, timeout=60)


def test_what_waits_tells_of_an_outage_and_goes_on_after_it(cluster: LocalCluster) -> None:
    where = ("-b", cluster.bootstrap, "-z", cluster.zookeeper.address)
    produce(cluster, "one\n")
    subprocess.run([*PKC, "consume", "flights", "-g", "g", "-e", *where], capture_output=True, check=True, timeout=60)
    consuming = Started("consume", "flights", *where)
    watches = [Started(*words, *where) for words in WATCHES]
    consuming.wait_for("stdout", b"one\n")
    for watch in watches[::2]:
        watch.wait_for("stdout", b"\n")
    watches[1].wait_for("stderr", b"Following ZooKeeper")

    cluster.brokers[0].kill()
    consuming.wait_for("stderr", b"Metadata cannot be had: no broker can be reached")
    watches[2].wait_for("stderr", b"it is tried again and again.")
    cluster.restart(0)
    produce(cluster, "two\n")
    consuming.wait_for("stdout", b"two\n")
    watches[2].wait_for("stderr", b"The brokers answer again.")

    cluster.zookeeper.kill()
    for watch in watches:
        watch.wait_for("stderr", b"The connection to ZooKeeper is lost; it is tried again and again.")
    cluster.start_zookeeper()
    for watch in watches:
        watch.wait_for("stderr", b"The connection to ZooKeeper stands again.")
    cluster.brokers[0].stop()
    watches[1].wait_for("stdout", b"Broker 0")
    for each in (consuming, *watches):
        each.end()
