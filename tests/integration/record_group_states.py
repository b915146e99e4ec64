"""Asks a broker of Apache Kafka what tests/golden/test_group_states.py compares us with.

python -m tests.integration.record_group_states HOST PORT FILE     (a broker with group.initial.rebalance.delay.ms=0, and a topic `t`)
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from select import select
from typing import Final

from pykafka_classic.edges.blocking_client import BlockingClient
from pykafka_classic.protocol.schema import Message
from tests.golden.group_states import REQUESTS, STATES, run

SETTLE_S: Final = 0.5


class SocketCall:
    """A request on a connection of its own."""

    def __init__(self, client: BlockingClient, request: Message, version: int) -> None:
        self._client = client
        self._answer: Message | None = None
        client.post(request, version)

    def answer(self) -> Message | None:
        if self._answer is None and select([self._client._socket], [], [], 0.01)[0]:
            self._answer = self._client.receive()
        return self._answer


class SocketDriver:
    """A broker."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port

    def call(self, request: Message, version: int) -> SocketCall:
        return SocketCall(BlockingClient(*self._address, client_id="recorder"), request, version)

    def settle(self) -> None:
        time.sleep(SETTLE_S)


def main(host: str, port: str, file: str) -> None:
    """Record all cases."""
    driver, start = SocketDriver(host, int(port)), int(time.time())
    cases = [(state, request) for state in STATES for request in REQUESTS]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda each: run(driver, f"group-{start}-{cases.index(each)}", *each), cases))
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        out.write("".join(json.dumps(each) + "\n" for each in found).encode())
    print(f"{len(found)} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
