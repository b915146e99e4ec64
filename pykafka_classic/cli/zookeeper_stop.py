"""`zookeeper-server-stop.sh`: stop every ZooKeeper server that the launcher started. Source: facts/tools.md 20."""

from __future__ import annotations

import sys

from pykafka_classic.cli import daemons


def run() -> None:
    """The console command."""
    sys.exit(daemons.stop(daemons.ZOOKEEPER))


if __name__ == "__main__":
    run()
