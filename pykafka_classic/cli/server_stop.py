"""`kafka-server-stop.sh`: ask every broker that the launcher started to stop (cleanly: controlled shutdown). Source: facts/tools.md 20."""

from __future__ import annotations

import sys

from pykafka_classic.cli import daemons


def run() -> None:
    """The console command."""
    sys.exit(daemons.stop(daemons.KAFKA))


if __name__ == "__main__":
    run()
