"""`kafka-server-start.sh [-daemon] server.properties [--override property=value]*`: a broker, here or in the background.

Source: facts/tools.md 20.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from pykafka_classic.__main__ import USAGE
from pykafka_classic.__main__ import main as run_broker
from pykafka_classic.cli import daemons


def main(arguments: Sequence[str]) -> int:
    """Run a broker, or start one in the background; the exit status."""
    background, rest = daemons.split_daemon_option(arguments)
    if not rest:
        print(USAGE, file=sys.stderr)
        return 1
    if background:
        daemons.start_in_background(daemons.KAFKA, [sys.executable, "-m", "pykafka_classic.cli.server_start", *rest])
        return 0
    own_file = daemons.record(daemons.KAFKA, os.getpid())
    try:
        return run_broker(rest)
    finally:
        own_file.unlink(missing_ok=True)


def run() -> None:
    """The console command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
