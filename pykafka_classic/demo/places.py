"""Where the demo and `make cluster` stand, and what may be in the way, told in a sentence."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.demo.flights import FlightsMissing
from pykafka_classic.demo.story import BROKERS, PORTS, ZOOKEEPER_PORT
from pykafka_classic.edges.child_processes import StartFailed
from pykafka_classic.edges.processes import JarsMissing, JavaMissing
from pykafka_classic.testing.cluster import LocalCluster, PortTaken

TERMINATED: Final = 143
FREE_PORTS: Final = "--free-ports"
IN_THE_WAY: Final = (JavaMissing, JarsMissing, StartFailed, FlightsMissing)


def make_cluster(directory: Path, arguments: Sequence[str] = ()) -> LocalCluster:
    """The demo's cluster, not started, on the ports that everybody knows, or on free ones. Raises PortTaken, JavaMissing, JarsMissing."""
    if FREE_PORTS in arguments:
        return LocalCluster(directory, brokers=BROKERS)
    cluster = LocalCluster(directory, brokers=BROKERS, ports=PORTS, zookeeper_port=ZOOKEEPER_PORT)
    cluster.check_ports()
    return cluster


def offer_monitor(cluster: LocalCluster) -> str:
    """How to look at this cluster in a browser, in a sentence; writes the monitor's configuration for it into the cluster's folder."""
    directory = cluster.brokers[0].directory.parent
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "monitor.properties"
    events = "".join(f"demo.events.{number}={broker.directory / 'server.log'}\n" for number, broker in enumerate(cluster.brokers))
    path.write_text(f"clusters=demo\ndemo.zookeeper.connect={cluster.zookeeper.address}\ndata.dir={directory / 'monitor'}\n{events}", encoding="utf-8")
    return f"To see it in a browser: tools/kafka-eagle.sh start {path} in another shell, then http://127.0.0.1:8048/"


def told_in_a_sentence(work: Callable[[], int], *, target: str) -> int:
    """Do the work of a make target; what is in the way is said without a stack trace. The exit status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # so that every `finally` runs, and no folder stays behind
    try:
        return work()
    except PortTaken as error:
        print(f"{error} `make {target} PORTS=free` takes free ones.", file=sys.stderr)
        return 1
    except IN_THE_WAY as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted: everything is being stopped.")
        return 130
