"""`kafka-server-start.sh [-daemon] server.properties [--override property=value]*`: a broker, here or in the background.

Log lines go where config/log4j.properties says: to standard output, and to server.log and its sisters in $LOG_DIR, rolled every hour. Another file is named as
with Kafka: KAFKA_LOG4J_OPTS=-Dlog4j.configuration=file:/etc/kafka/log4j.properties. SIGHUP opens all of them anew.

Source: facts/tools.md 20; 2.8:bin/kafka-run-class.sh for the variables.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.__main__ import USAGE
from pykafka_classic.__main__ import main as run_broker
from pykafka_classic.cli import daemons
from pykafka_classic.common.log4j import LOGS_DIR_VARIABLE, java_options
from pykafka_classic.edges.logging_setup import set_up_from_log4j, set_up_logging

LOG4J_FILE: Final = "log4j.configuration"
SAMPLE: Final = daemons.CHECKOUT / "config" / "log4j.properties"


def log4j_file(options: Mapping[str, str], sample: Path = SAMPLE) -> Path | None:
    """The file that says where log lines go: the one that is named (a path, or a file: URL), else the sample; None where there is none."""
    named = options.get(LOG4J_FILE, "")
    if named:
        return Path(named.removeprefix("file://").removeprefix("file:"))
    return sample if sample.exists() else None


def set_up_logs(environment: Mapping[str, str] = os.environ) -> None:
    """Send log lines where log4j.properties says; without one, to standard output. Raises Log4jError, OSError."""
    options = java_options(environment.get("KAFKA_LOG4J_OPTS", ""))
    path = log4j_file(options)
    if path is None:
        set_up_logging()
    else:
        set_up_from_log4j(path, {LOGS_DIR_VARIABLE: str(daemons.log_directory(environment).absolute()), **options})


def main(arguments: Sequence[str]) -> int:
    """Run a broker, or start one in the background; the exit status."""
    background, rest = daemons.split_daemon_option(arguments)
    if not rest:
        print(USAGE, file=sys.stderr)
        return 1
    try:
        if background:
            daemons.start_in_background(daemons.KAFKA, [sys.executable, "-m", "pykafka_classic.cli.server_start", *rest])
            return 0
        own_file = daemons.record(daemons.KAFKA, os.getpid())
    except OSError as error:
        print(daemons.cannot_write(error), file=sys.stderr)
        return 1
    try:
        return run_broker(rest, set_up_logs=set_up_logs)
    finally:
        own_file.unlink(missing_ok=True)


def run() -> None:
    """The console command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
