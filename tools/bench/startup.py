"""How soon a cluster is ready, and how much memory a broker takes when idle: three brokers, ready = registered, controller elected, serving."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from pykafka_classic.testing.cluster import LocalCluster

IDLE_S = 5.0  # how long the brokers are left alone before their memory is read


def resident_mb(pid: int) -> float | None:
    """Resident memory of a process in MB, where /proc tells it."""
    status = Path("/proc", str(pid), "status")
    if not status.exists():
        return None
    kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) / 1000


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory(prefix="pykafka-bench-") as directory:
        cluster = LocalCluster(Path(directory), brokers=3)
        try:
            cluster.start_zookeeper()
            began = time.monotonic()
            for broker in cluster.brokers:
                broker.start()
            cluster.wait_ready()
            print(f"three brokers ready {time.monotonic() - began:.2f} s after ZooKeeper is up (aim: 2 s)")
            time.sleep(IDLE_S)
            memory = [resident_mb(broker.pid) for broker in cluster.brokers]
            told = "not told by this system" if None in memory else ", ".join(f"{each:.1f}" for each in memory if each is not None)
            print(f"resident memory when idle, MB: {told} (aim: below 60 each)")
        finally:
            cluster.kill()


if __name__ == "__main__":
    main()
