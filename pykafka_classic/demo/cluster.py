"""`make cluster`: the demo's cluster in the foreground, until Ctrl-C or SIGTERM stops it cleanly. Its data is in a folder that is gone afterwards."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
from pathlib import Path

from pykafka_classic.demo.console import line
from pykafka_classic.demo.places import make_cluster, offer_monitor, told_in_a_sentence


def stand() -> int:
    """Start, wait, stop; the exit status."""
    wanted = threading.Event()
    with tempfile.TemporaryDirectory(prefix="pykafka-cluster-") as directory:
        cluster = make_cluster(Path(directory), sys.argv[1:])
        try:
            cluster.start()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: wanted.set())
            line(f"ZooKeeper on {cluster.zookeeper.address}, brokers on {cluster.bootstrap}; data and logs in {directory}. Ctrl-C stops them.")
            line(offer_monitor(cluster))
            wanted.wait()
            line("Stopping")
            cluster.stop()
        finally:
            cluster.kill()
    return 0


if __name__ == "__main__":
    sys.exit(told_in_a_sentence(stand, target="cluster"))
