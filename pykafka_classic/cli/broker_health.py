"""`python -m pykafka_classic.cli.broker_health HOST:PORT`: whether the broker there serves requests: for containers, and for scripts that wait.

Status 0 where it answers a Metadata request and knows a controller; else 1 and a sentence on stderr. Other brokers are not asked: their illness is not its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

USAGE: Final = "USAGE: python -m pykafka_classic.cli.broker_health HOST:PORT"
TIMEOUT_MS: Final = 4_000


def complaint(host: str, port: int) -> str | None:
    """What ails the broker, in a sentence; None where it is well."""
    from pykafka_classic.edges.blocking_client import BlockingClient
    from pykafka_classic.protocol.messages.metadata import MetadataRequest, MetadataResponse
    from pykafka_classic.protocol.network import Disconnected

    try:
        with BlockingClient(host, port, client_id="health-check", timeout_ms=TIMEOUT_MS) as client:
            told = client.send(MetadataRequest(topics=[]))
    except Disconnected as error:
        return str(error)
    assert isinstance(told, MetadataResponse)
    return None if told.controller_id >= 0 else f"The broker at {host}:{port} knows no controller."


def main(arguments: Sequence[str]) -> int:
    """Ask once; the exit status."""
    host, _, port = arguments[0].rpartition(":") if len(arguments) == 1 else ("", "", "")
    if not host or not port.isdecimal():
        print(USAGE, file=sys.stderr)
        return 1
    said = complaint(host, int(port))
    if said is not None:
        print(said, file=sys.stderr)
        return 1
    print("serving")
    return 0


def run() -> None:
    """The command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
