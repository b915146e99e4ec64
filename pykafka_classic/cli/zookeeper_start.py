"""`zookeeper-server-start.sh [-daemon] zookeeper.properties`: a real ZooKeeper server, from the jars that pyspark brings.

In the foreground this process becomes the server. $KAFKA_HEAP_OPTS and $KAFKA_OPTS go to Java after our own options, so that they win.

Source: facts/tools.md 20.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pykafka_classic.cli import daemons
from pykafka_classic.common.properties import parse_properties
from pykafka_classic.edges.child_processes import port_taken
from pykafka_classic.edges.processes import JVM_FLAGS, JarsMissing, JavaMissing, require_java, zookeeper_class_path

USAGE: Final = "USAGE: zookeeper-server-start.sh [-daemon] zookeeper.properties"
MAIN_CLASS: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def java_command(properties_file: str) -> list[str]:
    """The command that is the server. Raises JavaMissing, JarsMissing."""
    options = f"{os.environ.get('KAFKA_HEAP_OPTS', '')} {os.environ.get('KAFKA_OPTS', '')}".split()
    return [require_java(), *JVM_FLAGS, *options, "-cp", zookeeper_class_path(), MAIN_CLASS, properties_file]


def check_port(properties_file: str) -> str | None:
    """A sentence if the port is taken. Raises OSError where the file cannot be read, ValueError where its port is none."""
    properties = parse_properties(Path(properties_file).read_text(encoding="utf-8"))
    return port_taken(int(properties.get("clientPort", "2181")), properties.get("clientPortAddress", "0.0.0.0"))


def main(arguments: Sequence[str]) -> int:
    """Become the server, or start it in the background; the exit status."""
    background, rest = daemons.split_daemon_option(arguments)
    if len(rest) != 1:
        print(USAGE, file=sys.stderr)
        return 1
    try:
        complaint = check_port(rest[0])
        command = java_command(rest[0])
    except (JavaMissing, JarsMissing, OSError, ValueError) as error:
        complaint = str(error)
    if complaint:
        print(complaint, file=sys.stderr)
        return 1
    try:
        if background:
            daemons.start_in_background(daemons.ZOOKEEPER, command)
            return 0
        daemons.record(daemons.ZOOKEEPER, os.getpid())
    except OSError as error:
        print(daemons.cannot_write(error), file=sys.stderr)
        return 1
    sys.stdout.flush()
    return os.execv(command[0], command)  # the same process, so the same pid; the file is found stale when the server has ended


def run() -> None:
    """The console command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
